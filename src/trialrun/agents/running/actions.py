"""Run `setup`, `teardown` and `state` actions around an agent, in the case's working folder."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from trialrun.agents.running.command import program_environment, with_absolute_files
from trialrun.agents.running.processes import Reaper, run_program
from trialrun.agents.running.worker_pool import START_LIMIT, Worker
from trialrun.agents.running.worker_protocol import WorkerMessage
from trialrun.errors import PluginError
from trialrun.model.case import BROKEN, HELD, UNKNOWN, Action


class Actions:
    """Runs the actions of cases: commands as programs, functions in worker processes."""

    def __init__(self, folder: str, reaper: Reaper) -> None:
        self.folder = folder
        self.reaper = reaper
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()

    def new_folder(self) -> str:
        """A new working folder."""
        return tempfile.mkdtemp(prefix="trialrun-")

    def remove_folder(self, folder: str) -> None:
        """Remove the folder with everything that the agent left in it."""
        shutil.rmtree(folder, ignore_errors=True)

    async def require(self, functions: Iterable[str]) -> None:
        """Import the functions, so that a missing one is reported before an agent is called."""
        for function in functions:
            message = await self._call(function, self.folder, START_LIMIT, None, only_import=True)
            if "failure" in message:
                raise PluginError(
                    f"`{function}`: {message['failure'].removeprefix('PluginError: ')}"
                )

    async def perform(self, action: Action, folder: str, limit: float) -> str | None:
        """Run the action; None if it worked, else why not. A function's return value is ignored."""
        if action.function is None:
            outcome, detail = await self._run(action, folder, limit)
            return None if outcome == HELD else detail
        message = await self._call(action.function, folder, limit, None)
        failure: str | None = message.get("failure")
        return failure

    async def inspect(
        self, conditions: Sequence[Action], folder: str, limit: float, answer: Any
    ) -> dict[str, dict[str, str]]:
        """The outcome of each condition: facts for the trace, which the `state` check evaluates."""
        found = {}
        for condition in conditions:
            if condition.function is None:
                outcome, detail = await self._run(condition, folder, limit, is_condition=True)
            else:
                message = await self._call(condition.function, folder, limit, answer)
                outcome, detail = _outcome_of(message)
            found[condition.name] = {"outcome": outcome, "detail": detail}
        return found

    async def _run(
        self, action: Action, folder: str, limit: float, is_condition: bool = False
    ) -> tuple[str, str]:
        assert action.command is not None
        command = with_absolute_files(action.command, self.folder)
        environment = program_environment(self.folder, folder)
        if is_condition:
            environment |= _python_that_checks(command, self.folder)
        ended = await run_program(
            command,
            reaper=self.reaper,
            limit=limit,
            folder=folder,
            environment=environment,
        )
        if ended.timed_out:
            return UNKNOWN, f"not finished after {limit:g} s"
        if ended.not_started is not None:
            return UNKNOWN, ended.not_started
        if ended.code == 0:
            return HELD, "exit 0"
        printed = ended.out[-2000:].decode("utf-8", "replace").strip()
        return BROKEN, ended.how() + (f"; it printed: {printed}" if printed else "")

    async def _call(
        self,
        function: str,
        folder: str,
        limit: float,
        answer: Any,
        only_import: bool = False,
    ) -> WorkerMessage:
        try:
            worker = self._idle.pop() if self._idle else await self._new_worker()
        except PluginError as error:
            return {"failure": str(error)}
        message, _ = await worker.ask(
            {
                "function": function,
                "folder": folder,
                "answer": answer,
                "only_import": only_import,
            },
            limit,
        )
        if message is None:
            how = worker.how_it_ended() if worker.is_gone else f"not finished after {limit:g} s"
            await self._drop(worker)
            return {"failure": f"`{function}`: {how}"}
        if message.get("leftovers"):
            await self._drop(worker)
        else:
            self._idle.append(worker)
        return message

    async def _new_worker(self) -> Worker:
        worker = await Worker.start("", self.folder, self.reaper)
        self._all.add(worker)
        return worker

    async def _drop(self, worker: Worker) -> None:
        self._all.discard(worker)
        await worker.end()

    async def close(self) -> None:
        """End the worker processes."""
        for worker in list(self._all):
            await self._drop(worker)
        self._idle.clear()


def _python_that_checks(command: Sequence[str], project: str) -> dict[str, str]:
    """Variables for Python in a condition, which runs in the folder that the agent wrote to.

    It must not import the agent's `json.py` for Python's own, nor skip `assert`. A script of the
    project still finds the modules beside it.
    """
    files = (Path(word) for word in command if word.endswith(".py"))
    beside = [str(file.parent) for file in files if file.is_relative_to(Path(project).absolute())]
    path = os.pathsep.join(filter(None, [*beside, os.environ.get("PYTHONPATH")]))
    given = {"PYTHONSAFEPATH": "1", "PYTHONOPTIMIZE": ""}
    return {**given, "PYTHONPATH": path} if path else given


def _outcome_of(message: WorkerMessage) -> tuple[str, str]:
    """The outcome of a condition: True holds; False, a text (the reason), a failed `assert` do not.

    Any other exception and a function that returns None leave it unknown.
    """
    if "failure" in message:
        return (BROKEN if message.get("assertion") else UNKNOWN), message["failure"]
    returned = message.get("returned")
    if returned is True:
        return HELD, "it returned True"
    if returned is False:
        return BROKEN, "it returned False"
    if isinstance(returned, str):
        return BROKEN, returned
    return UNKNOWN, "it returned None; expected True, False or a reason"
