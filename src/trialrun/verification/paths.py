"""Which file is meant: relative and absolute names, `./`, `cd` before, `~`.

Another file of the same base name is another file. Where a trace uses names from the project's
folder beside whole ones, that folder is worked out from the pairs that fit each other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

_DRIVE = re.compile(r"^[A-Za-z]:[\\/]")


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


# Files that nobody needs to look at again: what a run printed, what is thrown away.
_FLEETING = re.compile(
    r"^/(?:var/)?tmp/[^/]+$|(?:^|/)(?:\.cache|node_modules|__pycache__|\.pytest_cache)/|^/dev/|\.(?:log|pid|out|tmp|bak|orig|rej|swp)$|(?:^|/)nohup\.out$"
    r"|^\$|(?:^|/)\.git/"
)


def is_fleeting(path: str) -> bool:
    """Whether a file is a log, a scratch file or the like."""
    return bool(_FLEETING.search(path))


_HOME = re.compile(r"(/home/[^/]+|/Users/[^/]+|/root)(?=/|$)")


def _home(names: Iterable[str]) -> str | None:
    """What `~` stands for: the one home that the names lie in."""
    homes = {found.group(1) for name in names if (found := _HOME.match(name))}
    return homes.pop() if len(homes) == 1 else None


class Paths:
    """The names of one trace, made comparable."""

    def __init__(self, root: str | None = None, home: str | None = None) -> None:
        self.home = home
        self.root = self._at_home(tidy(root)) if root else None

    @classmethod
    def of(cls, names: Iterable[str], folders: Iterable[str], root: str | None = None) -> Paths:
        """With the project's folder found from the names that occur, if no `root` is given."""
        names, folders = set(names), Counter(folders)
        home = _home([*names, *folders, root or ""])
        if root:
            return cls(root, home)
        plain = cls(None, home)
        whole = {plain.whole(name) for name in names if is_absolute(name)}
        parts = {tidy(name) for name in names if name and not is_absolute(name)}
        votes: Counter[str] = Counter()
        by_base: dict[str, list[str]] = {}
        for name in whole:
            by_base.setdefault(name.rpartition("/")[2], []).append(name)
        for part in parts:
            for name in by_base.get(part.rpartition("/")[2], ())[:50]:
                if name.endswith("/" + part):
                    # A bare base name fits too easily to outweigh a longer one.
                    votes[name[: -len(part) - 1]] += 3 if "/" in part else 1
        for folder, times in folders.items():
            if is_absolute(folder):
                votes[plain.whole(folder)] += times
        if votes:
            most = max(votes.values())
            found = min((root for root, count in votes.items() if count == most), key=len)
            return cls(found, home)
        return plain

    def _at_home(self, path: str) -> str:
        return f"{self.home}{path[1:]}" if self.home and path[:2] in ("~", "~/") else path

    def whole(self, path: str, folder: str | None = "") -> str:
        """The name by which files are compared."""
        beside = folder and not is_absolute(path)
        place = self._at_home(tidy(f"{folder}/{path}" if beside else path))
        if not self.root or is_absolute(place):
            return place
        return tidy(f"{self.root}/{place}")

    def short(self, path: str) -> str:
        """The name for people: from the project's folder where it lies in it."""
        if self.root and path.startswith(self.root + "/"):
            return path[len(self.root) + 1 :]
        return path


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
