"""The facts of one run of an agent: its input, its steps, its answer.

Conclusions are in `results.py`. A trace's steps are frozen and change only through `add_step` or by
assignment, so values derived from them are computed once per change and never out of date.
`recorded` has its kinds of evidence (`evidence.py`); a check that needs another is *unknown*.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from trialrun.model import durations, evidence
from trialrun.model.evidence import (
    ANSWER,
    COSTS,
    EVIDENCE,
    HANDOFFS,
    LLM_CALLS,
    NOT_GIVEN,
    REASONING,
    RETRIEVALS,
    TIMINGS,
    TOKENS,
    TOOL_ARGS,
    TOOL_CALLS,
    TOOL_RESULTS,
    Derived,
)
from trialrun.model.notebooks import Shown
from trialrun.model.reading import READER, get_ident
from trialrun.model.step_lists import numbered, required_steps, usable
from trialrun.model.steps import UNUSABLE, Message, Step, StepStatus, StepType
from trialrun.model.trace_status import TraceStatus
from trialrun.model.usage import TokenUsage
from trialrun.model.values import (
    LARGEST_AMOUNT,
    LARGEST_COUNT,
    Amount,
    as_amount,
    as_answer,
    as_enum,
    as_moment,
    as_text,
    refuse,
)
from trialrun.util.plain import as_plain, compact

__all__ = [
    "ANSWER",
    "COSTS",
    "EVIDENCE",
    "FORMAT_VERSION",
    "HANDOFFS",
    "LARGEST_AMOUNT",
    "LARGEST_COUNT",
    "LLM_CALLS",
    "REASONING",
    "RETRIEVALS",
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

FORMAT_VERSION = 2
"""Format 1 had fewer kinds of evidence, and no difference between no steps and steps not given."""

ANSWERED = "answered"
"""Key in the metadata of a `human_input` step: the answer of the turn before, where the agent was
called turn by turn; the key `duration_ms` there: how long that turn took."""

RECORDED = "recorded_in_turn"
"""Key in the metadata of a `human_input` step: the kinds of evidence recorded in the turn before;
in the metadata of the trace: those of its last turn. Turns may differ."""

SETUP_FAILED = "unprepared"
"""Key in the metadata of a trace: the setup failed, so the agent never ran."""

_ENCODER = msgspec.json.Encoder(order="deterministic", enc_hook=as_plain, decimal_format="number")


# Looking a member up on an Enum class costs ten times a global in Python 3.11.
_LLM_CALL = StepType.LLM_CALL
_GUARDRAIL = StepType.GUARDRAIL
_FAILED = StepStatus.FAILURE
_put = Struct.__setattr__


class Trace(Struct, Shown, omit_defaults=True, forbid_unknown_fields=True, dict=True, kw_only=True):
    """One run of an agent. `output` is its answer, any JSON value; None if there was none."""

    format_version: int = 0  # set on construction, so that it is always written
    id: str | None = None
    name: str | None = None
    input: str
    output: Any = None
    status: TraceStatus = TraceStatus.SUCCESS
    error: str | None = None
    steps: Sequence[Step] = NOT_GIVEN
    started_at: datetime | None = None
    completed_at: datetime | None = None
    duration_ms: Amount | None = None
    framework: str | None = None
    agent_name: str | None = None
    recorded: frozenset[str] = Derived()
    metadata: dict[str, Any] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        if READER.thread == get_ident():
            return  # `settle_decoded` follows
        version = self.format_version
        if type(version) is not int or not 0 <= version <= FORMAT_VERSION:
            wanted = f"{FORMAT_VERSION}, the newest that this trialrun reads"
            refuse("Trace", "format_version", wanted, version)
        _put(self, "format_version", FORMAT_VERSION)
        for field in _CHECKED:
            value = getattr(self, field)
            if value is not None or field not in _OPTIONAL:
                _put(self, field, self._checked(field, value))
        self.__dict__["answer_text"] = _as_text(self.output)
        # The monotonic clock, for `complete`: the wall clock could be set back.
        self.__dict__["_clock"] = time.perf_counter()
        self._recount(version)

    def settle_decoded(self) -> bool:
        """Finish a trace whose fields the decoder has checked; False if they need more care.

        Then the trace is not usable. What a constructor refuses or converts is left to it.
        """
        version = self.format_version
        if not 0 <= version <= FORMAT_VERSION or not durations.in_order(self):
            return False
        if not usable(self.steps):
            return False
        if type(self.recorded) is not Derived and not self.recorded <= EVIDENCE:
            return False
        _put(self, "format_version", FORMAT_VERSION)
        self.__dict__["answer_text"] = _as_text(self.output)
        self.__dict__["_clock"] = time.perf_counter()
        self._recount(version, was_written=version > 0)
        return True

    def __setattr__(self, name: str, value: Any) -> None:
        value = self._checked(name, value)
        _put(self, name, value)
        if name == "steps":
            self._recount()
        elif name in _TELLING:
            if name == "output":
                self.__dict__["answer_text"] = _as_text(value)
            self._settle()

    @staticmethod
    def _checked(name: str, value: Any) -> Any:
        """The value converted to the field's type; impossible values are refused."""
        if name == "recorded":
            return _as_evidence(value)
        if name == "steps":
            return required_steps(value)
        if name == "status":
            return as_enum("Trace", name, value, TraceStatus)
        if name in ("started_at", "completed_at"):
            return as_moment("Trace", name, value)
        if name == "duration_ms":
            return as_amount("Trace", name, value)
        if name == "input" and value is None:
            refuse("Trace", name, "text", value)
        if name in _TEXTS:
            return as_text("Trace", name, value)
        if name == "output" and value is not None and type(value) is not str:
            return as_answer("Trace", name, value)
        if name == "metadata" and type(value) is not dict:
            refuse("Trace", name, "a dict", value)
        return value

    def __copy__(self) -> Trace:
        return msgspec.structs.replace(self)

    def add_step(self, step: Step) -> None:
        """Append a step."""
        taken = self.__dict__.get("_ids")
        if taken is None:
            taken = self.__dict__["_ids"] = {one.id for one in self.steps}
        added = numbered((step,), len(self.steps) + 1, taken, self._numbers)
        taken.update(one.id for one in added)
        _put(self, "steps", (*self.steps, *added))
        self._count(added)

    def _recount(self, version: int = FORMAT_VERSION, was_written: bool = False) -> None:
        """Compute all values derived from the steps again."""
        kept = self.__dict__
        numbers: dict[str, str] = {}
        kept["_numbers"] = numbers
        steps = numbered(self.steps, 1, (), numbers)
        _put(self, "steps", steps)
        kept["tool_calls"], kept["llm_calls"], kept["tool_call_sequence"] = [], [], []
        kept["failed_calls"] = []
        kept["tools_used"] = frozenset()
        kept.pop("_ids", None)
        kept["summed_tokens"], kept["_costs"] = 0, []
        self._count(steps, version, was_written)

    def _settle(self, version: int = FORMAT_VERSION, was_written: bool = False) -> None:
        """Decide what is recorded, and the totals that depend on it."""
        recorded = evidence.settled(self.recorded, self, version, was_written)
        _put(self, "recorded", recorded)
        kept = self.__dict__
        costs = kept["_costs"]
        kept["total_tokens"] = kept["summed_tokens"] if TOKENS in recorded else None
        known = costs is not None and COSTS in recorded
        kept["_recorded_cost"] = math.fsum(costs) if known else None
        kept["_priced"] = None

    def _count(
        self, steps: Sequence[Step], version: int = FORMAT_VERSION, was_written: bool = False
    ) -> None:
        """Add further steps to the derived values: each step is visited only once."""
        kept = self.__dict__
        calls, names, models = self.tool_calls, self.tool_call_sequence, self.llm_calls
        tokens, costs, known = self.summed_tokens, self._costs, len(names)
        for step in steps:
            name, kind, cost = step.tool_name, step.type, step.cost_usd
            if name and kind is not _GUARDRAIL:  # a retrieval by a tool is a call of it
                calls.append(step)
                names.append(name)
                if step.error or step.status is _FAILED:
                    self.failed_calls.append(step)
            if kind is _LLM_CALL:
                models.append(step)
                usage = step.tokens
                tokens = None if tokens is None or usage is None else tokens + usage.total_tokens
            # `pricing` finds out whether a cost of 0 is meant, and whether a cost was unusable.
            if not cost and (kind is _LLM_CALL or (cost is None and UNUSABLE in step.metadata)):
                costs = None
            elif cost is not None and costs is not None:
                costs.append(cost)
        kept["summed_tokens"], kept["_costs"] = tokens, costs
        new_tools = set(names[known:])
        if not new_tools <= self.tools_used:
            kept["tools_used"] = self.tools_used | new_tools
        self._settle(version, was_written)

    if TYPE_CHECKING:
        # Set by `_count` in `__dict__`: plain attributes, as fast to read as a field.

        @property
        def tool_calls(self) -> list[Step]:
            """The steps that called a tool, failed calls and retrievals by a tool included."""

        @property
        def failed_calls(self) -> list[Step]:
            """Those of them that failed."""

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
        def summed_tokens(self) -> int | None:
            """Tokens of all model calls in the trace; None as soon as one call has no count.

            The sum of only the known counts would be too low, and stay within a budget.
            """

        @property
        def total_tokens(self) -> int | None:
            """The same; None if tokens were not recorded, or only zeros beside a model's output."""

        @property
        def answer_text(self) -> str | None:
            """The answer as text: compact JSON if it is another value; None if there was none."""

        @property
        def _numbers(self) -> dict[str, str]: ...

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

    def measured_ms(self) -> float | None:
        """The trace's own duration, else last end − first start, else the sum of the steps'."""
        return self.duration_ms if self.duration_ms is not None else durations.measured_ms(self)

    @property
    def total_duration_ms(self) -> float | None:
        """The same; None if `recorded` leaves times out, or if a duration was not usable."""
        if TIMINGS in self.recorded:
            return self.measured_ms() if self.duration_ms is None else self.duration_ms
        if (
            type(self.recorded) is not Derived
            or UNUSABLE in self.metadata
            or any(UNUSABLE in step.metadata for step in self.steps)
        ):
            return None
        return self.measured_ms()

    @property
    def total_cost_usd(self) -> float | None:
        """Dollars of the run: recorded costs first, otherwise computed from tokens.

        None as soon as one call has neither (an unknown price is not $0), or if none was recorded.
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

    def complete(self, output: Any, status: TraceStatus = TraceStatus.SUCCESS) -> None:
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
        from trialrun.model import turns

        return turns.of(self)

    def to_json(self) -> bytes:
        """One line of JSON, without a line break."""
        try:
            if self.output is None or type(self.output) is str:
                return _ENCODER.encode(self)
            return msgspec.json.encode(self.to_dict())
        except UnicodeEncodeError:  # a lone surrogate, which UTF-8 cannot encode
            from trialrun.model import trace_format

            return msgspec.json.encode(trace_format.without_surrogates(self.to_dict(), []))

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        plain = msgspec.to_builtins(self, order="deterministic", enc_hook=as_plain, str_keys=True)
        assert isinstance(plain, dict)
        if type(self.output) in (dict, list):
            plain["output"] = self.output  # its keys in the given order, as in `answer_text`
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


_TEXTS = ("input", "id", "name", "error", "framework", "agent_name")
_OPTIONAL = (*_TEXTS[1:], "output", "started_at", "completed_at", "duration_ms")
_CHECKED = ("input", *_OPTIONAL, "status", "metadata", "recorded", "steps")
_TELLING = frozenset({"recorded", "output", "started_at", "completed_at", "duration_ms"})


def _as_text(answer: Any) -> str | None:
    return answer if answer is None or type(answer) is str else compact(answer)


def _as_evidence(kinds: object) -> frozenset[str]:
    if isinstance(kinds, Derived):
        return kinds
    if isinstance(kinds, str) or not isinstance(kinds, (set, frozenset, list, tuple)):
        refuse("Trace", "recorded", "a set of kinds of evidence", kinds)
    found: frozenset[str] = frozenset(kinds)  # type: ignore[call-overload]
    if not found <= EVIDENCE:
        refuse("Trace", "recorded", "kinds among " + ", ".join(sorted(EVIDENCE)), found)
    return found
