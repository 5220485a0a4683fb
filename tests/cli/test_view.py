"""`trialrun view`, `verify --store`, and labels of the viewer in `judge audit`."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request

import pytest
from starlette.testclient import TestClient

from trialrun.cli.main import main
from trialrun.store import open_store
from trialrun.viewer.app import make_app

HOST = "127.0.0.1:7357"
SESSIONS = "tests/data/claude-code"


def viewer(store) -> TestClient:
    return TestClient(make_app(store, [HOST]), base_url=f"http://{HOST}")


def test_view_needs_a_store(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["view", "--no-open"]) == 2
    assert "no runs are recorded here" in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["starlette", "uvicorn", "jinja2"])
def test_view_without_the_extra_says_what_to_install(monkeypatch, capsys, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    assert main(["view", "--no-open"]) == 2
    said = capsys.readouterr().err
    assert "pip install 'trialrun[view]'" in said and missing in said


def test_a_port_in_use_is_said(tmp_path, capsys):
    from trialrun.viewer.server import listen

    open_store(str(tmp_path / "runs.db")).close()
    with listen(0) as taken:
        taken.listen()
        port = str(taken.getsockname()[1])
        given = ["view", "--no-open", "--store", str(tmp_path / "runs.db"), "--port", port]
        assert main(given) == 2
    assert "another program uses it; --port 0 finds a free one" in capsys.readouterr().err


def test_view_serves_until_it_is_interrupted(tmp_path):
    open_store(str(tmp_path / "runs.db")).close()
    command = [sys.executable, "-m", "trialrun", "view", "--no-open", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--store", str(tmp_path / "runs.db")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        address = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())[0]
        with urllib.request.urlopen(address, timeout=30) as response:
            assert "Runs" in response.read().decode()
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert "Traceback" not in errors


# Sessions


@pytest.fixture
def session(tmp_path):
    """A session that changed a file, said that the tests pass, and never ran them."""
    edit = {
        "type": "tool_call",
        "tool_name": "Edit",
        "tool_args": {"file_path": "/app/tax.py", "old_string": "a", "new_string": "b"},
        "tool_result": "updated",
    }
    trace = {
        "name": "fix the tax",
        "input": "Fix the rounding of taxes.",
        "output": "The rounding is fixed. All tests pass.",
        "steps": [edit],
    }
    file = tmp_path / "session.json"
    file.write_text(json.dumps(trace), encoding="utf-8")
    return file


def test_sessions_are_recorded_with_their_ledgers(tmp_path, session, capsys):
    location = str(tmp_path / "runs.db")
    assert main(["verify", str(session), f"--store={location}", "-q"]) == 0
    assert "recorded; `trialrun view` shows it" in capsys.readouterr().err
    with open_store(location, create=False) as store:
        (record,) = store.runs()
        assert (record.kind, record.state, record.planned) == ("verify", "finished", 1)
        (kept,) = store.attempts(record.id)
        assert kept.trace is not None and len(kept.trace.tool_calls) == 1
        ledger = kept.result.ledger
        assert not ledger.compliant
        verdicts = {claim.text: claim.verdict.value for claim in ledger.claims}
        assert verdicts["All tests pass."] == "unsupported"
        assert kept.result.status.value == "fail"
        client = viewer(store)
        listed = client.get("/?kind=verify").text
        assert "verified sessions" in listed and record.id in listed
        assert "1 session" in listed and "0% compliant" in listed
        listed = client.get(f"/runs/{record.id}").text
        assert "TR1" in listed and "1 of 1 session not compliant" in listed
        page = client.get(f"/runs/{record.id}/cases/0").text
        assert "Evidence ledger" in page and "All tests pass." in page
        assert "fix the tax" in page


def test_the_store_may_be_left_to_the_default(tmp_path, session, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["verify", str(session), "--store", "-q"]) == 0
    with open_store(create=False) as store:
        assert [record.kind for record in store.runs()] == ["verify"]


def test_nothing_is_recorded_without_sessions_or_without_store(tmp_path, session, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["verify", str(session), "-q"]) == 0
    assert not (tmp_path / ".trialrun").exists()
    (tmp_path / "broken.jsonl").write_text("{", encoding="utf-8")
    main(["verify", "broken.jsonl", "--store=runs.db", "-q"])
    with open_store("runs.db", create=False) as store:
        assert store.runs() == []


def test_a_spec_is_needed_to_judge_sessions_again(tmp_path, session, capsys):
    location = str(tmp_path / "runs.db")
    main(["verify", str(session), f"--store={location}", "-q"])
    for command in (["regrade"], ["judge", "audit"]):
        assert main([*command, "latest", "--store", location]) == 2
        assert "verified sessions" in capsys.readouterr().err


# Labels


def test_labels_of_the_viewer_are_used_by_the_audit(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    main(["demo", "--copy", "shop"])
    main(["run", "shop/rubrics.yaml", "-q"])
    with open_store(create=False) as store:
        run = store.runs()[0].id
        client = viewer(store)
        page = client.get(f"/runs/{run}/judge").text
        token = re.search(r'name="token" value="([^"]+)"', page)[1]
        rule = re.search(r'name="rule" value="([^"]+)"', page)[1]
        positions = re.findall(r'name="position" value="(\d+)"', page)
        for number, position in enumerate(positions[:3]):
            given = {
                "token": token,
                "position": position,
                "attempt": "1",
                "check": "llm_judge",
                "turn": "0",
                "rule": rule,
                "label": "disagree" if number == 0 else "agree",
            }
            assert client.post(f"/runs/{run}/labels", data=given).status_code == 200
    capsys.readouterr()
    main(["judge", "audit", "--json", "--retests", "0"])
    printed = capsys.readouterr()
    assert "3 labels given in the viewer" in printed.err
    labels = json.loads(printed.out)["labels"]
    # The judge passed all three; the person agrees with two of them.
    assert (labels["true_pass"], labels["false_pass"]) == (2, 1)
