"""Send requests to one model within its limits: concurrency, calls per minute, timeout, retries.

All cases of a run share the limits; limits per case would add up.
"""

from __future__ import annotations

import asyncio
import time
from typing import Protocol
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from trialrun.judge.reply_parser import NO_USAGE, JudgeError, Usage
from trialrun.model.case import JudgeSettings
from trialrun.model.judging import JudgeRequest
from trialrun.model.results import Vote
from trialrun.util.retries import pause

_FAILURES_WHEN_DOWN = 5
"""Failures in a row after which calls are not retried until one succeeds."""


class OneJudge(Protocol):
    """A model or a function that gives verdicts."""

    name: str

    def check(self) -> None:
        """Check that it can be asked. Raises PluginError if it can never work."""

    def address(self) -> str | None:
        """Its address, if that is not the provider's default."""

    def open(self) -> None:
        """Get ready, which may take seconds. Raises PluginError as `check` does."""

    async def ask(self, request: JudgeRequest) -> Vote:
        """One vote. Raises JudgeError if there is none."""

    async def close(self) -> None:
        """Close all connections."""


class RateLimits:
    """The limits of one model that all its callers share: slots, next start, pause, failures.

    They outlive an event loop: every `evaluate` has its own loop, and calls per minute count over
    all of them. Only the slots belong to a loop.
    """

    def __init__(self, settings: JudgeSettings) -> None:
        self._most = settings.max_concurrency
        self._semaphores: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]
        self._semaphores = WeakKeyDictionary()
        per_minute = settings.calls_per_minute
        self.interval = 60 / per_minute if per_minute else 0.0
        self.next_start = 0.0
        self.paused_until = 0.0  # after a Retry-After, nothing is sent before this
        self.failures = 0  # in a row, each after all its retries

    def slot(self) -> asyncio.Semaphore:
        """A slot for one call in the running event loop."""
        return self._semaphores.setdefault(
            asyncio.get_running_loop(), asyncio.Semaphore(self._most)
        )


class ModelChannel:
    """Asks one judge within its limits. A failure of the judge ends as a vote with an error."""

    def __init__(self, judge: OneJudge, settings: JudgeSettings, limits: RateLimits) -> None:
        self.judge = judge
        self.timeout = settings.timeout
        self.retries = settings.retries
        self.limits = limits

    async def vote(self, request: JudgeRequest) -> Vote:
        """The judge's vote, or the error after all retries."""
        tries, used = 0, NO_USAGE
        spent = 0.0  # in calls and pauses, without waiting for a slot
        while True:
            async with self.limits.slot():
                self.judge.open()  # outside the timeout: loading a client takes time too
                await self._wait_for_turn()
                began = time.monotonic()
                outcome = await self._call(request)
                spent += time.monotonic() - began
            tries += 1
            if isinstance(outcome, Vote):
                self.limits.failures = 0
                return _with_usage(
                    outcome, used + Usage(outcome.total_tokens, outcome.cost_usd), tries
                )
            used += outcome.used
            wait = pause(tries - 1, outcome.retry_after) if outcome.transient else None
            if wait is None or not self._may_retry(tries, spent + wait):
                self.limits.failures += 1
                again = f" (asked {tries} times)" if tries > 1 else ""
                failed = Vote(model=self.judge.name, error=f"{outcome}{again}")
                return _with_usage(failed, used, tries)
            if outcome.retry_after is not None:
                self.limits.paused_until = max(self.limits.paused_until, time.monotonic() + wait)
            await asyncio.sleep(wait)
            spent += wait

    def _may_retry(self, tries: int, spent: float) -> bool:
        """Whether tries and time are left. No case waits for a judge that is down."""
        in_time = spent <= self.timeout * (self.retries + 1)
        return tries <= self.retries and in_time and self.limits.failures < _FAILURES_WHEN_DOWN

    async def _call(self, request: JudgeRequest) -> Vote | JudgeError:
        """The outcome of one call within the timeout."""
        try:
            async with asyncio.timeout(self.timeout):
                return await self.judge.ask(request)
        except TimeoutError:
            message = f"the judge gave no reply after {self.timeout:g} s"
            return JudgeError(message, transient=True, used=Usage())
        except JudgeError as error:
            return error

    async def _wait_for_turn(self) -> None:
        """Wait for the next start: starts are spread evenly, and a Retry-After holds for all."""
        now = time.monotonic()
        start = max(now, self.limits.next_start, self.limits.paused_until)
        self.limits.next_start = start + self.limits.interval
        while now < max(start, self.limits.paused_until):  # it may have moved meanwhile
            await asyncio.sleep(max(start, self.limits.paused_until) - now)
            now = time.monotonic()


def _with_usage(vote: Vote, used: Usage, calls: int) -> Vote:
    """The vote with the usage of all its calls: failed calls are paid for too."""
    return replace(vote, total_tokens=used.tokens, cost_usd=used.cost_usd, calls=calls)
