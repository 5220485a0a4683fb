"""Which file is meant: relative and absolute names, `./`, `cd` before, `~`.

Another file of the same base name is another file.
"""

from __future__ import annotations

from functools import lru_cache

from trialrun.util.lazy_patterns import lazy_pattern

_DRIVE = lazy_pattern(r"^[A-Za-z]:[\\/]")


def is_absolute(path: str) -> bool:
    """Whether the name needs no folder to be understood."""
    return path[:1] in ("/", "~") or (path[1:2] == ":" and bool(_DRIVE.match(path)))


@lru_cache(maxsize=20_000)
def tidy(path: str) -> str:
    """Without `./`, `//`, `..` that can be taken away, quotation marks, `file://`."""
    path = path.strip().strip("'\"`").removeprefix("file://")
    if "\\" in path and "/" not in path:
        path = path.replace("\\", "/")
    start = "/" if path.startswith("/") else ""
    parts: list[str] = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != ".." or not start:
            parts.append(part)
    return start + "/".join(parts)


def join(folder: str | None, path: str) -> str | None:
    """The folder one gets to by `cd path` in that folder; None where that cannot be known."""
    if is_absolute(path):
        return tidy(path)
    if folder is None or path == "-":
        return None
    here, there = tidy(folder), tidy(path)
    # Some tools keep their folder between calls and some do not: `cd web` in `web` is no step down.
    if there and ".." not in there and (here == there or here.endswith("/" + there)):
        return here
    return tidy(f"{folder}/{path}" if folder else path)


def same(one: str, other: str) -> bool:
    """Whether two names mean one file: equal, or one the end of the other, folder included."""
    if one == other:
        return True
    if is_absolute(one) == is_absolute(other):
        return False
    whole, part = (one, other) if is_absolute(one) else (other, one)
    return bool(part) and whole.endswith("/" + part)


def within(path: str, folder: str) -> bool:
    """Whether the file lies in the folder, or is it."""
    folder = folder.rstrip("/")
    if folder in ("", "."):
        return True
    if path == folder or path.startswith(folder + "/"):
        return True
    return not is_absolute(folder) and f"/{folder}/" in f"/{path.strip('/')}/"
