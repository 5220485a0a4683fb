"""A slow pattern of the user ends in time, wherever it is written, and harms no other case."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import trialrun
from trialrun import EvalCase, Step, Trace, evaluate

SLOW = "(a|aa)+$"
LONG = "a" * 70 + "!"
SOURCE = Path(trialrun.__file__).parent


def test_a_pattern_of_a_runner_is_stopped():
    runner = {"name": "h", "kind": "test", "command": "hamster run", "passed": SLOW}
    case = EvalCase.from_dict(
        {"query": "q", "verification": {"no_unsupported_claims": True, "runners": [runner]}}
    )
    calls = [Step.tool_call("Bash", {"command": "hamster run"}, LONG)] * 5
    trace = Trace(input="q", output="All tests pass.", steps=calls)
    (check,) = evaluate(case, trace).layers["verification"].checks
    assert check.status.value != "pass"


@pytest.mark.parametrize(
    ("kind", "status"), [("passed", "pass"), ("failed", "fail"), ("nothing", "unknown")]
)
def test_a_pattern_of_a_runner_still_decides(kind, status):
    runner = {"name": "h", "kind": "test", "command": "hamster run", kind: r"\d+ wheels (ok|bad)"}
    case = EvalCase.from_dict(
        {"query": "q", "verification": {"no_unsupported_claims": True, "runners": [runner]}}
    )
    call = Step.tool_call("Bash", {"command": "hamster run"}, "12 wheels ok")
    trace = Trace(input="q", output="All tests pass.", steps=[call])
    (check,) = evaluate(case, trace).layers["verification"].checks
    assert check.status.value == status


AGENT = f"""
def run(question):
    return {LONG!r} if question == "Q" else "fine"
"""
SPEC = """
runner: patterns_agent:run
redact: ['(a|aa)+$']
queries:
  - {name: slow, query: Q, correctness: {not_in_answer: [x]}}
  - {query: b, correctness: {expected_in_answer: [fine]}}
  - {query: c, correctness: {expected_in_answer: [fine]}}
"""


def test_a_text_that_cannot_be_masked_is_an_error_of_its_case(bench):
    (bench.folder / "patterns_agent.py").write_text(AGENT, encoding="utf-8")
    bench.spec(SPEC)
    done = bench.run("run", "spec.yaml", "-j", "1")
    done.expect(3, "takes longer than", "3 cases: 2 passed, 1 in error")
    stored = b"".join(
        path.read_bytes() for path in bench.folder.glob(".trialrun/runs.db*") if path.is_file()
    )
    assert LONG.encode() not in stored


# Every file that compiles a pattern which is not a constant. A pattern of the user is searched by
# `measures.patterns` only, which limits its time: say here why a further file is none of that.
COMPILING = {
    "measures/patterns.py": "the limit itself",
    "checks/base.py": "compiles to find mistakes, and searches nothing",
    "verification/settings.py": "compiles to find mistakes, and searches nothing",
    "spec/validation.py": "the patterns of our own types",
    "util/secrets.py": "our own patterns",
    "verification/marks.py": "our own patterns",
    "verification/results.py": "our own patterns",
    "verification/text.py": "words that a subclass in Python defines",
    "verification/text_words.py": "words that a subclass in Python defines",
}
SEARCHES = {"compile", "search", "match", "fullmatch", "finditer", "findall", "sub", "split"}


def compiles_a_variable(node):
    if not isinstance(node, ast.Call) or not node.args:
        return False
    called = node.func
    by_name = isinstance(called, ast.Name) and called.id == "quietly_compiled"
    by_re = (
        isinstance(called, ast.Attribute)
        and called.attr in SEARCHES
        and isinstance(called.value, ast.Name)
        and called.value.id == "re"
    )
    given = node.args[0]
    name = getattr(given, "id", None) or getattr(given, "attr", None)
    return (by_name or by_re) and name is not None and not name.isupper()


def test_patterns_of_the_user_are_searched_in_one_place():
    found = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if any(map(compiles_a_variable, ast.walk(ast.parse(path.read_text(encoding="utf-8")))))
    }
    assert found <= set(COMPILING), found - set(COMPILING)
    assert "measures/patterns.py" in found
