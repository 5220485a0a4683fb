"""The examples in the docs work: code runs, specs are valid, traces are read."""

from __future__ import annotations

import re
import types
from pathlib import Path

import pytest

from trialrun import EvalCase, Step, StepStatus, Trace, evaluate, load_suite
from trialrun.spec.document import read_document
from trialrun.spec.validation import Problems

ROOT = Path(__file__).parents[2]


def blocks(file: str, language: str) -> list[str]:
    text = (ROOT / file).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def as_module(name: str, code: str, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    import sys

    module = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    exec(compile(code, name, "exec"), module.__dict__)  # noqa: S102
    return module


FAILED = Step.tool_call("a", status=StepStatus.FAILURE)


def test_the_check_of_contributing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    as_module("contributed_check", blocks("CONTRIBUTING.md", "python")[0], monkeypatch)
    case = EvalCase.from_dict({"query": "q", "path": {"contributed_check:MaxRetries": 0}})
    result = evaluate(case, Trace(input="q", output="a", steps=[FAILED]))
    assert result.layers["path"].checks[0].message == "1 failed call, limit 0"


def test_the_metric_of_contributing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    module = as_module("contributed_metric", blocks("CONTRIBUTING.md", "python")[1], monkeypatch)
    result = module.FailedCallsMetric().calculate(Trace(input="q", steps=[FAILED]))
    assert (result.value, result.unit) == (1.0, "calls")


def test_the_conversation_of_the_docs_passes() -> None:
    (block,) = [block for block in blocks("docs/files.md", "yaml") if "turns:" in block]
    cases = read_document(block.encode(), Problems())
    trace = Trace.from_json(blocks("docs/files.md", "json")[1])
    assert evaluate(EvalCase.from_dict(cases[0]), trace).status.value == "pass"


def test_the_defaults_and_prices_of_the_docs_are_read(tmp_path: Path) -> None:
    by_start = {block.split(":")[0]: block for block in blocks("docs/files.md", "yaml")}
    (tmp_path / "prices.json").write_text(by_start["models"])
    (tmp_path / "spec.yaml").write_text("prices: prices.json\n" + by_start["defaults"])
    suite = load_suite(tmp_path / "spec.yaml")
    assert [case.number_of_checks() for case in suite.cases] == [3, 1]


CASE = "queries: [{query: q, correctness: {expected_in_answer: [a]}}]\n"


@pytest.mark.parametrize("block", blocks("docs/judge.md", "yaml"))
def test_the_judges_of_the_docs_are_read(block: str, tmp_path: Path) -> None:
    (tmp_path / "policy.md").write_text("30 days")
    (tmp_path / "spec.yaml").write_text(block if "queries:" in block else block + CASE)
    assert load_suite(tmp_path / "spec.yaml").judge is not None


@pytest.mark.parametrize("block", blocks("docs/runs.md", "yaml"))
def test_the_specs_of_the_docs_are_read(block: str, tmp_path: Path) -> None:
    (tmp_path / "capitals.csv").write_text("country,capital\nPeru,Lima\n")
    if block.lstrip().startswith("- name"):
        block = f"queries:\n{block}"
    elif "queries:" not in block:
        block += CASE
    (tmp_path / "spec.yaml").write_text(block)
    suite = load_suite(tmp_path / "spec.yaml")
    assert suite.agents or "capital-Peru" in suite.cases[0].name or suite.cases[0].setup
