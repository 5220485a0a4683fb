"""The facts of one run of an agent: its input, its steps, its answer.

Conclusions are in `results.py`. A trace's steps are frozen and change only through `add_step` or by
assignment, so values derived from them are computed once per change and never out of date.
`recorded` lists the kinds of evidence that the source of a trace could see. A check that needs
another kind is *unknown*: a trace without recorded tool calls is not a run that called no tool.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from trialrun.model.steps import (
    LARGEST_AMOUNT,
    LARGEST_COUNT,
    UNUSABLE,
    Amount,
    Message,
    Step,
    StepStatus,
    StepType,
    TokenUsage,
    as_enum,
    as_moment,
    refuse,
    require_amount,
    require_text,
)

__all__ = [
    "COSTS",
    "EVIDENCE",
    "FORMAT_VERSION",
    "LARGEST_AMOUNT",
    "LARGEST_COUNT",
    "REASONING",
    "TIMINGS",
    "TOKENS",
    "TOOL_ARGS",
    "TOOL_CALLS",
    "TOOL_RESULTS",
    "UNUSABLE",
    "Message",
    "Step",
    "StepStatus",
    "StepType",
    "TokenUsage",
    "Trace",
    "TraceStatus",
]

FORMAT_VERSION = 1

TOOL_CALLS = "tool_calls"
TOOL_ARGS = "tool_args"
TOOL_RESULTS = "tool_results"
TOKENS = "tokens"
COSTS = "costs"
TIMINGS = "timings"
REASONING = "reasoning"

EVIDENCE = frozenset({TOOL_CALLS, TOOL_ARGS, TOOL_RESULTS, TOKENS, COSTS, TIMINGS, REASONING})
"""Every kind of evidence that a trace can record."""


ANSWERED = "answered"
"""Key in the metadata of a `human_input` step: the answer of the turn before, where the agent was
called turn by turn; the key `duration_ms` there: how long that turn took."""

RECORDED = "recorded_in_turn"
"""Key in the metadata of a `human_input` step: the kinds of evidence recorded in the turn before;
in the metadata of the trace: those of its last turn. Turns may differ."""

SETUP_FAILED = "unprepared"
"""Key in the metadata of a trace: the setup failed, so the agent never ran."""

_UNSET = frozenset({"everything"})


class TraceStatus(StrEnum):
    """How the run ended. `error` and `timeout` mean that the agent did not finish."""

    SUCCESS = "success"
    FAILURE = "failure"
    TIMEOUT = "timeout"
    ERROR = "error"


# Looking a member up on an Enum class costs ten times a global in Python 3.11.
_LLM_CALL = StepType.LLM_CALL
_TOOL_CALL = StepType.TOOL_CALL


class Trace(Struct, omit_defaults=True, forbid_unknown_fields=True, dict=True, kw_only=True):
    """One run of an agent. `output` is None if there was no answer; "" is an empty answer."""

    format_version: int = 0  # set on construction, so that it is always written
    id: str | None = None
    name: str | None = None
    input: str
    output: str | None = None
    status: TraceStatus = TraceStatus.SUCCESS
    error: str | None = None
    steps: Sequence[Step] = ()
    started_at: datetime | None = None
    completed_at: datetime | None = None
    duration_ms: Amount | None = None
    framework: str | None = None
    agent_name: str | None = None
    recorded: frozenset[str] = _UNSET  # becomes EVIDENCE, so that it is always written
    metadata: dict[str, Any] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        put = super().__setattr__
        if self.format_version == 0:
            put("format_version", FORMAT_VERSION)
        elif type(self.format_version) is not int or not 0 < self.format_version <= FORMAT_VERSION:
            refuse(
                "Trace",
                "format_version",
                f"{FORMAT_VERSION}, the newest that this trialrun reads",
                self.format_version,
            )
        for field in _CHECKED:
            value = getattr(self, field)
            if value is not None or field not in _OPTIONAL:
                put(field, self._checked(field, value))
        # The monotonic clock, for `complete`: the wall clock could be set back.
        self.__dict__["_clock"] = time.perf_counter()
        self._recount()

    def __setattr__(self, name: str, value: Any) -> None:
        value = self._checked(name, value)
        super().__setattr__(name, value)
        if name == "steps" or name == "recorded":
            self._recount()

    @staticmethod
    def _checked(name: str, value: Any) -> Any:
        """The value converted to the field's type; impossible values are refused."""
        if name == "recorded":
            return _as_evidence(value)
        if name == "steps":
            return _numbered(value, 1)
        if name == "status":
            return as_enum("Trace", name, value, TraceStatus)
        if name in ("started_at", "completed_at"):
            return as_moment("Trace", name, value)
        if name == "duration_ms":
            require_amount("Trace", name, value)
        elif name == "input" and not isinstance(value, str):
            refuse("Trace", name, "text", value)
        elif name in _TEXTS:
            require_text("Trace", name, value)
        elif name == "metadata" and type(value) is not dict:
            refuse("Trace", name, "a dict", value)
        return value

    def __copy__(self) -> Trace:
        return msgspec.structs.replace(self)

    def add_step(self, step: Step) -> None:
        """Append a step."""
        added = _numbered((step,), len(self.steps) + 1, self._ids)
        super().__setattr__("steps", (*self.steps, *added))
        self._count(added)

    def _recount(self) -> None:
        """Compute all values derived from the steps again."""
        kept = self.__dict__
        kept["tool_calls"], kept["llm_calls"], kept["tool_call_sequence"] = [], [], []
        kept["tools_used"] = frozenset()
        kept["_ids"] = set()
        kept["total_tokens"] = 0 if TOKENS in self.recorded else None
        kept["_costs"] = [] if COSTS in self.recorded else None
        self._count(self.steps)

    def _count(self, steps: Sequence[Step]) -> None:
        """Add further steps to the derived values: each step is visited only once."""
        kept = self.__dict__
        kept["_priced"] = None
        new_tools = set()
        self._ids.update(step.id for step in steps)
        for step in steps:
            if step.type is _TOOL_CALL:
                self.tool_calls.append(step)
                self.tool_call_sequence.append(step.tool_name or "")
                new_tools.add(step.tool_name)
            elif step.type is _LLM_CALL:
                self.llm_calls.append(step)
                if step.tokens is None or self.total_tokens is None:
                    kept["total_tokens"] = None
                else:
                    kept["total_tokens"] = self.total_tokens + step.tokens.total_tokens
                if step.cost_usd is None or self._costs is None:
                    kept["_costs"] = None
                else:
                    self._costs.append(step.cost_usd)
            if step.type is not _LLM_CALL and self._costs is not None:
                if step.cost_usd is not None:
                    self._costs.append(step.cost_usd)
                elif UNUSABLE in step.metadata:
                    kept["_costs"] = None  # `pricing` finds out whether the cost was unusable
        if not new_tools <= self.tools_used:
            kept["tools_used"] = self.tools_used | new_tools
        kept["_recorded_cost"] = None if self._costs is None else math.fsum(self._costs)

    if TYPE_CHECKING:
        # Set by `_count` in `__dict__`: plain attributes, as fast to read as a field.

        @property
        def tool_calls(self) -> list[Step]:
            """The steps that called a tool, failed calls included."""

        @property
        def llm_calls(self) -> list[Step]:
            """The steps that called a model."""

        @property
        def tool_call_sequence(self) -> list[str]:
            """The names of the tools in the order of their calls."""

        @property
        def tools_used(self) -> frozenset[str]:
            """The names of the tools that were called, each once."""

        @property
        def total_tokens(self) -> int | None:
            """Tokens of all model calls; None as soon as one call has no count.

            The sum of only the known counts would be too low, and stay within a budget.
            """

        @property
        def _ids(self) -> set[str]: ...

        @property
        def _costs(self) -> list[float] | None: ...

        @property
        def _recorded_cost(self) -> float | None: ...

        @property
        def _priced(self) -> tuple[object, float | None] | None: ...

    @property
    def total_llm_calls(self) -> int:
        """How many times a model was called."""
        return len(self.llm_calls)

    @property
    def total_duration_ms(self) -> float | None:
        """The trace's own duration, else last end − first start, else the sum of the steps'."""
        if TIMINGS not in self.recorded:
            return None
        if self.duration_ms is not None:
            return self.duration_ms
        if self.started_at is not None and self.completed_at is not None:
            elapsed = _milliseconds(self.completed_at - self.started_at)
            if elapsed >= 0:
                return elapsed
        starts = [step.timestamp for step in self.steps if step.timestamp is not None]
        durations = [step.duration_ms for step in self.steps if step.duration_ms is not None]
        total = math.fsum(durations) if durations else None
        if starts and (durations or len(starts) > 1):
            try:
                ends = [
                    step.timestamp + timedelta(milliseconds=step.duration_ms or 0)
                    for step in self.steps
                    if step.timestamp is not None
                ]
            except OverflowError:  # past the year 9999
                return None
            span = _milliseconds(max(ends) - min(starts))
            # If only some steps have a timestamp, the sum of the durations may be longer.
            return span if len(starts) == len(self.steps) else max(span, total or 0.0)
        return total

    @property
    def total_cost_usd(self) -> float | None:
        """Dollars of the run: recorded costs first, otherwise computed from tokens.

        None as soon as one call has neither: an unknown price is not $0 (`pricing.unpriced`).
        """
        if self._recorded_cost is not None:
            return self._recorded_cost
        if COSTS not in self.recorded and TOKENS not in self.recorded:
            return None
        from trialrun import pricing

        # The price book can change between two calls: cache the cost together with its book.
        book = pricing.active_book()
        kept = self._priced
        if kept is None or kept[0] is not book:
            kept = self.__dict__["_priced"] = (book, pricing.total_cost(self.steps))
        return kept[1]

    def complete(self, output: str | None, status: TraceStatus = TraceStatus.SUCCESS) -> None:
        """Finish the run: set its answer, status and end; and its start if it is not set."""
        elapsed = time.perf_counter() - self.__dict__["_clock"]
        now = datetime.now(UTC)
        self.output = output
        self.status = status
        if self.started_at is None:
            self.started_at = now - timedelta(seconds=elapsed)
        self.completed_at = now
        self.duration_ms = elapsed * 1000

    @property
    def tools_called(self) -> list[str]:
        """evaldeck's name for `tool_call_sequence`."""
        return self.tool_call_sequence

    @property
    def step_count(self) -> int:
        """How many steps there are, of every type."""
        return len(self.steps)

    def turns(self) -> list[Trace]:
        """The run split into the turns of its conversation, one trace each.

        Every `human_input` step starts a turn; its metadata may have the answer of the turn before
        (`ANSWERED`), which is otherwise the model's last output. The last answer is the trace's.
        """
        segments: list[tuple[str, list[Step]]] = [(self.input, [])]
        closings: list[dict[str, Any]] = []  # metadata of the step after each turn but the last
        for position, step in enumerate(self.steps):
            if step.type is StepType.HUMAN_INPUT:
                # Some recorders repeat the input as the first step.
                if position == 0 and step.input == self.input:
                    continue
                segments.append((step.input or "", []))
                closings.append(step.metadata)
            else:
                segments[-1][1].append(step)
        turns = []
        for number, (question, steps) in enumerate(segments):
            last = number == len(segments) - 1
            closing = {} if last else closings[number]
            outputs = (step.output for step in reversed(steps) if step.type is _LLM_CALL)
            answer = closing.get(ANSWERED)
            if not isinstance(answer, str):
                answer = next((text for text in outputs if text), None)
            turns.append(
                Trace(
                    name=self.name,
                    input=question,
                    output=self.output if last else answer,
                    status=self.status if last else TraceStatus.SUCCESS,
                    error=self.error if last else None,
                    steps=steps,
                    duration_ms=_turn_duration(self, closing, number, len(segments)),
                    recorded=_turn_evidence(self, self.metadata if last else closing),
                )
            )
        return turns

    def to_json(self) -> bytes:
        """One line of JSON, without a line break."""
        try:
            return msgspec.json.encode(self, order="deterministic")
        except UnicodeEncodeError:  # a lone surrogate, which UTF-8 cannot encode
            from trialrun.model import trace_format

            plain = trace_format.without_surrogates(self.to_dict(), [])
            return msgspec.json.encode(plain, order="deterministic")

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        plain = msgspec.to_builtins(self, order="deterministic")
        assert isinstance(plain, dict)
        return plain

    @classmethod
    def from_json(cls, text: bytes | str) -> Trace:
        """Read one trace from JSON; unusable values are left out with a `TraceWarning`."""
        from trialrun.model import trace_format

        return trace_format.with_warnings(*trace_format.decode(text))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Trace:
        """Read one trace from plain values; unusable ones are left out with a warning."""
        from trialrun.model import trace_format

        return trace_format.with_warnings(*trace_format.from_plain(data))


def _turn_evidence(trace: Trace, closing: dict[str, Any]) -> frozenset[str]:
    kinds = closing.get(RECORDED)
    return EVIDENCE & set(kinds) if isinstance(kinds, list) else trace.recorded


_TEXTS = ("id", "name", "output", "error", "framework", "agent_name")
_OPTIONAL = (*_TEXTS, "started_at", "completed_at", "duration_ms")
_CHECKED = ("input", *_OPTIONAL, "status", "metadata", "recorded", "steps")


def _turn_duration(trace: Trace, closing: dict[str, Any], number: int, turns: int) -> float | None:
    """How long a turn took; the last turn's duration is in the metadata of the trace."""
    recorded = closing.get("duration_ms")
    if isinstance(recorded, (int, float)) and 0 <= recorded <= LARGEST_AMOUNT:
        return recorded
    if turns == 1:
        return trace.duration_ms
    last = trace.metadata.get("last_turn_ms") if number == turns - 1 else None
    return last if isinstance(last, (int, float)) and 0 <= last <= LARGEST_AMOUNT else None


def _milliseconds(span: timedelta) -> float:
    return span / timedelta(milliseconds=1)


def _as_evidence(kinds: object) -> frozenset[str]:
    if kinds is EVIDENCE or kinds == _UNSET:
        return EVIDENCE
    if isinstance(kinds, str) or not isinstance(kinds, (set, frozenset, list, tuple)):
        refuse("Trace", "recorded", "a set of kinds of evidence", kinds)
    found = frozenset(kinds)  # type: ignore[call-overload]
    if not found <= EVIDENCE:
        refuse("Trace", "recorded", "kinds among " + ", ".join(sorted(EVIDENCE)), found)
    return EVIDENCE if found == EVIDENCE else found


def _numbered(steps: object, first: int, others: Collection[str] = frozenset()) -> tuple[Step, ...]:
    """The steps as a tuple; a step without an id gets its number, so that details can name it."""
    if not isinstance(steps, (list, tuple)):
        refuse("Trace", "steps", "a list of Step", steps)
    assert isinstance(steps, (list, tuple))
    for position, step in enumerate(steps):
        if type(step) is not Step:
            refuse("Trace", f"steps[{first - 1 + position}]", "a Step", step)
    taken = {step.id for step in steps}
    numbered = []
    for number, step in enumerate(steps, first):
        if not step.id:
            name = str(number)
            while name in taken or name in others:  # another step has that id already
                name += "'"
            step = msgspec.structs.replace(step, id=name)
        numbered.append(step)
    return tuple(numbered)
