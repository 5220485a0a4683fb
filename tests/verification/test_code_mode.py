"""Codex's code mode: JavaScript that starts commands, and asks for their output later."""

from __future__ import annotations

import json

import pytest

from tests.verification.runs import edit, ledger, verdict
from trialrun import Step

TESTED = "All tests pass."
START = 'const r = await tools.exec_command({cmd:"cargo test","workdir":"/app"}); '
JSON = "text(JSON.stringify(r));"
ASK = 'const r = await tools.write_stdin({session_id:7,chars:""}); text(JSON.stringify(r));'
GREEN = "test result: ok. 18 passed; 0 failed; 0 ignored"


def script(source, result):
    return Step.tool_call("exec", {"input": source}, f"Script completed\nOutput:\n\n{result}")


def chunk(output, **rest):
    return json.dumps({"chunk_id": "a", **rest, "output": output})


def wait(cell, result):
    return Step.tool_call("wait", {"cell_id": cell}, result)


@pytest.mark.parametrize(
    ("result", "found"),
    [
        (chunk(GREEN, exit_code=0), "verified"),
        (chunk("test result: FAILED. 1 passed; 1 failed", exit_code=101), "contradicted"),
        (chunk("   Compiling app", session_id=7), "not_checkable"),
    ],
)
def test_a_command_in_a_script(result, found):
    assert verdict(TESTED, edit("src/a.rs"), script(START + JSON, result)) == found


def test_its_output_is_asked_for_by_another_script():
    steps = [
        script(START + JSON, chunk("   Compiling app", session_id=7)),
        script(ASK, chunk(GREEN, exit_code=0)),
    ]
    assert verdict(TESTED, edit("src/a.rs"), *steps) == "verified"


def test_the_script_that_asks_goes_on_itself():
    steps = [
        script(START + JSON, chunk("   Compiling app", session_id=7)),
        Step.tool_call("exec", {"input": ASK}, "Script running with cell ID 24\nOutput:\n"),
    ]
    assert verdict(TESTED, edit("src/a.rs"), *steps) == "not_checkable"
    done = wait("24", f"Script completed\nOutput:\n\n{chunk(GREEN, exit_code=0)}")
    assert verdict(TESTED, edit("src/a.rs"), *steps, done) == "verified"
    red = chunk("error: test failed", exit_code=101)
    failed = wait("24", f"Script completed\nOutput:\n\n{red}")
    assert verdict(TESTED, edit("src/a.rs"), *steps, failed) == "contradicted"


def test_a_tool_of_that_name_may_also_run_a_shell():
    run = Step.tool_call("exec", {"command": "cargo test"}, GREEN)
    assert verdict(TESTED, edit("src/a.rs"), run) == "verified"
    assert ledger("Done.", Step.tool_call("exec", {"command": "touch a.rs"}, "")).compliant
