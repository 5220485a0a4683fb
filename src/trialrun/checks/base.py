"""What a check is: settings, a judgement, and examples of both outcomes.

A check holds settings, never results. Its first field is the value that a spec gives it
(`max_tool_calls: 5`); further fields are filled from keys of the same names beside it in the block
or in the case (`sequence_metric`, `reference_tools`). `needs` names the evidence without which it
cannot judge: the engine asks for it once, so no check has to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar

from msgspec import Meta, Struct

from trialrun.measures.patterns import quietly_compiled
from trialrun.model.results import LAYERS, CheckResult, CheckStatus, Severity
from trialrun.model.trace import Step, Trace

if TYPE_CHECKING:
    from trialrun.model.case import Rubric
    from trialrun.model.judging import Inquiry
from trialrun.util.texts import counted as counted

ANSWER = "answer"
"""The need of a check that reads the answer: a run that gave none is unknown to it."""

LONGEST_MESSAGE = 2000
"""A message may quote what an agent said; it stays a message."""

Ratio = Annotated[float, Meta(ge=0, le=1)]
Whole = Annotated[int, Meta(ge=0)]
Dollars = Annotated[float, Meta(ge=0)]
Text = Annotated[str, Meta(min_length=1)]
Texts = Annotated[list[Text], Meta(min_length=1)]

_PASS = CheckStatus.PASS
_FAIL = CheckStatus.FAIL
_UNKNOWN = CheckStatus.UNKNOWN
_SKIPPED = CheckStatus.SKIPPED


class Example(Struct, frozen=True, kw_only=True):
    """One trace and one setting, with what the check must say about them."""

    outcome: CheckStatus
    block: dict[str, Any]
    case: dict[str, Any]
    because: str = ""
    answer: str | None = None
    steps: Sequence[Step] = ()
    fields: dict[str, Any]
    baseline_steps: Sequence[Step] | None = None

    def trace(self) -> Trace:
        """The trace of this example."""
        return Trace(input="question", output=self.answer, steps=self.steps, **self.fields)

    def baseline(self) -> Trace | None:
        """The baseline of this example, if it has one."""
        if self.baseline_steps is None:
            return None
        return Trace(input="question", output="answer", steps=self.baseline_steps)


class Check(Struct, dict=True, kw_only=True):
    """The base of every check; `@check` fills in what the class stands for."""

    key: ClassVar[str]
    layer: ClassVar[str]
    needs: ClassVar[frozenset[str]]
    default_severity: ClassVar[Severity]
    order: ClassVar[int]  # the place among the checks of its layer: cheap ones come first
    reads_wording: ClassVar[bool] = False  # `refutes_premise` replaces it
    judged: ClassVar[bool] = False
    is_flag: ClassVar[bool] = False  # `true` asks for it, `false` does not
    formula: ClassVar[str] = ""
    recommended: ClassVar[str] = ""
    when_passed: ClassVar[str] = "holds"
    examples: ClassVar[tuple[Any, ...]] = ()
    about_settings: ClassVar[Mapping[str, str]] = {}  # what stands beside the value, for `explain`

    name: str = ""
    severity: Severity | None = None

    def __post_init__(self) -> None:
        if not self.name:
            self.name = self.key
        if self.severity is None:
            self.severity = self.default_severity
        # Results are frozen, and passing is the common case: one object serves every trace.
        self.__dict__["pass_result"] = self.passed(self.when_passed)
        self.validate()

    def validate(self) -> None:
        """Raise ValueError where the settings cannot work: the spec's reader adds the place."""

    def locate(self, folder: str | None) -> None:
        """Read what lies beside the spec, in this folder. ValueError if it cannot be had."""

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        """What this check finds in the trace."""
        raise NotImplementedError

    if TYPE_CHECKING:

        @property
        def pass_result(self) -> CheckResult:
            """It holds: the message is `when_passed`."""

    def passed(self, message: str) -> CheckResult:
        """It holds; the message says what was found."""
        return CheckResult(self.name, _PASS, self.severity, message)  # type: ignore[arg-type]

    def failed(self, message: str) -> CheckResult:
        """It does not hold; the message says what was found and what was wanted."""
        if len(message) > LONGEST_MESSAGE:
            message = message[:LONGEST_MESSAGE] + "…"
        return CheckResult(self.name, _FAIL, self.severity, message)  # type: ignore[arg-type]

    def unknown(self, message: str) -> CheckResult:
        """There is no evidence either way; the message says which."""
        return CheckResult(self.name, _UNKNOWN, self.severity, message)  # type: ignore[arg-type]

    def redacted(self, parts_of: str) -> CheckResult:
        """What was masked before the run was stored could decide: it is not known either way."""
        return self.unknown(f"parts of {parts_of} were redacted, and what they said could decide")

    def skipped(self, message: str) -> CheckResult:
        """It does not apply; the message says why."""
        return CheckResult(self.name, _SKIPPED, self.severity, message)  # type: ignore[arg-type]


class JudgedCheck(Check):
    """A check that a judge decides: the engine asks the judge, the check says what to ask."""

    judged: ClassVar[bool] = True
    audited: ClassVar[bool] = True  # an audit measures the judge on these rubrics

    def __post_init__(self) -> None:
        super().__post_init__()
        self.__dict__["contexts"] = {}

    if TYPE_CHECKING:

        @property
        def contexts(self) -> dict[str, str]:
            """The texts of the files that the rubrics name, by their names."""

    def rubrics_asked(self) -> Sequence[Rubric]:
        """What the judge is to score: the models that they name must be there."""
        raise NotImplementedError

    def inquiry(self, run: Trace, turn: int | None) -> Inquiry | CheckResult:
        """What to ask about the run, or about one turn of it; else why nothing can be asked."""
        raise NotImplementedError


Kind = TypeVar("Kind", bound=type[Check])


def check(
    *,
    layer: str,
    needs: Iterable[str] = (),
    severity: Severity | None = None,
    name: str | None = None,
    order: int = 1000,
) -> Callable[[Kind], Kind]:
    """Make a subclass of `Check` a check of that layer.

    Ours is named like its file; somebody else's like its class (`MaxRetries` is `max_retries`),
    unless told.
    """

    def decorate(kind: Kind) -> Kind:
        ours = kind.__module__.startswith("trialrun.checks.")
        kind.key = name or (kind.__module__.rpartition(".")[2] if ours else _snake(kind.__name__))
        kind.layer = layer
        kind.needs = frozenset(needs)
        kind.default_severity = severity or LAYERS[layer].severity
        kind.order = order
        kind.examples = tuple(made(kind.key) for made in kind.examples)
        return kind

    return decorate


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def own_fields(kind: type[Check]) -> list[str]:
    """The fields of the check itself: its value first, then what stands beside it."""
    return [field for field in kind.__struct_fields__ if field not in Check.__struct_fields__]


def example(
    outcome: CheckStatus,
    value: Any,
    *,
    because: str = "",
    answer: str | None = "answer",
    tools: Sequence[str] = (),
    steps: Sequence[Step] | None = None,
    baseline_tools: Sequence[str] | None = None,
    baseline_steps: Sequence[Step] | None = None,
    beside: Mapping[str, Any] | None = None,
    case: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Callable[[str], Example]:
    """An example whose key is filled in by `@check`. `tools` is short for calls of those names."""
    if baseline_tools is not None:
        baseline_steps = [Step.tool_call(tool) for tool in baseline_tools]

    def made(key: str) -> Example:
        return Example(
            outcome=outcome,
            block={key: value, **(beside or {})},
            case=dict(case or {}),
            because=because,
            answer=answer,
            steps=[Step.tool_call(tool) for tool in tools] if steps is None else steps,
            fields=fields,
            baseline_steps=baseline_steps,
        )

    return made


def passes(value: Any, **pieces: Any) -> Callable[[str], Example]:
    """An example that must pass."""
    return example(_PASS, value, **pieces)


def fails(value: Any, **pieces: Any) -> Callable[[str], Example]:
    """An example that must fail, `because` of something its message says."""
    return example(_FAIL, value, **pieces)


def is_unknown(value: Any, **pieces: Any) -> Callable[[str], Example]:
    """An example for which there is no evidence."""
    return example(_UNKNOWN, value, **pieces)


def quoted(texts: Iterable[str]) -> str:
    """A short list of quoted texts for a message."""
    return ", ".join(f'"{text}"' for text in texts)


def require_pattern(pattern: str) -> None:
    """Raise ValueError unless the pattern compiles."""
    try:
        quietly_compiled(pattern)
    except re.error as error:
        at = f" at position {error.pos}" if error.pos is not None else ""
        raise ValueError(f'"{pattern}" is not a regular expression: {error.msg}{at}') from None
    except RecursionError:
        raise ValueError("the regular expression is nested too deeply") from None
    except OverflowError as error:
        raise ValueError(f"the regular expression cannot be compiled: {error}") from None
