"""Programs that read, search, write, move and remove files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from trialrun.verification import deeds as d
from trialrun.verification.deeds import Deed
from trialrun.verification.patches import patched_files
from trialrun.verification.paths import is_fleeting
from trialrun.verification.programs.making import make_deed, plain_words
from trialrun.verification.programs.own import run_interpreted
from trialrun.verification.programs.writers import edits_in_place
from trialrun.verification.shell import Command

READERS = frozenset(
    "cat head tail less more nl bat batcat od xxd hexdump strings jq yq tac column cut sort uniq fold view tree-sitter wc md5sum sha256sum shasum stat file zcat readlink csvlook xsv csvcut xmlstarlet toml dasel gron fx".split()
)


_NAMES_ONLY = frozenset({"stat", "file", "md5sum", "sha256sum", "shasum"})


SEARCHERS = frozenset("grep egrep fgrep rg ag ack ripgrep zgrep ugrep".split())


_FIRST_IS_NOT_A_FILE = frozenset({"jq", "yq", "dasel", "gron", "xmlstarlet"})


_READER_VALUES = {
    "head": frozenset({"-n", "-c", "--lines"}),
    "tail": frozenset({"-n", "-c", "--lines"}),
    "cut": frozenset({"-d", "-f", "-c"}),
    "sort": frozenset({"-k", "-t", "-o"}),
    "jq": frozenset({"--arg", "--argjson", "--indent"}),
    "bat": frozenset({"-r", "--line-range", "-l"}),
    "nl": frozenset({"-b", "-s", "-w"}),
}


_SEARCH_VALUES = frozenset(
    "-e -f -A -B -C -m --include --exclude --exclude-dir -g --glob -t --type -T --max-count --context --color -d".split()
)


def read_files(command: Command, words: list[str]) -> Iterator[Deed]:
    files = plain_words(words[1:], _READER_VALUES.get(command.name, frozenset()))
    if command.name in _FIRST_IS_NOT_A_FILE:
        files = files[1:]
    if command.name == "yq" and files[:1] and files[0].startswith("."):
        files = files[1:]  # `yq eval '.a' f.yml`: the word before it was a verb
    files = [file for file in files if file != "-"] + list(command.reads)
    if files and command.name in ("yq", "dasel") and edits_in_place(words):
        yield make_deed(d.EDIT, command, by=f"{command.name} -i", paths=tuple(files))
    elif files:
        # A count of lines says something about data, and little about code.
        counts = command.name == "wc" and not re.search(r"\.(?:csv|tsv|jsonl|txt|log)$", files[0])
        names = counts or command.name in _NAMES_ONLY
        part = command.name in ("head", "tail", "cut") or "--line-range" in words
        yield make_deed(d.READ, command, paths=tuple(files), sees_names_only=names, partly=part)
        if command.name in ("jq", "yq") and {".", "empty"} & set(words):
            yield make_deed(d.CONFIG, command, paths=tuple(files))  # it can be parsed


def search_files(command: Command, words: list[str]) -> Iterator[Deed]:
    plain = plain_words(words[1:], _SEARCH_VALUES)
    has_pattern = any(word in ("-e", "-f") or word.startswith("--regexp") for word in words)
    files = plain if has_pattern else plain[1:]
    pattern = "" if has_pattern or not plain else plain[0]
    if has_pattern:
        pattern = " ".join(
            words[index + 1] for index, word in enumerate(words[:-1]) if word == "-e"
        )
    if (
        files
        or command.name in ("rg", "ag", "ack")
        or any(re.fullmatch(r"-\w*[rR]\w*|--recursive", word) for word in words)
    ):
        if command.piped_from and not files:
            return
        yield make_deed(d.SEARCH, command, paths=tuple(files), content=pattern)


def run_sed(command: Command, words: list[str]) -> Iterator[Deed]:
    in_place = any(re.match(r"-[a-zA-Z]*i|--in-place", word) for word in words[1:])
    plain = plain_words(words[1:], frozenset({"-e", "-f", "--expression", "--file"}))
    scripted = any(word in ("-e", "-f", "--expression") for word in words)
    files = plain if scripted else plain[1:]
    if in_place and files and files[0] == "":  # BSD: sed -i '' …
        files = files[1:]
    if not files and in_place and command.piped_from:
        files = _fed_files(command)
    if not files:
        return
    if in_place:
        script = next((word for word in words[1:] if not word.startswith("-")), "")
        yield make_deed(
            d.EDIT,
            command,
            by="sed -i",
            paths=tuple(file for file in files if not is_fleeting(file)),
            content=script,
        )
    else:
        yield make_deed(d.READ, command, paths=tuple(files), partly="-n" in words)


def _fed_files(command: Command) -> list[str]:
    """`rg -l old src | xargs sed -i …` changes whatever was found below that folder."""
    searched = plain_words(command.piped_from[1:], _SEARCH_VALUES | {"-name", "-type"})
    if command.piped_from[0] == "git":
        searched = searched[1:]
    if command.piped_from[0] not in ("find", "fd"):
        searched = searched[1:]  # the first is what was searched for
    return [folder.rstrip("/") + "/" for folder in searched] or ["./"]


def run_perl(command: Command, words: list[str]) -> Iterator[Deed]:
    if any(re.match(r"-\w*i", word) for word in words[1:]):
        if command.piped_from and command.piped_from[0] in (
            "rg",
            "grep",
            "git",
            "find",
            "fd",
            "ag",
        ):
            yield make_deed(d.EDIT, command, by="perl -i", paths=tuple(_fed_files(command)))
            return
        files = plain_words(words[1:], frozenset({"-e", "-pe", "-i.bak"}))
        files = [file for file in files if not re.search(r"^s[/|#{]|;", file)]
        if files:
            yield make_deed(d.EDIT, command, by="perl -i", paths=tuple(files))
        return
    inline = frozenset(word for word in words[1:] if re.fullmatch(r"-\w*[eE]", word))
    files = plain_words(words[1:], inline) if inline else []
    if files:  # perl -ne 'print if 38..42' a.py
        yield make_deed(d.READ, command, paths=tuple(files), partly=True)
    yield from run_interpreted(command, words)


def run_awk(command: Command, words: list[str]) -> Iterator[Deed]:
    files = plain_words(words[1:], frozenset({"-F", "-v", "-f"}))[1:]
    if "inplace" in words:
        yield make_deed(d.EDIT, command, paths=tuple(files))
    elif files or command.reads:
        yield make_deed(d.READ, command, paths=(*files, *command.reads), partly=True)


def write_files(command: Command, words: list[str]) -> Iterator[Deed]:
    files = [file for file in plain_words(words[1:], frozenset()) if not is_fleeting(file)]
    if files:
        yield make_deed(d.EDIT, command, paths=tuple(files), content=command.stdin)


def move_files(command: Command, words: list[str]) -> Iterator[Deed]:
    *sources, target = plain_words(words[1:], frozenset({"-t", "-S"})) or [""]
    for source in sources:
        into = target.endswith("/") or len(sources) > 1
        name = f"{target.rstrip('/')}/{source.rpartition('/')[2]}" if into else target
        if is_fleeting(source) and is_fleeting(name):
            continue
        yield make_deed(d.RENAME, command, paths=(name,), source=source)


def copy_files(command: Command, words: list[str]) -> Iterator[Deed]:
    *sources, target = plain_words(words[1:], frozenset({"-t", "-P", "-i", "-e"})) or [""]
    if command.name in ("scp", "rsync") and ":" in target:
        host, _, path = target.partition(":")
        yield make_deed(
            d.EDIT,
            command,
            paths=(f"{host.rpartition('@')[2]}:{path}",),
            source=sources[0] if sources else None,
        )
        return
    if not sources or is_fleeting(target):
        return
    into = target.endswith("/") or len(sources) > 1
    for source in sources:
        name = f"{target.rstrip('/')}/{source.rpartition('/')[2]}" if into else target
        if not is_fleeting(name):
            yield make_deed(d.EDIT, command, paths=(name,), source=source)


def remove_files(command: Command, words: list[str]) -> Iterator[Deed]:
    files = [file for file in plain_words(words[1:], frozenset()) if not is_fleeting(file)]
    if files:
        yield make_deed(d.REMOVE, command, paths=tuple(files))


def list_files(command: Command, words: list[str]) -> Iterator[Deed]:
    files = plain_words(
        words[1:],
        frozenset(
            "-name -type -maxdepth -mindepth -path -iname -mtime -newer -size -L -I --ignore".split()
        ),
    )
    if command.name == "find" and "-exec" in words:
        index = words.index("-exec")
        inner = [word for word in words[index + 1 :] if word not in ("{}", ";", "\\;", "+")]
        if inner:
            folder = files[:1] or ["."]
            yield from _file_program(replace(command, words=(*inner, *folder)))
        return
    if command.name == "find" and "-delete" in words:
        yield make_deed(d.REMOVE, command, paths=tuple(files[:1]))
        return
    yield make_deed(d.LIST, command, paths=tuple(files), sees_names_only=True)


def _file_program(command: Command) -> Iterator[Deed]:
    from trialrun.verification.programs import PROGRAMS  # all of them, these included

    program = PROGRAMS.get(command.name)
    if program is not None:
        yield from program(command, list(command.words))


def compare_files(command: Command, words: list[str]) -> Iterator[Deed]:
    yield make_deed(d.DIFF, command, paths=tuple(plain_words(words[1:], frozenset({"-U", "-x"}))))


def apply_patch(command: Command, words: list[str]) -> Iterator[Deed]:
    if "--stat" in words or "--numstat" in words:
        return
    if "--dry-run" in words or "--check" in words:
        yield make_deed(d.CONFIG, command, by="patch --dry-run")
        return
    files = patched_files(command.stdin or "")
    yield make_deed(d.EDIT, command, paths=tuple(files), content=command.stdin, by="patch")
