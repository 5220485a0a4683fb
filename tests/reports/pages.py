"""A scored run with traces, of every kind that a page shows, for tests of the pages."""

from __future__ import annotations

import gzip
import re
from base64 import b64decode
from datetime import UTC, datetime, timedelta

from trialrun import EvalCase, Step, TokenUsage, Trace, evaluate
from trialrun.model.results import RunResult

HOSTILE = (
    "</script><script>window.pwned=1</script>"
    "<img src=x onerror=window.pwned=1>"
    "<a href='javascript:window.pwned=1'>here</a>"
    '"><svg onload=window.pwned=1>'
    "{{ 7*7 }} {% raw %} \u202egnp.exe \x1b[31m"
)
START = datetime(2026, 1, 2, tzinfo=UTC)


class Recorded(list):
    """Results with their traces, as those of `trialrun score`."""

    def __init__(self, made) -> None:
        super().__init__(result for result, *_ in made)
        self._made = made

    def attempts(self):
        return iter(self._made)


def at(seconds: float, step_type=Step.tool_call, *given, **fields) -> Step:
    return step_type(*given, timestamp=START + timedelta(seconds=seconds), **fields)


def model(seconds: float, output: str = "") -> Step:
    used = TokenUsage(prompt_tokens=100, completion_tokens=20)
    given = {"tokens": used, "duration_ms": 1000, "cost_usd": 0.001}
    return at(seconds, Step.llm_call, "small-model", "question", output, **given)


def attempt(spec: dict, steps=(), output="Within 30 days.", number=1, **fields):
    case = EvalCase.from_dict({"query": "How long?", **spec})
    given = {} if steps is None else {"steps": list(steps)}
    trace = Trace(input=fields.pop("question", "How long?"), output=output, **given, **fields)
    result = evaluate(case, trace)
    result.case_name, result.suite_name, result.attempt = spec["name"], "suite", number
    return result, trace, None


def calls() -> list[Step]:
    return [
        model(0),
        at(1, Step.tool_call, "search", {"query": "returns"}, ["a.md"], duration_ms=500),
        at(1.5, Step.tool_call, "issue_refund", {"order": "12"}, None, error="denied"),
        model(2, "Within 30 days."),
    ]


def run() -> RunResult:
    """A pass, a warning, a failure with a step, an error, a repeated and a hostile case."""
    failing = {
        "name": "failing",
        "tags": ["policy"],
        "correctness": {"expected_in_answer": ["receipt"], "not_in_answer": ["30 days"]},
        "path": {"forbidden_tools": {"value": ["issue_refund"], "severity": "fail"}},
    }
    warned = {"name": "warned", "path": {"expected_tool_sequence": ["search"]}}
    passing = {"name": "passing", "correctness": {"expected_in_answer": ["30 days"]}}
    unknown = {
        "name": "silent",
        "cost": {"max_total_tokens": {"value": 5, "severity": "fail"}},
        **CORRECT,
    }
    hostile = {"name": f"hostile {HOSTILE}", "correctness": {"not_in_answer": [HOSTILE]}}
    wild = Step.tool_call(HOSTILE, {HOSTILE: HOSTILE}, {"text": HOSTILE}, error=HOSTILE)
    made = [
        attempt(passing, calls()),
        attempt(failing, calls()),
        attempt(warned, calls()),
        attempt(unknown, None),
        attempt({**passing, "name": "repeated"}, calls()),
        attempt({**passing, "name": "repeated"}, calls(), output="No idea.", number=2),
        attempt(hostile, [wild], output=HOSTILE + "not it", question=HOSTILE),
    ]
    return RunResult(results=Recorded(made), planned=6)


CORRECT = {"correctness": {"expected_in_answer": ["30 days"]}}


def unpacked(text: str, name: str) -> str:
    """A compressed part of a file: `index`, `k0` …"""
    found = re.search(rf'<script type="text/plain" id="{name}"[^>]*>([^<]*)</script>', text)
    assert found is not None, name
    return gzip.decompress(b64decode(found[1])).decode()


def readable(text: str) -> str:
    """A report with what is compressed in it, if it is HTML."""
    if 'id="index"' not in text:
        return text
    return "\n".join([text, unpacked(text, "index"), *case_pages(text)])


def case_pages(text: str) -> list[str]:
    """The pages of the first cases in a file, as its script puts them together."""
    texts, _, pages = unpacked(text, "k0").partition("\x1c")
    long = texts.split("\x1e")
    return [
        re.sub("\x1d(\\d+)\x1d", lambda match: long[int(match[1])], page).replace(
            "\x1a", f"c{number}-"
        )
        for number, page in enumerate(pages.split("\x1e"))
    ]
