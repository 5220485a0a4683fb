"""`trialrun.run`: the command's run, from Python and with any callable."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import trialrun
from tests.watchdog import WALL_SECONDS
from trialrun import EvalCase, Step, Trace, load_suite
from trialrun.agents.running.callables import IN_THIS_PROCESS
from trialrun.errors import NothingSelected, PluginError, RunInterrupted, SpecError, UsageError
from trialrun.model.withheld import texts_of
from trialrun.redaction import masks_in
from trialrun.reports.views.texts import masked_in
from trialrun.store import open_store

CASE = {"query": "How long?", "correctness": {"expected_in_answer": ["30 days"]}}
SPEC = """\
queries:
  - {name: a, query: How long?, tags: [smoke], correctness: {expected_in_answer: [30 days]}}
  - {name: b, query: Where?, correctness: {expected_in_answer: [here]}}
"""


def answer(question):
    return "Within 30 days, here."


async def answer_later(question):
    await asyncio.sleep(0)
    return "Within 30 days, here."


class Bot:
    def __init__(self, said="Within 30 days, here."):
        self.said = said

    def ask(self, question):
        return self.said

    async def ask_later(self, question, history):
        return self.said

    def __call__(self, question):
        return self.said


class AsyncBot:
    async def __call__(self, question):
        return "Within 30 days, here."


def closure():
    said = "Within 30 days, here."
    return lambda question: said


def two(said, question):
    return said


async def two_later(said, question):
    return said


@pytest.mark.parametrize(
    "agent",
    [
        answer,
        answer_later,
        closure(),
        Bot().ask,
        Bot().ask_later,
        Bot(),
        AsyncBot(),
        functools.partial(two, "30 days here"),
        functools.partial(two_later, "30 days here"),
        lambda question: answer_later(question),
        lambda question: {"output": "30 days here"},
        lambda question: Trace(input=question, output="30 days here"),
    ],
)
def test_any_callable_is_an_agent(agent):
    found = trialrun.run(CASE, agent)
    assert [result.status.value for result in found.results] == ["pass"]
    assert found.exit_code() == 0
    assert found.warnings == [IN_THIS_PROCESS]


@pytest.fixture
def spec(tmp_path):
    (tmp_path / "spec.yaml").write_text(f"runner: the_agent:run\n{SPEC}")
    (tmp_path / "the_agent.py").write_text("def run(q): return 'Within 30 days.'\n")
    return tmp_path / "spec.yaml"


def names(found):
    return [(result.case_name, result.status.value) for result in found.results]


def test_suites_cases_and_paths(spec, tmp_path):
    both = [("a", "pass"), ("b", "pass")]
    assert names(trialrun.run(spec, answer)) == both
    assert names(trialrun.run(str(tmp_path), answer)) == both
    assert names(trialrun.run(load_suite(spec), answer)) == both
    assert names(trialrun.run([load_suite(spec)], answer)) == both
    assert names(trialrun.run(load_suite(spec).cases, answer)) == both
    assert names(trialrun.run(EvalCase.from_dict(CASE), answer)) == [("how-long", "pass")]
    assert names(trialrun.run([CASE, EvalCase.from_dict({**CASE, "name": "x"})], answer)) == [
        ("how-long", "pass"),
        ("x", "pass"),
    ]


def test_the_agent_of_the_spec_is_the_default(spec):
    found = trialrun.run(spec)
    assert names(found) == [("a", "pass"), ("b", "fail")]
    assert found.exit_code() == 1
    assert IN_THIS_PROCESS not in found.warnings


def test_an_agent_may_be_named(spec, tmp_path, monkeypatch):
    (tmp_path / "agents.yaml").write_text(
        "agents: {one: {runner: 'the_agent:run'}, two: {runner: 'the_agent:other'}}\n" + SPEC
    )
    (tmp_path / "the_agent.py").write_text("def run(q): return '30 days'\ndef other(q): return ''")
    found = trialrun.run(tmp_path / "agents.yaml", "one", cases="a")
    assert [(one.agent, one.status.value) for one in found.results] == [("one", "pass")]
    found = trialrun.run(spec, "the_agent:other", cases="a")
    assert names(found) == [("a", "fail")]
    with pytest.raises(UsageError, match="no agent is named `three`"):
        trialrun.run(tmp_path / "agents.yaml", "three")


def test_selections_are_those_of_the_command(spec):
    assert names(trialrun.run(spec, answer, tags="smoke")) == [("a", "pass")]
    assert names(trialrun.run(spec, answer, cases=["b"])) == [("b", "pass")]
    with pytest.raises((NothingSelected, UsageError)):
        trialrun.run(spec, answer, cases=["c"])


def test_cases_with_equal_questions_are_numbered_and_equal_names_refused():
    assert [name for name, _ in names(trialrun.run([CASE, CASE], answer))] == [
        "how-long",
        "how-long-2",
    ]
    named = {**CASE, "name": "x"}
    with pytest.raises(UsageError, match="given to several cases: x"):
        trialrun.run([named, named], answer)


def test_a_mistake_in_a_case_stops_before_the_agent_is_called():
    called = []
    with pytest.raises(SpecError, match="did you mean"):
        trialrun.run([CASE, {"query": "q", "correctnes": {}}], called.append)
    wrong = EvalCase(query="q", path={"max_tool_cals": 1})
    with pytest.raises(SpecError, match="did you mean"):
        trialrun.run([CASE, wrong], called.append)
    assert called == []


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        ((CASE, Bot), {}, "found the class Bot"),
        ((CASE, 5), {}, "found 5"),
        ((7, answer), {}, "expected the path of a spec"),
        (([7], answer), {}, "a list with int"),
        ((CASE, answer), {"repeat": 0}, "repeat: expected a whole number"),
        ((CASE, answer), {"jobs": True}, "jobs: expected a whole number"),
        ((CASE, answer), {"timeout": 0}, "timeout: expected a number above 0"),
        ((CASE, answer), {"timeout": float("nan")}, "timeout: expected a number above 0"),
        ((CASE, answer), {"min_pass_rate": 0}, "above 0 and up to 1"),
        ((CASE, answer), {"until_decided": True}, "until_decided needs min_pass_rate"),
        ((CASE, answer), {"fail_on": "flaky"}, "fail_on needs repeat"),
        ((CASE, answer), {"fail_on": "flakey", "repeat": 2}, "expected one of flaky"),
        ((CASE, answer), {"on_result": answer_later}, "an async one is not awaited"),
        ((CASE, answer), {"on_result": 5}, "on_result: expected a function"),
        ((CASE, answer), {"store": " "}, "store: expected a path"),
        ((CASE, answer), {"baseline": "no/folder"}, "no such folder"),
        ((CASE, answer), {"judge": {"modell": "x"}}, "did you mean"),
        ((CASE,), {}, "names no agent to run"),
        (([], answer), {}, "has no cases"),
    ],
)
def test_a_wrong_argument_is_refused_with_its_name(arguments, options, said):
    with pytest.raises(trialrun.TrialrunError, match=said):
        trialrun.run(*arguments, **options)


def test_an_unknown_option_is_a_type_error():
    with pytest.raises(TypeError, match="'retrys'"):
        trialrun.run(CASE, answer, retrys=1)


@pytest.mark.parametrize("agent", [lambda: "", lambda a, b, c: ""])
def test_an_agent_with_wrong_parameters_is_refused(agent):
    with pytest.raises(PluginError, match="argument"):
        trialrun.run(CASE, agent)


# Errors of the agent


def raising(error):
    def agent(question):
        raise error

    return agent


def raising_later(error):
    async def agent(question):
        raise error

    return agent


@pytest.mark.parametrize("make", [raising, raising_later])
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("boom"), "ValueError: boom"),
        (SystemExit(0), "sys.exit"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (asyncio.CancelledError(), "CancelledError"),
        (StopIteration(), "StopIteration"),
        (GeneratorExit(), "GeneratorExit"),
    ],
    ids=repr,
)
def test_an_exception_is_an_error_of_its_case_only(make, error, said):
    failing = make(error)

    def agent(question):
        return failing(question) if question == "bad" else "30 days"

    cases = [{**CASE, "query": "bad"}, {**CASE, "query": "good"}]
    found = trialrun.run(cases, agent)
    assert names(found) == [("bad", "error"), ("good", "pass")]
    (failed, _) = found.results
    assert said in failed.error
    assert found.exit_code() == 3


def test_a_call_that_hangs_is_an_error_of_its_case_only():
    release = threading.Event()

    def agent(question):
        if question == "slow":
            release.wait(WALL_SECONDS)
        return "30 days"

    try:
        cases = [{**CASE, "query": "slow"}, *({**CASE, "query": f"q{n}"} for n in range(4))]
        found = trialrun.run(cases, agent, jobs=2, timeout=0.2)
    finally:
        release.set()
    assert [status for _, status in names(found)] == ["error", *["pass"] * 4]
    assert "no answer after 0.2 s" in next(iter(found.results)).error


@pytest.mark.parametrize("stubborn", [False, True])
def test_a_coroutine_that_hangs_is_cancelled(stubborn):
    ended = []

    async def agent(question):
        try:
            await asyncio.sleep(WALL_SECONDS)
        except asyncio.CancelledError:
            ended.append(question)
            if stubborn:
                return "30 days"
            raise
        return ""

    found = trialrun.run(CASE, agent, timeout=0.1)
    assert names(found) == [("how-long", "error")]
    assert ended == ["How long?"]


def test_synchronous_agents_run_at_the_same_time():
    together = threading.Barrier(4)

    def agent(question):
        together.wait(WALL_SECONDS)
        return "30 days"

    assert trialrun.run([CASE] * 4, agent, jobs=4).exit_code() == 0


def test_a_conversation_gets_its_history():
    def agent(question, history):
        return f"30 days, turn {len(history) // 2 + 1}"

    turns = [
        {"query": "one", "correctness": {"expected_in_answer": ["turn 1"]}},
        {"query": "two", "correctness": {"expected_in_answer": ["turn 2"]}},
    ]
    assert trialrun.run({"name": "talk", "turns": turns}, agent).exit_code() == 0
    with pytest.raises(PluginError, match="conversations"):
        trialrun.run({"name": "talk", "turns": turns}, answer)


def test_a_case_with_a_working_folder_runs_in_it(tmp_path):
    def agent(question):
        Path("made.txt").write_text(question)
        return str(Path.cwd())

    before = Path.cwd()
    case = {"query": "q", "state": [["test", "-f", "made.txt"]]}
    found = trialrun.run([case, {**case, "name": "again"}], agent, jobs=4)
    assert [status for _, status in names(found)] == ["pass", "pass"]
    assert Path.cwd() == before
    assert not (before / "made.txt").exists()


# Repeats, gates, judges


def test_repeats_have_stability_and_gates():
    answers = iter(["30 days", "never", "30 days", "30 days"])
    found = trialrun.run(
        CASE, lambda q: next(answers), repeat=4, jobs=1, min_pass_rate=0.7, fail_on=["flaky"]
    )
    (one,) = found.stability
    assert (one.stability.passes, one.stability.failures) == (3, 1)
    assert [gate.holds for gate in found.gates] == [True, False]
    assert found.exit_code() == 1
    assert trialrun.run(CASE, answer, repeat=4, min_pass_rate=0.5).exit_code() == 0


def test_until_decided_ends_when_it_is_decided():
    found = trialrun.run(CASE, answer, min_pass_rate=0.5, until_decided=True)
    assert 1 < len(found.results) < 30


def test_a_function_may_be_the_judge():
    case = {"query": "q", "correctness": {"llm_judge": [{"rule": "It is polite."}]}}
    assert trialrun.run(case, answer, judge=lambda request: 5).exit_code() == 0
    assert trialrun.run(case, answer, judge=lambda request: 1).exit_code() == 1
    assert trialrun.run(case, answer, judge=trialrun.Judge(lambda request: 5)).exit_code() == 0
    assert trialrun.run(case, answer).exit_code() == 3


def test_a_limit_on_cost_stops_the_run():
    def agent(question):
        steps = [Step.llm_call("m", cost_usd=1.0)]
        return Trace(input=question, output="30 days", steps=steps)

    found = trialrun.run([CASE] * 5, agent, jobs=1, max_cost=2)
    assert [status for _, status in names(found)].count("pass") == 2
    assert len(found.results) == found.planned == 5
    assert found.exit_code() == 3


# The store


def test_without_a_store_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRIALRUN_STORE", str(tmp_path / "other.db"))
    found = trialrun.run([CASE] * 3, answer, repeat=2)
    assert len(found.results) == 6
    assert list(tmp_path.iterdir()) == []


def test_a_stored_run_is_that_of_the_command(spec, tmp_path, capsys, monkeypatch):
    from trialrun.cli.main import main

    monkeypatch.chdir(tmp_path)
    found = trialrun.run(spec, store=tmp_path / "runs.db", repeat=2)
    assert main(["show", found.run_id, "--store", "runs.db", "--format", "json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert [row["status"] for row in shown["results"]] == ["pass", "pass", "fail", "fail"]
    assert main(["regrade", found.run_id, "--store", "runs.db"]) == 1
    with open_store("runs.db") as store:
        again = trialrun.run(spec, answer, store=store)
        assert store.find_run("latest").id == again.run_id


def test_secrets_are_masked_in_results_and_callbacks():
    key = "sk-proj-aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD"
    seen = []
    case = {"query": "q", "correctness": {"exact_match": "x"}}
    found = trialrun.run(case, lambda q: f"the key is {key}", on_result=seen.append)
    assert len(seen) == 1
    assert key not in repr(msgspec_json(seen)) + repr(msgspec_json(list(found.results)))


def msgspec_json(value):
    import msgspec

    return msgspec.json.encode(value)


# Callbacks


def test_on_result_gets_every_result():
    seen = []
    found = trialrun.run([CASE] * 5, answer, on_result=seen.append, repeat=2)
    assert len(seen) == 10
    assert {one.case_name for one in seen} == {one.case_name for one in found.results}


class Mine(BaseException):
    pass


@pytest.mark.parametrize("error", [ValueError("mine"), Mine(), KeyboardInterrupt()], ids=repr)
def test_an_exception_of_on_result_is_the_callers(error, tmp_path):
    calls = []

    def on_result(result):
        calls.append(result)
        raise error

    with pytest.raises(type(error)):
        trialrun.run([CASE] * 50, answer, jobs=2, on_result=on_result, store=tmp_path / "r.db")
    assert len(calls) <= 2
    with open_store(str(tmp_path / "r.db")) as store:
        (record,) = store.runs()
        assert record.state.value == "stopped"


# Event loops


def test_run_works_in_a_running_loop_and_run_async_on_it():
    async def main():
        here = asyncio.get_running_loop()
        loops = []

        async def agent(question):
            loops.append(asyncio.get_running_loop())
            return "30 days"

        one = trialrun.run(CASE, agent)
        two = await trialrun.run_async(CASE, agent)
        assert loops[0] is not here and loops[1] is here
        return one.exit_code(), two.exit_code()

    assert asyncio.run(main()) == (0, 0)


def test_several_runs_at_the_same_time():
    async def main():
        runs = [trialrun.run_async([CASE] * 3, answer_later) for _ in range(3)]
        return [found.exit_code() for found in await asyncio.gather(*runs)]

    assert asyncio.run(main()) == [0, 0, 0]


def test_a_cancelled_run_is_recorded_as_stopped(tmp_path):
    async def main():
        started = asyncio.Event()

        async def agent(question):
            started.set()
            await asyncio.sleep(WALL_SECONDS)

        task = asyncio.ensure_future(
            trialrun.run_async([CASE] * 3, agent, store=tmp_path / "runs.db")
        )
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    with open_store(str(tmp_path / "runs.db")) as store:
        (record,) = store.runs()
        assert record.state.value == "stopped"


INTERRUPTED = """
import asyncio, os, signal, sys, threading, time
import trialrun
CASE = {"query": "q", "correctness": {"expected_in_answer": ["x"]}}
count = 0

def agent(question):
    global count
    count += 1
    if count == 3:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    return "x"

def own(*_): pass

def work():
    try:
        trialrun.run([CASE] * 10, agent, jobs=1)
    except trialrun.RunInterrupted as stopped:
        assert isinstance(stopped, KeyboardInterrupt)
        found = list(stopped.result.results)
        print([one.status.value for one in found].count("pass"), len(found), found[-1].error)

if sys.argv[1] == "loop":
    async def main(): work()
    asyncio.run(main())
else:
    signal.signal(signal.SIGTERM, own)
    work()
    assert signal.getsignal(signal.SIGTERM) is own
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""


@pytest.mark.parametrize("where", ["plain", "loop"])
def test_ctrl_c_ends_the_run_with_what_was_done(where):
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, where],
        capture_output=True,
        text=True,
        timeout=WALL_SECONDS,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout.strip() == "2 10 not run: interrupted", done.stderr


def test_run_interrupted_is_public():
    assert trialrun.RunInterrupted is RunInterrupted


SECRET = "sk-proj-aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD"


@pytest.mark.parametrize("given", ["Within 30 days", f"Within 30 days, and the key is {SECRET}"])
def test_masks_are_counted_in_results_only_where_something_was_masked(given):
    """A run without any does not read its results again to say so."""
    found = trialrun.run(CASE, lambda question: given)
    counted = sum(masks_in(texts_of(result)) for result in found.results)
    assert masked_in(found) == counted
    assert bool(counted) == (SECRET in given)
    assert found.masked == (None if counted else 0)
