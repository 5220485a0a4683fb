"""Worker processes from the run's side: started, asked, ended, and blamed only for their own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from trialrun.agents.base import LARGEST_ANSWER, LARGEST_NOTE
from trialrun.agents.running.processes import Keeper, ending, kill_group
from trialrun.agents.running.worker_protocol import LENGTH, Said, packed, said
from trialrun.errors import PluginError

Message = dict[str, Any]

_WORKER = "trialrun.agents.running.worker_main"

START_LIMIT = 120.0
"""Seconds that an agent's imports may take."""

_ANSWERS_TO_CANCEL = 0.3
_ANSWERS_TO_WHO = 0.2
_HEADROOM = 1 << 20


class Worker:
    """One worker process."""

    def __init__(self, keeper: Keeper) -> None:
        self.keeper = keeper
        self.is_async = False
        self.parameters = 0
        self.required = 0
        self.leftovers = False
        self.waiting: dict[int, asyncio.Future[Said | None]] = {}
        self.is_gone = False
        self._number = 0
        self._unsent: list[bytes] = []
        self._printed = bytearray()
        self._who: asyncio.Future[tuple[int | None, float]] | None = None
        self._listening: asyncio.Future[None] | None = None

    @classmethod
    async def start(cls, reference: str, folder: str, keeper: Keeper) -> Worker:
        """A worker that has imported the function. PluginError if that cannot be had."""
        worker = cls(keeper)
        await worker._begin(reference, folder)
        return worker

    async def _begin(self, reference: str, folder: str) -> None:
        ours, theirs = _refusing(reference, socket.socketpair)
        try:
            self._output, output = _refusing(reference, os.pipe)
        except PluginError:
            ours.close()
            theirs.close()
            raise
        os.set_blocking(self._output, False)
        environment = self.keeper.marked()
        try:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",  # a folder `trialrun` beside the spec is not us
                "-c",
                f"import sys; from {_WORKER} import main; main(sys.argv[1:])",
                str(theirs.fileno()),
                reference,
                folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=[theirs.fileno()],
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            os.close(self._output)
            raise _cannot_start(reference, error) from None
        finally:
            theirs.close()
            os.close(output)
        self.keeper.watch(self.process.pid, environment)
        asyncio.get_running_loop().add_reader(self._output, self.hear)
        self._reader, self._writer = await asyncio.open_connection(sock=ours)
        self._watching = asyncio.ensure_future(self._watch())
        try:
            async with asyncio.timeout(START_LIMIT):
                message = await self._receive()
        except TimeoutError:
            message = {"broken": f"`{reference}`: the import took more than {START_LIMIT:g} s"}
        if message is None or "ready" not in message:
            await self.end()
            said = self.printed().strip()
            how = f"`{reference}`: the import ended the process ({self.how_it_ended()})"
            reason = message.get("broken", how) if message else how
            raise PluginError(reason + (f"; it printed: {said[-500:]}" if said else ""))
        self.is_async, self.parameters = message["is_async"], message["parameters"]
        self.required = message["required"]
        self._listening = asyncio.ensure_future(self._listen())

    async def _watch(self) -> None:
        """A child that it forked may hold its socket: the end of the process is the end."""
        await self.process.wait()
        await asyncio.sleep(_ANSWERS_TO_WHO)  # what it said last is still being read
        self._writer.transport.abort()

    async def _receive(self) -> Said | None:
        """The next message; None when there will be no more."""
        try:
            head = await self._reader.readexactly(LENGTH.size)
            size = LENGTH.unpack(head)[0]
            if size > LARGEST_ANSWER + _HEADROOM:
                return None  # the agent wrote to a socket that is not its own
            return said(await self._reader.readexactly(size))
        except (asyncio.IncompleteReadError, ConnectionError, ValueError):
            return None

    async def _listen(self) -> None:
        while (message := await self._receive()) is not None:
            if "running" in message:
                if self._who is not None and not self._who.done():
                    self._who.set_result((message["running"], message["since"]))
                continue
            future = self.waiting.pop(message.get("id", 0), None)
            if future is not None and not future.done():
                if not self.is_async:
                    self.hear()
                    message["printed"] = self.printed()
                self.leftovers = message.get("leftovers", False)
                future.set_result(message)
        # It is gone, or no longer makes sense: nobody waits for it any more.
        self.is_gone = True
        if self.process.returncode is None:
            await asyncio.wait((self._watching,), timeout=_ANSWERS_TO_CANCEL)
        kill_group(self.process.pid)
        await self.process.wait()
        self.hear()
        for future in self.waiting.values():
            if not future.done():
                future.set_result(None)

    def hear(self) -> None:
        """Take what it has printed so far. What came before an answer belongs to that answer."""
        with contextlib.suppress(BlockingIOError, OSError):
            while chunk := os.read(self._output, 65536):
                self._printed += chunk
                if len(self._printed) > 4 * LARGEST_NOTE:
                    del self._printed[: -2 * LARGEST_NOTE]
            asyncio.get_running_loop().remove_reader(self._output)  # everybody has closed it

    def printed(self) -> str:
        """What was printed since the last time; the end of it, if it is much."""
        text = bytes(self._printed[-LARGEST_NOTE:]).decode("utf-8", "replace")
        self._printed.clear()
        return text

    async def ask(self, message: Message, limit: float) -> tuple[Said | None, int]:
        """Its reply within the limit, and the number of the question; None if none came."""
        self._number += 1
        number = self._number
        future = self.waiting[number] = asyncio.get_running_loop().create_future()
        self.send({"id": number, **message})
        # Not `asyncio.wait`, which takes as long as all the rest of a short question.
        ticking = asyncio.get_running_loop().call_later(limit, self._expire, number)
        try:
            return await future, number
        finally:
            ticking.cancel()

    def _expire(self, number: int) -> None:
        """The asker waits no longer; whether the worker still answers, `cancel` will hear."""
        future = self.waiting.get(number)
        if future is not None and not future.done():
            self.waiting[number] = asyncio.get_running_loop().create_future()
            future.set_result(None)

    def send(self, message: Message) -> None:
        """Say something to it; what it no longer hears, its end will tell.

        Attempts become durable in groups, and whole groups of questions follow: they are sent
        together, because each call of the system hands Python's lock to the thread that writes.
        """
        self._unsent.append(packed(message))
        if len(self._unsent) == 1:
            asyncio.get_running_loop().call_soon(self._send_all)

    def _send_all(self) -> None:
        if not self._writer.is_closing():
            self._writer.write(b"".join(self._unsent))
        self._unsent.clear()

    async def cancel(self, number: int) -> Said | None:
        """Have an async question given up; what the worker says to that, None if nothing."""
        future = self.waiting[number]
        self.send({"cancel": number})
        await asyncio.wait((future,), timeout=_ANSWERS_TO_CANCEL)
        return future.result() if future.done() else None

    async def who_runs(self) -> tuple[int | None, float] | None:
        """Which question has its event loop, if one has, and since when; None if it cannot say."""
        if self._who is None or self._who.done():
            self._who = asyncio.get_running_loop().create_future()
            self.send({"who": True})
        who = self._who
        await asyncio.wait((who,), timeout=_ANSWERS_TO_WHO)
        return who.result() if who.done() else None

    def how_it_ended(self) -> str:
        """How the process ended, once it has."""
        return ending(self.process.returncode)

    async def end(self) -> None:
        """Kill it and all that it started; whoever waits for it is told."""
        self.is_gone = True
        kill_group(self.process.pid)
        await self.process.wait()
        self._watching.cancel()
        self._writer.transport.abort()
        if self._listening is not None:
            await self._listening
        self.hear()
        self.keeper.forget(self.process.pid)
        asyncio.get_running_loop().remove_reader(self._output)
        os.close(self._output)


Made = TypeVar("Made")


def _refusing(reference: str, make: Callable[[], Made]) -> Made:
    """What the system gives; that it has no more to give is an error of the case."""
    try:
        return make()
    except OSError as error:
        raise _cannot_start(reference, error) from None


def _cannot_start(reference: str, error: OSError) -> PluginError:
    return PluginError(f"no worker for `{reference}` can be started: {error.strerror}")
