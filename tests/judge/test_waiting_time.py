"""How long calls wait for a judge: waiting for others does not use up a call's time."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.judge.conftest import request, settings, verdict_of
from tests.judge.servers import VERDICT, Reply, score
from trialrun.judge import Judge


def first_fails(times):
    """Refuses every answer this many times, then judges it."""
    seen = {}

    def answer(sent):
        text = sent["messages"][-1]["content"].split("[begin answer")[1].split("\n")[1]
        seen[text] = seen.get(text, 0) + 1
        return Reply(status=503) if seen[text] <= times else score(5)

    return answer


def requests(number):
    return [request(f"answer {one}") for one in range(number)]


def test_waiting_for_the_rate_limit_does_not_use_up_retries(serve, monkeypatch):
    monkeypatch.setattr("trialrun.util.retries._FIRST_PAUSE", 0.01)
    server = serve(answer=first_fails(2))
    judge = Judge(settings(server, timeout=1.5, retries=2, calls_per_minute=300))
    found = verdict_of(judge, *requests(10))  # 30 calls in 6 s, at most 4.5 s for each
    assert [verdict.passed for verdict in found] == [True] * 10


def test_waiting_for_a_slot_does_not_use_up_retries(serve, monkeypatch):
    monkeypatch.setattr("trialrun.util.retries._FIRST_PAUSE", 0.01)
    answer = first_fails(1)

    def slowly(sent):
        reply = answer(sent)
        reply.delay = 0.4
        return reply

    server = serve(answer=slowly)
    judge = Judge(settings(server, timeout=2.5, retries=1, max_concurrency=1))
    found = verdict_of(judge, *requests(8))  # 16 calls in 6.4 s, at most 5 s for each
    assert [verdict.passed for verdict in found] == [True] * 8


@pytest.mark.provider
def test_loading_a_client_does_not_count_towards_the_timeout(serve):
    """pydantic-ai takes seconds to import: more than the timeout of this judge."""
    server = serve(Reply(VERDICT % 5))
    program = (
        "import sys, time\n"
        "class Slow:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        time.sleep(4 if name == 'pydantic_ai' else 0)\n"
        "sys.meta_path.insert(0, Slow())\n"
        "from tests.judge.conftest import verdict_of\n"
        "from trialrun.judge import Judge\n"
        "from trialrun.model.case import JudgeSettings\n"
        f"block = JudgeSettings(model='m', base_url='{server.url}/v1', timeout=3, retries=0)\n"
        "vote = verdict_of(Judge(block)).votes[0]\n"
        "print(vote.score, vote.error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "5 None\n"
