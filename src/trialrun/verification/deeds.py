"""What a message says to have been done outside of files (a commit, a push), and whether it was."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

from msgspec import Struct

from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification.claim_kinds import Kind
from trialrun.verification.covers import Index
from trialrun.verification.facts import Act, Facts
from trialrun.verification.statements import Statement


class Deed(Struct, frozen=True):
    """A kind of act that a message may state: acts that may be it, words that hint at it."""

    kind: Kind
    name: str
    ways: tuple[str, ...]
    hints: tuple[str, ...]
    seen: str | None = None  # what an output says where it was done before


def act_missing(
    statement: Statement, deed: Deed, index: Index
) -> tuple[str, tuple[str, ...]] | None:
    """Why the stated act was not done, and the step of a failed try; None if it may have been."""
    if statement.kind is not deed.kind or statement.admits:
        return None
    if deed.kind is Kind.CI and _told_of_ci(index.facts):
        return None  # by the user, or a script of theirs that watches it
    if _OTHERS_DEED.search(statement.text):
        return None
    if deed.seen is not None and any(deed.seen in text for text in index.facts.texts):
        return None
    before = [act for act in index.facts.acts if act.at < statement.at]
    tried = [act for act in before if act.kind in deed.ways]
    if any(act.ok is not False for act in tried) or _may_have(statement, deed, index):
        return _unknown_hash(statement, deed, before, index)
    if tried:
        return f"the {deed.name} before this was said failed", (tried[-1].step,)
    return f"there is no {deed.name} before this was said", ()


_CI = lazy_pattern(r"\bCI\b|\bchecks? (?:pass|green)|workflow run", re.IGNORECASE)


def _told_of_ci(facts: Facts) -> bool:
    texts = chain((text for _, text in facts.prompts), facts.texts)
    return any(_CI.search(text) for text in texts)


# Somebody else's act, or an earlier one: "already pushed", "you committed", "was deployed by CI".
_OTHERS_DEED = lazy_pattern(r"\b(?:already|you|your|user|they|was|were|by)\b", re.IGNORECASE)


def _may_have(statement: Statement, deed: Deed, index: Index) -> bool:
    """Whether something that is not known, or a program, may have done it."""
    for one in index.facts.unknown:
        if one.at < statement.at and (one.opaque or _hints(deed, one.command, one.text)):
            return True
    return any(
        run.at < statement.at and run.kind == "run" and _hints(deed, run.command, run.text[:4000])
        for run in index.facts.runs
    )


def _hints(deed: Deed, *texts: str) -> bool:
    return any(hint in text.lower() for hint in deed.hints for text in texts)


def _unknown_hash(
    statement: Statement, deed: Deed, before: Sequence[Act], index: Index
) -> tuple[str, tuple[str, ...]] | None:
    """A commit that is named and that nothing in the session has."""
    for name in statement.names:
        if _HASH.fullmatch(name) and not any(name[:7] in text for text in index.facts.texts):
            step = before[-1].step if before else ""
            return f"nothing in the session has the commit {name}", (step,)
    return None


_HASH = lazy_pattern(r"[0-9a-f]{7,40}")
