"""What a program printed about its own result: how many passed and failed, or that nothing ran.

Read by the shape of a summary, not by the name of the program: `make test`, `npm test` and a script
of one's own print what the runner below them prints. Later summaries of one kind add up (a
workspace prints one for each package).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from msgspec import Struct

from trialrun.model.ledger import Counts, Outcome
from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification.marks import Marked
from trialrun.verification.tables import group, marked, pattern, rows


class Printed(Struct, frozen=True, gc=False):
    """What was read; `line` is where."""

    outcome: Outcome
    counts: Counts | None = None
    line: str = ""


_PASSED, _FAILED = Outcome.PASSED, Outcome.FAILED
_NOTHING, _UNKNOWN = Outcome.NOTHING, Outcome.UNKNOWN

SUMMARIES = tuple(marked(name) for name in rows() if name.startswith("summary "))
"""Summary lines with counts, each behind its marks; of the first that fits all lines count."""

_PART = lazy_pattern(r"(\d+(?:,\d{3})*) *(?:tests? |subtests )?(?:are |were )?([a-z]+)")
_COUNTED = {word: kind for kind, several in group("count").items() for word in several}
_UNITTEST_PART = lazy_pattern(r"(failures|errors|skipped|expected failures)=(\d+)")
_NOTHING_RAN = marked("nothing_ran")
_NOTHING_CHECKED = marked("nothing_checked")
_FAILURE = marked("failure")
_STRONG_PASS = marked("success")
_CUT_SHORT = marked("cut_short")


def cut_short(output: str) -> bool:
    """Whether it was stopped before its end, or waits for ever."""
    return _CUT_SHORT.search(output) is not None


_NOT_OK = Marked(
    ("not ok ", "panic: ", "INTERNALERROR>"), r"^not ok \d+.*|^panic: .*|^INTERNALERROR>.*"
)
# Not `ERROR    client:31 refused`: a runner counts its errors, and the code under test logs.
_BROKEN = Marked(("FAIL",), r"^(?:FAIL|FAILED)\s.*|BUILD FAIL\w+")
# A sign for each test. One letter alone may be anything that was printed.
_PROGRESS = lazy_pattern(r"^(?=..)[.sxX]*[FE][.sxXFE]*$", re.MULTILINE)


def read_tests(output: str) -> Printed | None:
    """The result that a test runner printed, or None where it printed none."""
    broken_off = _NOT_OK.search(output)
    if broken_off:
        return Printed(_FAILED, None, broken_off.group().strip()[:200])
    summaries = list(_summaries(output))
    if summaries:
        return _added(summaries, output)
    found = _go(output) or _tap(output)
    if found is not None:
        return found
    for outcome, ending in ((_FAILED, _PROGRESS), (_NOTHING, _NOTHING_RAN)):
        match = ending.search(output)
        if match:
            return Printed(outcome, None, match.group().strip()[:200])
    return None


def _added(summaries: Sequence[Summary], output: str) -> Printed:
    """The result of all summaries of one output together."""
    passed, failed, skipped, total = (
        sum(one.numbers[place] for one in summaries) for place in range(4)
    )
    line = next((one.line for one in reversed(summaries) if one.line), "")
    counts = Counts(passed=passed, failed=failed, skipped=skipped or None, total=total or None)
    if failed:
        return Printed(_FAILED, counts, line)
    if not passed:
        return Printed(_NOTHING, counts, line)
    broken = _BROKEN.search(output)
    if broken:
        return Printed(_FAILED, counts, broken.group().strip())
    return Printed(_PASSED, counts, line)


_SUMS_UP = lazy_pattern(r"Tests run|^\d+ tests?, \d+ passed, ")  # Maven, robot

# Laid out flat, as it is gone through for each run of tests.
_BY_MARK = tuple((mark, summary.pattern) for summary in SUMMARIES for mark in summary.marks)
MOST_SUMMARIES = 500


class Summary(Struct, frozen=True, gc=False):
    """One summary line: how many passed, failed, were skipped, and how many there are in all."""

    numbers: tuple[int, int, int, int]
    line: str


def _summaries(output: str) -> Iterator[Summary]:
    for mark, line in _BY_MARK:
        if mark not in output:
            continue
        found = [_counted(match) for match in islice(line.finditer(output), MOST_SUMMARIES)]
        lines = [one for one in found if one is not None]
        if lines:
            # These print the sum after its parts; a retry prints the same line again.
            if len(lines) > 1 and _SUMS_UP.search(lines[-1].line):
                lines = [one for one in lines if one.numbers[1]][-1:] or lines[-1:]
            yield from lines
            return


def _counted(match: re.Match[str]) -> Summary | None:
    groups = match.groupdict()
    number = {
        name: int(value.replace(",", ""))
        for name, value in groups.items()
        if value is not None and name not in ("word", "parts")
    }
    parts = groups.get("parts")
    if parts:
        _add_parts(number, parts)
    failed = number.get("failed", 0) + number.get("errors", 0)
    skipped = number.get("skipped", 0)
    if parts and number.keys().isdisjoint(("passed", "total")) and not failed and not skipped:
        return None
    if groups.get("word") == "FAILED" and not failed:
        failed = 1
    total = number.get("total", number.get("passed", 0) + failed + skipped)
    passed = number.get("passed", max(0, total - failed - skipped))
    line = match.group().strip().splitlines()[-1].strip(" =")
    return Summary((passed, failed, skipped, total), line[:200])


def _add_parts(number: dict[str, int], text: str) -> None:
    """Add the numbers of "1 failed, 11 passed", or of "failures=1, skipped=2"."""
    pairs = [(value, word) for word, value in _UNITTEST_PART.findall(text)]
    for value, word in [*pairs, *_PART.findall(text)]:
        amount = int(value.replace(",", ""))
        if word == "total":
            number["total"] = amount
        elif word in _COUNTED:
            number[_COUNTED[word]] = number.get(_COUNTED[word], 0) + amount


_GO_LINE = lazy_pattern(
    r"^(?:(ok)\s+\S+|(FAIL)\b|--- (FAIL): \S+|\?\s+\S+\s+\[no test files\])", re.MULTILINE
)
_GO_SKIPPED = lazy_pattern(r"^\s*--- SKIP: ", re.MULTILINE)
_GO_PASSED = lazy_pattern(r"^\s*--- PASS: ", re.MULTILINE)


def _go(output: str) -> Printed | None:
    good = bad = 0
    line = ""
    for match in _GO_LINE.finditer(output):
        if match.group(2) or match.group(3):
            bad += 1
            line = match.group()
        elif match.group(1):
            end = output.find("\n", match.start())
            whole = output[match.start() : end if end >= 0 else len(output)]
            if "[no tests to run]" not in whole:
                good += 1
                line = line if bad else whole
    if bad:
        return Printed(_FAILED, None, line.strip())
    if good and _GO_SKIPPED.search(output) and not _GO_PASSED.search(output):
        return Printed(_NOTHING, None, "every test was skipped")
    if good:
        return Printed(_PASSED, None, line.strip()[:200])
    return None


_TAP_LINE = lazy_pattern(r"^ok (\d+)\b.*", re.MULTILINE)  # ok 3 rounds up


def _tap(output: str) -> Printed | None:
    """Lines of TAP, all of them good: Bats, tap, prove. A file that is cut off counts wrongly."""
    lines = list(_TAP_LINE.finditer(output))
    if not lines or int(lines[-1].group(1)) != len(lines):
        return None
    return Printed(_PASSED, Counts(passed=len(lines)), lines[-1].group()[:200])


def read_check(output: str) -> Printed | None:
    """The result that a linter, type checker, build or validator printed, or None."""
    failure = _first_failure(output)
    if failure is not None:
        return Printed(_FAILED, None, failure)
    nothing = _NOTHING_CHECKED.search(output)
    if nothing:
        return Printed(_NOTHING, None, nothing.group().strip())
    good = _STRONG_PASS.search(output)
    if good is None:
        return None
    # "built in 2.4s", and then "fetch failed": the end of an output counts more than its middle.
    end = output[good.end() :].strip().rpartition("\n")[2]
    if _BAD_END.search(end) and not is_harmless(end):
        return Printed(_UNKNOWN, None, end[:200])
    return Printed(_PASSED, None, line_of(output, good))


_BAD_END = lazy_pattern(r"\b(?:errors?|fail(?:ed|ure)?|abort(?:ed|ing)?)\b", re.IGNORECASE)
_HARMLESS = pattern("harmless")


def is_harmless(line: str) -> bool:
    """Whether it looks like a failure and counts none: `0 errors`."""
    return _HARMLESS.search(line) is not None


def _first_failure(output: str) -> str | None:
    for match in _FAILURE.finditer(output):
        line = line_of(output, match)
        if not is_harmless(line):
            return line
    return None


def line_of(output: str, match: re.Match[str]) -> str:
    """The line that the match stands in."""
    start = output.rfind("\n", 0, match.start()) + 1
    if match.group().startswith("\n"):
        start = match.start() + 1
    end = output.find("\n", max(match.end() - 1, start))
    return output[start : end if end >= 0 else len(output)].strip()[:200]
