"""The base classes of checks: settings, a `judge` method, and examples of both outcomes.

A check holds settings, never results. Its first field is the value that a spec gives it
(`max_tool_calls: 5`); further fields are filled from keys with the same names in its block or in
the case (`sequence_metric`, `reference_tools`). `needs` names the evidence without which it cannot
judge: the engine tests that, so that no check has to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar

from msgspec import Meta, Struct
from msgspec.structs import replace

from trialrun.errors import crash
from trialrun.measures.pattern_shapes import finds_in_every_text
from trialrun.measures.patterns import quietly_compiled
from trialrun.model.check_data import LONGEST_MESSAGE, bounded_data
from trialrun.model.evidence import needs_of
from trialrun.model.results import LAYERS, CheckResult, CheckStatus, Severity
from trialrun.model.trace import ANSWER as ANSWER
from trialrun.model.trace import Step, Trace

if TYPE_CHECKING:
    from trialrun.model.case import Rubric
    from trialrun.model.judging import Inquiry
from trialrun.util.texts import counted as counted
from trialrun.util.texts import short_repr

JUDGED_CASE: ContextVar[Any] = ContextVar("judged_case")
"""The case that is evaluated, for a check that is a function and takes the case."""

Share = Annotated[float, Meta(gt=0, le=1)]
"""A minimum from 0 to 1. A minimum of 0 is refused: every run reaches it."""
Whole = Annotated[int, Meta(ge=0)]
Dollars = Annotated[float, Meta(ge=0)]
Text = Annotated[str, Meta(min_length=1)]
Texts = Annotated[list[Text], Meta(min_length=1)]

_PASS = CheckStatus.PASS
_FAIL = CheckStatus.FAIL
_UNKNOWN = CheckStatus.UNKNOWN
_SKIPPED = CheckStatus.SKIPPED


class Example(Struct, frozen=True, kw_only=True):
    """One trace and one setting, with the result that the check must give."""

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


Description = tuple[str, Mapping[str, Any]]
"""A message, and what it says as plain values: `("2 calls, limit 5", {"found": 2, "limit": 5})`."""


class Check(Struct, dict=True, kw_only=True):
    """The base of every check; `@check` fills in key, layer, needs, severity and order."""

    key: ClassVar[str]
    layer: ClassVar[str]
    needs: ClassVar[frozenset[str]]
    default_severity: ClassVar[Severity]
    keeps_severity: ClassVar[bool] = False  # `severity:` of a suite or a case does not change it
    order: ClassVar[int]  # the position among the checks of its layer: cheap ones come first
    reads_wording: ClassVar[bool] = False  # `refutes_premise` replaces it
    judged: ClassVar[bool] = False
    against_baseline: ClassVar[bool] = False  # without a baseline it is skipped
    is_flag: ClassVar[bool] = False  # `true` switches it on, `false` off
    any_layer: ClassVar[bool] = False  # it belongs to the layer in whose block it is named
    combines: ClassVar[bool] = False  # its value are blocks of further checks
    combinable: ClassVar[bool] = True
    shareable: ClassVar[bool] = False
    """Whether messages and data hold only names (of tools, agents, models), ids of steps, figures
    and words of the check itself: `--share` leaves out those of all other checks."""
    takes_case: ClassVar[bool] = False  # it reads `JUDGED_CASE`
    formula: ClassVar[str] = ""
    recommended: ClassVar[str] = ""
    when_passed: ClassVar[str] = "holds"
    when_failed: ClassVar[str] = "does not hold"
    says_when_passed: ClassVar[bool] = False  # every pass has the message `when_passed`
    examples: ClassVar[tuple[Any, ...]] = ()
    stricter: ClassVar[Mapping[str, str]] = {"limit": "lower", "minimum": "higher"}
    """In which direction a setting makes the check stricter, for comparisons of runs: `lower`,
    `higher`, `more` (items of a list) or `fewer`. Any other change replaces the check."""
    about_settings: ClassVar[Mapping[str, str]] = {}  # texts on further fields, for `explain`
    spec_keys: ClassVar[Mapping[str, str]] = {}  # a field's key in a spec, where it is not its name

    built_in: ClassVar[bool] = False  # its results are made by the methods of `Check`

    name: str = ""
    severity: Severity | None = None

    def __post_init__(self) -> None:
        if not self.name:
            self.name = self.key
        if self.severity is None:
            self.severity = self.default_severity
        # Results are frozen, and passing is the common case: one object serves every trace.
        self.__dict__["pass_result"] = self.passed(self.when_passed)
        self.__dict__["fail_result"] = self.failed(self.when_failed)
        self.validate()

    def validate(self) -> None:
        """Raise ValueError if the settings cannot work: the reader of the spec adds the place."""

    def locate(self, folder: str | None) -> None:
        """Read files from the spec's folder. ValueError if one cannot be read."""

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        """The result of this check for the trace."""
        raise NotImplementedError

    if TYPE_CHECKING:

        @property
        def pass_result(self) -> CheckResult:
            """The result of a pass with the message `when_passed`."""

        @property
        def fail_result(self) -> CheckResult:
            """The result of a failure that `explain` describes when it is read."""

    def describe(self, trace: Trace, baseline: Trace | None) -> Description | None:
        """What was found in a trace that passed: a message, and the same in plain values.

        Called only for reports and stores, so that `judge` need not pay for it. None: the message
        `when_passed` says all.
        """
        return None

    def message(self, trace: Trace, baseline: Trace | None) -> str:
        """The message of `describe` without its data, for reports of many results.

        Overridden where the data takes longer to make than the message.
        """
        found = self.describe(trace, baseline)
        return self.when_passed if found is None else found[0]

    def explain(self, trace: Trace, baseline: Trace | None) -> Description | None:
        """What was found in a trace for which `judge` returned `fail_result`."""
        return self.describe(trace, baseline)

    def passed(self, message: str, data: Mapping[str, Any] | None = None) -> CheckResult:
        """A pass; the message says what was found."""
        return self._result(_PASS, message, data)

    def failed(self, message: str, data: Mapping[str, Any] | None = None) -> CheckResult:
        """A failure; the message says what was found and what was wanted."""
        return self._result(_FAIL, message, data)

    def unknown(self, message: str, data: Mapping[str, Any] | None = None) -> CheckResult:
        """No result for lack of evidence; the message says what is missing."""
        return self._result(_UNKNOWN, message, data)

    def _result(
        self, status: CheckStatus, message: str, data: Mapping[str, Any] | None
    ) -> CheckResult:
        plain = bounded_data(data) if data else {}
        assert self.severity is not None
        return CheckResult(self.name, status, self.severity, self.shortened(message), data=plain)

    @staticmethod
    def shortened(message: str) -> str:
        """The message, cut where it is very long."""
        return message if len(message) <= LONGEST_MESSAGE else message[:LONGEST_MESSAGE] + "…"

    def redacted(self, parts_of: str) -> CheckResult:
        """Unknown, because text that was masked before the run was stored could decide."""
        return self.unknown(f"parts of {parts_of} were redacted, and what they said could decide")

    def skipped(self, message: str) -> CheckResult:
        """The check does not apply; the message says why."""
        return CheckResult(self.name, _SKIPPED, self.severity, message)  # type: ignore[arg-type]


class JudgedCheck(Check):
    """A check that a judge decides: the check makes the requests, the engine calls the judge."""

    judged: ClassVar[bool] = True
    audited: ClassVar[bool] = True  # an audit measures the judge on these rubrics

    def __post_init__(self) -> None:
        super().__post_init__()
        self.__dict__["contexts"] = {}

    if TYPE_CHECKING:

        @property
        def contexts(self) -> dict[str, str]:
            """The texts of the files that the rubrics name, by file name."""

    def rubrics_asked(self) -> Sequence[Rubric]:
        """The rubrics to score; the models that they name are validated before the run."""
        raise NotImplementedError

    def inquiry(self, run: Trace, turn: int | None) -> Inquiry | CheckResult:
        """The requests about the run, or about one turn of it; a result if none can be made."""
        raise NotImplementedError


CRASHED = "the check itself failed: "
"""How the message of a check that crashed begins; the text of the exception follows."""


def run_check(check: Check, trace: Trace, baseline: Trace | None) -> CheckResult:
    """The result of the check. A crash is reported as unknown, and the run continues."""
    try:
        return check.judge(trace, baseline)
    except BaseException as error:
        return check.unknown(f"{CRASHED}{crash(error)}")


def validated(check: Check, result: Any) -> CheckResult:
    """The result if every field is valid: a status of an unknown kind must not pass."""
    if type(result) is not CheckResult:
        if hasattr(result, "close"):
            result.close()  # an `async def judge`: its coroutine is never awaited
        return check.unknown(f"the check returned {short_repr(result)}, not a CheckResult")
    if check.built_in:
        return result
    texts = isinstance(result.message, str) and isinstance(result.name, str)
    if texts and type(result.status) is CheckStatus and type(result.severity) is Severity:
        # A plug-in may have made its result without the methods of `Check`.
        data = result.data
        return replace(result, data=bounded_data(data) if isinstance(data, dict) else {})
    try:
        status, severity = CheckStatus(result.status), Severity(result.severity)
    except ValueError:
        return check.unknown(f"the check returned an invalid result: {short_repr(result)}")
    message = result.message if isinstance(result.message, str) else ""
    return CheckResult(check.name, status, severity, message)


Kind = TypeVar("Kind", bound=Callable[..., Any])  # a class, or a function


def check(
    *,
    layer: str,
    needs: Iterable[str] = (),
    severity: Severity | None = None,
    name: str | None = None,
    order: int = 1000,
) -> Callable[[Kind], Kind]:
    """Make a subclass of `Check`, or a function, a check of this layer.

    The default name of a built-in check is that of its file; of any other check, that of its class
    in snake case (`MaxRetries` becomes `max_retries`). A function stays a function; what it needs
    follows from its parameters unless `needs` is given.
    """

    def decorate(kind: Any) -> Any:
        if isinstance(kind, type):
            _fill(kind, layer, needs, severity, name, order)
        else:
            given = {"layer": layer, "severity": severity, "name": name, "order": order}
            kind.__trialrun_check__ = {**given, "needs": set(needs)}
        return kind

    return decorate


def _fill(
    kind: Any,
    layer: str,
    needs: Iterable[str],
    severity: Severity | None,
    name: str | None,
    order: int,
) -> None:
    ours = kind.__module__.startswith("trialrun.checks.")
    kind.built_in = ours and not kind.__module__.startswith("trialrun.checks._")
    kind.key = name or (kind.__module__.rpartition(".")[2] if ours else snake(kind.__name__))
    kind.layer = layer
    kind.needs = needs_of(kind.key, set(needs))
    kind.default_severity = severity or LAYERS[layer].severity
    kind.keeps_severity = severity is not None
    kind.order = order
    kind.examples = tuple(made(kind.key) for made in kind.examples)


def snake(name: str) -> str:
    """`MaxRetries` as `max_retries`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def own_fields(kind: type[Check]) -> list[str]:
    """The fields that the check defines: its value first, then further settings."""
    return [field for field in kind.__struct_fields__ if field not in Check.__struct_fields__]


def setting_keys(kind: type[Check]) -> dict[str, str]:
    """The further settings of the check: key in a spec → name of the field."""
    return {kind.spec_keys.get(field, field): field for field in own_fields(kind)[1:]}


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
    """An example whose key is filled in by `@check`.

    `tools` makes a call for each name; `beside` are further keys in the block of the check.
    """
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
    """An example that must fail, with a message that contains `because`."""
    return example(_FAIL, value, **pieces)


def is_unknown(value: Any, **pieces: Any) -> Callable[[str], Example]:
    """An example that must be unknown."""
    return example(_UNKNOWN, value, **pieces)


def quoted(texts: Iterable[str]) -> str:
    """A short list of quoted texts for a message."""
    return ", ".join(f'"{text}"' for text in texts)


def require_deciding_pattern(pattern: str) -> None:
    """Raise ValueError unless the pattern compiles and can fail to be found."""
    require_pattern(pattern)
    if finds_in_every_text(pattern):
        raise ValueError(f'"{pattern}" finds something in every text: it could only pass')


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
