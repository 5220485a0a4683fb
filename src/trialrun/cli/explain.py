"""`trialrun explain`: the meaning and examples of a check, a metric or a rule."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click
import msgspec

from trialrun.checks.base import ANSWER
from trialrun.cli.output import put
from trialrun.errors import PluginError, UsageError
from trialrun.model.results import CheckStatus
from trialrun.model.trace import Step, StepType
from trialrun.util.texts import did_you_mean

if TYPE_CHECKING:
    from trialrun.checks.base import Check, Example
    from trialrun.metrics.base import BaseMetric

_WORDS = {CheckStatus.PASS: "passes", CheckStatus.FAIL: "fails", CheckStatus.UNKNOWN: "is unknown"}


@click.command("explain")
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """Explain the check, metric or rule NAME: what it means, its formula, examples.

    Rules of `trialrun verify` have a code and a name: `TR103`, `last-run-red`. Without a NAME,
    everything that can be explained is listed.
    """
    from trialrun.cli.rules import rule_lines, rule_named

    if name is None:
        return _list()
    rule = rule_named(name)
    if rule is not None:
        put("\n".join(rule_lines(rule)) + "\n")
        return 0
    return _explain(name)


def _list() -> int:
    """The names of checks and metrics, and the rules."""
    from trialrun import registry
    from trialrun.cli.rules import rule_table

    for title, kind in (("Checks", registry.CHECKS), ("Metrics", registry.METRICS)):
        put(f"{title}: {', '.join(registry.names(kind))}\n\n")
    put(f"Rules of `trialrun verify`:\n{rule_table()}")
    return 0


def _explain(name: str) -> int:
    from trialrun import registry

    if ":" in name:
        check, metric = _by_module(name)
    else:
        check, metric = registry.find_check(name), registry.find_metric(name)
    if check is None and metric is None:
        return _explain_setting(name)
    parts = []
    if check is not None:
        parts.append("\n".join(_explain_check(check)))
    if metric is not None:
        parts.append("\n".join(_explain_metric(metric)))
    put("\n\n".join(parts) + "\n")
    return 0


def _explain_setting(name: str) -> int:
    from trialrun import registry
    from trialrun.cli.rules import rule_names

    hosts = _hosts(name)
    if not hosts:
        known = {
            *registry.names(registry.CHECKS),
            *registry.names(registry.METRICS),
            *_options(),
            *rule_names(),
        }
        hint = did_you_mean(name, known)
        raise UsageError(f"there is no check, metric or rule `{name}`{hint}")
    put(f"{name} is a setting of {', '.join(host.key for host in hosts)}:\n\n")
    check = hosts[0]
    if name in check.about_settings:
        put(check.about_settings[name] + "\n")
    else:
        put("\n".join(_explain_check(check)) + "\n")
    return 0


def _by_module(name: str) -> tuple[type[Check] | None, type[BaseMetric] | None]:
    """The check or the metric that `module:Name` names; the other one is None."""
    from trialrun import registry

    try:
        return registry.find_check(name), None
    except PluginError:
        pass
    try:
        return None, registry.find_metric(name)
    except PluginError as error:
        raise UsageError(f"there is no check or metric `{name}`: {error}") from None


def _checks() -> list[type[Check]]:
    from trialrun import registry

    return registry.all_checks()


def _options() -> set[str]:
    from trialrun.checks.base import setting_keys

    return {key for kind in _checks() for key in setting_keys(kind)}


def _hosts(option: str) -> list[type[Check]]:
    from trialrun.checks.base import setting_keys

    return [kind for kind in _checks() if option in setting_keys(kind)]


def _explain_check(kind: type[Check]) -> Iterable[str]:
    severity = kind.default_severity.value
    if kind.any_layer:
        yield f"{kind.key}: a check of every layer, with the default severity of the layer"
    else:
        yield f"{kind.key}: a check of the {kind.layer} layer, default severity: {severity}"
    yield ""
    yield inspect.cleandoc(kind.__doc__ or "")
    yield ""
    if kind.formula:
        yield f"Formula:      {kind.formula}"
    if kind.recommended:
        yield f"Recommended:  {kind.recommended}"
    if kind.needs:
        yield f"Needs:        {', '.join(sorted(kind.needs))} (unknown if not recorded)"
    yield ""
    yield "Examples:"
    for example in kind.examples:
        yield from (f"  {line}" for line in example_lines(kind, example))


def example_lines(kind: type[Check], example: Example) -> Iterable[str]:
    """An example as a spec would have it, with the outcome and message of the check as comments."""
    yield f"{kind.layer}: {_flow(example.block)}"
    for key, value in example.case.items():
        yield f"{key}: {_flow(value)}"
    yield f"  # {_WORDS[example.outcome]}: {_message(kind, example)}"
    yield f"  #   on {_run(kind, example)}"


def _message(kind: type[Check], example: Example) -> str:
    """The message that the check gives on its example, by running it."""
    from trialrun.engine.evaluate import evaluate
    from trialrun.model.case import EvalCase

    block = {_reference(kind) if key == kind.key else key: v for key, v in example.block.items()}
    case = EvalCase.from_dict({"query": "question", kind.layer: block, **example.case})
    result = evaluate(case, example.trace(), example.baseline())
    found = next(check for _, check in result.checks() if check.name == _reference(kind))
    return found.message


def _reference(kind: type[Check]) -> str:
    """How a spec names the check: by its name if it is registered, else by `module:Name`."""
    from trialrun import registry

    if kind.key in registry.names(registry.CHECKS):
        return kind.key
    return f"{kind.__module__}:{kind.__qualname__}"


def _run(kind: type[Check], example: Example) -> str:
    """The trace of an example on one line."""
    parts = []
    if kind.layer == "correctness" or ANSWER in kind.needs:
        parts.append(f"the answer {_flow(_short(example.answer))}")
    if example.steps:
        parts.append(", ".join(_step(step) for step in example.trace().steps))
    parts += [f"{field} {value}" for field, value in example.fields.items()]
    if example.baseline_steps is not None:
        before = example.baseline()
        assert before is not None
        parts.append(f"the baseline {', '.join(_step(step) for step in before.steps)}")
    return "; ".join(parts) or "a run without steps"


def _step(step: Step) -> str:
    """A step of an example, without the fields that no check reads."""
    if step.type is StepType.LLM_CALL:
        parts = [f"${step.cost_usd:g}"] if step.cost_usd is not None else []
        parts += [f"{step.tokens.total_tokens} tokens"] if step.tokens is not None else []
        return f"a call of {step.model}" + (f" ({', '.join(parts)})" if parts else "")
    if step.type is StepType.HANDOFF:
        return f"a handoff to {step.handoff_to}"
    text = _call(step.tool_name, step.tool_args)
    if step.tool_result is not None:
        text += f" → {_short(_flow(step.tool_result))}"
    return f"{text} ({step.duration_ms:g} ms)" if step.duration_ms is not None else text


def _call(name: str | None, arguments: dict[str, Any] | None) -> str:
    return f"{name}({_flow(arguments)[1:-1]})" if arguments else str(name)


def _short(text: str | None) -> str:
    if text is None:
        return "null"
    return text if len(text) <= 60 else text[:57] + "..."


def _flow(value: Any) -> str:
    """A value as a spec would have it: JSON is valid YAML."""
    return msgspec.json.encode(value).decode().replace('":', '": ').replace(',"', ', "')


def _explain_metric(kind: type[BaseMetric]) -> Iterable[str]:
    unit = f", in {kind.unit}" if kind.unit else ""
    yield f"{kind.name}: a metric{unit}"
    yield ""
    yield inspect.cleandoc(kind.__doc__ or "")
    formula = getattr(kind, "formula", "")
    needs = getattr(kind, "needs", ())
    if formula or needs:
        yield ""
    if formula:
        yield f"Formula:      {formula}"
    if needs:
        yield f"Needs:        {', '.join(sorted(needs))} (undefined if not recorded)"
    yield ""
    yield "In a spec:"
    yield f"  metrics: [{kind.name}]"
    bound = "min: 0.9" if kind.higher_is_better else "max: 1"
    yield f"  metrics: [{{name: {kind.name}, {bound}, severity: fail}}]   # a gate"
