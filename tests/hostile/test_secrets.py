"""Secrets that pass through a run: in no database, no baseline, no export and no report."""

from __future__ import annotations

import json

import pytest

from tests.hostile.test_commands_and_addresses import REPLIES, address, reply  # noqa: F401

AWS = "AKIA" + "Q3RT7UVWXYZ23456"
KEY = "sk-" + "Zt8vKq2LmN4pRs6WxYb1"
OF_THE_ENVIRONMENT = "env-value-Jk3m9Qx7"
OF_THE_USER = "internal-4711-0815"
PASSWORD = "correctHorse9battery"
SECRETS = (AWS, KEY, OF_THE_ENVIRONMENT, OF_THE_USER, PASSWORD)
PATTERN = r"internal-\d+-\d+"

AGENT = f'''
import os, sys

ALL = "{AWS} {KEY} {OF_THE_USER} " + os.environ["MY_API_KEY"]


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
ENVIRONMENT = {"MY_API_KEY": OF_THE_ENVIRONMENT}


@pytest.fixture
def leaky(bench, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", OF_THE_ENVIRONMENT)
    bench.write("agent.py", AGENT)
    return bench


def spec(bench, agent=None, names=None, checks=None):
    """One case for each question; their names are in `names`, their check may be another."""
    asked = checks or {"correctness": {"expected_in_answer": ["yes"]}}
    queries = [
        {"name": (names or {}).get(question, question), "query": question, **asked}
        for question in QUESTIONS
    ]
    head = agent or {"runner": "agent:run"}
    bench.spec(json.dumps({**head, "redact": [PATTERN], "queries": queries}))


def leaks_in(bench, *texts):
    """The secrets that stand in a text, or in a file that the run has written.

    The agent's source holds them, and so does what Python keeps of it where it may write bytecode.
    """
    not_ours = ("agent.py", "spec.yaml")
    written = [
        file.read_bytes()
        for file in bench.folder.rglob("*")
        if file.is_file() and file.name not in not_ours and file.parent.name != "__pycache__"
    ]
    everything = b"\n".join([*written, *(text.encode() for text in texts)])
    return [secret for secret in SECRETS if secret.encode() in everything]


def all_that_can_be_said(bench):
    """What every command that reads a store has to say about the latest run."""
    commands = [
        ["show"], ["show", "latest", "--format", "json"], ["show", "latest", "--format", "junit"],
        ["show", "-v"], ["runs", "--json"], ["export", "--traces"],
        ["export", "--traces", "-o", "run.jsonl"], ["baseline", "save", "--accept-failures"],
        ["baseline", "list"], ["baseline", "diff", "--json"], ["compare", "baseline", "-v"],
        *(["show", "latest", question] for question in QUESTIONS),
    ]  # fmt: skip
    done = [bench.run(*command) for command in commands]
    assert not [said.err for said in done if "Traceback" in said.err]  # an agent's own is shown
    return [said.text for said in done]


def test_what_an_agent_says_does_and_dies_of_is_masked_everywhere(leaky):
    spec(leaky)
    done = leaky.live("-o", "report.xml").expect(3)
    live = leaky.live("--format", "json")
    assert "[redacted]" in live.out
    assert leaks_in(leaky, done.text, live.text, *all_that_can_be_said(leaky)) == []


def test_traces_are_compressed_so_they_are_looked_at_unpacked(leaky):
    """The bytes of the file show only what stands in plain columns."""
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


def test_a_command_that_spills_its_keys_on_stderr(leaky):
    source = (
        "import os, sys\n"
        f"sys.stderr.write('{KEY} {OF_THE_USER} ' + os.environ['MY_API_KEY'])\n"
        f"sys.stdout.write('yes {AWS}')\nsys.exit(7)\n"
    )
    leaky.write("agent.py", source)
    spec(leaky, {"command": ["python3", "agent.py"]})
    done = leaky.live().expect(3, "exit 7")
    assert leaks_in(leaky, done.text, *all_that_can_be_said(leaky)) == []


def test_a_server_that_sends_the_key_back(leaky, address, monkeypatch):  # noqa: F811
    body = f"bad key {OF_THE_ENVIRONMENT}, {KEY}".encode()
    monkeypatch.setitem(REPLIES, "yes", reply(body, "401 Unauthorized"))
    agent = {"url": address.url, "headers": {"Authorization": "Bearer ${MY_API_KEY}"}}
    spec(leaky, agent)
    done = leaky.live("--case", "yes").expect(3, "401")
    assert leaks_in(leaky, done.text) == []


def test_a_header_s_variable_is_a_secret_whatever_its_name(leaky, address, monkeypatch):  # noqa: F811
    monkeypatch.setenv("GATEWAY", PASSWORD)
    monkeypatch.setitem(REPLIES, "yes", reply(f"no: {PASSWORD}".encode(), "401 Unauthorized"))
    spec(leaky, {"url": address.url, "headers": {"X-Gateway": "${GATEWAY}"}})
    done = leaky.live("--case", "yes")
    assert leaks_in(leaky, done.text) == []


def test_a_name_that_the_user_s_pattern_matches_is_not_in_the_database(leaky):
    spec(leaky, names={"yes": f"about {OF_THE_USER}"})
    leaky.live()
    assert leaks_in(leaky) == []


def test_a_name_is_masked_where_the_run_was_stopped(leaky):
    spec(leaky, names={"raises": f"about {OF_THE_USER}"})
    done = leaky.live("--fail-fast", "-j", "1")
    assert leaks_in(leaky, done.text) == []


def test_a_run_with_a_masked_name_is_resumed(leaky):
    spec(leaky, names={"yes": f"about {KEY}"})
    leaky.live("--fail-fast", "-j", "1").expect(3, "--resume")
    done = leaky.live("--resume")
    assert f"{len(QUESTIONS) - 2} attempts to make, 2 done before" in done.err


def test_failed_means_also_those_with_a_masked_name(leaky):
    spec(leaky, names={"raises": f"about {KEY}"})
    failed = leaky.live().report["summary"]["error"]
    assert leaky.live("--failed").report["summary"]["planned"] == failed


def test_regrade_by_what_was_masked_is_never_green(leaky):
    spec(leaky)
    leaky.live()
    for checks in (
        {"correctness": {"not_in_answer": [KEY]}},
        {"correctness": {"not_in_answer": ["sk-"]}},
        {"correctness": {"not_in_answer": [OF_THE_USER]}},
        {"correctness": {"expected_in_answer": [AWS]}},
        {"correctness": {"exact_match": f"yes {AWS}"}},
        {"path": {"forbidden_tools": ["login *"]}},
        {"path": {"forbidden_tools": [f"login {AWS} {KEY} {OF_THE_USER} {OF_THE_ENVIRONMENT}"]}},
    ):
        spec(leaky, checks=checks)
        again = leaky.run("regrade", "--format", "json")
        assert "Traceback" not in again.text
        statuses = {row["case"]: row["status"] for row in json.loads(again.out)["results"]}
        assert statuses["yes"] != "pass", checks
        leaky.run("prune", "--keep", "99")


def test_a_slow_pattern_of_the_user_does_not_hang_the_run(bench):
    bench.write("agent.py", "def run(question):\n    return 'yes ' + 'a' * 60 + '!'\n")
    bench.cases({"runner": "agent:run"}, {"one": "q"}, redact=["(a|aa)+$"])
    done = bench.live("--timeout", "2")  # without its limit it would take for ever
    assert done.code == 3


def test_a_pattern_that_matches_everything_leaves_a_record_that_can_be_read(leaky):
    leaky.cases({"runner": "agent:run"}, {"one": "yes"}, redact=[r"[\s\S]+", r"\w"])
    done = leaky.live()
    assert "Traceback" not in done.err
    assert done.report["summary"]["results"] == 1
    assert not [text for text in all_that_can_be_said(leaky) if "damaged" in text]
