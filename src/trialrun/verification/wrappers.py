"""Programs that only start another one: `sudo`, `uv run`, `docker exec`, `bash -lc`, `ssh`.

What counts is the program inside. A wrapper may say where it runs: on another machine, in a
container, in another folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from trialrun.verification.paths import join
from trialrun.verification.shell import Command, parse
from trialrun.verification.tables import lines_of

DEEPEST = 8


class Wrapper(Struct, frozen=True):
    """How many words a wrapper takes before the program inside begins."""

    options_with_value: frozenset[str] = frozenset()
    words: int = 0  # plain words of its own (a time limit, a container)
    host_word: bool = False  # it names where it runs
    assignments: bool = False  # A=b words may stand before the program
    dashes: bool = False  # the program begins after `--`, where there is one
    image: bool = False  # a folder that is given lies in an image


@cache
def _rows() -> dict[str, tuple[str, frozenset[str]]]:
    """The traits and options of every wrapper, by its words."""
    found: dict[str, tuple[str, frozenset[str]]] = {}
    for line in re.sub(r"\n\s+", " ", "\n".join(lines_of("wrappers.txt"))).splitlines():
        several, traits, options = (part.strip() for part in line.split("|"))
        found |= dict.fromkeys(several.split(", "), (traits, frozenset(options.split())))
    return found


@cache
def _wrapper(given: str) -> Wrapper | None:
    """The wrapper that these words call: `uv run`, `docker compose exec`."""
    if given not in _rows():
        return None
    traits, options = _rows()[given]
    return Wrapper(
        options_with_value=options,
        words=int("1" in traits),
        host_word="host" in traits,
        assignments="assignments" in traits,
        dashes="dashes" in traits,
        image="image" in traits,
    )


_POWERSHELLS = frozenset({"pwsh", "powershell", "pwsh.exe", "powershell.exe"})
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "fish"})
_PYTHONS = ("python", "python2", "python3", "pypy", "pypy3", "py")
_SCRIPT_OPTIONS = frozenset({"-c", "--command", "--run", "--call"})
_FOLDER_OPTIONS = frozenset(
    {"-C", "--dir", "--directory", "--prefix", "--cwd", "--workdir", "-w", "--chdir"}
)


def unwrapped(command: Command, depth: int = 0) -> Iterator[Command]:
    """The programs that the command really starts; itself, where it wraps nothing."""
    if depth > DEEPEST or not command.words:
        yield command
        return
    script = script_of(command)
    if script is not None:
        yield from _scripted(command, script, depth)
        return
    index = _module_at(command)
    if index:
        module = replace(command, words=command.words[index + 1 :], altered=index > 1)
        yield from unwrapped(module, depth + 1)
        return
    found = None if _stays(command) else _find_wrapper(command.name, command.words)
    if found is None:
        yield command
        return
    yield from _inner(command, *found, depth)


def _inner(
    command: Command, wrapper: Wrapper, start: int, folder: str | None, depth: int
) -> Iterator[Command]:
    """The programs behind a wrapper whose own words end at `start`."""
    inner, host, inner_folder = _inside(command.words, wrapper, start)
    if not inner:
        yield command
        return
    if not wrapper.image:  # a folder inside an image is none of the project's
        folder = inner_folder or folder
    name = command.name
    command = replace(
        command,
        host=host or command.host,
        folder=join(command.folder, folder) if folder else command.folder,
    )
    if name == "ssh" or (name in _READS_SCRIPT and len(inner) == 1):
        # What stands behind the host is put together and read by the shell over there.
        far = replace(command, folder="" if name == "ssh" else command.folder)
        yield from _scripted(far, " ".join(inner), depth)
        return
    yield from unwrapped(replace(command, words=tuple(inner)), depth + 1)


_READS_SCRIPT = frozenset({"nix-shell", "vagrant", "fly", "flyctl", "heroku", "nix"})


def _stays(command: Command) -> bool:
    """`docker run -d` leaves a service behind, and `command -v git` only asks for a program."""
    words = command.words
    if command.name == "command":
        return words[1:2] in (("-v",), ("-V",))
    detached = "run" in words[:3] and not {"-d", "--detach"}.isdisjoint(words)
    return command.name in ("docker", "podman") and detached


def _module_at(command: Command) -> int:
    """Where `-m` stands in `python -X dev -m pytest`; 0 where Python runs no module."""
    if not _is_python(command.name) or "-m" not in command.words[1:-1]:
        return 0
    index = command.words.index("-m")
    before = command.words[1:index]
    plain = all(word.replace("-", "").isalnum() for word in before)
    return (
        index if not before or (before[0].startswith("-") and plain and "-c" not in before) else 0
    )


def _is_python(name: str) -> bool:
    return name in _PYTHONS or (name.startswith("python3.") and name[8:].isdigit())


def script_of(command: Command) -> str | None:
    """The script that a shell is given on its command line, or by a here-document."""
    if command.name in _POWERSHELLS:
        return _powershell_script(command)
    if command.name == "su" and "-c" in command.words[:-1]:
        return command.words[command.words.index("-c") + 1]
    if command.name not in _SHELLS:
        return None
    script = _inline_script(command.words)
    return command.stdin or None if script is None and len(command.words) == 1 else script


def _powershell_script(command: Command) -> str | None:
    """The text behind `-Command`; its simple commands read like those of any shell."""
    for index, word in enumerate(command.words):
        if word.lower() in ("-command", "-c"):
            return " ".join(command.words[index + 1 :]) or None
    return None


def _inline_script(words: Sequence[str]) -> str | None:
    """The text of `bash -lc "…"`."""
    for index, word in enumerate(words[1:], 1):
        if word.startswith("-") and not word.startswith("--") and word.endswith("c"):
            return words[index + 1] if index + 1 < len(words) else None
        if not word.startswith("-"):
            return None
    return None


def _scripted(command: Command, script: str, depth: int) -> Iterator[Command]:
    inside = parse(script, command.folder)
    for one in inside.commands:
        yield from unwrapped(
            replace(
                one,
                host=command.host or one.host,
                shown=one.shown and command.shown,
                background=one.background or command.background,
                piped_into=(*one.piped_into, *command.piped_into),
                writes=(*one.writes, *command.writes) if one is inside.commands[-1] else one.writes,
            ),
            depth + 1,
        )


def _find_wrapper(name: str, words: Sequence[str]) -> tuple[Wrapper, int, str | None] | None:
    """The wrapper that these words are, where its own words end, and a folder named before that."""
    between = _rows()[f"{name} *"][1] if f"{name} *" in _rows() else frozenset[str]()
    plain = name
    folder = None
    index = 1
    wrapper = _wrapper(name)
    best: tuple[Wrapper, int, str | None] | None = None
    if wrapper is not None:
        best = (wrapper, 1, None)
    while index < len(words) and plain.count(" ") < 2:
        word = words[index]
        if word in between:
            if word in _FOLDER_OPTIONS and word != "-w" and index + 1 < len(words):
                folder = words[index + 1]
            index += 2
            continue
        index += 1
        if not word.startswith("-"):
            plain += f" {word}"
            wrapper = _wrapper(plain)
            best = best if wrapper is None else (wrapper, index, folder)
    return best


def _inside(
    words: tuple[str, ...], wrapper: Wrapper, start: int
) -> tuple[list[str], str | None, str | None]:
    """The words of the program inside, the host, and a folder."""
    index = start
    plain = 0
    host = folder = None
    while index < len(words):
        word = words[index]
        if word == "--":
            return list(words[index + 1 :]), host, folder
        if word.startswith("-") and len(word) > 1:
            valued = word in wrapper.options_with_value
            if valued and word in _SCRIPT_OPTIONS and index + 1 < len(words):
                return list(words[index + 1 :]), host, folder
            if valued and word in _FOLDER_OPTIONS and index + 1 < len(words):
                folder = words[index + 1]
            index += 2 if valued else 1
        elif wrapper.assignments and "=" in word and not word.startswith("="):
            index += 1
        elif plain < wrapper.words:
            plain += 1
            host = word.rpartition("@")[2].rpartition("/")[2] if wrapper.host_word else None
            index += 1
        else:
            behind = wrapper.dashes and wrapper.host_word and "--" in words[index:]
            start = words.index("--", index) + 1 if behind else index
            return list(words[start:]), host, folder
    return [], host, folder
