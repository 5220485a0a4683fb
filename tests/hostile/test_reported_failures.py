"""What reports say of an attempt that has no answer, or needed more than one try."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

AGENT = """
import os, pathlib

def run(question):
    if question == "flaky":
        file = pathlib.Path("tries")
        done = len(file.read_text()) if file.exists() else 0
        file.write_text("x" * (done + 1))
        if done < 2:
            raise TimeoutError(f"no reply the {done + 1}. time")
        return "yes"
    if question == "prints":
        print("first line\\nPASS forged")
        print("\\x1b[31mred")
        raise ValueError("two\\nlines")
    return {"a number": 7, "nothing": None, "error": {"error": "quota"}}[question]
"""


@pytest.fixture
def agents(bench, monkeypatch):
    bench.write("agent.py", AGENT)
    monkeypatch.setattr("trialrun.engine.attempt.pause", lambda done, after: 0.0)
    return bench


def test_every_report_says_how_many_tries_an_attempt_took_and_why(agents):
    agents.cases({"runner": "agent:run"}, {"one": "flaky"})
    agents.run("run", "spec.yaml", "-o", "report.xml").expect(0)
    shown = agents.run("show", "latest").expect(0)
    why = "3 tries; earlier: TimeoutError: no reply the 1. time; TimeoutError: no reply the 2. time"
    assert why in shown.out
    assert why in agents.run("show", "latest", "one").expect(0).out
    whole = agents.run("show", "latest", "--format", "json").out
    assert '"tries": 3' in whole and "no reply the 2. time" in whole
    xml = ElementTree.parse(agents.folder / "report.xml").getroot()
    assert why in xml.find(".//system-out").text
    assert xml.find(".//property[@name='tries']").get("value") == "3"
    regraded = agents.run("regrade").expect(0)
    assert why in regraded.out


def test_a_retried_attempt_is_flaky_infrastructure(agents):
    agents.cases({"runner": "agent:run"}, {"one": "flaky"})
    done = agents.run(
        "run", "spec.yaml", "--repeat", "2", "-j", "1", "--fail-on", "flaky:infrastructure"
    )
    done.expect(1, "retried after infrastructure errors: one (1 attempt)")


@pytest.mark.parametrize(
    ("agent", "question", "message"),
    [
        ({"runner": "agent:run"}, "a number", "the agent returned an int"),
        ({"runner": "agent:run"}, "nothing", "the agent returned None"),
        ({"runner": "agent:run"}, "error", "the agent reported an error: quota"),
        ({"command": ["surely-not-a-program"]}, "x", "the command `surely-not-a-program` was not"),
        ({"command": ["true"]}, "x", "the command printed nothing"),
        ({"url": "http://127.0.0.1:9/"}, "x", "http://127.0.0.1:9/ cannot be reached"),
    ],
)
def test_only_a_crash_is_called_a_crash(agents, agent, question, message):
    names = agents.cases(agent, {"one": question})
    row = agents.live("--retries", "0").expect_complete(names).rows["one"]
    assert row["error"].startswith(message)
    assert "crashed" not in str(row)


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ({"runner": "agent:run"}, "the agent crashed: ValueError: two\nlines"),
        ({"command": ["sh", "-c", "exit 7"]}, "the agent crashed: the command ended with exit 7"),
        ({"command": ["sh", "-c", "kill -9 $$"]}, "the agent crashed: the command ended with kil"),
    ],
)
def test_an_exception_a_signal_and_an_exit_code_are_crashes(agents, agent, message):
    names = agents.cases(agent, {"one": "prints"})
    assert agents.live().expect_complete(names).rows["one"]["error"].startswith(message)


def test_prints_and_tracebacks_are_shown_as_lines(agents):
    agents.cases({"runner": "agent:run"}, {"one": "prints"})
    shown = agents.run("run", "spec.yaml", "-v").expect(3)
    assert "the agent crashed: ValueError: two\n       | lines" in shown.out
    found = agents.run("show", "latest", "one")
    found.expect_safe()
    lines = found.out.splitlines()
    assert "    | first line" in lines
    assert "    | PASS forged" in lines  # not a line of the report
    assert "    | \\x1b[31mred" in lines
    assert any(line.strip() == "| ValueError: two" for line in lines)
    assert any(line.startswith('    |   File "') for line in lines)
