"""The line to one model: so many calls at once, so many a minute, each again after a fault.

All the cases of a run share it: a limit that every case kept for itself would be no limit.
"""

from __future__ import annotations

import asyncio
import time
from typing import Protocol
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from trialrun.judge.reply_parser import NOTHING, JudgeError, Used
from trialrun.model.case import JudgeSettings
from trialrun.model.judging import JudgeRequest
from trialrun.model.results import Vote
from trialrun.util.retries import pause

_DOWN = 5
"""Failures in a row after which nothing is asked twice, until something succeeds."""


class OneJudge(Protocol):
    """A model or a function that gives verdicts."""

    name: str

    def check(self) -> None:
        """Find out whether it can be asked. PluginError where that cannot work at all."""

    def address(self) -> str | None:
        """Where it is asked, if that is a place of its own."""

    def open(self) -> None:
        """Make it ready to be asked, which may take its time. PluginError as by `check`."""

    async def ask(self, request: JudgeRequest) -> Vote:
        """One verdict. JudgeError where there is none."""

    async def close(self) -> None:
        """Leave nothing open."""


class Pace:
    """What all who ask one model share: room, the next start, what somebody was told.

    It outlives an event loop: every `evaluate` has one of its own, and so many calls a minute are
    meant for all of them. Room belongs to a loop.
    """

    def __init__(self, settings: JudgeSettings) -> None:
        self._most = settings.max_concurrency
        self._rooms: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]
        self._rooms = WeakKeyDictionary()
        per_minute = settings.calls_per_minute
        self.apart = 60 / per_minute if per_minute else 0.0
        self.next_start = 0.0
        self.quiet_until = 0.0  # somebody was told to wait: nobody calls before that
        self.failures = 0  # in a row, each after all its tries

    def room(self) -> asyncio.Semaphore:
        """So many at once, in the loop that is running."""
        return self._rooms.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(self._most))


class Line:
    """Asks one judge within its limits. A judge's failure ends as a vote with an error."""

    def __init__(self, judge: OneJudge, settings: JudgeSettings, pace: Pace) -> None:
        self.judge = judge
        self.timeout = settings.timeout
        self.retries = settings.retries
        self.pace = pace

    async def vote(self, request: JudgeRequest) -> Vote:
        """The judge's verdict, or why there is none after all tries."""
        tries, used = 0, NOTHING
        spent = 0.0  # in calls and pauses; waiting for one's turn would cost the last ones theirs
        while True:
            async with self.pace.room():
                self.judge.open()  # not within its time: loading a client is no silence of a model
                await self._turn()
                began = time.monotonic()
                said = await self._called(request)
                spent += time.monotonic() - began
            tries += 1
            if isinstance(said, Vote):
                self.pace.failures = 0
                return _taking(said, used + Used(said.total_tokens, said.cost_usd), tries)
            used += said.used
            wait = pause(tries - 1, said.retry_after) if said.transient else None
            if wait is None or not self._may_go_on(tries, spent + wait):
                self.pace.failures += 1
                again = f" (asked {tries} times)" if tries > 1 else ""
                failed = Vote(model=self.judge.name, error=f"{said}{again}")
                return _taking(failed, used, tries)
            if said.retry_after is not None:
                self.pace.quiet_until = max(self.pace.quiet_until, time.monotonic() + wait)
            await asyncio.sleep(wait)
            spent += wait

    def _may_go_on(self, tries: int, spent: float) -> bool:
        """By the tries and by the clock. A judge that is down is not waited for by every case."""
        in_time = spent <= self.timeout * (self.retries + 1)
        return tries <= self.retries and in_time and self.pace.failures < _DOWN

    async def _called(self, request: JudgeRequest) -> Vote | JudgeError:
        """What came of one call, within its time."""
        try:
            async with asyncio.timeout(self.timeout):
                return await self.judge.ask(request)
        except TimeoutError:
            message = f"the judge gave no reply after {self.timeout:g} s"
            return JudgeError(message, transient=True, used=Used())
        except JudgeError as error:
            return error

    async def _turn(self) -> None:
        """Wait for one's turn: starts are spread evenly, and who is told to wait waits for all."""
        now = time.monotonic()
        start = max(now, self.pace.next_start, self.pace.quiet_until)
        self.pace.next_start = start + self.pace.apart
        while now < max(start, self.pace.quiet_until):  # which may have moved meanwhile
            await asyncio.sleep(max(start, self.pace.quiet_until) - now)
            now = time.monotonic()


def _taking(vote: Vote, used: Used, calls: int) -> Vote:
    """The vote with what all its calls took: those that came to nothing were paid for too."""
    return replace(vote, total_tokens=used.tokens, cost_usd=used.cost_usd, calls=calls)
