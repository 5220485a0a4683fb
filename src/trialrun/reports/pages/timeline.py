"""A trace as a timeline: each step with its place in time, and the checks that it decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter

from msgspec import Struct

from trialrun.model.steps import Step, StepStatus, StepType
from trialrun.model.trace import TIMINGS, Trace
from trialrun.pricing import step_cost
from trialrun.reports.pages.masking import by_whom
from trialrun.reports.pages.texts import amount, duration, line_text, number, value_text
from trialrun.reports.views.timeline import STEP_WORDS, depths

WIDTH = 100
"""The length of the whole run in the units of the bars."""

_NARROWEST = 1
MOST_STEPS = 2000
"""Steps of one attempt on a page: of a longer one the first, the last, and those with a pin."""

_LAST = 200


class Pin(Struct, frozen=True, gc=False):
    """A check that this step decided."""

    word: str
    check: str
    message: str


class StepRow(Struct, frozen=True, gc=False):
    """One step. `start` and `width` are its bar, of `WIDTH` in all; -1: no time is known."""

    index: int
    id: str
    kind: str
    name: str
    summary: str
    depth: int
    word: str  # "", "fail" or "pending"
    start: int
    width: int
    tokens: str
    cost: str
    time: str
    parts: Sequence[tuple[str, str]]
    pins: Sequence[Pin]
    skipped: int = 0  # steps left out before this one


class Timeline(Struct, frozen=True):
    """The steps that are shown, how many there are in all, and what the bars rest on."""

    rows: Sequence[StepRow]
    total: int
    scale: str  # the length of the bars' axis, "" if no times are known
    guessed: bool  # steps have durations only: they are drawn one after the other


def timeline_of(
    trace: Trace, shown: Sequence[Step], pins: Mapping[int, Sequence[Pin]], around: int = 0
) -> Timeline:
    """The timeline of a trace. `shown` are its steps with secrets masked (`masking.py`).

    Of a long one, the steps around that number are among those that are shown.
    """
    steps = trace.steps
    bars, span, guessed = _bars(trace)
    insets = depths(steps)
    chosen = _chosen(steps, pins, around)
    rows = []
    last = -1
    for index in chosen:
        step = steps[index]
        rows.append(
            _row(step, shown[index], index, insets[index], bars[index], pins.get(index + 1, ()),
                 index - last - 1)
        )  # fmt: skip
        last = index
    return Timeline(rows, len(steps), duration(span), guessed)


def _chosen(steps: Sequence[Step], pins: Mapping[int, Sequence[Pin]], around: int) -> Sequence[int]:
    total = len(steps)
    if total <= MOST_STEPS:
        return range(total)
    reach = MOST_STEPS - _LAST
    first = max(0, min(around - 1 - reach // 2, total - reach))
    kept = {*range(first, first + reach), *range(total - _LAST, total)}
    decisive = [index for index, step in enumerate(steps) if index + 1 in pins or _word(step)]
    return sorted({*kept, *decisive[:MOST_STEPS]})


def _word(step: Step) -> str:
    if step.status is StepStatus.FAILURE or step.error:
        return "fail"
    return "pending" if step.status is StepStatus.PENDING else ""


def _row(
    step: Step,
    shown: Step,
    index: int,
    depth: int,
    bar: tuple[int, int],
    pins: Sequence[Pin],
    skipped: int,
) -> StepRow:
    kind = STEP_WORDS[step.type]
    name, summary = _named(step, shown, kind)
    if shown.error:
        summary = f"{summary} · failed: {line_text(shown.error)}".removeprefix(" · ")
    tokens = None if step.tokens is None else step.tokens.total_tokens
    cost = step_cost(step) if step.tokens is not None or step.cost_usd is not None else None
    return StepRow(
        index + 1,
        step.id,
        kind,
        name,
        summary,
        min(depth, 8),
        _word(step),
        bar[0],
        bar[1],
        number(tokens),
        amount(cost),
        duration(step.duration_ms),
        _parts(step, shown),
        pins,
        skipped,
    )


def _named(step: Step, shown: Step, kind: str) -> tuple[str, str]:
    if step.type is StepType.TOOL_CALL:
        arguments = shown.tool_args
        if arguments is None:
            return shown.tool_name or "", "arguments not recorded"
        given = ", ".join(f"{key}: {line_text(item, 40)}" for key, item in arguments.items())
        return shown.tool_name or "", line_text(given)
    if step.type is StepType.LLM_CALL:
        return shown.model or "model", line_text(shown.output or "")
    if step.type is StepType.HANDOFF:
        return f"to {shown.handoff_to or '?'}", line_text(shown.input or "")
    name = shown.tool_name or {"thinks": "reasoning", "user": "user"}.get(kind, kind)
    text = shown.reasoning_text or shown.input or shown.output or ""
    return name, line_text(text)


_TITLES = ("Error", "Arguments", "Result", "Input", "Reasoning", "Output")
_values = attrgetter("error", "tool_args", "tool_result", "input", "reasoning_text", "output")


def _parts(step: Step, shown: Step) -> list[tuple[str, str]]:
    values = zip(_TITLES, _values(shown), strict=True)
    parts = [(title, value_text(value)) for title, value in values if value]
    used = step.tokens
    if used is not None:
        counts = f"{used.prompt_tokens:,} in, {used.completion_tokens:,} out"
        if used.cached_tokens:
            counts += f", {used.cached_tokens:,} of the input from a cache"
        parts.append(("Tokens", counts))
    by = by_whom(shown) if shown.metadata else None
    if by:
        parts.append(("By", line_text(by)))
    return parts


# The bars


def _bars(trace: Trace) -> tuple[list[tuple[int, int]], float | None, bool]:
    """The bar of each step, the milliseconds of the whole axis, and whether order was guessed."""
    steps = trace.steps
    starts = [step.timestamp for step in steps]
    known = [moment for moment in starts if moment is not None]
    if len(known) == len(steps) and steps and len(set(known)) > 1:
        first = min([*known, *([trace.started_at] if trace.started_at is not None else [])])
        offsets = [(moment - first).total_seconds() * 1000 for moment in known]
        return _scaled(offsets, steps, trace.total_duration_ms, guessed=False)
    if TIMINGS in trace.recorded and all(step.duration_ms is not None for step in steps) and steps:
        return _scaled(_one_after_the_other(steps), steps, None, guessed=True)
    return [(-1, 0)] * len(steps), None, False


def _one_after_the_other(steps: Sequence[Step]) -> list[float]:
    """Where each step begins if no two of them ran at the same time; what is nested, inside."""
    ids = {step.id: index for index, step in enumerate(steps)}
    offsets: list[float] = []
    free: dict[int, float] = {}  # by parent: where its next nested step begins
    now = 0.0
    for index, step in enumerate(steps):
        parent = ids.get(step.parent_id or "", -1)
        # A call that a model asked for is nested in its reply, but runs after it.
        inside = 0 <= parent < index and steps[parent].type is not StepType.LLM_CALL
        at = free.get(parent, offsets[parent]) if inside else now
        offsets.append(at)
        end = at + (step.duration_ms or 0)
        if inside:
            free[parent] = end
        now = max(now, end)
    return offsets


def _scaled(
    offsets: Sequence[float], steps: Sequence[Step], whole: float | None, guessed: bool
) -> tuple[list[tuple[int, int]], float | None, bool]:
    ends = [at + (step.duration_ms or 0) for at, step in zip(offsets, steps, strict=True)]
    span = max([*ends, whole or 0])
    if span <= 0:
        return [(-1, 0)] * len(steps), None, False
    bars = []
    for at, end in zip(offsets, ends, strict=True):
        width = max(_NARROWEST, round((end - at) / span * WIDTH))
        start = max(0, min(WIDTH - width, round(at / span * WIDTH)))
        bars.append((start, min(width, WIDTH)))
    return bars, span, guessed
