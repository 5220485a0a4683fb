"""One judge for many calls of `evaluate`: each has an event loop of its own."""

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


def test_a_judge_is_used_again_with_more_questions_than_room():
    judge = Judge(lambda request: 5)
    for answer in "abc":
        trace = Trace(input="q", output=answer)
        assert evaluate(case_of(17), trace, judge=judge).status is PASS


def test_also_one_that_is_a_model(serve):
    server = serve(Reply(VERDICT % 5, delay=0.02))
    block = JudgeSettings(model="m", base_url=f"{server.url}/v1", max_concurrency=1, timeout=60)
    judge = Judge(block)
    for answer in "abc":
        assert evaluate(case_of(3), Trace(input="q", output=answer), judge=judge).status is PASS
    assert (len(server.asked), server.most_at_once) == (9, 1)


def test_and_by_several_threads_at_once(serve):
    server = serve(Reply(VERDICT % 5, delay=0.02))
    block = JudgeSettings(model="m", base_url=f"{server.url}/v1", max_concurrency=2, timeout=60)
    judge = Judge(block)

    def status_of(number):
        return evaluate(case_of(5), Trace(input="q", output=str(number)), judge=judge).status

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(status_of, range(8))) == [PASS] * 8
    assert len(server.asked) == 40


def test_so_many_a_minute_holds_from_one_call_to_the_next(serve):
    server = serve(Reply(VERDICT % 5))
    block = JudgeSettings(model="m", base_url=f"{server.url}/v1", calls_per_minute=120, timeout=60)
    judge = Judge(block)
    began = time.monotonic()
    for answer in "abc":
        evaluate(case_of(1), Trace(input="q", output=answer), judge=judge)
    assert time.monotonic() - began >= 1.0  # at 0, 0.5 and 1 s
