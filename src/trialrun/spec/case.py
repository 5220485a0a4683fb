"""Builds cases with their checks from the plain values of a spec, and collects every mistake.

Values from a file know their place in it (`validation.LocatedDict`), so the same code reads a YAML
file and a dict in code. Nothing here opens a file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import force_setattr, replace

from trialrun import registry
from trialrun.errors import PluginError, SpecError, UsageError, crash
from trialrun.model.case import MODULE_AND_NAME, Action, EvalCase, MetricPlan, Plan, Selector
from trialrun.model.results import LAYERS, Severity
from trialrun.spec import validation
from trialrun.spec.blocks import read_blocks
from trialrun.spec.defaults import MAY_BE_NULL, Reading, refuse_null, refuse_unknown
from trialrun.spec.severities import KEY, read_severities
from trialrun.spec.types import Command, Seconds, Text
from trialrun.spec.validation import Place, Problems, Unreadable
from trialrun.util.texts import did_you_mean, shown

_CASE_FIELDS: dict[str, Any] = {
    "name": Text,
    "description": str,
    "tags": list[Text],
    "trace": Text,
    "baseline": Text,
    "reference_tools": list[Text],
    "timeout": Seconds,
}
_TURN_FIELDS: dict[str, Any] = {"description": str, "reference_tools": list[Text]}
_QUESTION = ("query", "input")

_TEXT_FIELDS = {key: _CASE_FIELDS[key] for key in ("name", "description")}
TEXTS = frozenset({*_TEXT_FIELDS, *_QUESTION})
"""Keys with texts that have no influence on checks, setup or teardown."""

_ACTIONS = ("setup", "teardown")
AROUND = (*_ACTIONS, "state")
"""Keys of actions before and after a case. Allowed in the defaults too, but not in a turn."""

MATCH = "match"
CASE_KEYS = {*_CASE_FIELDS, *_QUESTION, *LAYERS, *AROUND, MATCH}
CASE_KEYS |= {"expected", "turns", "cases_from", KEY}
_WHOLE_CASE_LAYERS = {"regression"}
_TURN_KEYS = {*_TURN_FIELDS, *_QUESTION, *LAYERS, "expected"} - _WHOLE_CASE_LAYERS


def case_from_plain(data: Any) -> EvalCase:
    """Build a case from a dict in code."""
    reading = Reading(Problems())
    case = read_case(data, Place(), reading)
    if case is None:
        raise SpecError(reading.problems.found)
    return case


def plan_of(case: EvalCase) -> Plan:
    """The checks of a case; built first if the case was made or changed in code."""
    if case.plan is None:
        build(case)
    assert case.plan is not None
    return case.plan


def build(case: EvalCase) -> EvalCase:
    """Validate a case whose fields were set in code, and build its plan and name."""
    for turn in case.turns:
        plan_of(turn)
    plain = {key: getattr(case, key) for key in CASE_KEYS - {"input", "turns", "cases_from"}}
    plain = {key: value for key, value in plain.items() if value not in (None, "", ())}
    if case.turns:
        plain.pop("query", None)
    _normalize_state(plain)
    reading = Reading(Problems())
    # In code a case may have no question: a trace is judged without asking one.
    built = read_case(plain, Place(), reading, turns=case.turns, needs_query=False)
    if built is None:
        raise SpecError(reading.problems.found)
    for name in ("name", "plan", *AROUND):
        force_setattr(case, name, getattr(built, name))
    if built.state:  # the block has it too, with its severity
        force_setattr(case, "correctness", built.correctness)
    return case


def _normalize_state(plain: dict[str, Any]) -> None:
    """Drop `state` of the case if the correctness block has it: it was read from there."""
    block = plain.get("correctness")
    if isinstance(block, dict) and "state" in block:
        plain.pop("state", None)
    given = plain.get("state")
    if isinstance(given, (list, tuple)):
        plain["state"] = [to_builtins(item) if isinstance(item, Action) else item for item in given]


def read_case(
    data: Any,
    place: Place,
    reading: Reading,
    turns: Sequence[EvalCase] = (),
    needs_query: bool = True,
) -> EvalCase | None:
    """One case, or None if it has mistakes (which are added to the problems)."""
    problems = reading.problems
    before = len(problems.found)
    if not isinstance(data, dict):
        problems.add(place, f"a case is a mapping with `query`, found {shown(data)}")
        return None
    refuse_unknown(data, CASE_KEYS, place, problems)
    if "cases_from" in data:
        problems.add(place.key(data, "cases_from"), "cases come from a table in a spec file only")
    fields = _read_fields(data, _CASE_FIELDS, place, problems)
    reading = reading.with_severities(read_severities(data, place, problems))
    for key in _ACTIONS:
        fields[key] = _read_action(key, data, place, reading)
    if data.get(MATCH) is not None:
        fields[MATCH] = _read_match(data, place, problems)
    needed = needs_query and not {"turns", MATCH} & set(data)
    query = _read_question(data, place, problems, needed=needed)
    if "turns" in data:
        if query is not None:
            problems.add(place.key(data, "turns"), "give either `query` or `turns`, not both")
        turns = _read_turns(data["turns"], place.value(data, "turns"), reading)
    plan, blocks = read_blocks(data, fields, place, reading)
    if reading.severities:
        blocks[KEY] = {layer: one.value for layer, one in reading.severities.items()}
    if len(problems.found) > before:
        return None
    _name(fields, query, turns)
    return EvalCase(query=query or "", turns=turns, plan=plan, **fields, **blocks)


def read_variant(model: EvalCase, data: dict[str, Any], place: Place, reading: Reading) -> EvalCase:
    """A case that differs from one read before only in its `TEXTS`; it shares everything else."""
    fields = _read_fields(data, _TEXT_FIELDS, place, reading.problems)
    query = _read_question(data, place, reading.problems, needed=not model.turns)
    _name(fields, query, model.turns)
    return replace(model, query=query or "", **fields)


def _name(fields: dict[str, Any], query: str | None, turns: Sequence[EvalCase]) -> None:
    """Name a case without a name after its question."""
    if "name" not in fields:
        fields["name"] = label(query or (turns[0].query if turns else ""))


def checks_nothing(case: EvalCase) -> bool:
    """Whether no check could ever fail the case."""
    return not plan_of(case).can_fail(case.baseline is not None) and not any(
        plan_of(turn).can_fail(False) for turn in case.turns
    )


def label(text: str) -> str:
    """A name made from a question: short, readable, in any language."""
    words = re.sub(r"[^\w]+", "-", text.lower()).strip("-_")
    return words[:60].rstrip("-") or "case"


def _read_fields(
    data: dict[str, Any], kinds: Mapping[str, Any], place: Place, problems: Problems
) -> dict[str, Any]:
    fields = {}
    for key, kind in kinds.items():
        if data.get(key) is None:
            if key not in MAY_BE_NULL:
                refuse_null(data, key, place, problems)
        else:
            try:
                fields[key] = validation.read(data[key], kind, place.value(data, key), problems)
            except Unreadable:
                continue
    return fields


def _read_action(key: str, data: dict[str, Any], place: Place, reading: Reading) -> Action | None:
    """The action of `setup` or `teardown`: that of the case, else that of the defaults."""
    if key not in data:
        data, place = reading.defaults, Place("defaults")  # type: ignore[assignment]
    value = data.get(key)
    if value is None and reading.defaults.get(key) is None:
        refuse_null(data, key, place, reading.problems)
    if value is None or isinstance(value, Action):
        return value
    where = place.value(data, key)
    if isinstance(value, str) and not re.search(MODULE_AND_NAME, value):
        reading.problems.add(
            where,
            f"expected module:function, found the text {shown(value)}; "
            "a command is a list, such as [bash, setup.sh]",
        )
        return None
    try:
        read = validation.read(value, Text | Command, where, reading.problems)
    except Unreadable:
        return None
    return Action(function=read) if isinstance(read, str) else Action(command=tuple(read))


def _read_question(
    data: dict[str, Any], place: Place, problems: Problems, needed: bool
) -> str | None:
    given = [key for key in _QUESTION if key in data]
    if len(given) == 2:
        problems.add(place.key(data, "input"), "`input` and `query` are the same key: give one")
        return ""
    if not given:
        if needed:
            problems.add(place, "`query` is missing: what is the agent asked?")
        return None
    try:
        asked: str = validation.read(data[given[0]], Text, place.value(data, given[0]), problems)
    except Unreadable:
        return ""
    return asked


def _read_match(data: dict[str, Any], place: Place, problems: Problems) -> Selector | None:
    """`match: all`, or which traces the case is for: `match: {agent: "support-*"}`."""
    value, where = data[MATCH], place.value(data, MATCH)
    for other in ("trace", "turns"):
        if other in data:
            problems.add(place.key(data, other), f"a case with `match` has no `{other}`")
    if isinstance(value, Selector) or value == "all":
        return value if isinstance(value, Selector) else Selector()
    keys = ", ".join(Selector.__struct_fields__)
    if not isinstance(value, dict):
        problems.add(where, f"expected `all`, or a mapping with {keys}; found {shown(value)}")
        return None
    refuse_unknown(value, set(Selector.__struct_fields__), where, problems)
    if not value:
        problems.add(where, f"expected one of {keys}; for every trace write `match: all`")
    try:
        found: Selector = validation.read(value, Selector, where, problems)
    except Unreadable:
        return None
    return found


def _read_turns(value: Any, place: Place, reading: Reading) -> list[EvalCase]:
    problems = reading.problems
    if not isinstance(value, list) or not value:
        problems.add(place, f"expected a list of turns, found {shown(value)}")
        return []
    # Defaults apply to the whole conversation, not to each turn: a budget counts once.
    bare = Reading(problems, folder=reading.folder, severities=reading.severities)
    turns = []
    for index, data in enumerate(value):
        where = place.item(value, index)
        if not isinstance(data, dict):
            problems.add(where, f"a turn is a mapping with `query`, found {shown(data)}")
            continue
        _refuse_around(data, where, problems)
        refuse_unknown(data, _TURN_KEYS | _WHOLE_CASE_KEYS, where, problems)
        fields = _read_fields(data, _TURN_FIELDS, where, problems)
        query = _read_question(data, where, problems, needed=True)
        plan, blocks = read_blocks(data, fields, where, bare)
        turns.append(
            EvalCase(query=query or "", name=f"turn {index + 1}", plan=plan, **fields, **blocks)
        )
    return turns


_WHOLE_CASE_KEYS = {*AROUND, *_WHOLE_CASE_LAYERS, "timeout", "cases_from", MATCH, KEY}


def _refuse_around(turn: dict[str, Any], place: Place, problems: Problems) -> None:
    """Refuse keys that apply to a whole conversation in a turn: nothing runs between turns."""
    correctness = turn.get("correctness")
    inside = correctness if isinstance(correctness, dict) and "state" in correctness else {}
    holders = [(turn, place, key) for key in turn if key in _WHOLE_CASE_KEYS]
    holders += [(inside, place.value(turn, "correctness"), "state")] if inside else []
    for holder, where, key in holders:
        problems.add(where.key(holder, key), "belongs to the case, next to `turns`")


# Metrics


class _MetricSpec(Struct, frozen=True):
    name: Text
    min: float | None = None
    max: float | None = None
    severity: Severity | None = None


def read_metrics(value: Any, place: Place, reading: Reading) -> list[MetricPlan]:
    """The `metrics:` list: names, `module:Name`, or a mapping with `name` and a gate."""
    problems = reading.problems
    if not isinstance(value, list):
        problems.add(place, f"expected a list of metrics, found {shown(value)}")
        return []
    plans: list[MetricPlan] = []
    for index, item in enumerate(value):
        where = place.item(value, index)
        try:
            if isinstance(item, dict):
                for key in item:
                    refuse_null(item, key, where, problems)
                spec = validation.read(item, _MetricSpec, where, problems)
            else:
                spec = _MetricSpec(validation.read(item, Text, where, problems))
        except Unreadable:
            continue
        plan = _plan_metric(spec, where, reading)
        if plan is None:
            continue
        if any(plan.metric.name == other.metric.name for other in plans):
            problems.add(where, f"the metric `{plan.metric.name}` is listed twice")
            continue
        plans.append(plan)
    return plans


def _bound_without_effect(kind: Any, spec: _MetricSpec) -> str | None:
    """What is wrong with a bound that no value of the metric can break, or None."""
    if spec.min is not None and kind.lowest is not None and spec.min <= kind.lowest:
        return f"`{spec.name}` is never below {kind.lowest:g}: min {spec.min:g} could only pass"
    if spec.max is not None and kind.highest is not None and spec.max >= kind.highest:
        return f"`{spec.name}` is never above {kind.highest:g}: max {spec.max:g} could only pass"
    return None


def _plan_metric(spec: _MetricSpec, place: Place, reading: Reading) -> MetricPlan | None:
    problems = reading.problems
    try:
        kind = registry.find_metric(spec.name, reading.folder)
    except PluginError as error:
        problems.add(place, str(error))
        return None
    if kind is None:
        problems.add(
            place,
            f"unknown metric `{spec.name}`"
            + did_you_mean(spec.name, registry.names(registry.METRICS)),
        )
        return None
    if spec.min is not None and spec.max is not None and spec.min > spec.max:
        problems.add(place, f"min {spec.min:g} is above max {spec.max:g}: nothing can pass")
        return None
    useless = _bound_without_effect(kind, spec)
    if useless is not None:
        problems.add(place, useless)
        return None
    if spec.severity is not None and spec.min is None and spec.max is None:
        problems.add(place, "`severity` without `min` or `max` gates nothing")
        return None
    try:
        metric = kind()
    except BaseException as error:
        problems.add(place, f"`{spec.name}` cannot be created: {crash(error)}")
        return None
    try:
        return MetricPlan.of(metric, spec.min, spec.max, spec.severity or Severity.WARN)
    except UsageError as error:
        problems.add(place, str(error))
        return None
