"""Python agents that misbehave: their own case is an error, all other cases are judged."""

from __future__ import annotations

import os
import signal
import time
from itertools import chain

import pytest

from tests.tiers import all_but_first

RUNNER = {"runner": "agent:run"}

# The question says what the agent does; a good agent answers `yes`.
AGENT = """
import asyncio, builtins, ctypes, json, locale, os, signal, socket, subprocess, sys, threading, time
from pathlib import Path

from trialrun import Trace


class Own(BaseException):
    pass


class NoText(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class NoStatus(Exception):
    @property
    def status_code(self):
        raise RuntimeError("no status")


class ClaimsText:
    @property
    def __class__(self):
        return str


class ClaimsDict:
    @property
    def __class__(self):
        return dict


class NoClass:
    @property
    def __class__(self):
        raise RuntimeError("no class")


class NoItems(dict):
    def __getitem__(self, key):
        raise RuntimeError("no items")


class OddText(str):
    def __len__(self):
        raise RuntimeError("no length")

    __str__ = __len__


class Ending:
    def __del__(self):
        raise RuntimeError("no end")


def throw(error):
    raise error


def nested(levels):
    value = "x"
    for _ in range(levels):
        value = [value]
    return {"output": "yes", "metadata": {"deep": value}}


def cycle():
    made = {"output": "yes"}
    made["metadata"] = made
    return made


def with_value(value):
    return {"output": "yes", "metadata": {"value": value}}


def forks_and_both_answer():
    os.fork()
    return "yes"


def leaves_a_child():
    subprocess.Popen(["sleep", "300"])
    return "yes"


def leaves_a_thread():
    threading.Thread(target=time.sleep, args=(300,)).start()
    return "yes"


def leaves_a_fork():
    if os.fork() == 0:
        time.sleep(300)
    return "yes"


def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(300)
        os._exit(0)
    time.sleep(0.3)
    return "yes"


def ignores_sigterm():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    subprocess.Popen(["sh", "-c", "trap '' TERM; sleep 300"])
    time.sleep(300)


def installs_handlers():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
        signal.signal(number, lambda *given: None)
    return "yes"


def allocates():
    kept = []
    while True:
        kept.append(bytearray(10_000_000))


def floods():
    while True:
        os.write(1, b"x" * 65536)


def prints():
    print('{"forged": true}')
    print("::error::forged\\x1b[2J", file=sys.stderr)
    os.write(1, b"to the descriptor")
    return "yes"


def writes_garbage_everywhere():
    for descriptor in range(3, 40):
        try:
            os.write(descriptor, b"what is this doing here, and how long is it?")
        except OSError:
            pass
    return "yes"


def forges_a_worker_message(message):
    import msgspec, struct

    body = msgspec.msgpack.encode(message)
    for descriptor in range(3, 40):
        try:
            os.write(descriptor, struct.pack("!I", len(body)) + body)
        except OSError:
            pass
    return "yes"


def breaks_builtins():
    builtins.isinstance = builtins.len = lambda *given: 1 / 0
    return "yes"


def breaks_modules():
    json.dumps = json.loads = sys.exit = socket.socket.sendall = None
    return "yes"


def changes_its_environment():
    os.chdir("/")
    os.environ.clear()
    os.environ["LEAK"] = "1"
    locale.setlocale(locale.LC_ALL, "C")
    sys.stdout = sys.stderr = sys.stdin = None
    return "yes"


def sees_a_clean_environment():
    clean = (
        "LEAK" not in os.environ and "PATH" in os.environ and os.getcwd() == HOME
        and sys.stdout is not None
    )
    return "yes" if clean else f"no: {dict(os.environ)} {os.getcwd()}"


HOME = os.getcwd()

BEHAVIOURS = {
    "yes": lambda: "yes",
    "raises": lambda: throw(ValueError("a bad thing")),
    "raises BaseException": lambda: throw(Own("mine")),
    "raises KeyboardInterrupt": lambda: throw(KeyboardInterrupt()),
    "raises CancelledError": lambda: throw(asyncio.CancelledError()),
    "raises GeneratorExit": lambda: throw(GeneratorExit()),
    "raises StopIteration": lambda: throw(StopIteration(1)),
    "raises without text": lambda: throw(NoText()),
    "raises without status": lambda: throw(NoStatus("refused")),
    "sys.exit": lambda: sys.exit(0),
    "os._exit": lambda: os._exit(0),
    "segfault": lambda: ctypes.string_at(0),
    "kills itself": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "kills its group": lambda: os.killpg(0, signal.SIGKILL),
    "closes everything": lambda: os.closerange(0, 64) or "yes",
    "closes its streams": lambda: os.closerange(0, 3) or "yes",
    "returns None": lambda: None,
    "returns a number": lambda: 7,
    "returns bytes": lambda: b"yes",
    "returns a generator": lambda: (part for part in "yes"),
    "returns 50 MB": lambda: "yes" * 17_000_000,
    "returns 200 MB": lambda: "y" * 200_000_000,
    "claims to be text": ClaimsText,
    "claims to be a dict": ClaimsDict,
    "has no class": NoClass,
    "has no items": lambda: NoItems(output="yes"),
    "returns odd text": lambda: OddText("yes"),
    "raises in __del__": lambda: Ending() and "yes",
    "contains itself": cycle,
    "nested 1000": lambda: nested(1000),
    "nested 500": lambda: nested(500),
    "nested 300": lambda: nested(300),
    "NaN": lambda: with_value(float("nan")),
    "infinity": lambda: with_value(float("inf")),
    "20 digits": lambda: with_value(2**70),
    "5000 digits": lambda: with_value(10**5000),
    "an object": lambda: with_value(object()),
    "bytes": lambda: with_value(b"abc"),
    "half a character": lambda: "yes \\ud800",
    "half a key": lambda: {"output": "yes", "metadata": {"\\udfff": "\\ud800"}},
    "an odd status": lambda: {"output": "yes", "status": "splendid"},
    "status error": lambda: {"output": "yes", "status": "error"},
    "status timeout": lambda: {"output": "yes", "status": "timeout"},
    "no output": lambda: {"output": None},
    "negative times": lambda: {
        "output": "yes", "duration_ms": -5, "steps": [{"type": "llm_call", "duration_ms": -1e9}],
    },
    "an odd Trace": lambda: type("Trace", (), {"to_dict": lambda self: 7})(),
    "hangs": lambda: time.sleep(300),
    "spins": lambda: [None for _ in iter(int, 1)],
    "ignores SIGTERM": ignores_sigterm,
    "floods": floods,
    "allocates": allocates,
    "prints": prints,
    "forks": forks_and_both_answer,
    "leaves a child": leaves_a_child,
    "leaves a thread": leaves_a_thread,
    "leaves a fork": leaves_a_fork,
    "installs handlers": installs_handlers,
    "daemon": daemon,
    "new session": lambda: subprocess.Popen(["sleep", "300"], start_new_session=True) and "yes",
    "garbage": writes_garbage_everywhere,
    "no id": lambda: forges_a_worker_message({"answer": {"output": "yes"}}),
    "odd id": lambda: forges_a_worker_message({"id": []}),
    "odd duration": lambda: forges_a_worker_message(
        {"id": 1, "answer": {"output": "yes"}, "duration_ms": "long"}
    ),
    "odd answer": lambda: forges_a_worker_message({"id": 1, "answer": 5, "duration_ms": 1.0}),
    "breaks builtins": breaks_builtins,
    "breaks modules": breaks_modules,
    "changes its environment": changes_its_environment,
    "clean": sees_a_clean_environment,
    "sets an alarm": lambda: signal.alarm(1) and "" or "yes",
    "clears sys.path": lambda: sys.path.clear() or "yes",
    "has a path": lambda: "yes" if sys.path else "no",
    "takes two seconds": lambda: time.sleep(2) or "yes",
}


def run(question):
    return BEHAVIOURS[question]()


async def run_async(question):
    if question == "awaits":
        await asyncio.sleep(300)
    while question == "will not be cancelled":
        try:
            await asyncio.sleep(300)
        except BaseException:
            pass
    await asyncio.sleep(0)
    return BEHAVIOURS[question]()
"""

KINDS = "an agent returns text, a Trace, or a dict with `output`"
DIED = "the agent's process ended with exit 0"

# What the agent does → the error of its case.
REFUSED = {
    "raises": "ValueError: a bad thing",
    "raises BaseException": "Own: mine",
    "raises KeyboardInterrupt": "KeyboardInterrupt",
    "raises CancelledError": "CancelledError",
    "raises GeneratorExit": "GeneratorExit",
    "raises without text": "NoText",
    "sys.exit": "the agent called sys.exit(0)",
    "os._exit": DIED,
    "segfault": "killed by SIGSEGV",
    "kills itself": "killed by SIGKILL",
    "kills its group": "killed by SIGKILL",
    "returns None": f"the agent returned None; {KINDS}",
    "returns a number": f"the agent returned an int; {KINDS}",
    "returns bytes": f"the agent returned a bytes; {KINDS}",
    "returns a generator": f"the agent returned a generator; {KINDS}",
    "returns 50 MB": "the answer has 51 MB; at most 34 MB are accepted",
    "returns 200 MB": "the answer has 200 MB; at most 34 MB are accepted",
    "claims to be text": "TypeError",
    "claims to be a dict": "TypeError",
    "has no class": "no class",
    "contains itself": "cannot be written as JSON",
    "nested 1000": "cannot be written as JSON",
    "nested 500": "nested too deeply",
    "5000 digits": "cannot be written as JSON",
    "an object": "it holds an object",
    "an odd status": "splendid",
    "status error": "the agent gave no answer",
    "status timeout": "the agent gave no answer",
    "no output": "the agent gave no answer",
    "an odd Trace": "the agent returned an int",
}
ONLY_SYNC = {"raises StopIteration": "StopIteration", "closes everything": "ended with exit"}
HARMLESS = [
    "has no items", "returns odd text", "raises in __del__", "nested 300", "NaN", "infinity",
    "bytes", "half a character", "half a key", "negative times", "installs handlers",
]  # fmt: skip


@pytest.fixture
def agents(bench):
    bench.write("agent.py", AGENT)
    return bench


def with_good_cases_between(questions):
    """Questions by case: each of these, and after each a good case."""
    pairs = ([(bad, bad), (f"good after {bad}", "yes")] for bad in questions)
    return dict(chain.from_iterable(pairs))


def expect_errors(done, errors):
    """Require that exactly these cases are errors with these words, and all others pass."""
    unexpected = {
        name: f"{row['status']}: {row['error']}"
        for name, row in done.rows.items()
        if (row["status"], errors.get(name, "") in (row["error"] or ""))
        != ("error" if name in errors else "pass", True)
    }
    assert not unexpected


@pytest.mark.parametrize(
    "runner", all_but_first(pytest.mark.process, ["agent:run", "agent:run_async"])
)
def test_a_misbehaving_agent_is_an_error_of_its_own_case_only(agents, runner):
    only_sync = ONLY_SYNC if runner == "agent:run" else {}
    refused = {**REFUSED, **only_sync}
    names = agents.cases({"runner": runner}, with_good_cases_between([*refused, *HARMLESS]))
    done = agents.live("-j", "4", "--timeout", "60").expect_complete(names)
    expect_errors(done, refused)
    assert done.code == 3
    assert not agents.left_running()
    shown = agents.run("show", "latest").expect(3, "no answer" if not refused else "ERROR")
    assert len(shown.text) < 200_000


def test_in_process_an_exception_of_an_agent_does_not_end_the_run(agents):
    refused = {
        question: message
        for question, message in REFUSED.items()
        if question.startswith(("raises", "sys.exit", "returns", "contains", "status", "no output"))
        and question
        not in ("raises KeyboardInterrupt", *BROKEN_EXCEPTIONS)  # here Ctrl-C stops the run
    }
    refused["sys.exit"] = "SystemExit"
    names = agents.cases(RUNNER, with_good_cases_between(refused))
    expect_errors(agents.live_process("--in-process").expect_complete(names), refused)


BROKEN_EXCEPTIONS = {"raises without text": "NoText", "raises without status": "NoStatus: refused"}


@pytest.mark.process
@pytest.mark.parametrize("question", BROKEN_EXCEPTIONS)
def test_in_process_an_exception_whose_attributes_raise_is_an_error(agents, question):
    names = agents.cases(RUNNER, with_good_cases_between([question]))
    expect_errors(
        agents.live_process("--in-process").expect_complete(names),
        {question: BROKEN_EXCEPTIONS[question]},
    )


def test_an_agent_that_times_out_is_killed_with_its_children(agents):
    late = dict.fromkeys(("hangs", "spins", "ignores SIGTERM", "floods"), "no answer after 1 s")
    names = agents.cases(RUNNER, with_good_cases_between(late), dict.fromkeys(late, 1))
    done = agents.live("-j", "8").expect_complete(names)
    expect_errors(done, late)
    assert not agents.left_running()
    assert all(row["duration_ms"] >= 0 for row in done.rows.values())


@pytest.mark.slow
def test_a_coroutine_that_times_out_does_not_affect_other_cases(agents):
    late = dict.fromkeys(("awaits", "will not be cancelled", "hangs", "spins"), "no answer after")
    names = agents.cases(
        {"runner": "agent:run_async"}, with_good_cases_between(late), dict.fromkeys(late, 1)
    )
    done = agents.live("-j", "8").expect_complete(names)
    expect_errors(done, late)
    assert not agents.left_running()


def test_processes_and_threads_left_by_an_agent_do_not_delay_the_run(agents):
    questions = ["forks", "leaves a child", "leaves a thread", "leaves a fork"]
    names = agents.cases(RUNNER, with_good_cases_between(questions))
    done = agents.live("-j", "2").expect_complete(names)
    expect_errors(done, {})
    assert not agents.left_running()


@pytest.mark.parametrize("question", ["daemon", "new session"])
def test_a_child_that_left_the_process_group_is_killed_too(agents, question):
    names = agents.cases(RUNNER, {question: question})
    agents.live().expect_complete(names)
    assert not agents.left_running()


@pytest.mark.process
def test_an_agent_that_allocates_without_end_hits_its_memory_limit(agents):
    names = agents.cases(RUNNER, with_good_cases_between(["allocates"]))
    done = agents.live("--max-memory", "300").expect_complete(names)
    expect_errors(done, {"allocates": "MemoryError"})


def test_printed_text_is_kept_with_the_case_and_not_in_the_report(agents):
    names = agents.cases(RUNNER, with_good_cases_between(["prints"]))
    done = agents.live().expect_complete(names)
    expect_errors(done, {})
    assert "forged" not in done.out + done.err
    done.expect_safe()
    shown = agents.run("show", "latest", "prints").expect(0, '{"forged": true}')
    assert "to the descriptor" in shown.text


def test_garbage_on_an_inherited_descriptor_is_an_error_of_its_case(agents):
    names = agents.cases(RUNNER, with_good_cases_between(["garbage"]))
    done = agents.live().expect_complete(names)
    expect_errors(done, {"garbage": "the agent's process"})


@pytest.mark.parametrize(
    "question",
    all_but_first(pytest.mark.process, ["odd id", "no id", "odd duration", "odd answer"]),
)
def test_a_forged_worker_message_does_not_affect_the_next_case(agents, question):
    names = agents.cases(RUNNER, with_good_cases_between([question]), {question: 3})
    done = agents.live("-j", "1").expect_complete(names)
    assert done.statuses[f"good after {question}"] == "pass"


def test_an_agent_that_breaks_its_process_is_an_error_of_its_case(agents):
    questions = ["breaks builtins", "breaks modules"]  # the second breaks nothing that is needed
    names = agents.cases(RUNNER, with_good_cases_between(questions))
    done = agents.live("-j", "1").expect_complete(names)
    expect_errors(done, {"breaks builtins": "the agent's process ended"})


def test_the_next_case_starts_in_a_clean_environment(agents):
    names = agents.cases(RUNNER, {"first": "changes its environment", "second": "clean"})
    expect_errors(agents.live("-j", "1").expect_complete(names), {})


@pytest.mark.parametrize(
    ("question", "after"),
    [
        ("sets an alarm", "takes two seconds"),
        ("clears sys.path", "has a path"),
    ],
)
def test_process_state_set_by_an_agent_does_not_reach_the_next_case(agents, question, after):
    names = agents.cases(RUNNER, {"first": question, "second": after})
    expect_errors(agents.live("-j", "1").expect_complete(names), {})


@pytest.mark.parametrize(
    "question",
    [
        "20 digits",
        "raises without status",
    ],
)
def test_an_answer_that_a_shared_worker_cannot_send_is_an_error_at_once(agents, question):
    names = agents.cases({"runner": "agent:run_async"}, with_good_cases_between([question]))
    done = agents.live().expect_complete(names)
    assert done.statuses[question] == "error"
    assert "timed out" not in done.rows[question]["error"]


@pytest.mark.parametrize(
    "runner", all_but_first(pytest.mark.process, ["agent:run", "agent:run_async"])
)
@pytest.mark.parametrize(
    ("question", "message"),
    [("20 digits", "cannot be written"), ("raises without status", "NoStatus")],
)
def test_an_answer_that_a_worker_cannot_send_is_an_error_with_a_reason(
    agents, runner, question, message
):
    names = agents.cases({"runner": runner}, with_good_cases_between([question]))
    expect_errors(agents.live().expect_complete(names), {question: message})


IMPORTS = {
    "sys.exit at import": ("import sys; sys.exit(0)", "agent"),
    "os._exit at import": ("import os; os._exit(0)", "the import ended the process (exit 0)"),
    "raises at import": ("1 / 0", "ZeroDivisionError"),
    "raises BaseException": ("class Own(BaseException): pass\nraise Own('mine')", "Own"),
    "segfault at import": ("import ctypes; ctypes.string_at(0)", "killed by SIGSEGV"),
    "is not Python": ("def run(:", "SyntaxError"),
    "has no such function": ("def other(question): pass", "run"),
    "not a function": ("run = 7", "not a function"),
    "takes no argument": ("def run(): return 'yes'", "takes no argument"),
    "not UTF-8": ("\udcff", "agent"),
}


@pytest.mark.parametrize("name", IMPORTS)
def test_an_agent_that_cannot_be_loaded_is_reported_before_anything_runs(bench, name):
    source, message = IMPORTS[name]
    bench.write("agent.py", source.encode("utf-8", "surrogateescape"))
    bench.cases(RUNNER, {"one": "q"})
    done = bench.live()
    done.expect(2, message, "agent")
    assert done.out == ""
    assert not bench.left_running()


def test_a_module_that_prints_and_changes_sys_path_on_import_still_works(bench):
    source = (
        "import os, sys, time\nprint('{\"forged\": 1}')\nos.write(1, b'at import')\n"
        "sys.path[:] = []\nsys.stdout.close()\ntime.sleep(4)\n"
        "def run(question):\n    return 'yes'\n"
    )
    bench.write("agent.py", source)
    names = bench.cases(RUNNER, {"one": "q", "two": "r"})
    assert bench.live("--timeout", "3.9").expect_complete(names).code == 0


def test_ctrl_c_ends_the_agents_and_leaves_a_run_to_resume(agents):
    agents.cases(RUNNER, {"one": "yes", "two": "hangs", "three": "ignores SIGTERM"})
    with agents.start("run", "spec.yaml") as process:
        wait_until_recorded(agents, 1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 3, err
    assert b"Traceback" not in err
    assert b"--resume" in err
    assert not agents.left_running()
    names = agents.cases(RUNNER, {"one": "yes", "two": "yes", "three": "yes"})
    done = agents.live("--resume").expect_complete(names)
    assert done.code == 0
    assert "2 attempts to make, 1 done before" in done.err


def test_ctrl_c_in_process_gives_no_case_a_status(agents):
    agents.cases({"runner": "agent:run_async"}, {"one": "yes", "two": "awaits"})
    with agents.start("run", "spec.yaml", "--in-process") as process:
        wait_until_recorded(agents, 1)
        process.send_signal(signal.SIGINT)
        process.communicate()
    agents.cases({"runner": "agent:run_async"}, {"one": "yes", "two": "yes"})
    assert agents.live("--resume").statuses == {"one": "pass", "two": "pass"}


def test_a_killed_run_leaves_no_agent_behind(agents):
    agents.cases(RUNNER, {"one": "yes", "two": "hangs", "three": "leaves a child"})
    with agents.start("run", "spec.yaml", "-j", "1") as process:
        wait_until_recorded(agents, 1)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    assert not agents.left_running()
    shown = agents.run("show", "latest", "--format", "json").expect(3, "the run was cut off")
    assert '"planned": 3' in shown.out


def wait_until_recorded(bench, attempts):
    """Wait until so many attempts of the latest run are recorded; the caller has a watchdog."""
    while True:
        listed = bench.run("runs", "--json")
        if listed.code == 0 and f'"pass": {attempts}' in listed.out:
            time.sleep(0.3)  # until the next ones have begun
            return
        time.sleep(0.05)
