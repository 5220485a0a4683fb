"""Python agents in worker processes: a fault affects only its own case."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from tests.watchdog import watchdog
from trialrun.agents.base import Question
from trialrun.agents.running.python import PythonAgent
from trialrun.errors import PluginError
from trialrun.model.trace import TraceStatus


def test_text_a_dict_and_a_trace_are_answers(python_agent):
    replies = python_agent(
        """
        from trialrun import Step, Trace
        def run(question):
            if question == "text":
                return "an answer"
            if question == "dict":
                return {"output": "from a dict", "steps": [{"type": "tool_call", "tool_name": "a"}]}
            trace = Trace(input=question, output="from a trace")
            trace.add_step(Step.tool_call("b"))
            return trace
        """,
        "text",
        "dict",
        "trace",
    )
    assert [reply.answer["output"] for reply in replies] == [
        "an answer",
        "from a dict",
        "from a trace",
    ]
    assert replies[1].answer["steps"][0]["tool_name"] == "a"
    assert replies[2].answer["steps"][0]["tool_name"] == "b"


def test_history_goes_to_an_agent_that_takes_it(tmp_path, reaper):
    (tmp_path / "talker.py").write_text(
        "def run(question, history):\n    return f'{len(history)} {history[-1][\"content\"]}'\n"
    )
    history = [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]

    async def ask():
        agent = PythonAgent("talker:run", str(tmp_path), reaper)
        try:
            await agent.start(takes_turns=True)
            return await agent.ask(Question(input="three", history=history), 20)
        finally:
            await agent.close()

    assert asyncio.run(ask()).answer == {"output": "2 two"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise ValueError('no such order')", "ValueError: no such order"),
        ("raise BaseException('base')", "BaseException: base"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("import sys; sys.exit(0)", "SystemExit: the agent called sys.exit(0)"),
        ("return None", "returned None"),
        ("return 7", "returned an int"),
        ("return {'answer': 'x'}", "a dict without `output` (answer)"),
        (
            "return {'output': 'x', 'metadata': {'a': object()}}",
            "metadata.a: it holds an object",
        ),
        ("return 'x' * 50_000_000", "the answer has 50 MB"),
        ("import os; os._exit(0)", "the agent's process ended with exit 0"),
        ("import os; os._exit(9)", "the agent's process ended with exit 9"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "was killed by SIGKILL"),
        ("import ctypes; ctypes.string_at(0)", "was killed by SIGSEGV"),
        ("class Odd(Exception):\n        def __str__(self): 1 / 0\n    raise Odd", "Odd"),
    ],
)
def test_a_crash_in_one_case_does_not_affect_the_next(python_agent, body, message):
    source = f"def run(question):\n    if question == 'good':\n        return 'fine'\n    {body}\n"
    before, bad, after = python_agent(source, "good", "bad", "good")
    assert (before.answer, after.answer) == ({"output": "fine"}, {"output": "fine"})
    assert bad.answer is None
    assert message in bad.failure.message
    assert bad.failure.status is TraceStatus.ERROR
    assert not bad.failure.transient


@pytest.mark.parametrize("signals", ["", "signal.signal(signal.SIGTERM, signal.SIG_IGN)"])
def test_a_hanging_agent_is_ended_with_all_that_it_started(python_agent, tmp_path, signals):
    pid_file = tmp_path / "child"
    source = f"""
    import signal, subprocess, time
    def run(question):
        if question == "good":
            return "fine"
        {signals}
        child = subprocess.Popen(["sleep", "300"])
        open({str(pid_file)!r}, "w").write(str(child.pid))
        time.sleep(300)
    """
    with watchdog():
        hung, good = python_agent(source, "hang", "good", limit=1.5)
    assert hung.failure.status is TraceStatus.TIMEOUT
    assert hung.failure.message == "no answer after 1.5 s"
    assert good.answer == {"output": "fine"}
    assert not _is_alive(int(pid_file.read_text()))


def _is_alive(pid):
    """Whether the process runs; a zombie counts as dead."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_the_next_case_starts_clean(python_agent, tmp_path):
    source = """
    import locale, os, sys
    def run(question):
        if question == "dirty":
            os.chdir("/")
            os.environ["LEFT"] = "behind"
            os.environ.pop("PATH")
            locale.setlocale(locale.LC_ALL, "C")
            sys.stdout = None
        return f"{os.getcwd()} {os.environ.get('LEFT')} {'PATH' in os.environ} {sys.stdout is None}"
    """
    before, _, after = python_agent(source, "clean", "dirty", "clean")
    assert before.answer == after.answer == {"output": f"{Path.cwd()} None True False"}


def test_printed_output_is_kept_with_its_case(python_agent):
    source = """
    import os, sys
    def run(question):
        print("out", question)
        print("err", question, file=sys.stderr)
        os.write(1, b"raw\\n")
        os.system("echo from a program")
        return question
    """
    first, second = python_agent(source, "one", "two")
    for reply, name in ((first, "one"), (second, "two")):
        for text in (f"out {name}", f"err {name}", "raw", "from a program"):
            assert text in reply.printed
    assert "one" not in second.printed


def test_a_flood_of_output_is_kept_in_part(python_agent):
    (reply,) = python_agent(
        "def run(question):\n    print('x' * 30_000_000)\n    print('the end')\n    return 'ok'\n",
        "q",
    )
    assert reply.answer == {"output": "ok"}
    assert reply.printed.endswith("the end\n")
    assert len(reply.printed) < 20_000


def test_a_forked_child_does_not_answer_for_its_parent(python_agent):
    source = """
    import os, time
    def run(question):
        if question == "fork":
            if os.fork() == 0:
                return "from the child"
            time.sleep(0.3)
        if question == "raise":
            if os.fork() == 0:
                raise ValueError("in the child")
            time.sleep(0.3)
        return "from the parent"
    """
    replies = python_agent(source, "fork", "raise", "plain")
    assert [reply.answer for reply in replies] == [{"output": "from the parent"}] * 3


def test_leftover_threads_and_children_delay_nothing(python_agent, tmp_path):
    pids = tmp_path / "pids"
    source = f"""
    import subprocess, threading, time
    def run(question):
        threading.Thread(target=time.sleep, args=(300,)).start()
        child = subprocess.Popen(["sleep", "300"], start_new_session=True)
        print(child.pid, file=open({str(pids)!r}, "a"))
        return "done"
    """
    try:
        with watchdog():
            replies = python_agent(source, "a", "b")
    finally:
        for pid in pids.read_text().split():  # in their own sessions, which killpg does not reach
            os.kill(int(pid), 9)
    assert [reply.answer["output"] for reply in replies] == ["done", "done"]


def test_a_crash_by_leftovers_of_one_case_is_not_blamed_on_the_next(python_agent):
    """A thread of the first case kills the worker during the second, which is asked again."""
    source = """
    import os, threading, time
    def run(question):
        if question == "bomb":
            def explode():
                time.sleep(0.5)
                os._exit(1)
            threading.Thread(target=explode).start()
            return "planted"
        time.sleep(1.0)
        return "survived"
    """
    bomb, victim = python_agent(source, "bomb", "victim")
    assert bomb.answer == {"output": "planted"}
    assert victim.answer == {"output": "survived"}


def test_endless_allocation_hits_the_memory_limit(python_agent, reaper):
    reaper.memory_limit = 300_000_000
    source = """
    def run(question):
        if question == "good":
            return "fine"
        kept = []
        while True:
            kept.append(bytearray(10_000_000))
    """
    greedy, good = python_agent(source, "greedy", "good")
    assert "MemoryError" in greedy.failure.message
    assert good.answer == {"output": "fine"}


@pytest.mark.parametrize(
    ("raised", "is_transient"),
    [
        ("ConnectionResetError('cut')", True),
        ("TimeoutError()", True),
        ("Refused(429)", True),
        ("Refused(503)", True),
        ("Refused(400)", False),
        ("PermissionError()", False),
        ("ValueError('429')", False),
    ],
)
def test_only_infrastructure_failures_are_transient(python_agent, raised, is_transient):
    source = f"""
    class Refused(Exception):
        def __init__(self, status):
            self.status_code = status
            self.response = type("R", (), {{"headers": {{"retry-after": "7"}}}})
    def run(question):
        raise {raised}
    """
    (reply,) = python_agent(source, "q")
    assert reply.failure.transient is is_transient
    if "Refused" in raised:
        assert reply.failure.retry_after == 7.0


# Coroutine functions share a worker

SHARED = """
import asyncio, os, sys, time
async def run(question):
    print("printed by", question)
    await asyncio.sleep(0.2)
    if question == "exit":
        sys.exit(1)
    if question == "die":
        os._exit(3)
    if question == "block":
        time.sleep(300)
    if question == "await":
        await asyncio.sleep(300)
    if question == "stubborn":
        while True:
            try:
                await asyncio.sleep(300)
            except asyncio.CancelledError:
                pass
    await asyncio.sleep(0.6)
    return f"{question} by {os.getpid()}"
"""


def test_coroutines_share_a_worker(python_agent):
    replies = python_agent(SHARED, *"abcdef", at_once=True)
    workers = {reply.answer["output"].split()[-1] for reply in replies}
    assert len(workers) == 1
    assert [reply.printed for reply in replies] == [f"printed by {name}\n" for name in "abcdef"]


@pytest.mark.parametrize(
    ("culprit", "message"),
    [
        ("exit", "SystemExit: the agent called sys.exit(1)"),
        ("die", "the agent's process ended with exit 3"),
        ("block", "no answer after 1.5 s: it blocked the event loop"),
        ("await", "no answer after 1.5 s"),
        ("stubborn", "no answer after 1.5 s and it could not be cancelled"),
    ],
)
def test_the_failing_question_is_blamed_and_its_neighbours_are_not(python_agent, culprit, message):
    first, bad, last = python_agent(SHARED, "a", culprit, "z", at_once=True, limit=1.5)
    assert bad.failure.message == message
    assert first.answer["output"].startswith("a by")
    assert last.answer["output"].startswith("z by")


def test_two_blocking_questions_are_both_found(python_agent):
    replies = python_agent(SHARED, "block", "a", "block", at_once=True, limit=1.5)
    assert [reply.failure is not None for reply in replies] == [True, False, True]
    assert all("no answer after 1.5 s" in replies[n].failure.message for n in (0, 2))


def test_a_coroutine_with_a_working_folder_has_a_separate_worker(python_agent, tmp_path):
    source = "import os\nasync def run(question):\n    return os.getcwd()\n"
    (reply,) = python_agent(source, "q", folder=str(tmp_path))
    assert reply.answer == {"output": str(tmp_path)}


# What can never work is reported before the first case


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def other(question): pass", "an_agent has no 'run'"),
        ("import nonsense_that_is_not_there", "nonsense_that_is_not_there"),
        ("1 / 0", "ZeroDivisionError"),
        ("import os; print('the reason'); os._exit(4)", "exit 4"),
        ("run = 5", "`an_agent:run` is int, not a function"),
        ("def run(): pass", "takes no argument"),
        ("def run(question:", "SyntaxError"),
    ],
)
def test_an_agent_that_cannot_be_loaded(python_agent, source, message):
    with pytest.raises(PluginError) as refused:
        python_agent(source, "q")
    assert message in str(refused.value)


def test_a_conversation_needs_an_agent_that_takes_history(tmp_path, reaper):
    (tmp_path / "deaf.py").write_text("def run(question): return 'x'\n")

    async def start():
        agent = PythonAgent("deaf:run", str(tmp_path), reaper)
        try:
            await agent.start(takes_turns=True)
        finally:
            await agent.close()

    with pytest.raises(PluginError, match=r"must take \(input, history\)"):
        asyncio.run(start())


def test_the_spec_folder_is_importable_and_does_not_shadow_trialrun(python_agent, tmp_path):
    (tmp_path / "beside.py").write_text("WORD = 'beside'\n")
    (tmp_path / "trialrun").mkdir()
    (tmp_path / "trialrun" / "__init__.py").write_text("raise ImportError('not this one')\n")
    (reply,) = python_agent("import beside\ndef run(q): return beside.WORD\n", "q")
    assert reply.answer == {"output": "beside"}


def test_readers_of_framework_results_are_imported_once(python_agent):
    """Copies of the worker have them, and do not import them again for each case."""
    source = """
import sys, types
sys.modules["openai"] = types.ModuleType("openai")

def run(question):
    return str("trialrun.importers.openai_chat" in sys.modules)
"""
    (reply,) = python_agent(source, "Q")
    assert reply.answer == {"output": "True"}
    (reply,) = python_agent(source.replace('"openai"', '"another"'), "Q")
    assert reply.answer == {"output": "False"}
