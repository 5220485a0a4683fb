"""What runners print about their own result."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trialrun.model.ledger import Outcome
from trialrun.verification.calls import without_colours
from trialrun.verification.outcomes import read_check, read_tests
from trialrun.verification.results import both_ends

P, F, N = Outcome.PASSED, Outcome.FAILED, Outcome.NOTHING


@pytest.mark.parametrize(
    ("output", "outcome", "passed", "failed"),
    [
        ("14 passed in 0.21s", P, 14, 0),
        ("Tests completed in 1.1s\nTests Passed: 14, Failed: 2, Skipped: 1 NotRun: 0", F, 14, 2),
        ("5 scenarios (5 passed)\n18 steps (18 passed)\n0m0.31s", P, 5, 0),
        ("5 scenarios (4 passed, 1 failed)\n18 steps (17 passed, 1 failed)", F, 4, 1),
        ("2 scenarios (2 undefined)\n6 steps (6 undefined)", N, 0, 0),
        (
            "A | FAIL |\n2 tests, 1 passed, 1 failed\nAll | FAIL |\n3 tests, 2 passed, 1 failed",
            F,
            2,
            1,
        ),
        (
            "A | PASS |\n2 tests, 2 passed, 0 failed\nAll | PASS |\n3 tests, 3 passed, 0 failed",
            P,
            3,
            0,
        ),
        ("Success: \t3\t\nFailed : \t0\t\nErrors : \t0\t", P, 3, 0),
        (" Tasks:    6 successful, 6 total\nCached:    0 cached, 6 total", P, 6, 0),
        (
            '<test-run id="2" testcasecount="12" result="Failed" total="12" passed="11" '
            'failed="1">',
            F,
            11,
            1,
        ),
        (
            '<testsuite name="pytest" errors="0" failures="2" skipped="0" tests="9" time="1">',
            F,
            7,
            2,
        ),
        ('<testsuites name="jest" tests="9" failures="0" errors="0">', P, 9, 0),
        ("===== 3 failed, 11 passed, 2 skipped in 1.20s =====", F, 11, 3),
        ("1 error in 0.10s", F, 0, 1),
        ("no tests ran in 0.01s", N, None, None),
        ("collected 0 items\n", N, None, None),
        ("214 deselected in 0.61s", N, 0, 0),
        ("12 skipped in 0.1s", N, 0, 0),
        ("Ran 9 tests in 0.604s\n\nOK", P, 9, 0),
        ("Ran 9 tests in 0.6s\n\nFAILED (failures=1, errors=1)", F, 7, 2),
        ("Ran 0 tests in 0.000s\n\nOK", N, 0, 0),
        ("Ran 31 tests in 2.118s\n\nOK (skipped=2)", P, 29, 0),
        ("Tests:       2 failed, 94 passed, 96 total", F, 94, 2),
        ("Test Suites: 3 passed, 3 total\nTests:       5 passed, 5 total", P, 5, 0),
        (" Test Files  1 failed | 8 passed (9)\n      Tests  2 failed | 71 passed (73)", F, 71, 2),
        ("  12 passing (34ms)\n  1 failing\n", F, 12, 1),
        ("  12 passing (34ms)\n", P, 12, 0),
        ("ok  \texample.com/a\t0.214s\n", P, None, None),
        ("--- FAIL: TestA (0.00s)\nFAIL\texample.com/a\t0.2s\n", F, None, None),
        ("?   \texample.com/a\t[no test files]\n", N, None, None),
        ("test result: ok. 58 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out", P, 58, 0),
        ("test result: FAILED. 62 passed; 1 failed; 0 ignored", F, 62, 1),
        (
            "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 41 filtered out",
            N,
            0,
            0,
        ),
        ("     Summary [   0.1s] 3 tests run: 3 passed, 0 skipped", P, 3, 0),
        (
            "[INFO] Tests run: 58, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS",
            P,
            58,
            0,
        ),
        (
            "[ERROR] Tests run: 204, Failures: 3, Errors: 0, Skipped: 1\n[INFO] BUILD FAILURE",
            F,
            200,
            3,
        ),
        ("Tests run: 6, Failures: 0, Errors: 0, Skipped: 6", N, 0, 0),
        (
            "Passed!  - Failed:     0, Passed:    58, Skipped:     0, Total:    58, Duration: 1 s",
            P,
            58,
            0,
        ),
        ("Failed!  - Failed:     2, Passed:    12, Skipped:     0, Total:    14", F, 12, 2),
        (
            "Bestanden!   : Fehler:     0, erfolgreich:    23, übersprungen:     0, gesamt:    23",
            P,
            23,
            0,
        ),
        ("23 examples, 0 failures", P, 23, 0),
        ("41 examples, 2 failures, 1 pending", F, 38, 2),
        ("0 examples, 0 failures", N, 0, 0),
        ("5 runs, 10 assertions, 0 failures, 0 errors, 0 skips", P, 5, 0),
        ("OK (148 tests, 402 assertions)", P, 148, 0),
        ("FAILURES!\nTests: 18, Assertions: 52, Failures: 1.", F, 17, 1),
        ("OK, but some tests were skipped!\nTests: 9, Assertions: 0, Skipped: 9.", N, 0, 0),
        ("100% tests passed, 0 tests failed out of 57", P, 57, 0),
        ("67% tests passed, 1 tests failed out of 3", F, 2, 1),
        ("Executed 5 tests, with 0 failures (0 unexpected)", P, 5, 0),
        ("5 tests, 0 failures", P, 5, 0),
        ("5 tests, 0 failures, 5 excluded", N, 0, 0),
        ("[info] Passed: Total 5, Failed 0, Errors 0, Passed 5", P, 5, 0),
        ("31 tests completed, 2 failed", F, 29, 2),
        ("ok | 5 passed | 0 failed (10ms)", P, 5, 0),
        ("# tests 4\n# pass 3\n# fail 1\n", F, 3, 1),
        (" 5 pass\n 0 fail\n", P, 5, 0),
        ("  2 failed\n    a.spec.ts\n  4 passed (34.4s)", F, 4, 2),
        ("  1 skipped\n  5 passed (6.0s)", P, 5, 0),
        ("Done. PASS=3 WARN=0 ERROR=1 SKIP=0 TOTAL=4", F, 3, 1),
        ("Test Successful in 0.310s. 47 tests run.", P, 47, 0),
        ("\x1b[32m14 passed\x1b[0m in 0.21s", P, 14, 0),
    ],
)
def test_results_of_tests(output, outcome, passed, failed):
    found = read_tests(without_colours(output))
    assert found is not None and found.outcome is outcome
    if passed is not None:
        assert found.counts is not None
        assert (found.counts.passed, found.counts.failed) == (passed, failed)


@pytest.mark.parametrize("output", ["", "compiling…", "hello", "the tests", "passed"])
def test_no_result_is_none(output):
    assert read_tests(output) is None


@pytest.mark.parametrize(
    ("output", "outcome"),
    [
        ("Success: no issues found in 1 source file", P),
        ('a.py:3: error: Name "x" is not defined\nFound 1 error in 1 file', F),
        ("All checks passed!", P),
        ("Found 3 errors.", F),
        ("✖ 6 problems (6 errors, 0 warnings)", F),
        ("✖ 3 problems (0 errors, 3 warnings)", P),
        ("src/a.ts(3,1): error TS2304: Cannot find name", F),
        ("Build succeeded.\n    0 Warning(s)\n    0 Error(s)", P),
        ("error[E0425]: cannot find value", F),
        ("error: could not compile `a`", F),
        ("would reformat a.py\n1 file would be reformatted", F),
        ("nginx: configuration file /etc/nginx/nginx.conf test is successful", P),
        ('nginx: [emerg] unexpected "}"\nnginx: configuration file x test failed', F),
        ("Success! The configuration is valid.", P),
        ("make: *** [build] Error 2", F),
        ("Compiled successfully", P),
        ("built in 5.83s", P),
        ("No Python files found under the given path(s)", N),
        ("uploading: 1 failed attempt, retrying\nBUILD SUCCESSFUL", P),
        ("9 checks: 8 passed, 1 failed", F),
        ("System check identified no issues (0 silenced).", P),
        ("", None),
    ],
)
def test_results_of_checks(output, outcome):
    found = read_check(output)
    assert (found.outcome if found else None) is outcome


@given(st.text(max_size=400))
def test_any_output_is_read(output):
    for read in (read_tests, read_check):
        read(output)


@pytest.mark.parametrize(
    "piece", ["1", ".", " ", "1,", "a ", "ok \t", "error: x\n", "1 passed\n", "(", "-"]
)
def test_long_outputs_are_read_in_bounded_time(piece):
    text = both_ends(piece * (2_000_000 // len(piece)))
    for read in (read_tests, read_check):
        read(text)


@pytest.mark.parametrize(
    ("output", "outcome"),
    [
        ("F\n12 passed in 0.2s", P),
        ("E\n12 passed in 0.2s", P),
        ("..F.\n1 failed, 3 passed in 0.2s", F),
        ("..F.", F),
        ("EE", F),
        ("not ok 3 - it breaks\n12 passed in 0.2s", F),
    ],
)
def test_progress_counts_where_there_is_no_summary(output, outcome):
    printed = read_tests(output)
    assert printed is not None and printed.outcome is outcome


@pytest.mark.parametrize("output", ["F", "E", "a\nF\nb"])
def test_a_letter_is_no_progress(output):
    assert read_tests(output) is None
