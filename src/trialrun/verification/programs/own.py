"""Interpreters, and programs of the project or that nobody here knows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from trialrun.verification import deeds as d
from trialrun.verification.deeds import Deed, Service
from trialrun.verification.programs.making import called, is_rehearsal, make_deed
from trialrun.verification.programs.snippets import deeds_of_snippet
from trialrun.verification.programs.trials import run_arguments
from trialrun.verification.python_code import deeds_of_code
from trialrun.verification.runners import Table, kind_of_target
from trialrun.verification.services import stages_of
from trialrun.verification.shell import Command

_FORMATTERS = frozenset(
    "black isort prettier gofmt goimports rustfmt autopep8 yapf clang-format shfmt".split()
)


def run_python(command: Command, words: list[str]) -> Iterator[Deed]:
    if "-c" in words[1:]:
        index = words.index("-c")
        code = words[index + 1] if index + 1 < len(words) else ""
        yield from deeds_of_code(code, command)
        return
    files = [word for word in words[1:] if not word.startswith("-")]
    if (not files or files[0] == "-") and command.stdin:
        yield from deeds_of_code(command.stdin, command)
        return
    if files:
        yield make_deed(
            d.RUN,
            command,
            paths=(files[0],),
            by=f"{command.name} {files[0]}",
            languages=frozenset({"python"}),
        )


PYTHONS = frozenset(
    "python python2 python3 pypy pypy3 py python3.11 python3.12 python3.13 ipython".split()
)
INTERPRETERS = {
    "node": "javascript", "deno": "javascript", "ts-node": "javascript", "tsx": "javascript", "bun": "javascript",
    "ruby": "ruby", "php": "php", "perl": "perl", "bash": "shell", "sh": "shell", "zsh": "shell", "Rscript": "r", "java": "jvm",
    "julia": "julia", "lua": "lua", "elixir": "elixir", "swift": "swift", "dart": "dart", "scala": "jvm", "kotlin": "jvm",
}  # fmt: skip


def interpreted_program(name: str, words: list[str], table: Table) -> tuple[str, ...] | None:
    """The program that an interpreter is given: `python manage.py test`, `php bin/phpunit`."""
    if name not in PYTHONS and name not in INTERPRETERS:
        return None
    files = [word for word in words[1:] if not word.startswith("-")]
    if files and files[0] == "run" and name in INTERPRETERS:
        files = files[1:]
    if not files or (name in PYTHONS and "-c" in words[1:]):
        return None
    rest = words[words.index(files[0]) + 1 :]
    script = files[0].rpartition("/")[2]
    if script in _OWN_COMMANDS or (script and table.find((script, *rest)) is not None):
        return (script, *rest)
    return None


_OWN_COMMANDS = frozenset({"manage.py", "artisan"})  # known by the verb behind them


def run_interpreted(command: Command, words: list[str]) -> Iterator[Deed]:
    language = INTERPRETERS[command.name]
    options = [word for word in words[1:] if word.startswith("-")]
    files = [word for word in words[1:] if not word.startswith("-")]
    if files and files[0] == "run":
        files = files[1:]
    if any(option in ("-v", "--version", "-V") for option in options):
        return
    code = _inline_code(words, command)
    if code is None and language == "shell" and files:
        kind, _ = kind_of_target(files[0].rpartition("/")[2].rpartition(".")[0])
        if kind in d.TRIALS:
            yield make_deed(kind, command, by=files[0])
            return
    if code is not None:
        yield from deeds_of_snippet(code, command, language)
        return
    yield make_deed(
        d.RUN,
        command,
        paths=tuple(files[:1]),
        by=" ".join([command.name, *files[:1]]),
        languages=frozenset({language}),
    )


def _inline_code(words: Sequence[str], command: Command) -> str | None:
    """The code of `node -e "…"` or of a here-document; None: it runs a file."""
    for word, after in pairwise(words):
        if word in _INLINE_OPTIONS or (command.name == "perl" and _PERL_INLINE.fullmatch(word)):
            return after
        if word == "eval" and command.name == "deno":
            return after
    if command.stdin and not any(not word.startswith("-") for word in words[1:]):
        return command.stdin
    return None


_INLINE_OPTIONS = frozenset({"-e", "--eval", "-p", "--print", "-r", "-pe"})
_PERL_INLINE = re.compile(r"-[a-zA-Z]*[eE]")


# Whatever the program is called: `dune test`, `forge build`, `dprint check`.
_GENERIC_VERBS = {
    **dict.fromkeys(("test", "tests", "runtest", "spec", "selftest"), d.TEST),
    **dict.fromkeys(("build", "compile", "assemble"), d.BUILD),
    **dict.fromkeys(("lint", "vet", "audit"), d.LINT),
    **dict.fromkeys(("typecheck",), d.TYPES),
    **dict.fromkeys(("validate", "check", "verify"), d.CONFIG),
}


_CODEMODS = frozenset(
    {
        "jscodeshift",
        "codemod",
        "rector",
        "comby",
        "ast-grep",
        "sg",
        "2to3",
        "pyupgrade",
        "ng-update",
        "openrewrite",
    }
)


_GO_CARGO = {
    ("go", "run"): "go",
    ("cargo", "run"): "rust",
    ("dotnet", "run"): "dotnet",
    ("mix", "run"): "elixir",
    ("cargo", "bench"): "rust",
    ("go", "generate"): "go",
}


_QUIET = frozenset(
    "cd echo printf true false : export source . set unset alias sleep wait exit return mkdir chmod chown pwd whoami date which type hash test [ [[ read clear kill pkill killall"
    " pip pip3 uv poetry conda apt apt-get brew dnf yum apk gem bundle gh glab hub svn hg zip gzip gunzip base64 xargs seq basename dirname realpath uname hostname id groups free df du env printenv"
    " nvm rustup go cargo dotnet mix jobs fg bg trap ulimit umask time local declare eval let shift getopts history popd pushd tput reset stty yes rev tr paste comm expr bc".split()
)


def run_own(command: Command, words: list[str]) -> Iterator[Deed]:
    """A program of the project (`./run.sh`, `bin/check`), or one that nobody here knows."""
    name = command.name
    language = _GO_CARGO.get((name, words[1] if len(words) > 1 else ""))
    if language is not None:
        yield make_deed(
            d.RUN, command, by=called([name, *words[1:]]), languages=frozenset({language})
        )
        return
    if name in _CODEMODS and not any(word in ("--dry", "-d", "--dry-run") for word in words):
        places = [
            word
            for word in words[1:]
            if not word.startswith("-") and not word.endswith((".js", ".ts", ".py", ".yml"))
        ]
        yield make_deed(d.EDIT, command, paths=((places[-1] if places else ".").rstrip("/") + "/",))
        return
    if name in _FORMATTERS or (
        len(words) > 1
        and words[1] in ("fmt", "format")
        and not any("check" in word for word in words)
    ):
        return  # what it rewrites is told by `fix_files`, and it tries nothing out
    if name in _QUIET:
        return
    first = command.words[0]
    if "/" in first or first.endswith((".sh", ".py")):
        kind, endless = kind_of_target(name.rpartition(".")[0] or name)
        if kind in (d.SERVICE, d.DATA) and is_rehearsal(command):
            kind = d.RUN
        if kind in (d.SERVICE, d.DATA):
            # `./deploy.sh prod`: what answers on staging says nothing about it.
            stages = frozenset(word.lower() for word in words[1:] if stages_of(word.lower()))
            service = Service(stages, command.host)
            yield make_deed(kind, command, service=service, paths=(), by=first)
            yield make_deed(d.RUN, command, paths=(first,), by=first)
            return
        # `make run` starts a server; `./run.sh` may be anything, and ends when it has ended.
        endless = endless and kind is None and not re.match(r"run\b", name)
        # A script that runs the tests runs them all; it names no part of them.
        whole = () if kind is not None else (first,)
        yield make_deed(kind or d.RUN, command, paths=whole, by=first, endless=endless)
        return
    if any(word in ("format", "fmt") for word in words[1:4]) and any(
        word.startswith(("--check", "--verify")) for word in words
    ):
        yield make_deed(d.FORMAT, command, by=called([name, *words[1:]]))
        return
    verb = next((word for word in words[1:] if not word.startswith("-")), "")
    if verb in _GENERIC_VERBS:
        rest = words[words.index(verb) + 1 :]
        paths, filters = run_arguments(name, rest, True)
        yield make_deed(
            _GENERIC_VERBS[verb], command, by=f"{name} {verb}", paths=paths, filters=filters
        )
        return
    named = tuple(
        word for word in words[1:] if re.search(r"[\w-]\.\w{1,6}$|/", word) and "=" not in word
    )
    yield make_deed(d.RUN, command, by=called([name, *words[1:]]), paths=named)
