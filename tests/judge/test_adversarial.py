"""Attempts to get an undeserved pass or an endless run out of a judge."""

from __future__ import annotations

import asyncio
import json
import sys
import time

import pytest
import yaml

from tests.judge.conftest import asked_of, request, settings, verdict_of
from tests.judge.servers import VERDICT, Reply, Server, score
from tests.watchdog import watchdog
from trialrun import EvalCase, Step, Trace, evaluate
from trialrun.cli.main import main
from trialrun.judge import Judge
from trialrun.judge.cache import VerdictCache
from trialrun.model.case import JudgeSettings
from trialrun.model.results import CheckStatus

UNKNOWN = CheckStatus.UNKNOWN


def spec(folder, judge, rubric=None, **top):
    folder.mkdir(exist_ok=True)
    (folder / "agent.py").write_text("def run(question):\n    return question\n")
    rubric = rubric or {"rule": "kind", "threshold": 0.7}
    case = {"name": "a", "query": "right", "correctness": {"llm_judge": [rubric]}}
    written = {"runner": "agent:run", "judge": judge, "queries": [case], **top}
    (folder / "spec.yaml").write_text(yaml.safe_dump(written))


def audit_beside(folder, identity):
    kept = {"identity": identity, "verdict": "trustworthy"}
    (folder / "judge-audit.json").write_text(json.dumps(kept))


def statuses(capsys, *arguments):
    capsys.readouterr()
    main([*arguments, "--format", "json"])
    return [row["status"] for row in json.loads(capsys.readouterr().out)["results"]]


# An audit counts for its own judge, in its own folder


def test_an_audit_in_one_folder_does_not_count_in_another(serve, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    server = serve(score(5))
    judge = {"model": "m", "base_url": f"{server.url}/v1", "require_audit": True}
    spec(tmp_path / "a", judge)
    spec(tmp_path / "b", judge)
    audit_beside(tmp_path / "b", f"m at {server.url}/v1, temperature 0, prompt 2")
    assert statuses(capsys, "run", ".") == ["error", "pass"]


def test_an_audit_of_the_block_does_not_count_for_a_rubrics_own_model(
    serve, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    server = serve(score(5))
    judge = {"model": "m", "base_url": f"{server.url}/v1", "require_audit": True}
    spec(tmp_path, judge, {"rule": "kind", "model": "other"})
    audit_beside(tmp_path, f"m at {server.url}/v1, temperature 0, prompt 2")
    assert statuses(capsys, "run", "spec.yaml") == ["error"]
    assert server.asked == []


# The cache


def test_a_model_that_is_named_twice_has_two_verdicts(serve, tmp_path):
    server = serve(score(1), score(5), score(1))
    block = JudgeSettings(models=["a", "a", "a"], base_url=f"{server.url}/v1", timeout=60)
    first = verdict_of(Judge(block, cache=VerdictCache(tmp_path / "c")))
    again = verdict_of(Judge(block, cache=VerdictCache(tmp_path / "c")))
    assert (first.passed, again.passed, len(server.asked)) == (False, False, 3)
    assert sorted(vote.score for vote in again.votes) == [1, 1, 5]


@pytest.mark.parametrize("change", ['"score":99', '"score":0', '"score":5,"error":"x"'])
def test_a_tampered_cache_file_is_ignored(serve, tmp_path, change):
    server, cache = serve(score(1)), VerdictCache(tmp_path / "c")
    verdict_of(Judge(settings(server), cache=cache))
    (file,) = (tmp_path / "c").glob("*/*.json")
    file.write_text(file.read_text().replace('"score":1', change))
    assert verdict_of(Judge(settings(server), cache=cache)).passed is False
    assert len(server.asked) == 2


def test_another_address_by_the_environment_is_another_judge(serve, tmp_path, monkeypatch):
    kind, strict = serve(score(5)), serve(score(1))
    cache = VerdictCache(tmp_path / "c")
    judge = JudgeSettings(model="openai-chat:gpt-4o-mini", timeout=60)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{kind.url}/v1")
    assert verdict_of(Judge(judge, cache=cache)).passed is True
    monkeypatch.setenv("OPENAI_BASE_URL", f"{strict.url}/v1")
    assert verdict_of(Judge(judge, cache=cache)).passed is False
    assert strict.url in Judge(judge).identity()


# Replies


def chat(**message):
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def call(number):
    function = {"name": "give_verdict", "arguments": VERDICT % number}
    return {"id": "c", "type": "function", "function": function}


def test_two_replies_in_one_are_refused(serve):
    body = chat(role="assistant", content=None, tool_calls=[call(5)])
    body["choices"] += chat(role="assistant", content=None, tool_calls=[call(1)])["choices"]
    found = asked_of(serve(Reply(body=json.dumps(body))), retries=0)
    assert (found.passed, found.votes[0].error) == (None, "the judge gave 2 replies at once")


def test_function_call_beside_tool_calls_is_refused(serve):
    old = {"name": "give_verdict", "arguments": VERDICT % 1}
    body = chat(role="assistant", content=None, tool_calls=[call(5)], function_call=old)
    assert asked_of(serve(Reply(body=json.dumps(body))), retries=0).passed is None


@pytest.mark.parametrize("reason", ["content_filter", "length"])
@pytest.mark.parametrize("output", ["tool", "json"])
def test_cut_or_filtered_replies_give_no_verdict(serve, reason, output):
    message = {"role": "assistant", "content": VERDICT % 5}
    if output == "tool":
        message = {"role": "assistant", "content": None, "tool_calls": [call(5)]}
    body = chat(**message)
    body["choices"][0]["finish_reason"] = reason
    found = asked_of(serve(Reply(body=json.dumps(body))), output=output, retries=0)
    assert found.passed is None


def test_a_lone_surrogate_does_not_lose_the_verdict(serve, tmp_path):
    server = serve(Reply('{"rationale": "x \\ud800", "score": 5}'))
    judge = Judge(settings(server), cache=VerdictCache(tmp_path / "c"))
    found = verdict_of(judge, request("an answer \ud800"))
    assert (found.passed, found.votes[0].rationale) == (True, "x ?")


def test_the_tag_of_a_local_model_is_part_of_its_name(serve):
    server = serve(score(5))
    assert asked_of(server, "llama3.2:3b").passed is True
    assert server.asked[0]["model"] == "llama3.2:3b"


# What a judge must not be asked about


def judged(correctness, **fields):
    asked = []

    def judge(request):
        asked.append(request)
        return 5

    case = EvalCase.from_dict({"query": "q", "correctness": correctness})
    result = evaluate(case, Trace(output="fine", **fields), judge=Judge(judge))
    return next(check for _, check in result.checks()), asked


def test_a_masked_question_is_not_judged():
    check, asked = judged({"safety_check": {"rule": "r"}}, input="my key is [redacted]")
    assert (check.status, asked) == (UNKNOWN, [])


def test_context_that_is_too_long_is_not_cut_silently():
    steps = [Step.tool_call("t", {}, tool_result="x" * 400_001)]
    check, asked = judged({"hallucination_check": {"rule": "r"}}, input="q", steps=steps)
    assert (check.status, asked) == (UNKNOWN, [])
    assert "at most 400,000" in check.message


# Functions


def cancelled(request):
    raise asyncio.CancelledError


async def cancelled_inside(request):
    raise asyncio.CancelledError


@pytest.mark.parametrize("judge", [cancelled, cancelled_inside])
def test_a_judge_that_cancels_itself_has_failed(judge):
    found = verdict_of(Judge(judge), request("a"), request("b"))
    assert {verdict.passed for verdict in found} == {None}


async def blocks(request):
    time.sleep(3)
    return 5


async def will_not_be_cancelled(request):
    while True:
        try:
            await asyncio.sleep(3)
        except asyncio.CancelledError:
            continue


@pytest.mark.parametrize("function", [blocks, will_not_be_cancelled])
def test_an_async_function_times_out(function):
    from msgspec.structs import replace

    judge = Judge(function)
    judge.settings = replace(judge.settings, timeout=0.3, retries=0)
    with watchdog():
        found = verdict_of(judge)
    assert (found.passed, found.votes[0].error) == (None, "the judge gave no reply after 0.3 s")


# Limits


def test_not_every_case_waits_for_a_judge_that_is_down(serve, monkeypatch):
    monkeypatch.setattr("trialrun.util.retries._FIRST_PAUSE", 0.01)
    server = serve(Reply(status=500))
    judge = Judge(settings(server, retries=3))

    async def one_after_the_other():
        async with judge:
            for number in range(20):
                await judge.verdict(request(f"answer {number}"))

    asyncio.run(one_after_the_other())
    assert len(server.asked) == 5 * 4 + 15  # then each question is asked once


def test_retries_end_by_the_clock_too(serve):
    server = serve(Reply(status=429, headers={"retry-after": "1"}))
    found = asked_of(server, timeout=0.5, retries=3)
    assert found.passed is None
    assert len(server.asked) < 4


def test_no_call_starts_before_retry_after_has_passed(serve):
    replies = iter([Reply(status=429, headers={"retry-after": "3"}, delay=0.1)])
    server = serve(answer=lambda sent: next(replies, score(5)))
    judge = Judge(settings(server, calls_per_minute=600))
    verdict_of(judge, *(request(f"answer {number}") for number in range(6)))
    replied = server.times[0] + 0.1
    # A call sent earlier may arrive a second later on a busy machine.
    assert not [moment for moment in server.times if replied + 1 < moment < replied + 2.9]


# Specs


@pytest.mark.parametrize(
    "judge",
    [
        {"models": [""]},
        {"model": "m", "base_url": ""},
        {"model": "m", "base_url": "localhost:1"},
        {"model": "m", "base_url": "ftp://x"},
        {"model": "m", "base_url": "http://[bad"},
        {"model": "m", "base_url": "http://x:99999"},
    ],
)
def test_a_block_that_cannot_work_is_refused_before_the_agent_is_called(
    tmp_path, monkeypatch, capsys, judge
):
    monkeypatch.chdir(tmp_path)
    spec(tmp_path, judge)
    assert main(["run", "spec.yaml"]) == 2
    assert "spec.yaml:" in capsys.readouterr().err


# The audit


def prepared(tmp_path, monkeypatch, scores):
    """A run whose answers the judge scores in order."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [part for part in sys.path if "pytest" not in part])
    server = Server(*scores)
    spec(tmp_path, {"model": "m", "base_url": f"{server.url}/v1", "timeout": 60})
    main(["run", "spec.yaml", "-q"])
    return server


def test_a_secret_in_a_rationale_is_not_kept_in_the_audit(tmp_path, monkeypatch, capsys):
    secret = "sk-proj-Ab3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA1bC2dE3fG4hI5jK6"
    reply = Reply(json.dumps({"rationale": f"shows {secret}", "score": 5}))
    server = prepared(tmp_path, monkeypatch, [reply])
    (tmp_path / "labels.csv").write_text("case,label\na,fail\n")
    main(["judge", "audit", "--labels", "labels.csv", "--json"])
    said = capsys.readouterr().out
    server.close()
    assert "shows [redacted]" in said
    written = said + (tmp_path / "judge-audit.json").read_text()
    assert "sk-proj" not in written


def test_an_unwritable_audit_file_is_reported_before_any_call(tmp_path, monkeypatch, capsys):
    server = prepared(tmp_path, monkeypatch, [score(5)])
    before = len(server.asked)
    for target in (".", "nowhere/audit.json"):
        assert main(["judge", "audit", "-o", target]) == 2
    assert len(server.asked) == before
    server.close()


def test_labels_survive_a_change_of_the_answers(tmp_path, monkeypatch, capsys):
    import io

    server = prepared(tmp_path, monkeypatch, [score(5)])
    old = '{"key": "0123456789abcdef", "case": "a", "label": "pass"}'  # without a line break
    (tmp_path / "labels.jsonl").write_text(old)
    monkeypatch.setattr("sys.stdin", io.StringIO("please skip\nfoo\nfail\n"))
    assert main(["judge", "label"]) == 0
    assert len((tmp_path / "labels.jsonl").read_text().splitlines()) == 2
    main(["judge", "audit", "--labels", "labels.jsonl", "--json"])
    server.close()
    kept = json.loads((tmp_path / "judge-audit.json").read_text())
    assert kept["labels"]["false_pass"] == 1


def test_labelling_without_stdin_ends_cleanly(tmp_path, monkeypatch):
    server = prepared(tmp_path, monkeypatch, [score(5)])
    monkeypatch.setattr("sys.stdin", None)
    assert main(["judge", "label"]) == 0
    assert main(["judge", "label", "--labels", "new.csv"]) == 2
    server.close()


def test_two_judges_are_not_audited_as_one(tmp_path, monkeypatch, capsys, serve):
    monkeypatch.chdir(tmp_path)
    server = serve(score(5))
    for name in ("one", "two"):
        spec(tmp_path / name, {"model": name, "base_url": f"{server.url}/v1", "timeout": 60})
    main(["run", ".", "-q"])
    capsys.readouterr()
    assert main(["judge", "audit"]) == 2
    assert "these suites have 2 judges" in capsys.readouterr().err


def test_blocks_with_one_model_share_its_limits(serve, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    server = serve(Reply(VERDICT % 5, delay=0.1))
    for number, name in enumerate(("one", "two", "three")):
        block = {"model": "m", "base_url": f"{server.url}/v1", "max_concurrency": 1}
        spec(tmp_path / name, {**block, "temperature": number / 10})
    assert statuses(capsys, "run", ".") == ["pass"] * 3
    assert (len(server.asked), server.most_at_once) == (3, 1)
