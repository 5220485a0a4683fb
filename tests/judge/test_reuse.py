"""One judge for many calls of `evaluate`, each with its own event loop."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from tests.judge.servers import VERDICT, Reply
from trialrun import EvalCase, Trace, evaluate
from trialrun.judge import Judge
from trialrun.model.case import JudgeSettings
from trialrun.model.results import LayerStatus

PASS = LayerStatus.PASS


def case_of(rubrics):
    rules = [{"rule": str(number)} for number in range(rubrics)]
    return EvalCase.from_dict({"query": "q", "correctness": {"llm_judge": rules}})


def test_a_judge_is_reused_with_more_questions_than_slots():
    judge = Judge(lambda request: 5)
    for answer in "abc":
        trace = Trace(input="q", output=answer)
        assert evaluate(case_of(17), trace, judge=judge).status is PASS


def test_a_model_judge_is_reused(serve):
    server = serve(Reply(VERDICT % 5, delay=0.02))
    block = JudgeSettings(model="m", base_url=f"{server.url}/v1", max_concurrency=1, timeout=60)
    judge = Judge(block)
    for answer in "abc":
        assert evaluate(case_of(3), Trace(input="q", output=answer), judge=judge).status is PASS
    assert (len(server.asked), server.most_at_once) == (9, 1)


def test_a_judge_is_reused_by_several_threads(serve):
    server = serve(Reply(VERDICT % 5, delay=0.02))
    block = JudgeSettings(model="m", base_url=f"{server.url}/v1", max_concurrency=2, timeout=60)
    judge = Judge(block)

    def status_of(number):
        return evaluate(case_of(5), Trace(input="q", output=str(number)), judge=judge).status

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(status_of, range(8))) == [PASS] * 8
    assert len(server.asked) == 40


def test_calls_per_minute_count_across_event_loops(serve):
    server = serve(Reply(VERDICT % 5))
    block = JudgeSettings(model="m", base_url=f"{server.url}/v1", calls_per_minute=120, timeout=60)
    judge = Judge(block)
    began = time.monotonic()
    for answer in "abc":
        evaluate(case_of(1), Trace(input="q", output=answer), judge=judge)
    assert time.monotonic() - began >= 1.0  # at 0, 0.5 and 1 s
