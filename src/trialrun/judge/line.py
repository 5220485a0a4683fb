"""The line to one model: so many calls at once, so many a minute, each again after a fault.

All the cases of a run share it: a limit that every case kept for itself would be no limit.
"""

from __future__ import annotations

import asyncio
import time
from typing import Protocol

from msgspec.structs import replace

from trialrun.judge.reading import NOTHING, JudgeError, Used
from trialrun.judge.rubrics import JudgeRequest
from trialrun.results import Vote
from trialrun.retries import pause
from trialrun.test_case import JudgeSettings

_DOWN = 5
"""Failures in a row after which nothing is asked twice, until something succeeds."""


class OneJudge(Protocol):
    """A model or a function that gives verdicts."""

    name: str

    def check(self) -> None:
        """Find out whether it can be asked. PluginError where that cannot work at all."""

    async def ask(self, request: JudgeRequest) -> Vote:
        """One verdict. JudgeError where there is none."""

    async def close(self) -> None:
        """Leave nothing open."""


class Pace:
    """What all who ask one model share: room, the next start, what somebody was told."""

    def __init__(self, settings: JudgeSettings) -> None:
        self.room = asyncio.Semaphore(settings.max_concurrency)
        per_minute = settings.calls_per_minute
        self.apart = 60 / per_minute if per_minute else 0.0
        self.next_start = 0.0
        self.quiet_until = 0.0  # somebody was told to wait: nobody calls before that
        self.failures = 0  # in a row, each after all its tries


class Line:
    """Asks one judge within its limits. A judge's failure ends as a vote with an error."""

    def __init__(self, judge: OneJudge, settings: JudgeSettings, pace: Pace) -> None:
        self.judge = judge
        self.timeout = settings.timeout
        self.retries = settings.retries
        self.pace = pace

    async def vote(self, request: JudgeRequest) -> Vote:
        """The judge's verdict, or why there is none after all tries."""
        tries, used, began = 0, NOTHING, time.monotonic()
        while True:
            try:
                vote = await self._call(request)
                used += Used(vote.total_tokens, vote.cost_usd)
                self.pace.failures = 0
                return _taking(vote, used, tries + 1)
            except JudgeError as error:
                wait = pause(tries, error.retry_after) if error.transient else None
                tries, used = tries + 1, used + error.used
                if wait is None or not self._may_go_on(tries, began, wait):
                    self.pace.failures += 1
                    again = f" (asked {tries} times)" if tries > 1 else ""
                    failed = Vote(model=self.judge.name, error=f"{error}{again}")
                    return _taking(failed, used, tries)
                if error.retry_after is not None:
                    self.pace.quiet_until = max(self.pace.quiet_until, time.monotonic() + wait)
                await asyncio.sleep(wait)

    def _may_go_on(self, tries: int, began: float, wait: float) -> bool:
        """By the tries and by the clock. A judge that is down is not waited for by every case."""
        patience = self.timeout * (self.retries + 1)
        in_time = time.monotonic() - began + wait <= patience
        return tries <= self.retries and in_time and self.pace.failures < _DOWN

    async def _call(self, request: JudgeRequest) -> Vote:
        async with self.pace.room:
            await self._turn()
            try:
                async with asyncio.timeout(self.timeout):
                    return await self.judge.ask(request)
            except TimeoutError:
                message = f"the judge gave no reply after {self.timeout:g} s"
                raise JudgeError(message, transient=True, used=Used()) from None

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
