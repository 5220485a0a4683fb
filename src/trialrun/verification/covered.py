"""Which looks are about which changes, found by an index and not by trying every pair.

A run of ten thousand steps has tens of millions of pairs. Most looks name a file, a folder or a
subject: only the changes under that name are held against the rules in `coverage.py`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from trialrun.verification import deeds as d
from trialrun.verification.coverage import (
    fits,
    is_end_to_end,
    is_read_by_runners,
    scope_of,
    subject_words,
)
from trialrun.verification.events import DATA, FILE, SERVICE, Change, Events, Key, Look
from trialrun.verification.paths import is_absolute

FEW = 3
"""So many changes are tried one by one, without asking the index which of them are worth it."""

_NAME_IN_TEXT = re.compile(r"[\w@+-]+(?:\.[\w@+-]+)*")
_LONGEST_LISTING = 200_000


def keys_of(changes: Iterable[Change]) -> frozenset[Key]:
    """The keys of several changes."""
    return frozenset([change.key for change in changes])


class Covered:
    """The index over the changes of one run."""

    def __init__(self, events: Events) -> None:
        self.events = events
        self.changes: dict[Key, Change] = {}
        for change in events.changes:
            if change.kind in (FILE, SERVICE, DATA):
                self.changes.setdefault(change.key, change)
        self.files = {key: one for key, one in self.changes.items() if one.kind == FILE}
        self.places = {key: one for key, one in self.changes.items() if one.kind != FILE}
        self.removed = frozenset(key for key, one in self.files.items() if one.removed)
        self.by_base: dict[str, list[Key]] = {}
        self.by_word: dict[str, list[Key]] = {}
        self.names: list[str] = []  # in order, so that what lies in a folder is a slice
        self.in_order: list[Key] = []
        self.folders: list[Key] = []  # changes of a whole folder, or of the whole tree
        self.settings: list[Key] = []  # files that runners read beside what they are told to run
        for key, change in sorted(self.files.items(), key=lambda one: one[1].target.rstrip("/")):
            if change.is_tree or change.widely:
                self.folders.append(key)
            else:
                self._enter(key, change.target)
        self.kept: dict[int, frozenset[Key]] = {}  # of each look, the changes worth trying
        self.tried: dict[tuple[int, Key], bool] = {}
        self.alike: dict[object, frozenset[Key]] = {}

    def _enter(self, key: Key, target: str) -> None:
        name = target.rstrip("/")
        base = name.rpartition("/")[2]
        self.names.append(name)
        self.in_order.append(key)
        self.by_base.setdefault(base, []).append(key)
        if "." not in base:
            self.folders.append(key)
        if is_read_by_runners(target):
            self.settings.append(key)
        for word in subject_words(target, keep_generic=True):
            self.by_word.setdefault(word, []).append(key)

    @cached_property
    def by_stem(self) -> dict[str, list[Key]]:
        """The files by their base names without an ending."""
        found: dict[str, list[Key]] = {}
        for base, keys in self.by_base.items():
            found.setdefault(base.partition(".")[0], []).extend(keys)
        return found

    @cached_property
    def by_last(self) -> dict[str, set[str]]:
        """The folders, and the files themselves, by the last part of their names."""
        found: dict[str, set[str]] = {}
        names = set(self.names)
        while names:
            for name in names:
                found.setdefault(name.rpartition("/")[2], set()).add(name)
            names = {above for name in names if (above := name.rpartition("/")[0])}
        return found

    def has(self, look: Look, change: Change) -> bool:
        """Whether the look is about this change."""
        return self._fits(look, change.key)

    def any(self, look: Look, keys: frozenset[Key]) -> bool:
        """Whether the look is about one of these."""
        return next(self.among(look, keys), None) is not None

    def among(self, look: Look, keys: Collection[Key]) -> Iterator[Key]:
        """Those of the keys that the look is about; each pair is tried when its turn comes."""
        if len(keys) <= FEW and id(look) not in self.kept:
            # Looking up what is worth trying takes longer than trying so few.
            return (key for key in keys if self._is_about(look, key))
        worth = self._worth_trying(look)
        fewer, more = (worth, keys) if len(worth) <= len(keys) else (keys, worth)
        return (key for key in fewer if key in more and self._fits(look, key))

    def latest(self, looks: Sequence[Look], moments: Mapping[Key, int]) -> int:
        """The latest of the moments whose change one of the looks is about; 0 if there is none."""
        best = 0
        highest = max(moments.values(), default=0)
        done: set[int] = set()
        for look in reversed(looks):
            if best == highest:
                break
            worth = self._worth_trying(look)
            if id(worth) in done:
                continue  # wide looks that are alike share one set
            done.add(id(worth))
            for key in worth:
                moment = moments.get(key, 0)
                if moment > best and self._fits(look, key):
                    best = moment
        return best

    def _fits(self, look: Look, key: Key) -> bool:
        pair = (id(look), key)
        found = self.tried.get(pair)
        if found is None:
            found = key in self._worth_trying(look) and self._is_about(look, key)
            self.tried[pair] = found
        return found

    def _is_about(self, look: Look, key: Key) -> bool:
        return fits(look, self.changes[key], self.events)

    def _worth_trying(self, look: Look) -> frozenset[Key]:
        found = self.kept.get(id(look))
        if found is None:
            found = self.kept[id(look)] = self._candidates(look)
        return found

    def _candidates(self, look: Look) -> frozenset[Key]:
        if look.kind == d.READ or (look.kind == d.DIFF and look.paths):
            return frozenset(self._named(look.paths))
        if look.kind == d.SEARCH:
            return frozenset(self._searched(look))
        if look.kind == d.LIST:
            return self.removed.union(self.folders, self._named_in(look.text))
        if look.kind in d.TRIALS and (look.paths or look.content):
            narrow = self._narrow(look)
            if narrow is not None:
                return frozenset({*narrow, *self.places})
        # Wide looks of one kind are alike: a hundred runs of `make test` need one answer.
        alike = (
            look.kind, look.by, look.paths, look.folder, look.package, look.service, look.content,
            look.names_only, look.command, look.missed,
        )  # fmt: skip
        if alike not in self.alike:
            self.alike[alike] = frozenset(
                key for key, change in self.changes.items() if fits(look, change, self.events)
            )
        return self.alike[alike]

    def _named(self, paths: Sequence[str]) -> set[Key]:
        found: set[Key] = set(self.folders)
        for path in paths:
            found.update(self.by_base.get(path.rstrip("/").rpartition("/")[2], ()))
            found.update(self._below(path))
        return found

    def _below(self, folder: str) -> Iterable[Key]:
        """What lies in a folder; where names are not comparable, everything is worth trying."""
        scope = scope_of(folder).rstrip("/")
        if scope in ("", "."):
            return self.files
        found = self._lies_in(scope)
        if found or is_absolute(scope):
            return found
        names = self.by_last.get(scope.rpartition("/")[2], ())
        ends = [name for name in names if name.endswith("/" + scope)]
        return [key for name in ends for key in self._lies_in(name)]

    def _lies_in(self, folder: str) -> list[Key]:
        """What has that name, or a name that begins with it and a slash."""
        itself = self._between(folder, folder + "\0")
        return itself + self._between(folder + "/", folder + chr(ord("/") + 1))

    def _between(self, start: str, end: str) -> list[Key]:
        names = self.names
        first = bisect_left(names, start)
        return self.in_order[first : bisect_left(names, end, first)]

    def _searched(self, look: Look) -> set[Key]:
        found = self._named(look.paths) if len(look.text) < 200 else set(self.folders)
        if not look.paths and len(look.text) < 200:
            return set(self.files)
        found.update(self._named_in(look.text))
        for path in look.paths:
            found.update(self.by_base.get(path.rstrip("/").rpartition("/")[2], ()))
        return found

    def _named_in(self, text: str) -> set[Key]:
        """What has its base name in a listing."""
        names = set(_NAME_IN_TEXT.findall(text[:_LONGEST_LISTING]))
        return {key for name in names for key in self.by_base.get(name, ())}

    def _narrow(self, look: Look) -> set[Key] | None:
        """The changes that a run of something certain may be about; None: it may be all."""
        if look.package is not None or is_end_to_end(look):
            return None
        found: set[Key] = {*self.folders, *self.settings}
        for path in look.paths:
            words = subject_words(scope_of(path).removeprefix(self.events.paths.root or "\0"))
            if not words or look.kind in (d.RUN, d.CONFIG):
                return None
            for word in words:
                found.update(self.by_word.get(word, ()))
            found.update(self.by_base.get(path.rpartition("/")[2], ()))
            found.update(self._below(path))
            found.update(self._stems_in(self.events.contents.get(path, "")))
        if not look.paths:
            found.update(self._stems_in(look.content))
        return found

    def _stems_in(self, text: str) -> set[Key]:
        found: set[Key] = set()
        for word in set(re.findall(r"\w+", text[:_LONGEST_LISTING])):
            found.update(self.by_stem.get(word, ()))
        return found
