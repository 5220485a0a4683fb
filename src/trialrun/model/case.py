"""The classes of a spec's content: a case, its blocks, and the suite that it belongs to.

`spec/case.py` builds them from plain values and reports every mistake with its place.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, overload

import msgspec
from msgspec import Meta, Struct

from trialrun.model.evidence import needs_of
from trialrun.model.results import LAYERS, CheckResult, Severity

if TYPE_CHECKING:
    from trialrun.checks.base import Check
    from trialrun.metrics.base import BaseMetric
    from trialrun.model.results import MetricResult
    from trialrun.model.trace import Trace
    from trialrun.pricing import PriceBook

MODULE_AND_NAME = r"^[^:\s]+:[^:\s]+$"  # my_package.agents:run
WEB_ADDRESS = r"^https?://"  # http://localhost:8000/ask
MODEL_NAME = r"^[^:\s](.*[^:\s])?$"  # anthropic:claude-sonnet, not "anthropic:"

ModelName = Annotated[str, Meta(min_length=1, pattern=MODEL_NAME)]


class Rubric(Struct, frozen=True, omit_defaults=True):
    """A rule by which a judge grades an answer, and the score that the answer must reach."""

    rule: Annotated[str, Meta(min_length=1)]
    threshold: Annotated[float, Meta(ge=0, le=1)] = 0.5
    scale: Annotated[list[str], Meta(min_length=1)] | None = None
    few_shot_examples: Annotated[list[Any], Meta(min_length=1)] | None = None
    context_file: Annotated[str, Meta(min_length=1)] | None = None
    model: ModelName | None = None


class JudgeSettings(Struct, frozen=True, omit_defaults=True):
    """The `judge:` block of a spec. API keys are not part of it: the environment has them."""

    model: ModelName | None = None
    models: Annotated[list[ModelName], Meta(min_length=1)] | None = None
    base_url: str | None = None
    output: Literal["tool", "json"] = "tool"  # the form of a verdict: a tool call, or JSON
    temperature: Annotated[float, Meta(ge=0, le=2)] = 0
    samples: Annotated[int, Meta(ge=1)] = 1
    timeout: Annotated[float, Meta(gt=0)] = 60
    max_concurrency: Annotated[int, Meta(ge=1)] = 16
    calls_per_minute: Annotated[float, Meta(gt=0)] | None = None
    retries: Annotated[int, Meta(ge=0, le=10)] = 2
    require_audit: bool = False


class AgentSpec(Struct, frozen=True, kw_only=True):
    """How an agent is called: the kind of agent, and its settings."""

    name: str | None = None
    kind: str
    settings: Struct  # of the class that the kind defines: see `trialrun.agents`
    timeout: float | None = None
    function: Callable[..., Any] | None = None  # an agent given as an object, not by its name


class Action(Struct, frozen=True, omit_defaults=True):
    """Something to run before or after an agent: a command, or a function (`module:function`)."""

    command: Sequence[str] | None = None
    function: str | None = None
    name: str = ""  # for display: as given, or made from the command

    def __post_init__(self) -> None:
        if bool(self.command) == bool(self.function):
            raise ValueError("an action is a command or a function: give one of them")
        if not self.name:
            from shlex import join

            name = self.function or join(self.command or ())
            msgspec.structs.force_setattr(self, "name", name)


Globs = (
    Annotated[str, Meta(min_length=1)]
    | Annotated[list[Annotated[str, Meta(min_length=1)]], Meta(min_length=1)]
)


class Selector(Struct, frozen=True, omit_defaults=True):
    """Which traces a case with `match` is for: all that fit each key that is given, as globs."""

    agent: Globs | None = None
    service: Globs | None = None
    model: Globs | None = None

    def fits(self, agent: str | None, service: str | None, models: Iterable[str]) -> bool:
        """Whether a trace of this agent and service, in which these models were called, fits."""
        found = ((self.agent, (agent,)), (self.service, (service,)), (self.model, models))
        return all(wanted is None or _fits(wanted, names) for wanted, names in found)


def _fits(wanted: str | list[str], names: Iterable[str | None]) -> bool:
    globs = [wanted] if isinstance(wanted, str) else wanted
    return any(is_named(name, glob) for name in names if name is not None for glob in globs)


HELD, BROKEN, UNKNOWN = "held", "broken", "unknown"
"""The outcomes of a condition on the state that an agent left behind."""


class LayerPlan(Struct, frozen=True, dict=True):
    """The checks of one layer that need no judge, and their results if every one passes."""

    name: str
    checks: Sequence[Check]
    passes: list[CheckResult]

    @classmethod
    def of(cls, name: str, checks: Sequence[Check]) -> LayerPlan:
        """The plan for these checks."""
        return cls(name, checks, [check.pass_result for check in checks])

    def __post_init__(self) -> None:
        # Looked up once: for checks of many classes, that takes as long as many a check.
        self.__dict__["judges"] = [check.judge for check in self.checks]
        self.__dict__["messages"] = [
            None if check.says_when_passed else check.message for check in self.checks
        ]

    if TYPE_CHECKING:

        @property
        def judges(self) -> Sequence[Callable[[Trace, Trace | None], CheckResult]]:
            """The methods that judge."""

        @property
        def messages(self) -> Sequence[Callable[[Trace, Trace | None], str] | None]:
            """The methods that make the messages of passes; None: that of the result."""


class Plan(Struct, frozen=True):
    """The checks of a case, built and validated.

    `free` are the checks that need no judge, `judges` those that do. `settled` holds results that
    do not depend on a trace: a text check that `refutes_premise` replaces, a verification that
    cannot be judged here. `with_reference` is `free` plus the match mode check that is implied
    wherever there is a reference. `needs` is all evidence that some check needs, `takes_case` is
    whether one of them reads the case.
    """

    free: Sequence[LayerPlan] = ()
    with_reference: Sequence[LayerPlan] = ()
    judges: Sequence[Check] = ()
    settled: Sequence[tuple[str, CheckResult]] = ()
    has_reference: bool = False
    needs: frozenset[str] = frozenset()
    takes_case: bool = False

    def size(self) -> int:
        """The number of checks in the spec of the case."""
        free = sum(len(layer.checks) for layer in self.free)
        return free + len(self.judges) + len(self.settled)

    def can_fail(self, has_baseline: bool) -> bool:
        """Whether any check here can fail a case."""
        implied = self.with_reference != self.free and (has_baseline or self.has_reference)
        return self.size() > 0 or implied


class MetricPlan(Struct, frozen=True):
    """A metric to compute and, if it has a gate, the bounds of its value."""

    metric: BaseMetric
    minimum: float | None = None
    maximum: float | None = None
    severity: Severity | None = None
    gated: bool = False
    uses_reference: bool = False
    is_simple: bool = False  # built in, without a gate: its result is used as it is
    needs: frozenset[str] = frozenset()
    says_needs: bool = False  # False: a custom metric that does not say what it needs
    lacks: Callable[[Trace, MetricResult], str | None] | None = None

    @classmethod
    def of(
        cls,
        metric: BaseMetric,
        minimum: float | None = None,
        maximum: float | None = None,
        severity: Severity | None = None,
    ) -> MetricPlan:
        """The plan for this metric. A metric with a bound is gated: it can fail a case.

        UsageError if the metric needs evidence of a kind that does not exist.
        """
        gated = minimum is not None or maximum is not None
        uses_reference = bool(getattr(metric, "uses_reference", False))
        ours = type(metric).__module__.startswith("trialrun.metrics.")
        is_simple = ours and not gated and not uses_reference
        needs = getattr(metric, "needs", None)
        return cls(
            metric,
            minimum,
            maximum,
            severity,
            gated,
            uses_reference,
            is_simple,
            needs_of(type(metric).__name__, needs or ()),
            needs is not None,
            getattr(metric, "lacks", None),
        )


class EvalCase(Struct, kw_only=True, dict=True):
    """One task for an agent, and everything that its run is checked against."""

    query: str = ""
    name: str = ""
    description: str | None = None
    tags: Sequence[str] = ()
    correctness: dict[str, Any] | None = None
    path: dict[str, Any] | None = None
    cost: dict[str, Any] | None = None
    retrieval: dict[str, Any] | None = None
    verification: dict[str, Any] | None = None
    regression: dict[str, Any] | None = None
    expected: dict[str, Any] | None = None
    trace: str | None = None
    match: Selector | None = None  # if set, the case is for every trace that fits
    baseline: str | None = None
    reference_tools: Sequence[str] | None = None
    severity: dict[str, str] | None = None  # of a layer's checks, by its name
    turns: Sequence[EvalCase] = ()
    setup: Action | None = None
    teardown: Action | None = None
    state: Sequence[Action] = ()
    timeout: float | None = None
    metrics: Sequence[MetricPlan] | None = None
    prices: PriceBook | None = None
    requires_baseline: bool = False  # an option of the run: without one, checks are unknown
    plan: Plan | None = None

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in _PLANNED:  # the old checks are out of date: `spec.case.build` makes new ones
            super().__setattr__("plan", None)
        if name == "state" and "state" in (self.correctness or {}):
            kept = {key: item for key, item in (self.correctness or {}).items() if key != "state"}
            super().__setattr__("correctness", kept)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> EvalCase:
        """Build a case from the keys of a query in a spec. SpecError names every mistake."""
        from trialrun.spec.case import case_from_plain

        return case_from_plain(data)

    @property
    def input(self) -> str:
        """The first query to the agent."""
        return self.turns[0].query if self.turns else self.query

    @property
    def expected_tools(self) -> Sequence[str] | None:
        """The tools that the case expects, or None."""
        found: Sequence[str] | None = self.setting("path", "expected_tools")
        return found if found is not None else self.setting("expected", "tools_called")

    @property
    def max_steps(self) -> int | None:
        """The most steps that the case allows, or None."""
        found: int | None = self.setting("path", "max_steps")
        return found if found is not None else self.setting("expected", "max_steps")

    def with_options(self, prices: PriceBook | None, require_baseline: bool) -> EvalCase:
        """The case with these options of a run; the same object if none is given."""
        if prices is None and not require_baseline:
            return self
        given = self.prices if prices is None else prices
        return msgspec.structs.replace(self, prices=given, requires_baseline=require_baseline)

    def number_of_checks(self) -> int:
        """How many checks the case asks for, those of its turns included."""
        from trialrun.spec.case import plan_of

        return sum(plan_of(part).size() for part in (self, *self.turns))

    def setting(self, block: str, key: str) -> Any:
        """The value that the case gives to a check, without its severity; None if none."""
        value = (getattr(self, block) or {}).get(key)
        if isinstance(value, dict) and "value" in value and set(value) <= {"value", "severity"}:
            return value["value"]
        return value


_PLANNED = frozenset({*LAYERS, "expected", "reference_tools", "severity", "turns", "state"})


class LazyCases(Sequence[EvalCase]):
    """Cases that are built on each access, so that thousands need not be in memory at once."""

    def build(self, index: int) -> EvalCase:
        """The case at this index, which is in range; equal each time."""
        raise NotImplementedError

    def label(self, index: int) -> tuple[str, Sequence[str]]:
        """The name and the tags of the case at this index, without building it."""
        raise NotImplementedError

    def labels(self) -> Iterator[tuple[str, Sequence[str]]]:
        """The name and the tags of each case."""
        return map(self.label, range(len(self)))

    def takes_turns(self) -> bool:
        """Whether any case is a conversation, without building any."""
        raise NotImplementedError

    @overload
    def __getitem__(self, index: int) -> EvalCase: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[EvalCase]: ...

    def __getitem__(self, index: int | slice) -> EvalCase | Sequence[EvalCase]:
        numbers = range(len(self))
        if isinstance(index, slice):
            return ChosenCases(self, numbers[index])
        return self.build(numbers[index])


class ChosenCases(LazyCases):
    """Some of the cases of a lazy sequence, by their indexes."""

    def __init__(self, cases: LazyCases, indexes: Iterable[int]) -> None:
        self._cases = cases
        self._indexes = array("L", indexes)

    def __len__(self) -> int:
        return len(self._indexes)

    def build(self, index: int) -> EvalCase:
        return self._cases.build(self._indexes[index])

    def label(self, index: int) -> tuple[str, Sequence[str]]:
        return self._cases.label(self._indexes[index])

    def takes_turns(self) -> bool:
        return self._cases.takes_turns()


class Suite(Struct, kw_only=True):
    """The cases of one spec file, and what they share."""

    name: str
    cases: Sequence[EvalCase]
    file: str | None = None
    description: str | None = None
    agent: str | None = None
    agents: Sequence[AgentSpec] = ()
    timeout: float | None = None
    redact: Sequence[str] = ()
    match: Literal["name", "all"] | None = None  # `name`: the input of a trace may differ
    judge: JudgeSettings | Callable[..., Any] | str | None = None  # a function only in code
    metrics: Sequence[MetricPlan] | None = None
    defaults: dict[str, Any] = msgspec.field(default_factory=dict)

    @property
    def takes_turns(self) -> bool:
        """Whether any case is a conversation."""
        if isinstance(self.cases, LazyCases):
            return self.cases.takes_turns()
        return any(case.turns for case in self.cases)

    def selected(self, tags: Sequence[str] = (), names: Sequence[str] = ()) -> Sequence[EvalCase]:
        """The cases that have one of the tags and one of the names (globs are allowed)."""
        if not isinstance(self.cases, LazyCases):
            return [self.cases[index] for index in self.selected_indexes(tags, names)]
        if not tags and not names:
            return self.cases
        return ChosenCases(self.cases, self.selected_indexes(tags, names))

    def selected_indexes(
        self, tags: Sequence[str] = (), names: Sequence[str] = ()
    ) -> Iterator[int]:
        """Where in the suite the selected cases are; cases of a table are not built for it."""
        cases = self.cases
        labels = (
            cases.labels()
            if isinstance(cases, LazyCases)
            else ((case.name, case.tags) for case in cases)
        )
        return (
            index
            for index, (name, case_tags) in enumerate(labels)
            if _is_selected(name, case_tags, tags, names)
        )


def _is_selected(
    name: str, case_tags: Sequence[str], tags: Sequence[str], names: Sequence[str]
) -> bool:
    return (not tags or any(tag in case_tags for tag in tags)) and (
        not names or any(is_named(name, wanted) for wanted in names)
    )


def is_named(name: str, wanted: str) -> bool:
    """Whether a case of this name is wanted: by its name, or by a glob."""
    from fnmatch import fnmatchcase

    return name == wanted or fnmatchcase(name, wanted)
