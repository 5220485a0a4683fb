"""The main program of a worker process: import an agent, then answer questions.

A plain function is called in a forked copy of the worker, one per question, where that is safe, so
that nothing a case does to its process reaches the next. Otherwise it has the worker to itself
while it runs. Coroutine functions share the event loop of the worker.

The run uses a separate socket: stdout and stderr belong to the agent.
"""

from __future__ import annotations

import os
import socket
import sys
import time
import traceback

from trialrun.agents.running.worker_calls import (
    Function,
    answer_of,
    call_action,
    failed,
    flush,
    shown_traceback,
)
from trialrun.agents.running.worker_channel import Channel
from trialrun.agents.running.worker_copies import serve_in_copies, why_not_forked
from trialrun.agents.running.worker_state import ProcessState


def main(arguments: list[str]) -> None:
    """Serve the run at the other end of the socket until it closes it.

    Ends with `os._exit`: the interpreter's shutdown would wait for threads that an agent left.
    """
    try:
        _serve(arguments)
    except BaseException:
        traceback.print_exc()
    flush()
    os._exit(0)


def _serve(arguments: list[str]) -> None:
    channel = Channel(socket.socket(fileno=int(arguments[0])))
    reference, folder, mode = arguments[1:4]
    sys.argv = [reference or "trialrun-worker"]
    sys.path.insert(0, folder)
    try:
        call = Function(reference, folder) if reference else None
    except Exception as error:  # PluginError explains itself; anything else is a bug in trialrun
        channel.send({"broken": str(error), "traceback": shown_traceback(error)})
        return
    if call is None:
        channel.send(_ready(False, 0, 0))
        _serve_one_by_one(channel, None, folder)
        return
    why_shared = "its function is async" if call.is_async else why_not_forked()
    channel.send(_ready(call.is_async, call.parameters, call.required, why_shared))
    if call.is_async:
        import asyncio  # more than half of a worker's start, and plain functions do without

        from trialrun.agents.running.worker_shared import serve_together

        asyncio.run(serve_together(channel, call))
    elif why_shared or mode == "shared":
        _serve_one_by_one(channel, call, folder)
    else:
        serve_in_copies(channel, call)


def _ready(
    is_async: bool, parameters: int, required: int, why_shared: str | None = None
) -> dict[str, object]:
    return {
        "ready": True,
        "is_async": is_async,
        "parameters": parameters,
        "required": required,
        "why_shared": why_shared,
    }


def _serve_one_by_one(channel: Channel, agent: Function | None, folder: str) -> None:
    state = ProcessState()
    functions: dict[str, Function] = {}
    while messages := channel.receive():
        for message in messages:
            began = time.perf_counter()
            try:
                state.enter(message.get("folder"))
                if agent is not None:
                    outcome = answer_of(agent, message)
                else:
                    outcome = call_action(functions, message, folder)
            except BaseException as error:
                outcome = failed(error)
            flush()
            outcome["duration_ms"] = (time.perf_counter() - began) * 1000
            outcome["leftovers"] = state.leave()
            channel.send({"id": message["id"], "key": message["key"], **outcome})
