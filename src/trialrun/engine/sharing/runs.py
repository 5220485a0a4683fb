"""A run as it may be shared: verdicts, names and figures, without what was asked and answered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from msgspec.structs import replace

from trialrun import registry
from trialrun.checks.base import CRASHED, Check
from trialrun.engine.sharing.traces import shared_trace
from trialrun.engine.stored_run import CHANGED, NOT_RUN, STOPPED
from trialrun.errors import PluginError
from trialrun.model.attempts import Recorded, attempts_in
from trialrun.model.evidence import EVIDENCE, not_recorded
from trialrun.model.exchanges import Exchange
from trialrun.model.results import (
    NO_BASELINE,
    CheckResult,
    CheckStatus,
    EvaluationResult,
    LayerResult,
    MetricResult,
    RunResult,
    Verdict,
)
from trialrun.model.withheld import LEFT_OUT, Withheld, texts_of
from trialrun.redaction import masks_in
from trialrun.spec.case import label

Names = Mapping[tuple[str | None, str], str]
"""The names of cases that are named after their question, by suite and name."""


def shared_run(run: RunResult) -> RunResult:
    """The run as it may be shared; its results are made again at each iteration."""
    withheld, masked = Withheld(), 0
    names: dict[tuple[str | None, str], str] = {}
    position, last = 0, None
    for result in run.results:
        key = result.suite_name, result.case_name
        position += (key, result.agent) != last
        last = key, result.agent
        if (run.sessions or _is_its_question(result)) and key not in names:
            names[key] = f"{'session' if run.sessions else 'case'} {position}"
        masked += masks_in(texts_of(result))
        _result(result, names, withheld)
    kept = (text for text in run.warnings if text.startswith((STOPPED, CHANGED)))
    warnings = [_renamed(text, names) for text in kept]
    withheld.add("warning", len(run.warnings) - len(warnings))
    return replace(
        run,
        results=_SharedResults(run.results, names, run.sessions),
        warnings=warnings,
        stability=[
            replace(case, case_name=names.get((case.suite_name, case.case_name), case.case_name))
            for case in run.stability
        ],
        gates=[replace(gate, message=_renamed(gate.message, names)) for gate in run.gates],
        counted=run.tally,
        masked=masked,
        withheld=withheld,
    )


class _SharedResults(Collection[EvaluationResult]):
    """Results that may be in a store: each is made fit to be shared when it is read."""

    def __init__(self, results: Collection[EvaluationResult], names: Names, sessions: bool) -> None:
        self._results = results
        self._names = names
        self._sessions = sessions

    def __len__(self) -> int:
        return len(self._results)

    def __contains__(self, result: object) -> bool:
        return any(result == other for other in self)

    def __iter__(self) -> Iterator[EvaluationResult]:
        return map(self._shared, self._results)

    def attempts(self) -> Iterator[Recorded]:
        """Every result with its trace, for reports that show the path and the figures."""
        for result, trace, _ in attempts_in(self._results):
            shared = None if trace is None else shared_trace(trace)
            yield self._shared(result), shared, None

    def _shared(self, result: EvaluationResult) -> EvaluationResult:
        made = _result(result, self._names, Withheld())
        # The suite of a session is the name of a folder of its user.
        return replace(made, suite_name=None) if self._sessions else made


def _is_its_question(result: EvaluationResult) -> bool:
    """Whether the case has no name of its own: it is then named after its question."""
    question = result.turns[0].question if result.turns else result.question
    return bool(question) and label(question or "") == result.case_name


def _renamed(text: str, names: Names) -> str:
    for (_, name), other in names.items():
        text = text.replace(name, other)
    return text


def shared_result(result: EvaluationResult) -> EvaluationResult:
    """One attempt as it may be shared."""
    key = result.suite_name, result.case_name
    return _result(result, {key: "case"} if _is_its_question(result) else {}, Withheld())


def _result(result: EvaluationResult, names: Names, withheld: Withheld) -> EvaluationResult:
    turns = result.turns or (Exchange(result.question or "", result.answer),)
    withheld.add("question", sum(bool(turn.question) for turn in turns))
    withheld.add("answer", sum(turn.answer is not None for turn in turns))
    withheld.add("error", len(result.earlier_errors))
    return replace(
        result,
        case_name=names.get((result.suite_name, result.case_name), result.case_name),
        question=None,
        answer=None,
        turns=(),
        error=_error(result, names, withheld),
        earlier_errors=[LEFT_OUT] * len(result.earlier_errors),
        layers={
            name: LayerResult(
                layer.status, [_check(check, result.error, withheld) for check in layer.checks]
            )
            for name, layer in result.layers.items()
        },
        metrics=[_metric(metric, withheld) for metric in result.metrics],
        ledger=None,
        failed_calls=[
            replace(call, error=withheld.text("error", call.error)) for call in result.failed_calls
        ],
    )


def _error(result: EvaluationResult, names: Names, withheld: Withheld) -> str | None:
    """Why there is no verdict, where no agent and no trace can have worded it."""
    error = result.error
    if error and error.startswith(NOT_RUN) and result.question is None:
        return _renamed(error, names)
    return withheld.text("error", error)


def _metric(metric: MetricResult, withheld: Withheld) -> MetricResult:
    withheld.add("detail", len(metric.details))
    gate = metric.gate
    if gate is not None and gate.status is CheckStatus.UNKNOWN:
        gate = replace(gate, message=withheld.text("reason", gate.message))
    return MetricResult(
        metric.metric_name,
        metric.value,
        metric.unit,
        error=withheld.text("error", metric.error),
        gate=gate,
    )


# Checks


@cache
def _kind_of(name: str) -> type[Check] | None:
    """The registered check with this name; None for functions and for checks of a spec's folder."""
    if name not in registry.names(registry.CHECKS):
        return None
    try:
        return registry.find_check(name)
    except PluginError:
        return None


def _check(check: CheckResult, error: str | None, withheld: Withheld) -> CheckResult:
    if _says_nothing_more(check, error):
        return replace(check, verdicts=_verdicts(check.verdicts, withheld))
    withheld.add("reason", bool(check.message))
    data = _figures(check.data)
    withheld.add("detail", len(check.data) - len(data))
    parts = _parts(check, error, withheld)
    message = "; ".join([*_scores(check.verdicts), *parts]) or _worded(data, check.data)
    verdicts = _verdicts(check.verdicts, withheld)
    return replace(check, message=message or LEFT_OUT, data=data, verdicts=verdicts)


_NOT_RECORDED = not_recorded(frozenset())


def _says_nothing_more(check: CheckResult, error: str | None) -> bool:
    """Whether message and data hold only names, figures and words of trialrun."""
    message = check.message
    if message.startswith(_NOT_RECORDED):
        kinds = message.removeprefix(_NOT_RECORDED).split(", ")
        return EVIDENCE.issuperset(kinds) and not check.data
    if check.status is CheckStatus.SKIPPED and message == NO_BASELINE:
        return not check.data
    kind = _kind_of(check.name)
    if kind is None or not kind.shareable:
        return False
    # Without evidence because of an error, a check repeats it; a crash quotes an exception.
    return not message.startswith(CRASHED) and not (error and check.status is CheckStatus.UNKNOWN)


def _figures(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data whose meaning is documented, and is a figure, a name of a tool or a step."""
    kept: dict[str, Any] = {key: value for key, value in data.items() if _is_public(key, value)}
    if not {"limit", "minimum"} & kept.keys():  # else `found` is an amount
        kept.pop("found", None)
    return kept


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_path(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, list) and len(one) == 2 for one in value)


_PUBLIC: Mapping[str, Callable[[Any], bool]] = {
    "limit": _is_number,
    "minimum": _is_number,
    "found": _is_number,
    "tool": lambda value: isinstance(value, str),
    "tools": lambda value: isinstance(value, list),
    "step": lambda value: isinstance(value, str),
    "steps": lambda value: isinstance(value, list),
    "path": _is_path,
}


def _is_public(key: str, value: Any) -> bool:
    return key in _PUBLIC and _PUBLIC[key](value)


def _worded(kept: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    """`refund: 1 found`, `4 found, limit 3`, `2 wanted, 1 found, 1 missing`."""
    texts = []
    for key in ("wanted", "unwanted", "found", "missing", "extra"):
        value = kept.get(key, data.get(key))
        if key in kept:
            texts.append(f"{value:,.6g} {key}")
        elif isinstance(value, list):
            texts.append(f"{len(value):,} {key}")
    texts += [f"limit {kept['limit']:,.6g}"] if "limit" in kept else []
    texts += [f"at least {kept['minimum']:,.6g}"] if "minimum" in kept else []
    tools = ", ".join([*map(str, kept.get("tools", [])), *filter(None, [kept.get("tool")])])
    return ": ".join(filter(None, [tools, ", ".join(texts)]))


def _parts(check: CheckResult, error: str | None, withheld: Withheld) -> Iterator[str]:
    """The parts of a combination of checks, each as it may be shared."""
    parts = check.data.get("parts")
    for part in parts if isinstance(parts, list) else ():
        if not isinstance(part, dict) or _kind_of(str(part.get("name"))) is None:
            continue
        fields = ("name", "status", "message")
        name, status, message = (str(part.get(field, "")) for field in fields)
        if status in set(CheckStatus):
            data = {key: value for key, value in part.items() if key not in fields}
            made = CheckResult(name, CheckStatus(status), check.severity, message, data=data)
            yield f"{name} {status}: {_check(made, error, withheld).message}"


def _scores(verdicts: Sequence[Verdict]) -> Iterator[str]:
    for verdict in verdicts:
        if verdict.score is not None:
            yield f"score {verdict.score:.2g}, at least {verdict.minimum}"


def _verdicts(verdicts: Sequence[Verdict], withheld: Withheld) -> list[Verdict]:
    """The scores, without rubrics (they may say what the answer should be) and reasons."""
    withheld.add("rubric", len(verdicts))
    return [
        replace(
            verdict,
            rule=LEFT_OUT,
            votes=[
                replace(
                    vote,
                    rationale=withheld.text("reason", vote.rationale),
                    error=withheld.text("error", vote.error),
                )
                for vote in verdict.votes
            ],
        )
        for verdict in verdicts
    ]
