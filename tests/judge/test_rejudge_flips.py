"""Flips that only a judge caused are judged again: the cost is reported and limited."""

from __future__ import annotations

import json
import os
import re
import signal
from collections import Counter

import pytest
import yaml

from tests.judge.servers import VERDICT, Reply, score
from trialrun.cli.main import main

# Another answer each time, free of charge; the judge passes the odd ones.
AGENT = """
import itertools
numbers = itertools.count(1)

def run(question):
    answer = f"answer {next(numbers)}"
    return {"output": answer, "steps": [], "recorded": ["tokens", "costs", "tool_calls"]}
"""
A_CALL = 0.00021  # 1000 tokens in and 100 out, of gpt-4o-mini


class Judging:
    """Gives the same verdict each time; `again` changes the second one."""

    def __init__(self, again=None):
        self.times = Counter()
        self.again = again

    def __call__(self, sent):
        number = int(re.search(r"answer (\d+)\n", sent["messages"][-1]["content"])[1])
        self.times[number] += 1
        said = 5 if number % 2 else 1
        return self.again(said) if self.again and self.times[number] > 1 else score(said)


@pytest.fixture
def project(tmp_path, monkeypatch, capsys, serve):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text(AGENT)

    def run(judging, *arguments):
        server = serve(answer=judging)
        block = {"model": "openai:gpt-4o-mini", "base_url": f"{server.url}/v1", "timeout": 60}
        case = {"name": "a", "query": "q", "correctness": {"llm_judge": [{"rule": "r"}]}}
        written = {"runner": "agent:run", "isolate": False, "judge": block, "queries": [case]}
        (tmp_path / "spec.yaml").write_text(yaml.safe_dump(written))
        capsys.readouterr()
        code = main(["run", "spec.yaml", "--format", "json", "-j", "1", *map(str, arguments)])
        said = capsys.readouterr()
        return code, json.loads(said.out), len(server.asked)

    return run


def sources(report):
    return [flip["source"] for flip in report["stability"][0]["flips"]]


def test_each_answer_is_judged_once_more_and_counted(project):
    judging = Judging()
    code, report, asked = project(judging, "--repeat", 4)
    assert (code, sources(report)) == (1, ["agent", "agent", "agent"])
    assert judging.times == {1: 2, 2: 2, 3: 2, 4: 2}  # those between two flips included
    assert asked == 8
    spent = report["summary"]["judge"]
    assert (spent["calls"], spent["cost_usd"]) == (8, pytest.approx(8 * A_CALL))
    assert sum(row["judge"]["calls"] for row in report["results"]) == 4
    assert any("4 answers were judged again" in text for text in report["warnings"])


def test_a_judge_that_contradicts_itself_is_the_source(project):
    _, report, _ = project(Judging(lambda said: score(6 - said)), "--repeat", 2)
    assert sources(report) == ["judge"]


def test_a_judge_without_a_second_verdict_settles_nothing(project):
    _, report, _ = project(Judging(lambda said: Reply(status=400)), "--repeat", 2)
    assert sources(report) == ["unsettled"]


def test_rejudging_stops_at_the_budget(project):
    """Four attempts for $0.00084, then one answer judged again: $0.00105."""
    _, report, asked = project(Judging(), "--repeat", 4, "--max-cost", 0.001)
    assert (asked, sources(report)) == (5, ["unsettled"] * 3)
    assert report["summary"]["judge"]["calls"] == 5
    assert (
        "flips are left unsettled: --max-cost: $0.00105 of $0.001 are spent" in report["warnings"]
    )
    assert len(report["results"]) == 4


def test_a_stopped_run_does_not_rejudge(project):
    _, report, asked = project(Judging(), "--repeat", 20, "--max-cost", 0.0005)
    assert (asked, sources(report)) == (3, ["unsettled"] * 2)
    assert report["summary"]["judge"]["calls"] == 3


def test_an_unknown_price_stops_rejudging(project, monkeypatch):
    monkeypatch.setattr("trialrun.judge.models._used", lambda name, response: _unpriced())
    _, report, asked = project(Judging(), "--repeat", 2, "--max-cost", 1)
    assert asked < 4
    assert sources(report) in ([], ["unsettled"])


def _unpriced():
    from trialrun.judge.reply_parser import Usage

    return Usage(10, None)


def test_an_interrupt_leaves_the_other_flips_unsettled(project):
    def interrupt(said):
        os.kill(os.getpid(), signal.SIGINT)
        return Reply(VERDICT % said, delay=1)

    code, report, asked = project(Judging(interrupt), "--repeat", 4)
    assert (code, asked, sources(report)) == (1, 5, ["unsettled"] * 3)
    assert "flips are left unsettled: interrupted" in report["warnings"]
    assert {row["status"] for row in report["results"]} == {"pass", "fail"}
