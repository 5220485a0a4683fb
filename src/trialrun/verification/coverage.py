"""Whether a look is about a change: a read of that file, a run that plausibly covers it, a probe of
that service.
"""

from __future__ import annotations

import re

from trialrun.verification import deeds as d
from trialrun.verification.events import DATA, FILE, SERVICE, Change, Events, Look
from trialrun.verification.paths import same, within
from trialrun.verification.places import covers_data, covers_service, took_effect
from trialrun.verification.tried import tries

CI_TOOLS = re.compile(
    r"gh run|glab ci|checks|check_(?:runs?|suites?|status)|workflow|pipeline|\bci\b|(?:^|_)(?:build|job)s?(?:_|$)|commit_status|pull_request_status",
    re.IGNORECASE,
)


def fits(look: Look, change: Change, events: Events) -> bool:
    """Whether the look shows something about what was changed, wherever it stands in time."""
    if change.kind == FILE:
        return _covers_file(look, change, events)
    if change.kind == SERVICE:
        return covers_service(look, change, events)
    if change.kind == DATA:
        return covers_data(look, change)
    return False


def _covers_file(look: Look, change: Change, events: Events) -> bool:
    target = change.target
    if change.widely and look.kind in d.TRIALS:
        return True  # the whole tree was put back: every run before it was of something else
    if change.is_tree:
        return _covers_tree(look, change)
    if target in look.missed:
        return False
    if look.kind == d.READ:
        if look.names_only and not change.removed:
            return False
        return any(same(path, target) for path in look.paths)
    if look.kind == d.DIFF:
        if look.names_only:
            return change.removed
        return _below(look, target)
    if look.kind == d.SEARCH:
        return _searched(look, target)
    if look.kind == d.LIST:
        listed = not look.paths or any(within(target, path) for path in look.paths)
        named = change.is_name and _is_listed(target.rpartition("/")[2], look.text)
        return listed and (change.removed or named)
    if look.kind in d.TRIALS:
        return tries(look, target, change.language, events)
    if look.kind == d.PROBE:
        host, colon, _ = target.partition(":")
        if colon and look.service is not None and look.service.host == host:
            return True  # a file on another machine, and that machine's service was asked
        return (
            is_about_ci(look)
            or (is_served(change.language) and runs_code(look))
            or took_effect(look, target, events)
        )
    return False


def _covers_tree(look: Look, change: Change) -> bool:
    """Whether the look takes in something of a folder that was changed as a whole."""
    folder = change.target
    if look.kind in (d.READ, d.SEARCH, d.DIFF):
        # One file says little about a merge. What was pulled may simply be read.
        merged = change.by.startswith("git ") and change.by != "git pull"
        if look.names_only or (merged and look.kind != d.DIFF):
            return False
        return any(_overlap(path, folder) for path in look.paths or (look.folder,))
    if look.kind == d.LIST:
        listed = any(_overlap(path, folder) for path in look.paths or (look.folder,))
        return change.is_name and listed and bool(look.text.strip())
    if look.kind == d.PROBE:
        return is_about_ci(look)
    if look.kind not in d.TRIALS or (look.kind == d.RUN and look.content):
        return False
    if change.language is not None and look.languages and change.language not in look.languages:
        return False
    return _overlap(look.folder, folder)


def _overlap(path: str, folder: str) -> bool:
    return not path or within(path, folder) or within(folder, path)


def is_about_ci(look: Look) -> bool:
    """Whether a probe asked what the machines that build everything say."""
    return bool(CI_TOOLS.search(look.by))


def runs_code(look: Look) -> bool:
    """A page or an endpoint on this machine was asked: that runs the code behind it."""
    if look.command and look.by not in ("curl", "wget", "httpie") and " " in look.command:
        return False  # `pg_isready` and `ps` run no code of the project
    if look.service is None or not (look.service.port or look.by in ("curl", "wget", "httpie")):
        return False  # nobody knows what was asked
    return look.service.host is None and not look.service.names


def is_served(language: str | None) -> bool:
    """Whether files of that language are what a service is made of."""
    return language not in (None, "docs", "markup", "docker", "terraform", "shell")


def _below(look: Look, target: str) -> bool:
    if not look.paths:
        return within(target, look.folder)
    return any(same(path, target) or within(target, path) for path in look.paths)


_NO_MATCH = re.compile(
    r"no (?:files? )?match|\b0 (?:results?|matches)|no matches found|not found|^0$|none|\(empty\)|no references|\(no output\)|no results",
    re.IGNORECASE | re.MULTILINE,
)


def _searched(look: Look, target: str) -> bool:
    if any(same(path, target) for path in look.paths):
        return True
    folders = look.paths or ((look.folder,) if look.folder else ("",))
    if not any(within(target, folder) or within(folder, target) for folder in folders):
        return False
    base = target.rstrip("/").rpartition("/")[2]
    # A search for what must be gone finds nothing, and that says something about every file.
    return _is_listed(base, _hits(look)) or found_nothing(look)


def _is_listed(base: str, text: str) -> bool:
    """Whether a file of that name is in a listing: `test_orders.py` is not `orders.py`."""
    return base in text and bool(re.search(rf"(?<![\w@+.-]){re.escape(base)}(?!\.?[\w@+-])", text))


def _hits(look: Look) -> str:
    return look.text.partition("[The command completed")[0]


def found_nothing(look: Look) -> bool:
    """Whether a search had no hit."""
    text = _hits(look)
    return not text.strip() or (len(text) < 200 and bool(_NO_MATCH.search(text)))
