"""Programs as agents: JSON in, an answer out, always killed in time."""

from __future__ import annotations

import asyncio
import json
import sys

import pytest

from tests.watchdog import watchdog
from trialrun.agents.base import Question
from trialrun.agents.running.command import CommandAgent
from trialrun.model.trace import TraceStatus


@pytest.fixture
def ask(tmp_path, reaper):
    """Runs a program once for a question."""

    def run(command, text="hello", limit=20.0, folder=None, **question):
        agent = CommandAgent(command, str(tmp_path), reaper)
        return asyncio.run(agent.ask(Question(input=text, folder=folder, **question), limit))

    return run


def python(source):
    return [sys.executable, "-c", source]


def test_the_program_gets_question_history_and_case(ask):
    source = "import json, sys; print(json.dumps({'output': json.dumps(json.load(sys.stdin))}))"
    history = [{"role": "user", "content": "before"}]
    reply = ask(python(source), "ünïcode", history=history, case={"name": "a"})
    received = json.loads(reply.answer["output"])
    assert received == {"input": "ünïcode", "history": history, "case": {"name": "a"}}


def test_a_shell_script_answers_in_plain_text(ask):
    assert ask(["sh", "-c", "cat > /dev/null; echo 'two words'"]).answer == {"output": "two words"}
    assert ask(["sh", "-c", "printf 'line\\n\\n'"]).answer == {"output": "line\n"}
    assert ask(["echo", '{"output": ""}']).answer == {"output": ""}
    assert "printed nothing" in ask(["true"]).failure.message
    assert "an error: 429" in ask(["echo", '{"error": "429"}']).failure.message


def test_json_with_output_is_a_trace_and_other_json_an_error(ask):
    steps = [{"type": "tool_call", "tool_name": "search", "tool_args": {}}]
    whole = json.dumps({"output": "x", "steps": steps})
    assert ask(["echo", whole]).answer == {"output": "x", "steps": steps}
    refused = ask(["echo", '{"price": 3}']).failure.message
    assert refused == (
        "the command printed a dict without `output` (price); "
        'if that is the answer itself, print {"output": …} with it'
    )
    assert ask(["echo", "{output} cut"]).answer == {"output": "{output} cut"}
    assert "JSON that cannot be read" in ask(["echo", '{"output": cut']).failure.message
    assert ask(["echo", '{"output": {"b": 1, "a": [null]}}']).answer == {
        "output": {"b": 1, "a": [None]}
    }


def test_stderr_is_kept_but_not_part_of_the_answer(ask):
    reply = ask(["sh", "-c", "echo noise >&2; echo answer"])
    assert reply.answer == {"output": "answer"}
    assert reply.printed == "noise\n"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["surely-not-a-program"], "the command `surely-not-a-program` was not found"),
        (["./missing.sh"], "was not found"),
        (["sh", "-c", "echo why >&2; exit 7"], "the command ended with exit 7: why"),
        (["sh", "-c", "kill -9 $$"], "the command ended with killed by SIGKILL"),
        (["printf", "\\377"], "not UTF-8: byte 0xff at offset 0"),
        (["/"], "cannot be started"),
        (["a\0b"], "cannot be started"),
    ],
)
def test_why_there_is_no_answer(ask, command, message):
    reply = ask(command)
    assert reply.answer is None
    assert message in reply.failure.message
    assert not reply.failure.transient


def test_exit_75_asks_for_a_retry(ask):
    assert ask(["sh", "-c", "exit 75"]).failure.transient


def test_output_is_bounded(ask):
    flood = ask(["sh", "-c", "yes | head -c 40000000 >&2; echo done"])
    assert flood.answer == {"output": "done"}
    assert len(flood.printed) < 20_000
    assert "more than 34 MB" in ask(["yes"]).failure.message


def test_an_answer_of_many_megabytes_is_accepted(ask):
    reply = ask(python("print('x' * 20_000_000)"))
    assert len(reply.answer["output"]) == 20_000_000


@pytest.mark.parametrize("script", ["sleep 300", "trap '' TERM; sleep 300 & wait; sleep 300"])
def test_a_program_that_takes_too_long_is_ended(ask, script):
    with watchdog():
        reply = ask(["sh", "-c", script], limit=0.5)
    assert reply.failure.status is TraceStatus.TIMEOUT
    assert reply.failure.message == "no answer after 0.5 s"


def test_a_leftover_child_delays_nothing(ask):
    with watchdog():
        reply = ask(["sh", "-c", "sleep 300 > /dev/null & echo answer"])
    assert reply.answer == {"output": "answer"}


def test_an_answer_that_another_process_may_continue_is_incomplete(ask):
    with watchdog():
        reply = ask(["sh", "-c", "echo '30 days'; (sleep 300; echo 'but not for this') & exit 0"])
    assert "still has its stdout open" in reply.failure.message
    assert ask(["sh", "-c", "echo 30; (echo days) & wait"]).answer == {"output": "30\ndays"}


def test_a_program_need_not_read_its_stdin(ask):
    assert ask(["echo", "x"], text="y" * 5_000_000).answer == {"output": "x"}


def test_it_runs_beside_the_spec_or_in_the_folder_of_the_case(ask, tmp_path):
    (tmp_path / "agent.py").write_text(
        "import os\nprint(os.getcwd(), os.environ.get('TRIALRUN_WORKDIR'))\n"
    )
    own = tmp_path / "own"
    own.mkdir()
    command = [sys.executable, "agent.py"]
    assert ask(command).answer == {"output": f"{tmp_path} None"}
    assert ask(command, folder=str(own)).answer == {"output": f"{own} {own}"}


def test_an_answer_of_too_many_steps_is_refused_in_words(ask):
    many = "{'type': 'reasoning', 'reasoning': 'x'}"
    source = f"import json; print(json.dumps({{'output': 'x', 'steps': [{many}] * %d}}))"
    refused = ask(python(source % 50_001)).failure.message
    assert refused == "the answer has 50,001 steps; at most 50,000 are accepted"
    assert len(ask(python(source % 30_000)).answer["steps"]) == 30_000  # read in a thread
