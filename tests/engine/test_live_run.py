"""Live runs through the command line: real agents, real processes, every way to stop."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from tests.engine.conftest import finished, says
from tests.tiers import all_but_first
from tests.watchdog import watchdog
from trialrun.engine import live_run as run_module

SLOW = """
def run(question):
    note(question)
    time.sleep(300 if question.startswith("slow") else 0)
    return question
"""


def paid(cost):
    """An agent whose every answer costs this many dollars."""
    return f"""
def run(question):
    note(question)
    step = {{"type": "llm_call", "model": "m", "cost_usd": {cost}}}
    return {{"output": question, "steps": [step]}}
"""


def cases(count, **fields):
    return [says(f"case{number}", **fields) for number in range(count)]


# Every way to stop: all planned attempts are reported


def test_every_case_is_asked_once_evaluated_and_recorded(project):
    project.spec(says("a"), says("b", "something else"), says("c"))
    done = project.run()
    assert (done.code, done.by_case) == (1, {"a": "pass", "b": "fail", "c": "pass"})
    assert sorted(project.calls) == ["a", "b", "c"]
    assert done.report["summary"]["planned"] == done.report["summary"]["results"] == 3
    with project.store() as store:
        (record,) = store.runs()
        assert (record.state, record.planned, record.id) == ("finished", 3, done.report["run"])
        assert store.tally(record.id) == {"pass": 2, "fail": 1}


def test_all_passed_is_exit_0(project):
    project.spec(says("a"))
    assert project.run().code == 0


def test_fail_fast_leaves_the_rest_for_resume(project):
    project.spec(says("a"), says("b", "else"), says("c"), says("d"))
    stopped = project.run("--fail-fast", "-j", 1)
    assert stopped.code == 1
    assert stopped.by_case == {"a": "pass", "b": "fail", "c": "error", "d": "error"}
    assert stopped.errors[2] == "not run: --fail-fast: b did not pass"
    assert project.calls == ["a", "b"]
    assert "continue with: trialrun run spec.yaml --resume" in stopped.err
    resumed = project.run("--resume", "-j", 1)
    assert project.calls == ["a", "b", "c", "d"]
    assert resumed.by_case == {"a": "pass", "b": "fail", "c": "pass", "d": "pass"}
    assert resumed.report["warnings"] == []


def test_fail_fast_on_the_last_case_completes_the_run(project):
    project.spec(says("a"), says("b", "else"))
    assert project.run("--fail-fast", "-j", 1).by_case == {"a": "pass", "b": "fail"}
    assert project.run("--resume").code == 5


def test_max_cost_stops_with_exit_3_even_when_nothing_failed(project):
    project.agent(paid(0.25))
    project.spec(*cases(6))
    stopped = project.run("--max-cost", "0.5", "-j", 1)
    assert stopped.code == 3
    assert stopped.statuses == ["pass"] * 2 + ["error"] * 4
    assert set(stopped.errors[2:]) == {"not run: --max-cost: $0.5 of $0.5 are spent"}
    assert len(project.calls) == 2


def test_max_cost_stops_if_a_cost_is_unknown(project):
    project.spec(*cases(3))
    stopped = project.run("--max-cost", "5", "-j", 1)
    assert (stopped.code, len(project.calls)) == (3, 1)
    assert "the cost of case0 is unknown" in stopped.errors[1]


@pytest.mark.parametrize(
    "number", all_but_first(pytest.mark.process, [signal.SIGINT, signal.SIGTERM])
)
def test_a_signal_ends_the_run_cleanly(project, number):
    project.agent(SLOW)
    project.spec(says("a"), says("slow1"), says("slow2"), says("b"), says("slow3"))
    process = project.start("run", "spec.yaml", "-j", 2, "--format", "json")
    project.await_calls(3)
    time.sleep(0.2)  # so that `a` is evaluated
    process.send_signal(number)
    stopped = finished(process)  # before the agents have answered, which takes minutes
    assert stopped.code == 3
    assert stopped.by_case == {
        "a": "pass",
        "slow1": "error",
        "slow2": "error",
        "b": "error",
        "slow3": "error",
    }
    assert stopped.errors[4] == "not run: interrupted"
    assert "Traceback" not in stopped.err
    project.agent("")
    project.forget_calls()
    resumed = project.run("--resume")
    assert (resumed.code, sorted(project.calls)) == (0, ["b", "slow1", "slow2", "slow3"])


def test_an_interrupt_in_process_ends_the_run_with_its_summary(project):
    project.agent(SLOW)
    project.spec(says("a"), says("slow1"), says("b"))
    process = project.start("run", "spec.yaml", "--in-process", "--format", "json")
    project.await_calls(2)
    process.send_signal(signal.SIGINT)  # the function blocks the loop: it has to end, too
    stopped = finished(process)
    assert stopped.code == 3
    assert stopped.by_case == {"a": "pass", "slow1": "error", "b": "error"}
    assert stopped.errors[1] == "not run: interrupted"
    assert "Traceback" not in stopped.err and "--resume" in stopped.err


def test_an_interrupt_during_imports_ends_cleanly(project):
    project.agent("note('imported')\ntime.sleep(3)\n")
    project.spec(says("a"))
    process = project.start("run", "spec.yaml", "--format", "json")
    project.await_calls(1)
    process.send_signal(signal.SIGINT)
    stopped = finished(process)
    assert (stopped.code, stopped.errors) == (3, ["not run: interrupted"])
    assert project.calls == ["imported"]


def test_attempts_waiting_for_the_rate_do_not_start_after_a_stop(project):
    project.spec(says("a", "else"), *cases(4))
    stopped = project.run("--fail-fast", "--rate", "5/s", "-j", 4)
    assert project.calls == ["a"]
    assert stopped.statuses == ["fail"] + ["error"] * 4
    assert len(project.run("--resume").statuses) == 5
    assert sorted(project.calls) == ["a", "case0", "case1", "case2", "case3"]


# Retries


class Flaky(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append((body["input"], time.monotonic()))
        plan = self.server.plans[body["input"]]
        status, headers, text = plan.pop(0) if len(plan) > 1 else plan[0]
        data = json.dumps({"output": text}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def flaky():
    """A local server: `plans` has the replies to each question; the last one repeats."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Flaky)
    server.asked, server.plans = [], {}
    server.url = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def tries_of(project, position=0):
    with project.store() as store:
        (attempt,) = store.attempts(store.find_run("latest").id, [position])
        return attempt.trace.metadata.get("tries", [])


def test_retry_after_is_honoured_and_tries_are_recorded(project, flaky):
    flaky.plans["a"] = [(429, {"Retry-After": "1"}, ""), (200, {}, "a")]
    project.spec(says("a"), url=flaky.url)
    assert project.run().by_case == {"a": "pass"}
    (_, first), (_, second) = flaky.asked
    assert second - first >= 1
    (tried,) = tries_of(project)
    assert "429" in tried["error"]
    assert tried["waited_s"] == 1


def test_success_after_two_500s_is_a_pass(project, flaky):
    flaky.plans["a"] = [(500, {"Retry-After": "0"}, "")] * 2 + [(200, {}, "a")]
    project.spec(says("a"), url=flaky.url)
    assert project.run().by_case == {"a": "pass"}
    assert len(flaky.asked) == 3
    assert len(tries_of(project)) == 2


def test_retries_end(project, flaky):
    flaky.plans["a"] = [(503, {"Retry-After": "0"}, "")]
    project.spec(says("a"), url=flaky.url)
    done = project.run("--retries", 3)
    assert (done.code, len(flaky.asked)) == (3, 4)
    assert done.errors[0].endswith("(tried 4 times)")


def test_a_failed_check_is_never_retried(project, flaky):
    flaky.plans["a"] = [(200, {}, "wrong"), (200, {}, "a")]
    project.spec(says("a"), url=flaky.url)
    assert project.run("--retries", 5).by_case == {"a": "fail"}
    assert len(flaky.asked) == 1


def test_other_errors_are_not_retried(project, flaky):
    flaky.plans["a"] = [(404, {}, ""), (200, {}, "a")]
    project.spec(says("a"), url=flaky.url)
    assert project.run("--retries", 5).by_case == {"a": "error"}
    assert len(flaky.asked) == 1


# Rate and time limits


def test_starts_are_spread_by_the_rate(project):
    project.spec(*cases(4))
    assert project.run("--rate", "2/s").code == 0
    moments = sorted(project.moments)
    # 4 starts at 2 per second: 1.5 s from the first to the last, which may be late too.
    assert moments[-1] - moments[0] >= 0.7


def test_starts_are_spread_evenly(monkeypatch):
    """All attempts are ready to start at the same moment."""
    waits = []

    async def noted(seconds):
        waits.append(round(seconds, 6))

    asking = SimpleNamespace(settings=SimpleNamespace(rate=10), _next_start=0.0)
    with monkeypatch.context() as patched:
        patched.setattr(run_module.time, "monotonic", lambda: 100.0)
        patched.setattr(run_module.asyncio, "sleep", noted)
        for _ in range(5):
            asyncio.run(run_module.LiveRun._keep_rate(asking))
    assert waits == [0, 0.1, 0.2, 0.3, 0.4]


@pytest.mark.parametrize(
    ("of_case", "of_agent", "of_suite", "given", "wanted"),
    [
        (0.3, 20, 20, (), "0.3"),
        (None, 0.3, 20, (), "0.3"),
        (None, None, 0.3, (), "0.3"),
        (20, 20, 20, ("--timeout", "0.3"), "0.3"),
    ],
)
def test_the_most_specific_time_limit_applies(project, of_case, of_agent, of_suite, given, wanted):
    project.agent(SLOW)
    case = says("slow") if of_case is None else says("slow", timeout=of_case)
    agent = {"runner": "an_agent:run", **({} if of_agent is None else {"timeout": of_agent})}
    project.spec(case, agents={"one": agent}, timeout=of_suite)
    with watchdog():
        done = project.run(*given)
    assert (done.code, done.statuses) == (3, ["error"])
    assert f"no answer after {wanted} s" in done.errors[0]


def test_a_generous_limit_of_the_case_wins_over_a_short_one_of_the_suite(project):
    project.agent("def run(question):\n    time.sleep(0.6)\n    return question\n")
    project.spec(says("a", timeout=20), says("b"), timeout=0.2)
    assert project.run().by_case == {"a": "pass", "b": "error"}


# Several agents


def test_several_agents_side_by_side(project):
    project.agent("def wrong(question):\n    note('wrong ' + question)\n    return 'x'\n")
    project.spec(
        says("a"),
        says("b"),
        agents={"good": {"runner": "an_agent:run"}, "bad": {"runner": "an_agent:wrong"}},
    )
    done = project.run()
    found = {(one["agent"], one["case"]): one["status"] for one in done.report["results"]}
    assert found == {
        ("good", "a"): "pass",
        ("good", "b"): "pass",
        ("bad", "a"): "fail",
        ("bad", "b"): "fail",
    }
    assert done.report["summary"]["planned"] == 4
    project.forget_calls()
    only = project.run("--agent", "good")
    assert (only.code, sorted(project.calls)) == (0, ["a", "b"])
    unknown = project.run("--agent", "god")
    assert unknown.code == 2
    assert "did you mean `good`" in unknown.err


# Conversations


TALK = """
def run(question, history):
    note(f"{question}|{len(history)}")
    if question == "crash":
        raise ValueError("no more")
    if question == "what did I say?":
        return history[0]["content"]
    return "heard " + question
"""


def talk(*turns, **fields):
    return {
        "name": "talk",
        "turns": [
            {"query": text, "correctness": {"exact_match": expected}} for text, expected in turns
        ],
        **fields,
    }


def test_a_conversation_runs_turn_by_turn_with_history(project):
    project.agent(TALK)
    project.spec(talk(("one", "heard one"), ("what did I say?", "one"), ("three", "wrong")))
    done = project.run()
    assert project.calls == ["one|0", "what did I say?|2", "three|4"]
    checks = done.report["results"][0]["layers"]["correctness"]["checks"]
    assert [(check["turn"], check["status"]) for check in checks] == [
        (1, "pass"),
        (2, "pass"),
        (3, "fail"),
    ]
    assert done.code == 1


def test_a_crash_in_turn_two_is_an_error_that_names_the_turn(project):
    project.agent(TALK)
    project.spec(talk(("one", "heard one"), ("crash", "x"), ("three", "heard three")))
    done = project.run()
    assert done.statuses == ["error"]
    assert "turn 2: " in done.errors[0]
    assert "ValueError: no more" in done.errors[0]
    assert project.calls == ["one|0", "crash|2"]


# Setup, state and teardown


WORLD = """
def run(question):
    note(question)
    (Path.cwd() / "made").write_text(Path("given").read_text() + question)
    return question

def prepare(folder):
    (Path(folder) / "given").write_text("g:")

def check(folder):
    return (Path(folder) / "made").read_text() == "g:good"

def clean(folder):
    note("cleaned " + str(len(list(Path(folder).iterdir()))))
"""


def test_setup_state_and_teardown(project):
    project.agent(WORLD)
    world = {
        "setup": "an_agent:prepare",
        "teardown": "an_agent:clean",
        "state": [{"name": "made", "function": "an_agent:check"}],
    }
    project.spec(says("good", **world), says("bad", **world))
    done = project.run("-j", 1)
    assert done.by_case == {"good": "pass", "bad": "fail"}, done.errors
    assert project.calls == ["good", "cleaned 2", "bad", "cleaned 2"]
    (check,) = [
        check
        for check in done.report["results"][1]["layers"]["correctness"]["checks"]
        if check["status"] == "fail"
    ]
    assert "made" in check["message"]


def test_a_failed_setup_is_an_error_without_a_call(project):
    project.spec(says("a", setup=["sh", "-c", "echo no disk >&2; exit 4"]))
    done = project.run()
    assert (done.statuses, project.calls) == (["error"], [])
    assert done.errors == ["the setup failed: exit 4: no disk"]


# Recorded traces within a run


def test_a_recorded_trace_is_evaluated_beside_live_answers(project):
    from trialrun import Trace, write_traces

    write_traces([Trace(input="old", output="old")], project.folder / "old.jsonl")
    project.spec(says("a"), says("old", trace="old.jsonl"))
    done = project.run()
    assert done.by_case == {"a": "pass", "old": "pass"}
    assert project.calls == ["a"]


def test_a_missing_recorded_trace_is_an_error_of_its_case(project):
    project.spec(says("a"), says("old", trace="none.jsonl"))
    done = project.run()
    assert (done.code, done.by_case) == (3, {"a": "pass", "old": "error"})


# Selection


def test_selection_by_tag_name_and_number(project):
    project.spec(says("a", tags=["x"]), says("b", tags=["x"]), says("c"))
    assert list(project.run("--tag", "x").by_case) == ["a", "b"]
    assert list(project.run("--case", "[bc]").by_case) == ["b", "c"]
    assert list(project.run("--limit", 1).by_case) == ["a"]
    nothing = project.run("--tag", "y")
    assert nothing.code == 5
    assert "tags in use: x" in nothing.err


def test_failed_selects_cases_that_did_not_pass_last_time(project):
    project.spec(says("a"), says("b", "else"), says("c"))
    none = project.run("--failed")
    assert none.code == 2
    assert "no run of spec.yaml is recorded yet" in none.err
    project.run("--fail-fast", "-j", 1)
    assert list(project.run("--failed").by_case) == ["b", "c"]
    project.spec(says("a"), says("b"), says("c"))
    assert project.run("--failed").by_case == {"b": "pass"}
    assert project.run("--failed").code == 5


def test_dry_run_calls_no_agent_and_records_nothing(project):
    project.agent(paid(0.5))
    project.spec(*cases(3))
    planned = project.command("run", "spec.yaml", "--dry-run", "--repeat", 2)
    assert planned.code == 0
    assert "3 cases, 6 attempts would run; what they cost is not known" in planned.out
    assert project.calls == []
    assert not (project.folder / ".trialrun").exists()
    project.run("--case", "case0", "--case", "case1")
    planned = project.command("run", "spec.yaml", "--dry-run", "--repeat", 2)
    assert "for about $2.00 as in earlier runs; 1 case without a known cost" in planned.out


def test_in_process_gives_the_same_results(project):
    project.spec(says("a"), says("b", "else"))
    assert project.run("--in-process").by_case == {"a": "pass", "b": "fail"}


@pytest.mark.parametrize("option", [("--tag", "x"), ("--repeat", "2"), ("--failed",)])
def test_resume_takes_no_selection(project, option):
    project.spec(says("a"))
    refused = project.run("--resume", *option)
    assert refused.code == 2
    assert f"takes no {option[0]}" in refused.err


# Agents that crash


def test_each_agent_harms_only_its_own_case(project):
    project.agent(
        """
        import signal, sys

        def run(question):
            note(question)
            if question == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if question == "exit":
                sys.exit(0)
            if question == "none":
                return None
            if question == "deep":
                value = []
                for _ in range(3000):
                    value = [value]
                return {"output": "deep", "steps": [
                    {"type": "tool_call", "tool_name": "t", "tool_args": {"a": value}}]}
            if question == "object":
                return {"output": "object", "steps": [object()]}
            if question == "half":
                return "half \\ud800"
            print("noise")
            return question
        """
    )
    names = ["a", "kill", "exit", "none", "deep", "object", "half", "b"]
    project.spec(*map(says, names))
    done = project.run("-j", 3)
    assert list(done.by_case) == names
    assert done.by_case["a"] == done.by_case["b"] == "pass"
    assert done.code in (1, 3)
    assert not [name for name in names[1:-1] if done.by_case[name] == "pass"]
    assert "Traceback" not in done.err
