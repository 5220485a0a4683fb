"""Programs that write files in a way of their own: line editors, links, archives, stamps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trialrun.verification import deeds as d
from trialrun.verification.deeds import Deed
from trialrun.verification.paths import is_fleeting
from trialrun.verification.programs.making import make_deed, plain_words
from trialrun.verification.shell import Command

_VALUES = {
    "sd": frozenset({"-n", "-f", "--flags", "--max-replacements"}),
    "truncate": frozenset({"-s", "--size", "-r", "--reference"}),
    "touch": frozenset({"-d", "-t", "-r", "--date", "--reference"}),
    "ln": frozenset({"-S", "--suffix"}),
    "ed": frozenset({"-p"}),
}
_EDITOR_VALUES = frozenset({"-c", "-u", "-S", "--cmd", "-i"})
_SCRIPTED = re.compile(r"-\w*[eE]?s\w*$|--headless$|-es?$")
_IN_PLACE = re.compile(r"-[a-zA-Z]*i[a-zA-Z]*$|--inplace$|--in-place$")


def _edited(command: Command, files: Sequence[str], by: str | None = None) -> Iterator[Deed]:
    kept = tuple(file for file in files if not is_fleeting(file))
    if kept:
        yield make_deed(d.EDIT, command, by=by or command.name, paths=kept)


def replace_text(command: Command, words: list[str]) -> Iterator[Deed]:
    """`sd old new file…`; without files, or with `-p`, it only prints."""
    if not {"-p", "--preview"} & set(words):
        yield from _edited(command, plain_words(words[1:], _VALUES["sd"])[2:])


def edit_lines(command: Command, words: list[str]) -> Iterator[Deed]:
    """`ed`, `ex -s`, `vim -es`: an editor that is fed with commands."""
    fed = command.name == "ed" or any(_SCRIPTED.match(word) for word in words[1:])
    if not fed:
        return
    scripts = _EDITOR_VALUES | {word for word in words if re.fullmatch(r"-\w*c", word)}
    files = plain_words(words[1:], scripts | _VALUES["ed"])
    yield from _edited(command, [file for file in files if not file.startswith("+")])


def edits_in_place(words: Sequence[str]) -> bool:
    """`yq -i`: what otherwise prints writes the file that it read."""
    return any(_IN_PLACE.match(word) for word in words[1:])


def link_files(command: Command, words: list[str]) -> Iterator[Deed]:
    *sources, target = plain_words(words[1:], _VALUES["ln"]) or [""]
    if not sources:
        sources, target = [target], target.rpartition("/")[2]
    for source in sources:
        into = target.endswith("/") or target in (".", "..") or len(sources) > 1
        name = f"{target.rstrip('/')}/{source.rpartition('/')[2]}" if into else target
        yield from _edited(command, [name])


def cut_files(command: Command, words: list[str]) -> Iterator[Deed]:
    yield from _edited(command, plain_words(words[1:], _VALUES["truncate"]))


def copy_bytes(command: Command, words: list[str]) -> Iterator[Deed]:
    yield from _edited(command, [word[3:] for word in words[1:] if word.startswith("of=")])


def touch_files(command: Command, words: list[str]) -> Iterator[Deed]:
    """A new and empty file, unless it was there: that only the run can tell."""
    if not {"-c", "--no-create"} & set(words):
        yield from _edited(command, plain_words(words[1:], _VALUES["touch"]))


def unpack(command: Command, words: list[str]) -> Iterator[Deed]:
    """`tar x`, `unzip`: whatever was in the archive now lies in the folder."""
    folder = None
    for index, word in enumerate(words):
        option, equals, value = word.partition("=")
        if option in ("-C", "--directory", "-d", "--one-top-level"):
            folder = value if equals else (words[index + 1] if index + 1 < len(words) else None)
    if command.name == "unzip":
        opens = not any(re.fullmatch(r"-[ltpvzZ]+", word) for word in words[1:])
    else:
        bundles = [word for word in words[1:] if re.fullmatch(r"-[A-Za-z]+", word)]
        first = words[1:2] if words[1:2] and re.fullmatch(r"[A-Za-z]+", words[1]) else []
        opens = any("x" in word for word in (*first, *bundles))
        opens = opens or bool({"--extract", "--get"} & set(words))
    if opens and not (folder or "").startswith(("/tmp", "/var/tmp", "$")):
        paths = (folder.rstrip("/") + "/",) if folder and folder != "." else ()
        yield make_deed(d.EDIT, command, paths=paths)


WRITERS = {
    "sd": replace_text,
    **dict.fromkeys(("ed", "ex", "vi", "vim", "nvim"), edit_lines),
    "ln": link_files,
    "truncate": cut_files,
    "dd": copy_bytes,
    "touch": touch_files,
    **dict.fromkeys(("tar", "gtar", "bsdtar", "unzip"), unpack),
}
