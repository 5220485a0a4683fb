"""What made a red check green, where that was not the code: such a pass shows less than it says."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from trialrun.model.ledger import Outcome
from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification.covers import Cover, Index, covers
from trialrun.verification.facts import OBLIGING, UNALTERED, Change, Run, Sort
from trialrun.verification.sorts import MANIFESTS, is_test
from trialrun.verification.task_files import is_task_file

# @pytest.mark.skip, it.skip(, t.Skip(, #[ignore], xfail, @Disabled
_SKIP = lazy_pattern(
    r"\b(?:skip|xfail|xit|xdescribe|Disabled|Ignore)\b|#\[ignore|\.todo\(|\.Skip\("
)
_ASSERT = lazy_pattern(r"\b(?:assert\w*|expect|should|require)\b|\bt\.(?:Error|Fatal)")
_CONSTANT = lazy_pattern(r"assert True\b|expect\(true\)|assert 1\b")


def doubt_about(run: Run, index: Index) -> str:
    """Why a pass may come from checking less than the red run before it did; empty if not."""
    red = index.last_red(run)
    if red is None:
        return ""
    if red.at not in index.doubts:  # looked for once, however many statements ask
        index.doubts[red.at] = _doubt(red, index)
    green, doubt = index.doubts[red.at]
    return doubt if green is not None and green.at <= run.at else ""


def _doubt(red: Run, index: Index) -> tuple[Run | None, str]:
    """The first green run after a red one, and what it may owe its colour to, but for the code."""
    later = index.runs[red.kind][
        bisect_right(index.runs[red.kind], red.at, key=lambda run: run.at) :
    ]
    green = next((one for one in later if _turns(red, one)), None)
    if green is None:
        return None, ""
    if red.command == green.command and _number(green) < _number(red):
        return green, f"fewer tests ran than in the red run of {red.name} before it"
    between = _changes_between(red, green, index)
    if not between or not all(_hides(change, green) for change in between):
        return green, ""
    names = ", ".join(dict.fromkeys(one.path.rpartition("/")[2] for one in between[:3]))
    return green, f"between a red {red.name} and this one only {names} was changed, and no code"


def _turns(red: Run, green: Run) -> bool:
    """Whether the run is the same one, or the whole, and passed."""
    same = not green.partial or (green.paths, green.filters) == (red.paths, red.filters)
    return green.outcome is Outcome.PASSED and green.name == red.name and same


def _number(run: Run) -> int:
    """How many tests ran; skipped ones did not."""
    counts = run.counts
    return (counts.passed or 0) + (counts.failed or 0) if counts is not None else 0


def _changes_between(red: Run, green: Run, index: Index) -> Sequence[Change]:
    """What was changed between the runs; nothing where something unknown may have changed code."""
    if index.unknown_before(green.at, red.at):
        return ()
    changes = index.facts.changes
    places = (bisect_right(changes, one.at, key=lambda change: change.at) for one in (red, green))
    return [
        change
        for change in changes[slice(*places)]
        if change.sort in OBLIGING
        and change.verb not in UNALTERED
        and covers(green, change) is not Cover.NO
    ]


def _hides(change: Change, run: Run) -> bool:
    """Whether it may make the check green by checking less: of its configuration, or of a test."""
    if change.verb == "tree":
        return False
    if _configures(change.path, run):
        return True
    if change.sort is Sort.TEST and not change.old:  # what it replaced is not known
        return not change.own
    return _weakens(change)


def _configures(path: str, run: Run) -> bool:
    """Whether the file says what the check does: `jest.config.js`, package.json, a Makefile."""
    base = path.rpartition("/")[2].lower()
    runner = run.name.partition(" ")[0].lower()
    parts = [part for part in base.split(".")[:-1] if part]
    return base in MANIFESTS or is_task_file(base) or (len(runner) > 2 and runner in parts)


def _weakens(change: Change) -> bool:
    """Whether a test was skipped, deleted, or lost assertions."""
    if change.verb == "delete":
        return is_test(change.path) and not change.own
    if change.sort is not Sort.TEST or not change.old:
        return False
    skipped = len(_SKIP.findall(change.new)) > len(_SKIP.findall(change.old))
    emptied = len(_ASSERT.findall(change.new)) < len(_ASSERT.findall(change.old))
    constant = bool(_CONSTANT.search(change.new)) and not _CONSTANT.search(change.old)
    return skipped or emptied or constant
