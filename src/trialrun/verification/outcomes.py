"""What a program printed about its own result: how many passed and failed, or that nothing ran.

Read by the shape of a summary, not by the name of the program: `make test`, `npm test` and a script
of one's own print what the runner below them prints. Later summaries of one kind add up (a
workspace prints one for each package).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from trialrun.model.ledger import Counts, Outcome
from trialrun.verification.marks import Marked


class Printed(Struct, frozen=True, gc=False):
    """What was read; `line` is where."""

    outcome: Outcome
    counts: Counts | None = None
    line: str = ""


_PASSED, _FAILED = Outcome.PASSED, Outcome.FAILED
_NOTHING, _UNKNOWN = Outcome.NOTHING, Outcome.UNKNOWN

_N = r"(\d+(?:,\d{3})*)"

# Summary lines with counts, each behind its marks. A group name says what a number counts.
# fmt: off
SUMMARIES = tuple(
    Marked(marks if isinstance(marks, tuple) else (marks,), pattern)
    for marks, pattern in (
        # unittest
        ("Ran ", r"^Ran (?P<total>\d+) tests? in [\d.]+s\n+(?P<word>OK|FAILED|NO TESTS RAN)(?: \((?P<parts>[^)\n]*)\))?"),
        # maven, JUnit, phpunit
        ("Tests run:", r"^(?:\[\w+\] +)?Tests run: *(?P<total>\d+), *Failures: *(?P<failed>\d+), *Errors: *(?P<errors>\d+)(?:, *Skipped: *(?P<skipped>\d+))?(?! *, Time| *-)"),
        ("Assertions:", r"^Tests: (?P<total>\d+), Assertions: \d+(?:, Errors: (?P<errors>\d+))?(?:, Failures: (?P<failed>\d+))?(?:, (?!Skipped)[A-Z][a-zA-Z ]+: \d+)*(?:, Skipped: (?P<skipped>\d+))?(?:, [A-Z][a-zA-Z ]+: \d+)*"),
        ("OK (", r"^OK \((?P<passed>\d+) tests?, \d+ assertions?\)"),
        # jest and its kin
        ("Test", r"^ *Tests?: +(?P<parts>(?:\d+ [a-z]+(?:, | \| )?)+)(?:\((?P<total>\d+)\)|(?<=total))?"),
        ("Tests ", r"^ *Tests +(?P<parts>\d+ [a-z]+(?: \| \d+ [a-z]+)*)(?: \((?P<total>\d+)\))?"),
        # cargo, nextest
        ("test result:", r"^test result: (?P<word>ok|FAILED)\. (?P<passed>\d+) passed; (?P<failed>\d+) failed; (?P<skipped>\d+) ignored"),
        ("Summary [", r"^ *Summary \[[^\]]*\] +(?P<total>\d+)(?:/\d+)? tests? run: (?P<parts>[^\n]+)"),
        # dotnet
        ("Failed:", r"^ *(?:Passed|Failed)! +- Failed: *(?P<failed>\d+), Passed: *(?P<passed>\d+), Skipped: *(?P<skipped>\d+), Total: *(?P<total>\d+)"),
        ("total:", r"^ *(?:Test summary: )?total: *(?P<total>\d+), failed: *(?P<failed>\d+), succeeded: *(?P<passed>\d+), skipped: *(?P<skipped>\d+)"),
        ("Fehler:", r"^ *(?:Bestanden|Fehler)!? *:? *(?:- )?Fehler: *(?P<failed>\d+), erfolgreich: *(?P<passed>\d+), übersprungen: *(?P<skipped>\d+), gesamt: *(?P<total>\d+)"),
        # dune and its kin
        ("Test Successful", r"\bTest Successful in [\d.]+s\. (?P<passed>\d+) tests? run"),
        # rspec, minitest, mix
        ("example", r"^(?P<total>\d+) examples?, (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) pending)?"),
        ("assertions,", r"^(?P<total>\d+) (?:runs|tests), \d+ assertions, (?P<failed>\d+) failures, (?P<errors>\d+) errors(?:, (?P<skipped>\d+) (?:skips|pendings))?"),
        ("failure", r"^(?:\d+ (?:doctests?|properties|property), )*(?P<total>\d+) tests?, (?P<failed>\d+) failures?(?:, (?P<skipped>\d+) (?:skipped|excluded))?"),
        # cucumber and its kin, robot
        ("scenario", r"^ *(?P<total>\d+) scenarios? \((?P<parts>\d+ [a-z]+(?:, \d+ [a-z]+)*)\)"),
        ("passed, ", r"^(?P<total>\d+) tests?, (?P<passed>\d+) passed, (?P<failed>\d+) failed(?:, (?P<skipped>\d+) skipped)?"),
        # Pester
        ("Tests Passed:", r"^Tests Passed: (?P<passed>\d+), Failed: (?P<failed>\d+)(?:, Skipped: (?P<skipped>\d+))?"),
        # ctest
        ("% tests passed", r"^\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<total>\d+)"),
        # swift
        ("Executed ", r"^\s*Executed (?P<total>\d+) tests?, with (?P<failed>\d+) failures?"),
        # sbt
        ("Passed: Total", r"Passed: Total (?P<total>\d+), Failed (?P<failed>\d+), Errors (?P<errors>\d+), Passed (?P<passed>\d+)"),
        ("Tests: succeeded", r"^(?:\[info\] )?Tests: succeeded (?P<passed>\d+), failed (?P<failed>\d+)"),
        # gradle
        ("completed", r"^(?P<total>\d+) tests? completed(?:, (?P<failed>\d+) failed)?(?:, (?P<skipped>\d+) skipped)?"),
        # deno, TAP, bun, mocha
        (" | ", r"^(?P<word>ok|FAILED) \| (?P<passed>\d+) passed(?: \([^)]*\))? \| (?P<failed>\d+) failed"),
        ("tests ", r"^[#ℹ] tests (?P<total>\d+)\n(?:[#ℹ] [^\n]*\n){0,3}[#ℹ] pass (?P<passed>\d+)\n[#ℹ] fail (?P<failed>\d+)"),
        (" pass\n", r"^ *(?P<passed>\d+) pass\n(?: *(?P<skipped>\d+) skip\n)?(?: *\d+ todo\n)? *(?P<failed>\d+) fail"),
        ("passing", r"^ *(?P<passed>\d+) passing\b[^\n]*(?:\n+ *(?P<skipped>\d+) pending)?(?:\n+ *(?P<failed>\d+) failing)?"),
        # dbt, terraform's and ansible's tests
        ("PASS=", r"\bDone\. PASS=(?P<passed>\d+) WARN=\d+ ERROR=(?P<failed>\d+) SKIP=(?P<skipped>\d+)(?: NO-OP=\d+)? TOTAL=(?P<total>\d+)"),
        # bazel
        ("out of", r"^Executed \d+ out of (?P<total>\d+) tests?: (?P<parts>[^\n.]+)"),
        # plenary
        ("Success:", r"^Success:\s+(?P<passed>\d+)\s*\nFailed :\s+(?P<failed>\d+)\s*\nErrors :\s+(?P<errors>\d+)"),
        # turbo
        ("successful,", r"^ *Tasks: +(?P<passed>\d+) successful, (?P<total>(?P=passed)) total"),
        # the files that NUnit and JUnit write
        ("<test-run", r"<test-run [^>]*?\btotal=\"(?P<total>\d+)\" passed=\"(?P<passed>\d+)\" failed=\"(?P<failed>\d+)\""),
        ("<testsuite", r"\A[^<]*(?:<\?[^>]*>\s*)?<testsuites?(?=[^>]*\stests=\"(?P<total>\d+)\")(?=[^>]*\sfailures=\"(?P<failed>\d+)\")(?:(?=[^>]*\serrors=\"(?P<errors>\d+)\"))?"),
        # pytest, playwright, and whoever prints counts with their words on one line
        (("passed", "failed", "error", "skipped", "deselected", "warning", "rerun"), r"^[=\s✓✔✗✘×•-]*(?P<parts>\d[\d,]* (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun|subtests passed)(?:, \d[\d,]* [a-z ]+)*)(?: in [\d.]+ ?m?s[^\n]*| \([^)\n]*\))?[=\s.]*$"),
        (("passed", "succeeded", "ok", "green"), r"\b(?P<passed>\d[\d,]*) (?:tests?|specs?|checks?|cases|scenarios?|examples?|suites?) (?:have )?(?:passed|succeeded|ok|green)\b(?:[,;] ?(?:and )?(?P<failed>\d+) (?:tests? )?failed)?"),
        (("passed", "passing", "succeeded", "OK"), r"\b(?P<passed>\d+)(?:/| of )(?P<total>\d+) (?:tests? |specs? |checks? )?(?:passed|passing|succeeded|OK)\b"),
    )
)
# fmt: on

_PART = re.compile(rf"{_N} *(?:tests? |subtests )?(?:are |were )?([a-z]+)")
_FAILED_WORDS = frozenset(
    {
        "failed",
        "failing",
        "fail",
        "fails",
        "failure",
        "failures",
        "error",
        "errors",
        "broken",
        "ambiguous",
    }
)
_PASSED_WORDS = frozenset({"passed", "passing", "pass", "passes", "succeeded", "ok", "xpassed"})
_SKIPPED_WORDS = frozenset(
    "skipped skip pending ignored todo deselected xfailed disabled undefined".split()
)
_UNITTEST_PART = re.compile(r"(failures|errors|skipped|expected failures)=(\d+)")

_NOTHING_RAN = Marked(
    (
        "no test",
        "0 test",
        "0 total",
        "collected 0 items",
        "no-source",
        "no specs",
        "no examples",
        "0 examples",
        "nothing to test",
    ),
    r"no tests ran|collected 0 items|\bno tests? (?:were |was )?(?:found|executed|collected|run\b|to run)"
    r"|NO TESTS RAN|no test files|No test is available|No test files found|Ran 0 tests|0 tests? (?:run|collected|found)"
    r"|\b0 total\b|running 0 tests\n\ntest result: ok\. 0 passed; 0 failed(?![\s\S]*[1-9]\d* passed)"
    r"|:test NO-SOURCE|No specs found|No examples found|No tests executed|nothing to test"
    r"|0 examples, 0 failures|\[no tests to run\]|There are no tests|testing: warning: no tests to run",
    re.IGNORECASE,
)

_NOTHING_CHECKED = Marked(
    (
        "no file",
        "no inputs",
        "all files matched",
        "no python files",
        "to check",
        "no configuration files",
    ),
    r"No files? (?:matching|found|were checked)|No inputs were found|no files to (?:lint|check|format)|All files matched by .* are ignored"
    r"|No Python files|no issues? to check|No configuration files",
    re.IGNORECASE,
)

# One line of output that shows a failure, by what prints it.
_FAILURE_LINES = (
    r"^(?:FAIL|FAILED|--- FAIL|not ok|✗|✘|×|✖)\b.*",  # go, TAP, jest: "--- FAIL: TestTax"
    r"^(?:FAIL|FAILED)\s",
    r"^not ok \d+",
    r"^ *●.*›",  # jest: "● tax › rounds"
    r"\[emerg\]|\btest failed\b|\[error\]",  # nginx, cargo, maven
    r"\bBUILD FAIL(?:ED|URE)\b|\*\* (?:TEST|BUILD) FAILED \*\*|FAILURES!|Tests failed",
    r"\b[1-9]\d* tests? failed\b|\b\d+ passed, [1-9]\d* failed\b",
    r"^(?:npm ERR!|npm error|ERR_PNPM|error Command failed|error: script \")",  # script runners
    r"^(?:make(?:\[\d+\])?: \*\*\*|ninja: build stopped)",
    r"^\s*(?:E  +|ERROR +)\S|^error(?:\[E\d+\])?:|^ERROR:|^Error: |^error - ",  # "error[E0308]: …"
    r": (?:fatal )?error(?: TS\d+| CS\d+| C\d+)?:|: error\b|error TS\d+",  # "a.ts(3,1): error TS2304:"
    r"^Found [1-9]\d* errors?|\b[1-9]\d* problems? \([1-9]\d* errors?",  # ruff, eslint
    r"^\s*[1-9]\d* errors?\b|\b[1-9]\d* errors? (?:generated|found|detected)",
    r"^\s*\d+:\d+\s+error\s",  # eslint: "  3:1  error  …"
    r"^Traceback \(most recent call last\)|^(?:\w+\.)*\w*(?:Error|Exception): ",
    r"panicked at|Segmentation fault|core dumped|command not found|No such file or directory",
    r"^fatal: |evaluation failed|could not compile|cannot find (?:module|symbol)",
    r"would reformat|would be reformatted|\[warn\] Code style issues",  # black, prettier
    r"Compilation failed|compilation error|Failed to compile|Failed compilation",
)
_FAILURE = Marked(
    (
        *("FAIL", "ailed", "rror", "ERR", "E  ", "***", "emerg", "style issues", "build stopped"),
        *("not ok", "panicked at", "Segmentation fault", "core dumped", "not found"),
        *("No such file", "fatal: ", "reformat", "could not compile", "cannot find"),
        *("xception", "Traceback", "×", "●", "✖", "✗", "✘"),
    ),
    "|".join(_FAILURE_LINES),
    re.MULTILINE,
)
# A line that shows success.
_PASS_LINES = (
    r"\bAll checks passed|Success: no issues found|no issues found|identified no issues",  # ruff, mypy
    r"\bBUILD SUCCESS(?:FUL)?\b|\*\* (?:TEST|BUILD) SUCCEEDED \*\*|Build succeeded",
    r"All specs passed|All tests passed|congratulations :\)|Session \S+ was successful",
    r"Compiled successfully|Successfully compiled|compiled successfully|webpack [\d.]+ compiled",
    r"built in [\d.]+ ?m?s|Finished (?:`|dev|release|test)|Test Suites: [1-9]\d* passed",
    r"syntax is ok|test is successful|Success! The configuration is valid|is valid\b",
    r"Validation (?:passed|succeeded|successful)|successfully rolled out",
    r"0 errors?, 0 warnings?|0 errors\b|\b0 problems\b|no errors?\b|No problems|Found 0 errors",
    r"\b0 issues\b|no offenses detected|All matched files use Prettier",  # golangci-lint, rubocop
    r"left unchanged|already formatted|^ok  ?\t?\S+|\bPASS(?:ED)?\b",
)
_STRONG_PASS = Marked(
    (
        *("pass", "success", "succeeded", "no issue", "no error", "no problem", "no offenses"),
        *("0 error", "0 problem", "0 issues", "compiled", "built in", "finished ", "is valid"),
        *("congratulations", "syntax is ok", "use prettier", "unchanged", "already formatted"),
        *("ok ", "ok\t"),
    ),
    "|".join(_PASS_LINES),
    re.MULTILINE | re.IGNORECASE,
)
_CUT_SHORT = Marked(
    (
        "out after",
        "timed out",
        "timeout: ",
        "killed",
        "terminated",
        "interrupt",
        "for file changes",
        "press ",
        "watch",
        "exit code",
        "still running",
        "exceeded",
    ),
    r"timed? ?out after|Command timed out|timeout: sending signal|^Killed$|^Terminated$|KeyboardInterrupt|Interrupted|"
    r"Watching for file changes|Waiting for file changes|press (?:h|q|a|u|w|enter) to|Watch Usage|No exit code|still running|"
    r"\[watch\]|exceeded (?:the )?time(?: ?out| limit)|exit code:? (?:124|137|143)\b|signal: killed",
    re.IGNORECASE | re.MULTILINE,
)


def cut_short(output: str) -> bool:
    """Whether it was stopped before its end, or waits for ever."""
    return _CUT_SHORT.search(output) is not None


_NOT_OK = Marked(
    ("not ok ", "panic: ", "INTERNALERROR>"), r"^not ok \d+.*|^panic: .*|^INTERNALERROR>.*"
)
_BROKEN = Marked(("FAIL", "ERROR"), r"^(?:FAIL|FAILED|ERROR)\s.*|BUILD FAIL\w+")
# A sign for each test. One letter alone may be anything that was printed.
_PROGRESS = re.compile(r"^(?=..)[.sxX]*[FE][.sxXFE]*$", re.MULTILINE)


def read_tests(output: str) -> Printed | None:
    """The result that a test runner printed, or None where it printed none."""
    broken_off = _NOT_OK.search(output)
    if broken_off:
        return Printed(_FAILED, None, broken_off.group().strip()[:200])
    passed = failed = skipped = total = 0
    found = False
    line = ""
    for summary in _summaries(output):
        found = True
        passed += summary[0]
        failed += summary[1]
        skipped += summary[2]
        total += summary[3]
        line = summary[4] or line
    if not found:
        found_go = _go(output)
        if found_go is not None:
            return found_go
    if found:
        counts = Counts(passed=passed, failed=failed, skipped=skipped or None, total=total or None)
        if failed:
            return Printed(_FAILED, counts, line)
        if passed:
            broken = _BROKEN.search(output)
            if broken:
                return Printed(_FAILED, counts, broken.group().strip())
            return Printed(_PASSED, counts, line)
        return Printed(_NOTHING, counts, line)
    progress = _PROGRESS.search(output)
    if progress:
        return Printed(_FAILED, None, progress.group()[:200])
    nothing = _NOTHING_RAN.search(output)
    if nothing:
        return Printed(_NOTHING, None, nothing.group().strip())
    return None


_SUMS_UP = re.compile(r"Tests run|^\d+ tests?, \d+ passed, ")  # Maven, robot

# Laid out flat, as it is gone through for each run of tests.
_BY_MARK = tuple((mark, summary.pattern) for summary in SUMMARIES for mark in summary.marks)


def _summaries(output: str) -> Iterator[tuple[int, int, int, int, str]]:
    for mark, pattern in _BY_MARK:
        if mark not in output:
            continue
        rows = []
        for match in pattern.finditer(output):
            row = _counted(match)
            if row is not None:
                rows.append(row)
            if len(rows) >= 500:
                break
        if rows:
            # These print the sum after its parts; a retry prints the same line again.
            if len(rows) > 1 and _SUMS_UP.search(rows[-1][4]):
                rows = [row for row in rows if row[1]][-1:] or rows[-1:]
            yield from rows
            return


def _counted(match: re.Match[str]) -> tuple[int, int, int, int, str] | None:
    groups = match.groupdict()
    number = {
        name: int(value.replace(",", ""))
        for name, value in groups.items()
        if value is not None and name not in ("word", "parts")
    }
    failed = number.get("failed", 0) + number.get("errors", 0)
    passed = number.get("passed")
    skipped = number.get("skipped", 0)
    parts = groups.get("parts")
    if parts:
        for key, value in _UNITTEST_PART.findall(parts) if "=" in parts else ():
            if key in ("failures", "errors"):
                failed += int(value)
            elif key == "skipped":
                skipped += int(value)
        for value, word in _PART.findall(parts):
            amount = int(value.replace(",", ""))
            if word in _FAILED_WORDS:
                failed += amount
            elif word in _PASSED_WORDS:
                passed = (passed or 0) + amount
            elif word in _SKIPPED_WORDS:
                skipped += amount
            elif word == "total":
                number["total"] = amount
        if passed is None and "total" not in number and not failed and not skipped:
            return None
    if groups.get("word") == "FAILED" and not failed:
        failed = 1
    total = number.get("total", (passed or 0) + failed + skipped)
    if passed is None:
        passed = max(0, total - failed - skipped)
    line = match.group().strip().splitlines()[-1].strip(" =")
    return passed, failed, skipped, total, line[:200]


_GO_LINE = re.compile(
    r"^(?:(ok)\s+\S+|(FAIL)\b|--- (FAIL): \S+|\?\s+\S+\s+\[no test files\])", re.MULTILINE
)


_GO_SKIPPED = re.compile(r"^\s*--- SKIP: ", re.MULTILINE)
_GO_PASSED = re.compile(r"^\s*--- PASS: ", re.MULTILINE)


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


def read_check(output: str) -> Printed | None:
    """The result that a linter, type checker, build or validator printed, or None."""
    failure = _first_failure(output)
    if failure is not None:
        return Printed(_FAILED, None, failure)
    nothing = _NOTHING_CHECKED.search(output)
    if nothing:
        return Printed(_NOTHING, None, nothing.group().strip())
    good = _STRONG_PASS.search(output)
    if good is not None:
        return Printed(_PASSED, None, line_of(output, good))
    return None


_HARMLESS = re.compile(
    r"\b0 errors?\b|\b0 failed\b|no errors?\b|\b0 failures?\b|0 Error\(s\)|without errors?|\b0 remaining\b|\b(\d+) errors? \(\1 fixed\b(?!, [1-9])",
    re.IGNORECASE,
)


def _first_failure(output: str) -> str | None:
    for match in _FAILURE.finditer(output):
        line = line_of(output, match)
        if not _HARMLESS.search(line):
            return line
    return None


def line_of(output: str, match: re.Match[str]) -> str:
    """The line that the match stands in."""
    start = output.rfind("\n", 0, match.start()) + 1
    if match.group().startswith("\n"):
        start = match.start() + 1
    end = output.find("\n", max(match.end() - 1, start))
    return output[start : end if end >= 0 else len(output)].strip()[:200]
