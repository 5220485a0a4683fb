"""Third-party checks and metrics that misbehave never crash a run and never make it pass."""

from __future__ import annotations

import json
import subprocess
import sys

import lxml.etree
import pytest

from tests.watchdog import WALL_SECONDS
from trialrun import EvalCase, LayerStatus, Trace, evaluate

ONE = {"name": "one", "input": "q", "output": "yes", "steps": []}
GOOD = {"name": "good", "input": "fine", "output": "yes", "steps": []}
FORMS = ("terminal", "json", "junit")

METRICS = """
import asyncio
import sys

from trialrun import MetricResult
from trialrun.metrics import BaseMetric


class BadText(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class BadRepr:
    def __repr__(self):
        raise RuntimeError("no repr")


def deep():
    return deep()


def cycle():
    made = {}
    made["made"] = made
    return made


class Mine(BaseMetric):
    name = "mine"

    def calculate(self, trace, test_case):
        BODY


class Async(BaseMetric):
    name = "mine"

    async def calculate(self, trace, test_case):
        await asyncio.sleep(0)
        BODY


class Abstract(BaseMetric):
    name = "abstract"


class NeedsArguments(BaseMetric):
    name = "needs"

    def __init__(self, key):
        self.key = key

    def calculate(self, trace, test_case):
        return MetricResult("needs", 1)


class FailsWhenMade(BaseMetric):
    name = "fails"

    def __init__(self):
        raise RuntimeError("no key given")

    def calculate(self, trace, test_case):
        return MetricResult("fails", 1)


class ExitsWhenMade(BaseMetric):
    name = "leaves"

    def __init__(self):
        sys.exit(0)

    def calculate(self, trace, test_case):
        return MetricResult("leaves", 1)


class Stranger:
    pass


a_number = 5
"""

CHECKS = """
import sys

from trialrun import CheckResult, CheckStatus, Severity
from trialrun.checks.base import Check, check


class BadRepr:
    def __repr__(self):
        raise RuntimeError("no repr")


@check(layer="correctness", name="mine")
class Mine(Check):
    wanted: int

    def judge(self, trace, baseline):
        BODY


@check(layer="correctness", name="async")
class Async(Check):
    wanted: int

    async def judge(self, trace, baseline):
        return self.passed("fine")


@check(layer="correctness", name="no_judge")
class NoJudge(Check):
    wanted: int


@check(layer="path", name="elsewhere")
class Elsewhere(Check):
    wanted: int

    def judge(self, trace, baseline):
        return self.passed("fine")


class Undecorated(Check):
    wanted: int

    def judge(self, trace, baseline):
        return self.passed("fine")


@check(layer="correctness", name="no_value")
class NoValue(Check):
    def judge(self, trace, baseline):
        return self.passed("fine")


@check(layer="correctness", name="odd_type")
class OddType(Check):
    wanted: set[str]

    def judge(self, trace, baseline):
        return self.passed("fine")


@check(layer="correctness", name="refuses")
class Refuses(Check):
    wanted: int

    def validate(self):
        raise ValueError("one is too few")

    def judge(self, trace, baseline):
        return self.passed("fine")


@check(layer="correctness", name="trips")
class Trips(Check):
    wanted: int

    def validate(self):
        raise TypeError("tripped")

    def judge(self, trace, baseline):
        return self.passed("fine")


@check(layer="correctness", name="leaves")
class Leaves(Check):
    wanted: int

    def validate(self):
        sys.exit(0)

    def judge(self, trace, baseline):
        return self.passed("fine")


class Stranger:
    pass


a_number = 5
"""


def metrics(bench, body, entry="'their_metrics:Mine'"):
    """Write a suite of two cases with this metric."""
    bench.write("their_metrics.py", METRICS.replace("BODY", body))
    bench.spec(
        f"metrics: [{entry}]\nqueries:\n"
        '  - {name: one, query: q, correctness: {expected_in_answer: ["yes"]}}\n'
        '  - {name: good, query: fine, correctness: {expected_in_answer: ["yes"]}}\n'
    )
    bench.traces(ONE, GOOD)


def checks(bench, body="return self.passed('fine')", name="Mine", value="1"):
    """Write a suite of two cases; the first has this check and one that passes."""
    bench.write("their_checks.py", CHECKS.replace("BODY", body))
    bench.case(
        f"correctness: {{'their_checks:{name}': {value}, not_in_answer: [zzz]}}\n"
        "    path: {max_steps: 3}"
    )
    bench.traces(ONE, GOOD)


def in_every_form(bench):
    """Yield the outcome for each format; JSON and JUnit reports are parsed."""
    for form in FORMS:
        outcome = bench.score("--format", form)
        assert "Traceback" not in outcome.text, outcome.text[-2000:]
        if form == "json":
            json.loads(outcome.out)
        elif form == "junit":
            assert len(lxml.etree.fromstring(outcome.out.encode()).findall(".//testcase")) == 2
        yield outcome


# Metrics


BROKEN_METRICS = {
    "raises": ("raise ValueError('boom')", "ValueError: boom"),
    "raises without a message": ("raise ValueError", "ValueError"),
    "recurses too deeply": ("return deep()", "RecursionError"),
    "runs out of memory": ("raise MemoryError", "MemoryError"),
    "raises an error whose __str__ raises": ("raise BadText", "BadText"),
    "exits with success": ("sys.exit(0)", "SystemExit"),
    "exits with failure": ("sys.exit(1)", "SystemExit"),
    "raises GeneratorExit": ("raise GeneratorExit", "GeneratorExit"),
    "is cancelled": ("raise asyncio.CancelledError", "CancelledError"),
    "a bare number": ("return 5", "not a MetricResult"),
    "nothing": ("return None", "not a MetricResult"),
    "not a number": ("return MetricResult('mine', float('nan'))", "nan"),
    "infinity": ("return MetricResult('mine', float('inf'))", "inf"),
    "a number too large for a float": ("return MetricResult('mine', 10**400)", "not a number"),
    "text": ("return MetricResult('mine', 'five')", "five"),
    "a boolean": ("return MetricResult('mine', True)", "True"),
    "object whose repr raises": ("return BadRepr()", "not a MetricResult"),
    "value whose repr raises": ("return MetricResult('mine', BadRepr())", "not a number"),
}


@pytest.mark.parametrize("kind", ["Mine", "Async"])
@pytest.mark.parametrize(("body", "word"), BROKEN_METRICS.values(), ids=BROKEN_METRICS)
def test_a_broken_metric_is_shown_and_the_run_goes_on(bench, body, word, kind):
    metrics(bench, body, f"'their_metrics:{kind}'")
    for outcome in in_every_form(bench):
        outcome.expect(0, word, "one", "good")


@pytest.mark.parametrize("kind", ["Mine", "Async"])
@pytest.mark.parametrize(("body", "word"), BROKEN_METRICS.values(), ids=BROKEN_METRICS)
def test_the_gate_of_a_broken_metric_is_unknown_and_never_passes(bench, body, word, kind):
    entry = f"{{name: 'their_metrics:{kind}', max: 1000000, severity: fail}}"
    metrics(bench, body, entry)
    for outcome in in_every_form(bench):
        outcome.expect(3, word)
    metrics(bench, body, entry.replace(", severity: fail", ""))
    bench.score().expect(0, "2 warned", word)


def test_a_metric_that_exits_does_not_end_the_process_with_success(bench):
    """In a separate process: exit 0 without a report would look like a passed run."""
    metrics(bench, "sys.exit(0)", "{name: 'their_metrics:Mine', max: 1, severity: fail}")
    bench.spawn("score", "spec.yaml", "traces.jsonl").expect(3, "2 in error")


@pytest.mark.parametrize("kind", ["Mine", "Async"])
def test_a_valid_metric_and_its_gate_count(bench, kind):
    body = "return MetricResult('mine', 7, 'apples')"
    metrics(bench, body, f"{{name: 'their_metrics:{kind}', max: 7, severity: fail}}")
    bench.score("-v").expect(0, "2 passed", "mine 7 apples")
    metrics(bench, body, f"{{name: 'their_metrics:{kind}', max: 6, severity: fail}}")
    bench.score().expect(1, "2 failed", "7, at most 6")


ODD_RESULTS = {
    "details that are not JSON": "return MetricResult('mine', 1, details={'x': object()})",
    "details in a cycle": "return MetricResult('mine', 1, details=cycle())",
    "details of a set": "return MetricResult('mine', 1, details={'x': {1}, 5: float('nan')})",
    "details with a lone surrogate": "return MetricResult('mine', 1, details={'x': '\\ud800'})",
    "details are a list": "return MetricResult('mine', None, details=[1])",
    "details are None": "return MetricResult('mine', None, details=None)",
    "its name is a number": "return MetricResult(5, 1)",
    "its name is None": "return MetricResult(None, None, error='x')",
    "its unit is a number": "return MetricResult('mine', 1, unit=5)",
    "its error is a number": "return MetricResult('mine', None, error=5)",
    "its error is a lone surrogate": "raise ValueError('\\ud800')",
    "escapes everywhere": (
        "return MetricResult('\\x1b[2J\\n::error::x\\u202e', 1, '\\x1b[2J\\u202e', "
        "error='\\x1b\\n::error::x')"
    ),
}


@pytest.mark.parametrize("gate", ["", ", max: 1000, severity: fail"], ids=["plain", "gated"])
@pytest.mark.parametrize("body", ODD_RESULTS.values(), ids=ODD_RESULTS)
def test_metric_results_with_odd_fields_break_no_report(bench, body, gate):
    metrics(bench, body, f"{{name: 'their_metrics:Mine'{gate}}}")
    for outcome in in_every_form(bench):
        assert outcome.code in (0, 3)
        outcome.expect_safe()
    bench.score("-v").expect_safe()


def test_a_metric_that_prints_does_not_corrupt_json_or_junit_reports(bench):
    metrics(bench, "print('hello'); return MetricResult('mine', 1)")
    for form in ("json", "junit"):
        command = [sys.executable, "-m", "trialrun", "score", "spec.yaml", "traces.jsonl"]
        done = subprocess.run(
            [*command, "--format", form], capture_output=True, timeout=WALL_SECONDS
        )
        assert done.returncode == 0
        if form == "json":
            assert json.loads(done.stdout)["summary"]["pass"] == 2
        else:
            assert len(lxml.etree.fromstring(done.stdout).findall(".//testcase")) == 2


def test_a_metric_cannot_change_the_case_or_what_was_planned(bench):
    metrics(bench, "test_case.name = 'other'; return MetricResult('mine', 1)")
    outcome = bench.score("--format", "json").expect(0)
    assert [result["case"] for result in json.loads(outcome.out)["results"]] == ["one", "good"]


IMPORTS = {
    "no such module": ("nowhere_at_all:Mine", "no module 'nowhere_at_all'"),
    "no such package": ("nowhere_at_all.inside:Mine", "no module 'nowhere_at_all'"),
    "no such name": ("PLUGINS:Nobody", "Nobody"),
    "no such part": ("PLUGINS:Stranger.part", "Stranger.part"),
    "no name": ("PLUGINS:", "module:Name"),
    "no module": (":Mine", "module:Name"),
    "relative": (".PLUGINS:Mine", ".PLUGINS"),
    "a number": ("PLUGINS:a_number", "5"),
    "another class": ("PLUGINS:Stranger", "Stranger"),
    "a function of Python": ("os:system", "system"),
    "a module that does not compile": ("their_syntax:Mine", "SyntaxError"),
    "a module that needs another": ("their_needs:Mine", "nowhere_at_all"),
    "a module that raises": ("their_raise:Mine", "ValueError: boom"),
    "a module that exits with success": ("their_exit:Mine", "SystemExit"),
    "a module whose __getattr__ raises": ("their_guard:Mine", "ValueError: guarded"),
    "a module that is not UTF-8": ("their_bytes:Mine", "their_bytes"),
}


def write_modules(bench):
    bench.write("their_syntax.py", "x = (\n")
    bench.write("their_needs.py", "import nowhere_at_all\n")
    bench.write("their_raise.py", "raise ValueError('boom')\n")
    bench.write("their_exit.py", "import sys\nsys.exit(0)\n")
    bench.write("their_guard.py", "def __getattr__(name):\n    raise ValueError('guarded')\n")
    bench.write("their_bytes.py", b"x = '\xff\0'\n")


@pytest.mark.parametrize(("reference", "word"), IMPORTS.values(), ids=IMPORTS)
def test_a_metric_that_cannot_be_loaded_is_a_spec_error(bench, reference, word):
    metrics(bench, "return MetricResult('mine', 1)")
    write_modules(bench)
    reference = reference.replace("PLUGINS", "their_metrics")
    bench.spec(f"metrics: ['{reference}']\nqueries:\n  - {{query: q, path: {{max_steps: 1}}}}\n")
    for command in ("validate", "score"):
        bench.run(command, "spec.yaml").expect(
            2, "spec.yaml:1:11: metrics[0]", word.replace("PLUGINS", "their_metrics")
        )


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("Abstract", "calculate"),
        ("NeedsArguments", "key"),
        ("FailsWhenMade", "no key given"),
        ("ExitsWhenMade", "SystemExit"),
    ],
)
def test_a_metric_that_cannot_be_instantiated_is_a_spec_error(bench, name, word):
    metrics(bench, "return MetricResult('mine', 1)", f"'their_metrics:{name}'")
    bench.score().expect(2, "spec.yaml:1:11: metrics[0]", f"their_metrics:{name}", word)


def test_a_metric_given_twice_is_a_spec_error(bench):
    metrics(bench, "pass", "'their_metrics:Mine', 'their_metrics:Async'")
    bench.score().expect(2, "spec.yaml:1:33: metrics[1]", "`mine`", "twice")


def test_each_suite_loads_the_plug_in_from_its_own_folder(bench):
    """Files of the same name in two folders are two modules."""
    for folder in ("a", "b"):
        bench.write(
            f"specs/{folder}/their_own.py",
            "from trialrun import MetricResult\nfrom trialrun.metrics import BaseMetric\n"
            "class Mine(BaseMetric):\n    name = 'mine'\n"
            f"    def calculate(self, t, c): return MetricResult('from_{folder}', 1)\n",
        )
        bench.write(
            f"specs/{folder}/{folder}.yaml",
            f"metrics: ['their_own:Mine']\nqueries:\n"
            f'  - {{name: {folder}, query: q, correctness: {{expected_in_answer: ["yes"]}}}}\n',
        )
    bench.traces({"input": "q", "output": "yes"})
    outcome = bench.run("score", "specs", "traces.jsonl", "--format", "json").expect(0)
    results = json.loads(outcome.out)["results"]
    assert [result["metrics"][0]["metric_name"] for result in results] == ["from_a", "from_b"]


# Checks


BROKEN_CHECKS = {
    "raises": ("raise ValueError('boom')", "ValueError: boom"),
    "recurses too deeply": ("return self.judge(trace, baseline)", "RecursionError"),
    "exits with success": ("sys.exit(0)", "SystemExit"),
    "raises GeneratorExit": ("raise GeneratorExit", "GeneratorExit"),
    "nothing": ("return None", "not a CheckResult"),
    "a boolean": ("return True", "not a CheckResult"),
    "text": ("return 'pass'", "not a CheckResult"),
    "a status": ("return CheckStatus.PASS", "not a CheckResult"),
    "object whose repr raises": ("return BadRepr()", "not a CheckResult"),
    "unknown status": (
        "return CheckResult('mine', 'banana', Severity.FAIL, 'm')",
        "banana",
    ),
    "no status": ("return CheckResult('mine', None, Severity.FAIL, 'm')", "None"),
    "boolean as status": ("return CheckResult('mine', True, Severity.FAIL, 'm')", "True"),
}


@pytest.mark.parametrize(("body", "word"), BROKEN_CHECKS.values(), ids=BROKEN_CHECKS)
def test_a_broken_check_is_unknown_and_the_others_are_judged(bench, body, word):
    checks(bench, body)
    for outcome in in_every_form(bench):
        outcome.expect(3, "their_checks:Mine", word, "good")
    bench.score("-q").expect(3, "1 passed, 1 in error")


@pytest.mark.process
def test_a_check_that_exits_does_not_end_the_process_with_success(bench):
    checks(bench, "sys.exit(0)")
    bench.spawn("score", "spec.yaml", "traces.jsonl").expect(3, "ERROR one", "PASS  good")


@pytest.mark.parametrize(
    "body",
    [
        "return CheckResult('mine', 'fail', 'fail', 'bad')",
        "return CheckResult('mine', 'fail', Severity.FAIL, 'bad')",
        "return CheckResult('mine', CheckStatus.FAIL, 'fail', 'bad')",
    ],
)
def test_a_status_given_as_text_keeps_its_meaning_or_is_unknown(bench, body):
    """A failure given as text must not turn into a warning."""
    checks(bench, body)
    for outcome in in_every_form(bench):
        assert outcome.code in (1, 3)
    assert bench.score("-q").code in (1, 3)


ODD_CHECKS = {
    "no message": "return CheckResult('mine', CheckStatus.FAIL, Severity.FAIL, None)",
    "message is a number": "return CheckResult('mine', CheckStatus.FAIL, Severity.FAIL, 5)",
    "no name": "return CheckResult(None, CheckStatus.FAIL, Severity.FAIL, 'm')",
    "no severity": "return CheckResult('mine', CheckStatus.FAIL, None, 'm')",
    "lone surrogate": "return self.failed('\\ud800')",
    "escapes in the message": "return self.failed('\\x1b[2J\\u202e\\n::error::x')",
    "escapes in the name": (
        "return CheckResult('\\x1b[2J\\u202e\\n::error::x', CheckStatus.FAIL, Severity.FAIL, 'm')"
    ),
}


@pytest.mark.parametrize("body", ODD_CHECKS.values(), ids=ODD_CHECKS)
def test_check_results_with_odd_fields_break_no_report_and_never_pass(bench, body):
    checks(bench, body)
    for outcome in in_every_form(bench):
        assert outcome.code in (1, 3)
        outcome.expect_safe()
    bench.score("-v").expect_safe()


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("Async", "not a CheckResult"),
        ("NoJudge", "NotImplementedError"),
    ],
)
def test_a_check_that_cannot_judge_is_unknown(bench, name, word):
    checks(bench, name=name)
    outcome = bench.score().expect(3, "ERROR one", "PASS  good", f"their_checks:{name}", word)
    assert "never awaited" not in outcome.text


@pytest.mark.parametrize(("reference", "word"), IMPORTS.values(), ids=IMPORTS)
def test_a_check_that_cannot_be_loaded_is_a_spec_error(bench, reference, word):
    checks(bench)
    write_modules(bench)
    reference = reference.replace("PLUGINS", "their_checks")
    bench.case(f"correctness: {{'{reference}': 1}}")
    for command in ("validate", "score"):
        bench.run(command, "spec.yaml").expect(
            2, "spec.yaml:4:19: queries[0].correctness", word.replace("PLUGINS", "their_checks")
        )


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("Undecorated", "@check"),
        ("NoValue", "field"),
        ("OddType", "cannot"),
        ("Refuses", "one is too few"),
        ("Trips", "tripped"),
        ("Leaves", "SystemExit"),
        ("Elsewhere", "`path`"),
    ],
)
def test_a_check_that_cannot_be_built_is_a_spec_error(bench, name, word):
    checks(bench, name=name)
    bench.score().expect(2, "spec.yaml:4:", f"their_checks:{name}", word)


ODD_NEEDS = """
from trialrun.checks.base import Check, check


@check(layer="correctness", name="odd_needs", needs={"telepathy"})
class OddNeeds(Check):
    wanted: int
"""


def test_a_check_that_needs_unknown_evidence_is_a_spec_error(bench):
    bench.write("odd.py", ODD_NEEDS)
    bench.case("correctness: {'odd:OddNeeds': 1}")
    bench.run("validate", "spec.yaml").expect(2, "spec.yaml:4:19", "telepathy", "tool_calls")


def test_a_value_of_the_wrong_type_for_a_custom_check_is_named(bench):
    checks(bench, value="many")
    bench.score().expect(2, "spec.yaml:4:40: queries[0].correctness.their_checks:Mine", '"many"')


def test_a_valid_check_counts_with_the_severity_of_the_spec(bench):
    checks(bench)
    bench.score().expect(0, "2 passed")
    checks(bench, "return self.failed('bad')")
    bench.score().expect(1, "their_checks:Mine fail: bad", "1 passed, 1 failed")
    checks(bench, "return self.failed('bad')", value="{value: 1, severity: warn}")
    bench.score().expect(0, "1 passed, 1 warned")
    bench.score("--strict").expect(1)


def test_scoring_imports_no_file_except_named_plug_ins(bench):
    bench.write("sitecustomize.py", "open('pwned', 'w')\n")
    bench.write("conftest.py", "open('pwned', 'w')\n")
    bench.write("agent.py", "open('pwned', 'w')\n")
    bench.spec("runner: agent:run\nqueries:\n  - {query: q, path: {max_steps: 1}}\n")
    bench.traces({"input": "q", "output": "a", "steps": []})
    bench.score().expect(0)
    assert not (bench.folder / "pwned").exists()


def test_metrics_given_in_code_are_validated_too(bench):
    from trialrun.metrics import BaseMetric

    class Bare(BaseMetric):
        name = "bare"

        def calculate(self, trace, test_case):
            return 5

    case = EvalCase.from_dict({"query": "q", "correctness": {"exact_match": "a"}})
    result = evaluate(case, Trace(input="q", output="a"), metrics=[Bare()])
    assert result.status is LayerStatus.PASS
    assert "not a MetricResult" in result.metrics[0].error


def run_alone(folder, *arguments, **environment):
    """Run the command line in a new process, as the installed program does: without its folder."""
    import os
    import subprocess
    import sys

    command = [sys.executable, "-P", "-m", "trialrun", *arguments]
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("optimize", "code"), [("", 3), ("1", 2)])
def test_a_check_with_assertions_is_refused_where_python_leaves_them_out(bench, optimize, code):
    bench.write("checks_o.py", "def polite(answer):\n    assert 0, 'rude'\n    return True\n")
    bench.spec("queries: [{query: q, correctness: {'checks_o:polite': true}}]")
    bench.write("t.json", '{"input": "q", "output": "a"}')
    done = run_alone(bench.folder, "score", "spec.yaml", "t.json", PYTHONOPTIMIZE=optimize)
    assert (done.returncode, "PASS" in done.stdout) == (code, False), done.stderr
    assert not optimize or "Python leaves them out here" in done.stderr


@pytest.mark.parametrize("library", ["rich", "sqlite3", "genai_prices"])
def test_a_file_beside_the_spec_does_not_replace_a_library(bench, library):
    """The folder of the spec is searched for plug-ins, not for what trialrun itself imports."""
    bench.write(f"{library}.py", "raise RuntimeError('not the library')\n")
    bench.write("checks_l.py", "import helper_l\n\ndef fine(answer):\n    return helper_l.FINE\n")
    bench.write("helper_l.py", "FINE = True\n")
    bench.spec(
        "command: [echo, a]\n"
        "queries: [{query: q, correctness: {'checks_l:fine': true}, cost: {max_cost_usd: 1}}]"
    )
    done = run_alone(bench.folder, "run", "spec.yaml")
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
