"""Several models or samples: the majority decides, the mean is reported, a tie is unknown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.judge.conftest import request, settings, verdict_of
from tests.judge.servers import Reply, score
from tests.watchdog import WALL_SECONDS
from trialrun.judge import Judge, settled
from trialrun.model.case import JudgeSettings, Rubric
from trialrun.model.results import Vote

RUBRIC = Rubric(rule="r", threshold=0.7)  # 4 or more


def votes(*scores):
    return [
        Vote(model="m", error="silent") if score is None else Vote(model="m", score=score)
        for score in scores
    ]


@pytest.mark.parametrize(
    ("scores", "passed", "mean"),
    [
        ([5], True, 5.0),
        ([3], False, 3.0),
        ([5, 5, 1], True, 11 / 3),
        ([4, 3, 3], False, 10 / 3),
        ([5, 1], None, 3.0),  # a tie
        ([4, 4, 1, 1], None, 2.5),
        ([5, 5, None], True, 5.0),  # two of three agree
        ([5, 1, None], None, 3.0),
        ([5, None, None], None, 5.0),  # one of three does not decide
        ([5, None], None, 5.0),
        ([None, None], None, None),
    ],
)
def test_the_majority_of_all_votes_decides(scores, passed, mean):
    found = settled(RUBRIC, votes(*scores))
    assert found.passed is passed
    assert found.score == (None if mean is None else pytest.approx(mean))


def test_several_samples_are_several_calls(serve):
    server = serve(score(5), score(2), score(5))
    found = verdict_of(Judge(settings(server, samples=3)))
    assert (found.passed, len(server.asked)) == (True, 3)
    assert sorted(vote.score for vote in found.votes) == [2, 5, 5]


def test_several_models_each_have_a_vote(serve):
    by_model = {"a": score(5), "b": score(1), "c": Reply(status=400)}
    server = serve(answer=lambda sent: by_model[sent["model"]])
    judge = Judge(JudgeSettings(models=["a", "b", "c"], base_url=f"{server.url}/v1", timeout=60))
    found = verdict_of(judge)
    assert found.passed is None
    assert {vote.model: vote.score for vote in found.votes} == {"a": 5, "b": 1, "c": None}


def test_a_rubric_may_name_its_own_model(serve):
    server = serve(score(5))
    judge = Judge(settings(server, "a"))
    own = Rubric(rule="r", model="b")
    verdict_of(judge, request(), request(rubric=own))
    assert sorted(sent["model"] for sent in server.asked) == ["a", "b"]


def test_the_address_of_the_block_is_not_that_of_another_provider(serve, monkeypatch):
    local, real = serve(score(5)), serve(score(1))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", real.url)
    judge = Judge(settings(local, "local"))
    other = Rubric(rule="r", model="anthropic:claude-haiku-4-5")
    found = verdict_of(judge, request(), request(rubric=other))
    assert [verdict.score for verdict in found] == [5.0, 1.0]
    assert (len(local.asked), len(real.asked)) == (1, 1)


# A function as a judge


def test_a_function_is_a_judge():
    seen = []

    def judge(asked):
        seen.append(asked)
        return 4

    found = verdict_of(Judge(judge))
    assert (found.passed, found.score, found.votes[0].cost_usd) == (True, 4.0, 0.0)
    assert (seen[0].question, seen[0].answer, seen[0].rubric.rule) == (
        "a question",
        "an answer",
        "polite",
    )


def test_an_async_function_may_give_a_rationale():
    async def judge(asked):
        return {"score": 2, "rationale": "rude"}

    found = verdict_of(Judge(judge))
    assert (found.passed, found.votes[0].rationale) == (False, "rude")


@pytest.mark.parametrize("said", [True, 4.0, "4", None, 0, 6, {}, {"score": "5"}, [5]])
def test_return_values_of_functions_are_parsed_strictly(said):
    found = verdict_of(Judge(lambda asked: said))
    assert (found.passed, found.votes[0].score) == (None, None)


def test_a_hanging_function_times_out_and_delays_nothing():
    """In a separate process: a hanging thread must not keep it from ending."""
    program = (
        "import time\n"
        "from msgspec.structs import replace\n"
        "from tests.judge.conftest import verdict_of\n"
        "from trialrun.judge import Judge\n"
        "judge = Judge(lambda asked: time.sleep(300))\n"
        "judge.settings = replace(judge.settings, timeout=0.2, retries=0)\n"
        "print(verdict_of(judge).votes[0].error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=WALL_SECONDS,
        check=True,
    )
    assert done.stdout == "the judge gave no reply after 0.2 s\n"


@pytest.mark.parametrize("error", [ValueError("broken"), SystemExit(0), AssertionError()])
def test_a_failing_function_gives_no_verdict(error):
    def judge(asked):
        raise error

    found = verdict_of(Judge(judge))
    assert found.passed is None
    assert "the judge itself failed" in found.votes[0].error
