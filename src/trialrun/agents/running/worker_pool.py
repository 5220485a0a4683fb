"""Start, ask and end worker processes, from the side of the run."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from trialrun.agents.base import LARGEST_ANSWER, LARGEST_NOTE
from trialrun.agents.running.processes import Reaper, ending, kill_group
from trialrun.agents.running.worker_protocol import (
    FRAME_OVERHEAD,
    LENGTH,
    WorkerMessage,
    decoded_from_worker,
    encoded,
)
from trialrun.errors import PluginError

Message = dict[str, Any]

_WORKER = "trialrun.agents.running.worker_main"

COPIES, SHARED = "copies", "shared"
"""How a worker answers: in copies of itself where that is possible, or always by itself."""

START_LIMIT = 120.0
"""Most seconds for an agent's imports."""

_CANCEL_REPLY_LIMIT = 0.3
_WHO_REPLY_LIMIT = 0.2


class Worker:
    """One worker process."""

    def __init__(self, reaper: Reaper) -> None:
        self.reaper = reaper
        self.is_async = False
        self.parameters = 0
        self.required = 0
        self.leftovers = False
        self.why_shared: str | None = None  # why cases see each other's state in it
        self.fault: str | None = None  # a message that is not its own
        self.waiting: dict[int, asyncio.Future[WorkerMessage | None]] = {}
        self.is_gone = False
        self._number = 0
        self._keys: dict[int, int] = {}
        self._unsent: list[bytes] = []
        self._printed = bytearray()
        self._who: asyncio.Future[tuple[int | None, float]] | None = None
        self._listening: asyncio.Future[None] | None = None

    @classmethod
    async def start(cls, reference: str, folder: str, reaper: Reaper, mode: str = COPIES) -> Worker:
        """A worker that has imported the function. Raises PluginError if it cannot be loaded."""
        worker = cls(reaper)
        await worker._begin(reference, folder, mode)
        return worker

    async def _begin(self, reference: str, folder: str, mode: str) -> None:
        ours, theirs = _acquire(reference, socket.socketpair)
        try:
            self._output, output = _acquire(reference, os.pipe)
        except PluginError:
            ours.close()
            theirs.close()
            raise
        os.set_blocking(self._output, False)
        # Without `assert`, a condition that fails would hold.
        environment = self.reaper.marked({"PYTHONOPTIMIZE": ""})
        try:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",  # ignore a folder named `trialrun` beside the spec
                "-c",
                f"import sys; from {_WORKER} import main; main(sys.argv[1:])",
                str(theirs.fileno()),
                reference,
                folder,
                mode,
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
        self.reaper.watch(self.process.pid, environment)
        asyncio.get_running_loop().add_reader(self._output, self.read_output)
        self._reader, self._writer = await asyncio.open_connection(sock=ours)
        self._watching = asyncio.ensure_future(self._watch())
        try:
            async with asyncio.timeout(START_LIMIT):
                message = await self._receive()
        except TimeoutError:
            message = {"broken": f"`{reference}`: the import took more than {START_LIMIT:g} s"}
        except asyncio.CancelledError:  # the run ends, or needs no more workers
            await self.end()
            raise
        if message is None or "ready" not in message:
            await self.end()
            said = self.printed().strip()
            how = f"`{reference}`: the import ended the process ({self.how_it_ended()})"
            reason = message.get("broken", how) if message else how
            raise PluginError(reason + (f"; it printed: {said[-500:]}" if said else ""))
        self.is_async, self.parameters = message["is_async"], message["parameters"]
        self.required, self.why_shared = message["required"], message["why_shared"]
        self._listening = asyncio.ensure_future(self._listen())

    async def _watch(self) -> None:
        """Close the socket after the process has ended: a forked child may keep it open."""
        await self.process.wait()
        await asyncio.sleep(_WHO_REPLY_LIMIT)  # its last messages are still being read
        self._writer.transport.abort()

    async def _receive(self) -> WorkerMessage | None:
        """The next message; None if there will be no more."""
        try:
            head = await self._reader.readexactly(LENGTH.size)
            size = LENGTH.unpack(head)[0]
            if size > LARGEST_ANSWER + FRAME_OVERHEAD:
                return None  # the agent wrote to the worker's socket
            return decoded_from_worker(await self._reader.readexactly(size))
        except (asyncio.IncompleteReadError, ConnectionError, ValueError):
            return None

    async def _listen(self) -> None:
        while (message := await self._receive()) is not None:
            if "running" in message:
                if self._who is not None and not self._who.done():
                    self._who.set_result((message["running"], message["since"]))
                continue
            number = message.get("id", 0)
            if number in self._keys and self._keys.pop(number) != message.get("key"):
                self.fault = "the agent's process wrote to the channel of its worker"
                break
            future = self.waiting.pop(number, None)
            if future is not None and not future.done():
                if not self.is_async:
                    self.read_output()
                    message["printed"] = self.printed()
                self.leftovers = message.get("leftovers", False)
                future.set_result(message)
        # The process has ended or sends garbage: stop waiting for it.
        self.is_gone = True
        if self.process.returncode is None:
            await asyncio.wait((self._watching,), timeout=_CANCEL_REPLY_LIMIT)
        kill_group(self.process.pid)
        await self.process.wait()
        self.read_output()
        for future in self.waiting.values():
            if not future.done():
                future.set_result(None)

    def read_output(self) -> None:
        """Read what it has printed so far; output before an answer belongs to that answer."""
        with contextlib.suppress(BlockingIOError, OSError):
            while chunk := os.read(self._output, 65536):
                self._printed += chunk
                if len(self._printed) > 4 * LARGEST_NOTE:
                    del self._printed[: -2 * LARGEST_NOTE]
            asyncio.get_running_loop().remove_reader(self._output)  # closed by all its writers

    def printed(self) -> str:
        """The output since the last call; only the end, if it is long."""
        text = bytes(self._printed[-LARGEST_NOTE:]).decode("utf-8", "replace")
        self._printed.clear()
        return text

    async def ask(self, message: Message, limit: float) -> tuple[WorkerMessage | None, int]:
        """The reply, None if there is none within the limit, and the number of the question."""
        self._number += 1
        number = self._number
        future = self.waiting[number] = asyncio.get_running_loop().create_future()
        # The reply must repeat it: an agent that finds the channel does not know it.
        key = self._keys[number] = secrets.randbits(63)
        self.send({"id": number, "key": key, **message})
        # Not `asyncio.wait`, which costs as much as the rest of a short question.
        ticking = asyncio.get_running_loop().call_later(limit, self._expire, number)
        try:
            return await future, number
        finally:
            ticking.cancel()

    def _expire(self, number: int) -> None:
        """Stop waiting; a new future lets `cancel` see whether the worker still answers."""
        future = self.waiting.get(number)
        if future is not None and not future.done():
            self.waiting[number] = asyncio.get_running_loop().create_future()
            future.set_result(None)

    def send(self, message: Message) -> None:
        """Send a message; if the worker no longer reads, its end will be noticed.

        Attempts become durable in groups, so groups of questions follow. They are sent together:
        each system call hands the interpreter lock to the thread that writes to the store.
        """
        self._unsent.append(encoded(message))
        if len(self._unsent) == 1:
            asyncio.get_running_loop().call_soon(self._send_all)

    def _send_all(self) -> None:
        if not self._writer.is_closing():
            self._writer.write(b"".join(self._unsent))
        self._unsent.clear()

    async def cancel(self, number: int) -> WorkerMessage | None:
        """Cancel an async question; the worker's reply to that, None if there is none."""
        future = self.waiting[number]
        self.send({"cancel": number})
        await asyncio.wait((future,), timeout=_CANCEL_REPLY_LIMIT)
        return future.result() if future.done() else None

    async def who_runs(self) -> tuple[int | None, float] | None:
        """The question on its event loop and since when; None if the worker does not reply."""
        if self._who is None or self._who.done():
            self._who = asyncio.get_running_loop().create_future()
            self.send({"who": True})
        who = self._who
        await asyncio.wait((who,), timeout=_WHO_REPLY_LIMIT)
        return who.result() if who.done() else None

    def how_it_ended(self) -> str:
        """How the process ended, in words; only after its end."""
        return ending(self.process.returncode)

    def why_no_reply(self, code: int | None = None) -> str:
        """Why there is no reply; `code` is the exit code of a copy of the process."""
        if self.fault is not None:
            return self.fault
        how = ending(code) if code is not None else self.how_it_ended()
        return f"the agent's process {'was' if how.startswith('killed') else 'ended with'} {how}"

    async def end(self) -> None:
        """Kill the process and all that it started; pending questions get no reply."""
        self.is_gone = True
        kill_group(self.process.pid)
        await self.process.wait()
        self._watching.cancel()
        self._writer.transport.abort()
        if self._listening is not None:
            await self._listening
        self.read_output()
        self.reaper.forget(self.process.pid)
        asyncio.get_running_loop().remove_reader(self._output)
        os.close(self._output)


Made = TypeVar("Made")


def _acquire(reference: str, make: Callable[[], Made]) -> Made:
    """A resource of the operating system; if there are no more, the case has an error."""
    try:
        return make()
    except OSError as error:
        raise _cannot_start(reference, error) from None


def _cannot_start(reference: str, error: OSError) -> PluginError:
    return PluginError(f"no worker for `{reference}` can be started: {error.strerror}")
