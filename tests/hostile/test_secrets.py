"""Secrets that pass through a run appear in no database, baseline, export or report."""

from __future__ import annotations

import json

import pytest

from tests.hostile.test_command_and_http_agents import REPLIES, address, reply  # noqa: F401

AWS = "AKIA" + "Q3RT7UVWXYZ23456"
KEY = "sk-" + "Zt8vKq2LmN4pRs6WxYb1"
ENVIRONMENT_SECRET = "env-value-Jk3m9Qx7"
CUSTOM_SECRET = "internal-4711-0815"
PASSWORD = "correctHorse9battery"
SECRETS = (AWS, KEY, ENVIRONMENT_SECRET, CUSTOM_SECRET, PASSWORD)
PATTERN = r"internal-\d+-\d+"

AGENT = f'''
import os, sys

ALL = "{AWS} {KEY} {CUSTOM_SECRET} " + os.environ["MY_API_KEY"]


class Refused(Exception):
    pass


def run(question):
    print("printed", ALL)
    print("said", ALL, file=sys.stderr)
    if question == "raises":
        raise Refused(ALL)
    if question == "exits":
        sys.exit(ALL)
    if question == "dies":
        os._exit(1)
    if question == "a dict without output":
        return {{ALL: ALL}}
    if question == "an error":
        return {{"output": None, "error": ALL}}
    return {{
        "output": "yes " + ALL,
        "steps": [
            {{
                "type": "tool_call",
                "tool_name": "login " + ALL,
                "tool_args": {{"password": "{PASSWORD}", ALL: [ALL], "deep": {{"er": [ALL]}}}},
                "tool_result": ALL,
                "error": ALL,
                "metadata": {{"seen": ALL}},
            }},
            {{"type": "llm_call", "model": ALL, "content": ALL, "reasoning": ALL}},
        ],
        "metadata": {{"note": ALL, ALL: 1}},
        "framework": ALL,
    }}
'''
QUESTIONS = ["yes", "raises", "exits", "dies", "a dict without output", "an error"]
ENVIRONMENT = {"MY_API_KEY": ENVIRONMENT_SECRET}


@pytest.fixture
def leaky(bench, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", ENVIRONMENT_SECRET)
    bench.write("agent.py", AGENT)
    return bench


def spec(bench, agent=None, names=None, checks=None):
    """Write a spec: one case for each question; `names` and `checks` replace the defaults."""
    asked = checks or {"correctness": {"expected_in_answer": ["yes"]}}
    queries = [
        {"name": (names or {}).get(question, question), "query": question, **asked}
        for question in QUESTIONS
    ]
    head = agent or {"runner": "agent:run"}
    bench.spec(json.dumps({**head, "redact": [PATTERN], "queries": queries}))


def leaks_in(bench, *texts):
    """The secrets that are in a text, or in a file that the run has written.

    The source of the agent contains them, and so does its bytecode: both are left out.
    """
    inputs = ("agent.py", "spec.yaml")
    written = [
        file.read_bytes()
        for file in bench.folder.rglob("*")
        if file.is_file() and file.name not in inputs and file.parent.name != "__pycache__"
    ]
    everything = b"\n".join([*written, *(text.encode() for text in texts)])
    return [secret for secret in SECRETS if secret.encode() in everything]


def output_of_every_command(bench):
    """The output of every command that reads a store, about the latest run."""
    commands = [
        ["show"], ["show", "latest", "--format", "json"], ["show", "latest", "--format", "junit"],
        ["show", "-v"], ["runs", "--json"], ["export", "--traces"],
        ["export", "--traces", "-o", "run.jsonl"], ["baseline", "save", "--accept-failures"],
        ["baseline", "list"], ["baseline", "diff", "--json"], ["compare", "baseline", "-v"],
        *(["show", "latest", question] for question in QUESTIONS),
    ]  # fmt: skip
    done = [bench.run(*command) for command in commands]
    # On stdout, a traceback of the agent is shown.
    assert not [outcome.err for outcome in done if "Traceback" in outcome.err]
    return [outcome.text for outcome in done]


def test_secrets_in_answers_steps_and_errors_are_masked_everywhere(leaky):
    spec(leaky)
    done = leaky.live("-o", "report.xml").expect(3)
    live = leaky.live("--format", "json")
    assert "[redacted]" in live.out
    assert leaks_in(leaky, done.text, live.text, *output_of_every_command(leaky)) == []


@pytest.mark.slow
def test_secrets_are_masked_in_the_compressed_records_too(leaky):
    """A search in the bytes of the file finds only uncompressed columns."""
    from trialrun.store import open_store

    spec(leaky)
    leaky.live("--store", "runs.db")
    with open_store("runs.db") as store:
        record = store.runs()[0]
        found = [
            (attempt.result, None if attempt.trace is None else attempt.trace.to_dict())
            for attempt in store.attempts(record.id)
        ]
    assert len(found) == len(QUESTIONS)
    assert [secret for secret in SECRETS if secret in repr(found)] == []


def test_keys_that_a_command_prints_to_stderr_are_masked(leaky):
    source = (
        "import os, sys\n"
        f"sys.stderr.write('{KEY} {CUSTOM_SECRET} ' + os.environ['MY_API_KEY'])\n"
        f"sys.stdout.write('yes {AWS}')\nsys.exit(7)\n"
    )
    leaky.write("agent.py", source)
    spec(leaky, {"command": ["python3", "agent.py"]})
    done = leaky.live().expect(3, "exit 7")
    assert leaks_in(leaky, done.text, *output_of_every_command(leaky)) == []


def test_a_key_that_a_server_sends_back_is_masked(leaky, address, monkeypatch):  # noqa: F811
    body = f"bad key {ENVIRONMENT_SECRET}, {KEY}".encode()
    monkeypatch.setitem(REPLIES, "yes", reply(body, "401 Unauthorized"))
    agent = {"url": address.url, "headers": {"Authorization": "Bearer ${MY_API_KEY}"}}
    spec(leaky, agent)
    done = leaky.live("--case", "yes").expect(3, "401")
    assert leaks_in(leaky, done.text) == []


def test_a_variable_used_in_a_header_is_masked_whatever_its_name(leaky, address, monkeypatch):  # noqa: F811
    monkeypatch.setenv("GATEWAY", PASSWORD)
    monkeypatch.setitem(REPLIES, "yes", reply(f"no: {PASSWORD}".encode(), "401 Unauthorized"))
    spec(leaky, {"url": address.url, "headers": {"X-Gateway": "${GATEWAY}"}})
    done = leaky.live("--case", "yes")
    assert leaks_in(leaky, done.text) == []


@pytest.mark.slow
def test_a_case_name_that_a_custom_pattern_matches_is_masked_in_the_database(leaky):
    spec(leaky, names={"yes": f"about {CUSTOM_SECRET}"})
    leaky.live()
    assert leaks_in(leaky) == []


def test_a_case_name_is_masked_in_a_stopped_run(leaky):
    spec(leaky, names={"raises": f"about {CUSTOM_SECRET}"})
    done = leaky.live("--fail-fast", "-j", "1")
    assert leaks_in(leaky, done.text) == []


def test_a_run_with_a_masked_case_name_can_be_resumed(leaky):
    spec(leaky, names={"yes": f"about {KEY}"})
    leaky.live("--fail-fast", "-j", "1").expect(3, "--resume")
    done = leaky.live("--resume")
    assert f"{len(QUESTIONS) - 2} attempts to make, 2 done before" in done.err


@pytest.mark.slow
def test_failed_selects_cases_with_a_masked_name_too(leaky):
    spec(leaky, names={"raises": f"about {KEY}"})
    failed = leaky.live().report["summary"]["error"]
    assert leaky.live("--failed").report["summary"]["planned"] == failed


@pytest.mark.slow
def test_regrade_never_passes_a_check_about_masked_text(leaky):
    spec(leaky)
    leaky.live()
    for checks in (
        {"correctness": {"not_in_answer": [KEY]}},
        {"correctness": {"not_in_answer": ["sk-"]}},
        {"correctness": {"not_in_answer": [CUSTOM_SECRET]}},
        {"correctness": {"expected_in_answer": [AWS]}},
        {"correctness": {"exact_match": f"yes {AWS}"}},
        {"path": {"forbidden_tools": ["login *"]}},
        {"path": {"forbidden_tools": [f"login {AWS} {KEY} {CUSTOM_SECRET} {ENVIRONMENT_SECRET}"]}},
    ):
        spec(leaky, checks=checks)
        again = leaky.run("regrade", "--format", "json")
        assert "Traceback" not in again.text
        statuses = {row["case"]: row["status"] for row in json.loads(again.out)["results"]}
        assert statuses["yes"] != "pass", checks
        leaky.run("prune", "--keep", "99")


def test_a_slow_custom_pattern_does_not_hang_the_run(bench):
    bench.write("agent.py", "def run(question):\n    return 'yes ' + 'a' * 60 + '!'\n")
    bench.cases({"runner": "agent:run"}, {"one": "q"}, redact=["(a|aa)+$"])
    done = bench.live("--timeout", "2")  # without its limit it would never end
    assert done.code == 3


def test_a_pattern_that_matches_everything_leaves_readable_records(leaky):
    leaky.cases({"runner": "agent:run"}, {"one": "yes"}, redact=[r"[\s\S]+", r"\w"])
    done = leaky.live()
    assert "Traceback" not in done.err
    assert done.report["summary"]["results"] == 1
    assert not [text for text in output_of_every_command(leaky) if "damaged" in text]
