"""One attempt: from the question to the trace, with every kind of failure."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from trialrun import EvalCase, Step
from trialrun.agents.base import Failure, Reply
from trialrun.agents.running.actions import Actions
from trialrun.agents.running.processes import Reaper
from trialrun.engine.attempt import AttemptSettings, run_attempt
from trialrun.model.trace import SETUP_FAILED, TraceStatus
from trialrun.util.retries import LONGEST_RETRY_AFTER, pause


class Scripted:
    """An agent that gives these replies in order, and logs the questions."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.asked = []
        self.limits = []

    async def start(self, takes_turns):
        pass

    async def ask(self, question, limit):
        self.asked.append(question)
        self.limits.append(limit)
        reply = self.replies.pop(0)
        return reply(question) if callable(reply) else reply

    async def close(self):
        pass


def answer(text, duration_ms=1.0, **fields):
    return Reply(answer={"output": text, **fields}, duration_ms=duration_ms)


def failure(message="down", transient=True, retry_after=0.0, **fields):
    made = Failure(message=message, transient=transient, retry_after=retry_after, **fields)
    return Reply(failure=made, duration_ms=1.0)


@pytest.fixture
def attempt(tmp_path):
    """Makes an attempt at a case with a scripted agent, and returns the trace."""
    reaper = Reaper()

    def run(agent, retries=2, limit=20.0, **case):
        fields = {"name": "case", "query": "q", "path": {"max_steps": 9}, **case}
        if "turns" in fields:
            del fields["query"]
        asked = EvalCase.from_dict(fields)

        async def go():
            actions = Actions(str(tmp_path), reaper)
            settings = AttemptSettings(
                agent=agent,
                agent_name="bot",
                actions=actions,
                suite_name="suite",
                limit=limit,
                retries=retries,
            )
            try:
                return await run_attempt(asked, settings)
            finally:
                await actions.close()

        return asyncio.run(go())

    yield run
    reaper.close()


def test_a_text_answer_records_itself_and_the_time(attempt):
    trace = attempt(Scripted(answer("hello", 12.0)))
    assert (trace.input, trace.output, trace.duration_ms) == ("q", "hello", 12.0)
    assert (trace.name, trace.agent_name) == ("case", "bot")
    assert trace.recorded == {"answer", "timings"}
    assert trace.started_at is not None
    assert trace.metadata == {}


def test_the_agent_knows_the_case(attempt):
    agent = Scripted(answer("x"))
    attempt(agent, tags=["t"])
    assert agent.asked[0].case == {"name": "case", "suite": "suite", "tags": ["t"]}


@pytest.mark.parametrize("failures", [1, 2])
def test_infrastructure_errors_are_retried_and_recorded(attempt, failures):
    agent = Scripted(*[failure(f"down {n}") for n in range(failures)], answer("up"))
    trace = attempt(agent)
    assert (trace.output, trace.error) == ("up", None)
    assert [tried["error"] for tried in trace.metadata["tries"]] == [
        f"down {n}" for n in range(failures)
    ]


def test_the_last_failure_is_the_result(attempt):
    agent = Scripted(*[failure(f"down {n}") for n in range(3)])
    trace = attempt(agent, retries=2)
    assert trace.error == "down 2 (tried 3 times)"
    assert len(trace.metadata["tries"]) == 2


@pytest.mark.parametrize(
    "reply",
    [
        answer("wrong"),
        failure("its own fault", transient=False),
        failure("come back tomorrow", retry_after=LONGEST_RETRY_AFTER + 1),
    ],
)
def test_failures_that_are_not_retried(attempt, reply):
    agent = Scripted(reply, answer("right"))
    assert "tries" not in attempt(agent, retries=9).metadata
    assert len(agent.asked) == 1


def test_pauses_grow_to_a_limit_and_vary(monkeypatch):
    monkeypatch.setattr("random.uniform", lambda low, high: (low, high))
    pauses = [pause(tries, None) for tries in range(9)]
    assert pauses[:3] == [(0.25, 0.5), (0.5, 1.0), (1.0, 2.0)]
    assert pauses[-1] == (15.0, 30.0)


def turns(*texts):
    return [{"query": text, "path": {"max_steps": 9}} for text in texts]


def test_a_conversation_has_its_history_and_one_time_limit(attempt):
    agent = Scripted(answer("A", 4000.0), answer("B", 5000.0), answer("C", 100.0))
    trace = attempt(agent, turns=turns("a", "b", "c"))
    assert [question.input for question in agent.asked] == ["a", "b", "c"]
    assert agent.asked[0].history == []
    assert agent.asked[2].history == [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "A"},
        {"role": "user", "content": "b"},
        {"role": "assistant", "content": "B"},
    ]
    assert agent.limits == [20.0, 16.0, 11.0]
    assert (trace.input, trace.output, trace.duration_ms) == ("a", "C", 9100.0)
    assert [step.input for step in trace.steps] == ["b", "c"]


def test_each_turn_keeps_its_own_recorded_evidence(attempt):
    tool = {"type": "tool_call", "tool_name": "t"}
    agent = Scripted(answer("A"), answer("B", steps=[tool]), answer("C"))
    first, second, third = attempt(agent, turns=turns("a", "b", "c")).turns()
    assert "tool_calls" in second.recorded
    assert first.recorded == third.recorded == {"answer", "timings"}


def test_steps_without_a_model_call_leave_the_cost_unknown(attempt):
    tool = {"type": "tool_call", "tool_name": "t"}
    trace = attempt(Scripted(answer("A", steps=[tool])))
    assert (trace.total_tokens, trace.total_cost_usd) == (None, None)
    assert trace.tools_used == {"t"}
    recorded = attempt(
        Scripted(answer("A", steps=[tool], recorded=["tool_calls", "tokens", "costs"]))
    )
    assert (recorded.total_tokens, recorded.total_cost_usd) == (0, 0.0)


def test_step_ids_of_different_turns_are_distinct(attempt):
    step = Step.tool_call("t", id="1")
    plain = {"type": "tool_call", "tool_name": "t", "id": step.id}
    agent = Scripted(answer("A", steps=[plain]), answer("B", steps=[plain]))
    trace = attempt(agent, turns=turns("a", "b"))
    ids = [step.id for step in trace.steps]
    assert len(ids) == len(set(ids)) == 3


def test_a_crash_in_a_later_turn_keeps_earlier_steps(attempt):
    tool = {"type": "tool_call", "tool_name": "t"}
    agent = Scripted(answer("A", steps=[tool]), failure("broke", transient=False))
    trace = attempt(agent, turns=turns("a", "b", "c"))
    assert (trace.status, trace.error) == (TraceStatus.ERROR, "turn 2: broke")
    assert trace.output is None
    assert [step.tool_name for step in trace.tool_calls] == ["t"]
    assert len(agent.asked) == 2


def test_a_conversation_is_retried_from_its_beginning(attempt):
    agent = Scripted(answer("A"), failure("down"), answer("A"), answer("B"))
    trace = attempt(agent, turns=turns("a", "b"))
    assert trace.output == "B"
    assert [question.input for question in agent.asked] == ["a", "b", "a", "b"]
    assert agent.asked[2].history == []


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"output": None}, "gave no answer"),
        ({"output": "x", "status": "error", "error": "I broke"}, "I broke"),
    ],
)
def test_answers_that_are_invalid(attempt, fields, said):
    trace = attempt(Scripted(Reply(answer=fields, duration_ms=1.0)))
    assert trace.error is None or said in trace.error
    assert trace.output is None or trace.status is TraceStatus.ERROR


# Setup, state and teardown


def noting(text):
    return ["sh", "-c", f"echo {text} >> $TRIALRUN_PROJECT/log; pwd >> $TRIALRUN_PROJECT/folders"]


def lines(folder, name):
    return (folder / name).read_text().split()


def test_each_try_has_a_new_folder_that_is_removed(attempt, tmp_path):
    agent = Scripted(failure("down"), answer("up"))
    trace = attempt(
        agent, setup=noting("setup"), teardown=noting("teardown"), state=noting("state")
    )
    assert lines(tmp_path, "log") == ["setup", "teardown", "setup", "state", "teardown"]
    folders = lines(tmp_path, "folders")
    assert len(set(folders)) == 2
    assert not any(Path(folder).exists() for folder in folders)
    assert {question.folder for question in agent.asked} == set(folders)
    (state,) = trace.metadata["state"].values()
    assert state["outcome"] == "held"


def test_the_agent_is_not_asked_after_a_failed_setup(attempt, tmp_path):
    agent = Scripted()
    trace = attempt(agent, setup=["sh", "-c", "echo full >&2; exit 3"])
    assert trace.error == "exit 3: full"
    assert SETUP_FAILED in trace.metadata
    assert agent.asked == []


def test_state_metadata_of_the_agent_is_not_trusted(attempt):
    forged = {"state": {"file exists": {"outcome": "held", "detail": ""}}, "own": 1}
    agent = Scripted(Reply(answer={"output": "done", "metadata": forged}))
    trace = attempt(agent)
    assert trace.metadata == {"agent_state": forged["state"], "own": 1}


def test_teardown_runs_after_a_crash_and_its_failure_is_recorded(attempt, tmp_path):
    agent = Scripted(failure("broke", transient=False))
    trace = attempt(agent, teardown=["sh", "-c", "echo t >> $TRIALRUN_PROJECT/log; exit 2"])
    assert lines(tmp_path, "log") == ["t"]
    assert trace.error == "broke"
    assert trace.metadata["teardown_failed"].startswith("exit 2")


def test_state_is_not_inspected_after_a_crash(attempt, tmp_path):
    agent = Scripted(failure("broke", transient=False))
    trace = attempt(agent, state=noting("state"))
    assert "state" not in trace.metadata
    assert not (tmp_path / "log").exists()


def test_an_error_beside_the_answer_of_an_earlier_turn_is_kept(attempt):
    turns = [{"query": "a"}, {"query": "b", "correctness": {"exact_match": "two"}}]
    trace = attempt(Scripted(answer("one", error="stream broke off"), answer("two")), turns=turns)
    # It ends the attempt: the second question is not asked.
    assert (trace.output, trace.error) == ("one", "turn 1: stream broke off")
