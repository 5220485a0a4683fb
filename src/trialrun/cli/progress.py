"""The progress of a run on stderr: one updated line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from trialrun.cli.output import say
from trialrun.model.results import EvaluationResult, LayerStatus
from trialrun.util.money import dollars

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

_SECONDS_BETWEEN_LINES = 10.0
_SECONDS_BEFORE_THE_FIRST = 2.0
_REDRAWS_PER_SECOND = 5
_RECENT = 40  # attempts that the rate is measured by, or three times as many as run at once


class Progress:
    """Counts attempts that are judged and stored, and shows the counts unless `quiet`."""

    def __init__(
        self, total: int, quiet: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.total = total
        self.quiet = quiet
        self._clock = clock
        self.done = self.running = self.passed = self.failed = self.errors = 0
        self.cost: float | None = None
        self._most_running = 0
        self._next_line = clock() + _SECONDS_BEFORE_THE_FIRST
        # When the first attempt was started and when others ended, as far as they are recent.
        self._ends: deque[float] = deque([clock()], maxlen=3 * 1000 + 1)
        self._live: Live | None = None

    def __enter__(self) -> Progress:
        if not self.quiet and sys.stderr is not None and sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True, highlight=False, emoji=False, markup=False)
            self._live = Live(
                get_renderable=self._live_line,
                console=console,
                refresh_per_second=_REDRAWS_PER_SECOND,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def started(self) -> None:
        """An attempt was started."""
        if not self.running and not self.done:
            self._ends[0] = self._clock()  # not when it was prepared
        self.running += 1
        self._most_running = max(self._most_running, self.running)

    def finished(self, result: EvaluationResult) -> None:
        """An attempt was judged and stored."""
        self.running -= 1
        self.done += 1
        if result.passed:
            self.passed += 1
        elif result.status is LayerStatus.FAIL:
            self.failed += 1
        else:
            self.errors += 1
        if result.cost_usd is not None:
            self.cost = (self.cost or 0.0) + result.cost_usd
        now = self._clock()
        self._ends.append(now)
        if self._live is None and not self.quiet and now >= self._next_line:
            self._next_line = now + _SECONDS_BETWEEN_LINES
            say(self._line())

    def stopped(self, reason: str) -> None:
        """The run starts no further attempts."""
        if not self.quiet and self.done + self.running < self.total:
            say(f"stopping: {reason}")

    def _live_line(self) -> Text:
        """The line, cut to the terminal's width: a wrapped line could not be redrawn in place."""
        from rich.text import Text

        return Text(self._line(), no_wrap=True, overflow="ellipsis")

    def _line(self) -> str:
        # With --until-decided the total is a lower bound: it is left out once it is exceeded.
        of_total = f" of {self.total}" if self.done + self.running <= self.total else ""
        parts = [f"{self.done}{of_total} done"]
        if self.running:
            parts.append(f"{self.running} running")
        parts.append(f"{self.passed} passed")
        if self.failed:
            parts.append(f"{self.failed} failed")
        if self.errors:
            parts.append(f"{self.errors} in error")
        if self.cost is not None:
            parts.append(dollars(self.cost))
        rate = self.rate()
        if rate is not None:
            parts.append(rate_text(rate))
        left = self.seconds_left()
        if left is not None:
            parts.append(f"about {_span(left)} left")
        return " · ".join(parts)

    def rate(self) -> float | None:
        """Attempts a second, of the recent ones; None while it would be a guess.

        The first attempts wait for the start of their workers: as long as not more of them are done
        than run at the same time, the pace says little about the rest.
        """
        if self.done <= self._most_running:
            return None
        number, took, _ = self._recent()
        return number / took if took > 0 else None

    def seconds_left(self) -> float | None:
        """An estimate by the recent rate; None at the end, and while it would be a guess.

        Some of the running attempts are nearly done: the time since the last end is taken off. If
        that is longer than usual, the rate has fallen: as if all running attempts ended just now.
        """
        left = self.total - self.done
        if left <= 0 or self.rate() is None or self.done + self.running > self.total:
            return None
        number, took, since = self._recent()
        usual = left * took / number - since
        after = max(0, left - self.running) * (took + since) / (number + self.running)
        return max(usual, after)

    def _recent(self) -> tuple[int, float, float]:
        """How many attempts ended recently, in how many seconds, and how long ago the last did."""
        number = min(len(self._ends) - 1, max(_RECENT, 3 * self._most_running))
        first, last = self._ends[-number - 1], self._ends[-1]
        return number, last - first, self._clock() - last


def rate_text(rate: float) -> str:
    """`2.5/s`, `12/min`, `4/h`."""
    for unit, seconds in (("s", 1), ("min", 60), ("h", 3600)):
        amount = rate * seconds
        if amount >= 1 or unit == "h":
            break
    return f"{amount:.0f}/{unit}" if amount >= 10 else f"{amount:.1f}/{unit}"


def _span(seconds: float) -> str:
    """`40 s`, `3 min`, `2 h 10 min`."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
