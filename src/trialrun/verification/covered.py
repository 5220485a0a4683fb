"""Which looks are about which changes, found by an index and not by trying every pair.

A run of ten thousand steps has tens of millions of pairs. Most looks name a file, a folder, a
subject or a service: only the changes under that name are held against the rules in `coverage.py`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property

from trialrun.verification import deeds as d
from trialrun.verification.coverage import (
    fits,
    found_nothing,
    is_about_ci,
    is_served,
    runs_code,
)
from trialrun.verification.events import DATA, FILE, SERVICE, Change, Events, Key, Look
from trialrun.verification.paths import is_absolute
from trialrun.verification.places import Places, consumes
from trialrun.verification.subjects import subject_words
from trialrun.verification.tried import (
    builds_site,
    is_end_to_end,
    is_in_question,
    is_read_by_runners,
    runs_own_script,
    scope_of,
)

FEW = 3
"""So many changes are tried one by one, without asking the index which of them are worth it."""

MANY = 50
"""So many are tried once, that they need not be tried again for each look that is alike."""

_NAME_IN_TEXT = re.compile(r"[\w@+-]+(?:\.[\w@+-]+)*")
_WORD = re.compile(r"\w+")
_LONGEST_LISTING = 200_000


def keys_of(changes: Iterable[Change]) -> frozenset[Key]:
    """The keys of several changes."""
    return frozenset([change.key for change in changes])


class _Several:
    """Several sets as one. None is copied: thousands of looks have one of them in common."""

    __slots__ = ("parts", "size")

    def __init__(self, *parts: Set[Key]) -> None:
        self.parts = [part for part in parts if part]
        self.size = sum(map(len, self.parts))  # at most

    def __contains__(self, key: object) -> bool:
        for part in self.parts:  # noqa: SIM110 (asked for each pair: a generator takes twice as long)
            if key in part:
                return True
        return False

    def __iter__(self) -> Iterator[Key]:
        before: list[Set[Key]] = []
        for part in self.parts:
            yield from (
                (key for key in part if not any(key in one for one in before)) if before else part
            )
            before.append(part)


class Covered:
    """The index over the changes of one run."""

    def __init__(self, events: Events) -> None:
        self.events = events
        self.changes: dict[Key, Change] = {}
        for change in events.changes:
            if change.kind in (FILE, SERVICE, DATA):
                self.changes.setdefault(change.key, change)
        self.files = {key: one for key, one in self.changes.items() if one.kind == FILE}
        self.places = Places(self.changes)
        self.by_base: dict[str, list[Key]] = {}
        self.by_word: dict[str, list[Key]] = {}
        self.odd: list[tuple[str, Key]] = []  # `.env`, `[id].tsx`: no words that a text is cut into
        self.names: list[str] = []  # in order, so that what lies in a folder is a slice
        self.in_order: list[Key] = []
        trees: list[Key] = []  # changes of a whole folder, or of the whole tree
        folders: list[Key] = []  # what may be one, by its name
        settings: list[Key] = []  # files that runners read beside what they are told to run
        for key, change in sorted(self.files.items(), key=lambda one: one[1].target.rstrip("/")):
            if change.is_tree or change.widely:
                trees.append(key)
                continue
            base = self._enter(key, change.target)
            if "." not in base:
                folders.append(key)
            if is_read_by_runners(change.target):
                settings.append(key)
        self.trees = frozenset(trees)
        self.folders = self.trees.union(folders)
        self.always = self.folders.union(settings)
        self.kept: dict[int, _Several] = {}  # of each look, the changes worth trying
        self.tried: dict[tuple[int, Key], bool] = {}
        self.questions: dict[object, frozenset[Key]] = {}
        self.alike: dict[object, Sequence[Set[Key]]] = {}
        self.stems: dict[str, set[Key]] = {}  # of each text, the files that it names

    def _enter(self, key: Key, target: str) -> str:
        name = target.rstrip("/")
        base = name.rpartition("/")[2]
        self.names.append(name)
        self.in_order.append(key)
        self.by_base.setdefault(base, []).append(key)
        if not _NAME_IN_TEXT.fullmatch(base):
            self.odd.append((base, key))
        for word in subject_words(target, keep_generic=True):
            self.by_word.setdefault(word, []).append(key)
        return base

    @cached_property
    def by_stem(self) -> dict[str, list[Key]]:
        """The files by their base names without an ending."""
        found: dict[str, list[Key]] = {}
        for base, keys in self.by_base.items():
            found.setdefault(base.partition(".")[0], []).extend(keys)
        return found

    @cached_property
    def odd_stems(self) -> list[str]:
        """Those that are more than one word: `date-utils`."""
        return [stem for stem in self.by_stem if not _WORD.fullmatch(stem)]

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

    @cached_property
    def removed(self) -> frozenset[Key]:
        """What is no longer there."""
        return frozenset(key for key, one in self.files.items() if one.removed)

    @cached_property
    def everything(self) -> frozenset[Key]:
        """All files."""
        return frozenset(self.files)

    @cached_property
    def code(self) -> frozenset[Key]:
        """The files that a program is made of."""
        return frozenset(key for key, one in self.files.items() if is_served(one.language))

    @cached_property
    def applied(self) -> set[Key]:
        """Files that may have gone into a service, and those on other machines."""
        found = {key for key, one in self.files.items() if ":" in one.target}
        for change in self.events.services:
            found |= self._named_in(change.content)
            for word in change.content.split():
                if "/" in word and not word.startswith("-"):
                    found.update(self._below(word))
        for change in {one.by: one for one in self.events.services}.values():
            found.update(key for key, one in self.files.items() if consumes(change, one.target))
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
        fewer, more = (worth, keys) if worth.size <= len(keys) else (keys, worth)
        return (key for key in fewer if key in more and self._fits(look, key))

    def latest(self, looks: Sequence[Look], moments: Mapping[Key, int]) -> int:
        """The latest of the moments whose change one of the looks is about; 0 if there is none."""
        latest_first = sorted(moments, key=moments.__getitem__, reverse=True)
        best = 0
        highest = max(moments.values(), default=0)
        done = set()
        for look in reversed(looks):
            if best == highest:
                break
            worth = self._worth_trying(look)
            alike = (look.command, look.paths, look.folder, *map(id, worth.parts))
            if alike in done:
                continue  # the same command over the same files
            done.add(alike)
            few = worth.size * 4 < len(latest_first)
            for key in worth if few else latest_first:
                moment = moments.get(key, 0)
                if moment > best and key in worth and self._fits(look, key):
                    best = moment
                if moment <= best and not few:
                    break  # all others are earlier still
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

    def _worth_trying(self, look: Look) -> _Several:
        found = self.kept.get(id(look))
        if found is None:
            found = self.kept[id(look)] = self._candidates(look)
        return found

    def _candidates(self, look: Look) -> _Several:
        files = self._files_for(look) if self.files else ()
        return _Several(*files, *self.places.for_look(look))

    def _files_for(self, look: Look) -> Sequence[Set[Key]]:
        if look.kind == d.READ:
            return self.trees, self._named(look.paths)
        if look.kind == d.DIFF and look.paths:
            return self.folders, self._named(look.paths)
        if look.kind == d.DIFF:
            return self.folders, self.removed if look.names_only else self._in_folder(look)
        if look.kind == d.SEARCH:
            return self._searched(look)
        if look.kind == d.LIST:
            gone = self._named(look.paths) & self.removed if look.paths else self.removed
            return self.folders, gone, self._named_in(look.text)
        if look.kind in d.TRIALS:
            return self._tried(look)
        if look.kind == d.PROBE:
            if is_about_ci(look):
                return (self.everything,)
            return (self.code, self.applied) if runs_code(look) else (self.applied,)
        return ()

    def _in_folder(self, look: Look) -> Set[Key]:
        return set(self._below(look.folder)) if look.folder else self.everything

    def _named(self, paths: Sequence[str]) -> set[Key]:
        found: set[Key] = set()
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
        if is_absolute(scope):
            return found
        names = self.by_last.get(scope.rpartition("/")[2], ())
        ends = [name for name in names if name.endswith("/" + scope)]
        return found + [key for name in ends for key in self._lies_in(name)]

    def _lies_in(self, folder: str) -> list[Key]:
        """What has that name, or a name that begins with it and a slash."""
        itself = self._between(folder, folder + "\0")
        return itself + self._between(folder + "/", folder + chr(ord("/") + 1))

    def _between(self, start: str, end: str) -> list[Key]:
        first = bisect_left(self.names, start)
        return self.in_order[first : bisect_left(self.names, end, first)]

    def _searched(self, look: Look) -> Sequence[Set[Key]]:
        if found_nothing(look):
            return (self.folders, self._named(look.paths)) if look.paths else (self.everything,)
        found = self._named_in(look.text)
        for path in look.paths:
            found.update(self.by_base.get(path.rstrip("/").rpartition("/")[2], ()))
        return self.folders, found

    def _named_in(self, text: str) -> set[Key]:
        """What has its base name in a listing."""
        names = set(_NAME_IN_TEXT.findall(text[:_LONGEST_LISTING]))
        found = {key for name in names for key in self.by_base.get(name, ())}
        return found.union(key for base, key in self.odd if base in text)

    def _tried(self, look: Look) -> Sequence[Set[Key]]:
        """Of runs that are alike, the answer of the first one: a session lints again and again."""
        alike = (
            look.kind, look.by, look.paths, look.folder, look.package, look.languages,
            look.content, look.command,
        )  # fmt: skip
        if alike not in self.alike:
            own = self._named((*look.paths, look.by) if "/" in look.by else look.paths)
            narrow = self._narrow(look)
            own |= narrow or set()
            if builds_site(look):
                own.update(self._below(look.folder))
            if len(own) > MANY:
                own = {key for key in own if self._is_about(look, key)}
            self.alike[alike] = (
                self.always if narrow is not None else self._in_question(look),
                own,
            )
        return self.alike[alike]

    def _in_question(self, look: Look) -> frozenset[Key]:
        """What a run of that sort, in that folder, is about whatever else it was told."""
        by: object = look.by if "/" not in look.by else ("docker" in look.by, "doc" in look.by)
        sort = (look.kind, by, look.languages, look.package, look.folder, bool(look.paths))
        if sort not in self.questions:
            self.questions[sort] = frozenset(
                key
                for key, one in self.files.items()
                if key in self.folders or is_in_question(look, one.target, one.language)
            )
        return self.questions[sort]

    def _narrow(self, look: Look) -> set[Key] | None:
        """The changes that a run of something certain may be about; None: it may be all."""
        if look.kind == d.CONFIG:
            return set() if look.paths else None
        if look.package is not None or is_end_to_end(look):
            return None
        if look.kind == d.RUN:
            return self._ran(look)
        found: set[Key] = set()
        for path in look.paths:
            words = subject_words(scope_of(path).removeprefix(self.events.paths.root or "\0"))
            if not words:
                return None
            for word in words:
                found.update(self.by_word.get(word, ()))
            found |= self._stems_in(self.events.contents.get(path, ""))
        return found if look.paths else None

    def _ran(self, look: Look) -> set[Key] | None:
        if look.by.startswith("migration "):
            return None
        if look.content:
            return self._stems_in(look.content)
        if runs_own_script(look):
            return None
        if not look.languages:
            return {
                key for stem, keys in self.by_stem.items() if stem in look.command for key in keys
            }
        seen = next((text for path in look.paths if (text := self.events.contents.get(path))), None)
        return self._stems_in(seen) if seen is not None else None

    def _stems_in(self, text: str) -> set[Key]:
        if not text:
            return set()
        found = self.stems.get(text)
        if found is None:
            start = text[:_LONGEST_LISTING]
            words = set(_WORD.findall(start))
            words.update(stem for stem in self.odd_stems if stem in start)
            found = self.stems[text] = {key for word in words for key in self.by_stem.get(word, ())}
        return found
