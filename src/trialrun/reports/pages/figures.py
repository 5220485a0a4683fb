"""Figures of a run: cost, tokens and failures by agent and by model, distributions, pass^k."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import fsum

from msgspec import Struct, field

from trialrun.measures.comparison import bootstrap_interval
from trialrun.model.results import CaseStability, LayerStatus
from trialrun.model.trace import Trace
from trialrun.pricing import step_cost
from trialrun.redaction import redact
from trialrun.reports.pages.attempt_part import Made
from trialrun.reports.pages.svg import Markup, Point, curve, histogram, shares
from trialrun.reports.pages.texts import TITLES, amount, duration, number
from trialrun.util.texts import counted

_MOST_ROWS = 100
_MOST_K = 20


class Sum(Struct):
    """A sum of which some parts may be unknown."""

    known: list[float] = field(default_factory=list)
    unknown: int = 0

    def add(self, value: float | None) -> None:
        """Add a value, or count that it is unknown."""
        if value is None:
            self.unknown += 1
        else:
            self.known.append(value)

    def text(self, show: Callable[[float | None], str]) -> str:
        """The sum; `at least` where parts are unknown, `unknown` where all are."""
        if not self.known:
            return "unknown" if self.unknown else "–"
        total = fsum(self.known)
        whole = round(total) if total.is_integer() else total
        return f"{'at least ' if self.unknown else ''}{show(whole)}"


class Tallied(Struct):
    """What is counted for one agent, or for one model."""

    attempts: int = 0
    cost: Sum = field(default_factory=Sum)
    tokens: Sum = field(default_factory=Sum)
    words: dict[str, int] = field(default_factory=dict)


class GroupRow(Struct, frozen=True):
    """One agent or model in a table."""

    name: str
    count: str
    bar: Markup | None
    said: str  # what the bar shows
    rate: str
    cost: str
    tokens: str


class Figures(Struct, frozen=True, kw_only=True):
    """The page of figures."""

    agents: Sequence[GroupRow]
    models: Sequence[GroupRow]
    charts: Sequence[tuple[str, Markup]]
    pass_hat: Markup | None
    pass_hat_note: str


_ORDER = ("fail", "error", "warn", "pass", "skip")


class FigureCounter:
    """Counts attempts one by one, so that no trace is kept."""

    def __init__(self) -> None:
        self._agents: dict[str, Tallied] = {}
        self._models: dict[str, Tallied] = {}
        self._costs: list[float] = []
        self._tokens: list[float] = []
        self._times: list[float] = []

    def add(self, made: Iterable[Made]) -> None:
        """Count the attempts at a case."""
        for one in made:
            result = one.result
            group = self._agents.setdefault(result.agent or "", Tallied())
            group.attempts += 1
            word = result.status.value
            group.words[word] = group.words.get(word, 0) + 1
            group.cost.add(result.cost_usd)
            group.tokens.add(result.total_tokens)
            for values, value in (
                (self._costs, result.cost_usd),
                (self._tokens, result.total_tokens),
                (self._times, result.duration_ms),
            ):
                if value is not None:
                    values.append(value)
            if one.trace is not None:
                self._add_models(one.trace, word)

    def _add_models(self, trace: Trace, word: str) -> None:
        seen = set()
        for step in trace.llm_calls:
            name = step.model or "unknown model"
            group = self._models.setdefault(name, Tallied())
            group.attempts += 1
            group.cost.add(step_cost(step))
            group.tokens.add(None if step.tokens is None else step.tokens.total_tokens)
            if name not in seen:
                seen.add(name)
                group.words[word] = group.words.get(word, 0) + 1

    def figures(self, stability: Sequence[CaseStability]) -> Figures:
        """All figures."""
        charts = [
            (name, histogram(values, name, show))
            for name, values, show in (
                ("Cost", self._costs, amount),
                ("Tokens", self._tokens, lambda value: number(round(value))),
                ("Latency", self._times, duration),
            )
            if values
        ]
        curve_found, note = _pass_hat(stability)
        return Figures(
            agents=_rows(self._agents, "attempt"),
            models=_rows(self._models, "call"),
            charts=charts,
            pass_hat=curve_found,
            pass_hat_note=note,
        )


def _rows(groups: dict[str, Tallied], noun: str) -> list[GroupRow]:
    rows = []
    by_size = sorted(groups.items(), key=lambda item: -item[1].attempts)
    for name, group in by_size[:_MOST_ROWS]:
        passed = sum(group.words.get(word, 0) for word in ("pass", "warn"))
        judged = passed + group.words.get(LayerStatus.FAIL.value, 0)
        counts = [(word, group.words.get(word, 0)) for word in _ORDER]
        shown = redact(name) or "the agent"
        plural = "" if group.attempts == 1 else "s"
        rows.append(
            GroupRow(
                shown,
                f"{group.attempts:,} {noun}{plural}",
                shares(counts, shown),
                ", ".join(
                    f"{count:,} {TITLES[LayerStatus(word)]}" for word, count in counts if count
                ),
                f"{passed / judged:.0%}" if judged else "–",
                group.cost.text(amount),
                group.tokens.text(number),
            )
        )
    return rows


def _pass_hat(stability: Sequence[CaseStability]) -> tuple[Markup | None, str]:
    """pass^k as the mean over cases, with the interval that the choice of cases leaves."""
    cases = [case.stability for case in stability if case.stability.pass_hat]
    if not cases:
        return None, ""
    most = min(_MOST_K, min(len(case.pass_hat) for case in cases))
    points = []
    for k in range(1, most + 1):
        values = [case.pass_hat[k] for case in cases]
        low, high = bootstrap_interval(values) or (None, None)
        mean = fsum(values) / len(values)
        interval = "" if low is None or high is None else f" (95% {low:.0%} to {high:.0%})"
        points.append(Point(f"k={k}", mean, low, high, f"pass^{k}: {mean:.0%}{interval}"))
    note = f"the chance that all of k attempts pass, as the mean over {len(cases)} cases"
    if len(cases) < 2:
        note += "; one case has no interval"
    left = len(stability) - len(cases)
    rest = f"; {counted(left, 'case')} without a verdict" if left else ""
    return curve(points, "pass^k"), note + rest
