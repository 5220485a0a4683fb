"""Entry points of installed packages, at little cost where no package has any for us."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib.metadata import EntryPoint

_GROUP = re.compile(rb"^\[(trialrun\.[\w.]+)\]", re.MULTILINE)  # [trialrun.checks]


def entry_points(group: str) -> Iterable[EntryPoint]:
    """The entry points of a group of ours, `trialrun.checks` for instance.

    `importlib.metadata` takes as long to import as bare Python takes to start, and few users have
    plug-ins: so the files that it would read are searched for our groups first.
    """
    groups = _groups(tuple(sys.path))
    if groups is not None and group not in groups:
        return ()
    from importlib import metadata

    return metadata.entry_points(group=group)


@cache
def _groups(places: tuple[str, ...]) -> frozenset[str] | None:
    """The groups of ours that any package names; None where not all packages are in folders."""
    if any(map(_is_odd, sys.meta_path)):
        return None
    found: set[str] = set()
    for place in map(Path, places):
        try:
            children = list(place.iterdir())
        except NotADirectoryError:  # a zip file can hold packages
            return None
        except OSError:
            continue
        for child in children:
            if child.name.lower().endswith((".dist-info", "egg-info")):
                found |= _named_in(child / "entry_points.txt")
    return frozenset(found)


def _is_odd(finder: object) -> bool:
    """Whether it finds packages elsewhere than Python itself, in the folders of `sys.path`."""
    is_own = getattr(finder, "__module__", "").startswith("_frozen_importlib")
    return hasattr(finder, "find_distributions") and not is_own


def _named_in(file: Path) -> set[str]:
    try:
        return {found.decode() for found in _GROUP.findall(file.read_bytes())}
    except OSError:  # most packages have no such file
        return set()
