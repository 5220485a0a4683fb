"""Builds and validates the checks of a case from its blocks, with the defaults merged in."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec import NODEFAULT, Struct, inspect
from msgspec.structs import fields as struct_fields

from trialrun import registry
from trialrun.errors import PluginError, crash
from trialrun.model.case import LayerPlan, Plan
from trialrun.model.results import LAYERS, Severity
from trialrun.spec import combinations, validation
from trialrun.spec.defaults import Block, Reading, merged_block, refuse_null, refuse_unknown
from trialrun.spec.severities import default_severity
from trialrun.spec.validation import LocatedDict, Place, Problems, Unreadable
from trialrun.util.texts import did_you_mean, shown

if TYPE_CHECKING:
    from trialrun.checks.base import Check

# Thresholds of another check: without that check they would silently have no effect.
_ASSERTING_OPTIONS = {"min_tool_recall"}

# evaldeck's expectations, and our equivalent checks.
EVALDECK = {
    "tools_called": "expected_tools",
    "tools_not_called": "forbidden_tools",
    "tool_call_order": "order",
    "output_contains": "expected_in_answer",
    "output_not_contains": "not_in_answer",
    "output_equals": "exact_match",
    "output_matches": "regex_match",
    "max_steps": "max_steps",
    "min_steps": "min_steps",
    "max_tool_calls": "max_tool_calls",
    "max_llm_calls": "max_llm_calls",
    "task_completed": "task_completed",
}


def read_blocks(
    data: dict[str, Any], fields: dict[str, Any], place: Place, reading: Reading
) -> tuple[Plan, dict[str, Any]]:
    """The checks of a case, and its blocks with the defaults merged in."""
    found = {
        layer: block
        for layer in LAYERS
        if (block := _block_of(layer, data, fields, place, reading)) is not None
    }
    blocks: dict[str, Any] = {
        layer: validation.plain(block.written) for layer, block in found.items()
    }
    free = {layer: list(block.free) for layer, block in found.items()}
    judges = [check for block in found.values() for check in block.judges]
    settled = [(layer, result) for layer in found for result in found[layer].settled]
    refuse_null(data, "expected", place, reading.problems)
    expected = data.get("expected")
    if expected is not None:
        where = place.value(data, "expected")
        blocks["expected"] = validation.plain(expected)
        for check in _read_expected(expected, where, reading):
            free.setdefault(check.layer, []).append(check)
    if any(check.key == "refutes_premise" for check in judges):
        # The wording of a good refusal cannot be predicted: text checks would be noise.
        texts = [check for check in free["correctness"] if check.reads_wording]
        settled += [
            ("correctness", check.skipped("replaced by refutes_premise")) for check in texts
        ]
        free["correctness"] = [check for check in free["correctness"] if check not in texts]
    ordered = _layers(free)
    referenced = ordered
    if "path" in found and found["path"].implied is not None:
        referenced = _layers({**free, "path": [*free["path"], found["path"].implied]})
    checks = [check for layer in referenced for check in layer.checks]
    plan = Plan(
        free=ordered,
        with_reference=referenced,
        judges=tuple(_in_order(judges)),
        settled=tuple(settled),
        has_reference=bool(fields.get("reference_tools")),
        needs=frozenset().union(*(check.needs for check in checks)),
        takes_case=any(check.takes_case for check in checks),
    )
    states = [check for check in free.get("correctness", ()) if check.name == "state"]
    if states:
        blocks["state"] = states[0].actions  # type: ignore[attr-defined]
    return plan, blocks


def _block_of(
    layer: str, data: dict[str, Any], fields: dict[str, Any], place: Place, reading: Reading
) -> Block | None:
    """The block with its checks; reused from the case before if all cases have the same."""
    if layer in reading.kept:
        return reading.kept[layer]
    before = len(reading.problems.found)
    merged = merged_block(data, layer, place, reading)
    block = None if merged is None else _checks_of(layer, *merged, data, fields, reading)
    # A block with a mistake is read again for the next case, so that its rows can be counted.
    if layer in reading.same and len(reading.problems.found) == before:
        reading.kept[layer] = block
    return block


def _checks_of(
    layer: str,
    block: LocatedDict,
    place: Place,
    data: dict[str, Any],
    fields: dict[str, Any],
    reading: Reading,
) -> Block:
    own = data.get(layer)
    checks = _read_block(layer, block, own if isinstance(own, dict) else {}, place, fields, reading)
    implied: Check | None = None
    if layer == "path" and "match_mode" not in block:
        kind = registry.find_check("match_mode")
        assert kind is not None
        implied = kind(  # type: ignore[call-arg]
            mode="subset",
            reference_tools=fields.get("reference_tools"),
            severity=default_severity(kind, layer, reading.severities),
        )
    return Block(
        block,
        free=[check for check in checks if not check.judged],
        judges=[check for check in checks if check.judged],
        implied=implied,
    )


def _layers(checks_of: Mapping[str, list[Check]]) -> tuple[LayerPlan, ...]:
    """A plan for each layer that has checks."""
    return tuple(
        LayerPlan.of(name, _in_order(checks)) for name, checks in checks_of.items() if checks
    )


def _in_order(checks: list[Check]) -> list[Check]:
    """Sorted by `order`; checks of equal order stay as they were written."""
    return sorted(checks, key=lambda check: check.order)


def _read_block(
    layer: str,
    block: LocatedDict,
    own: Mapping[str, Any],
    place: Place,
    fields: dict[str, Any],
    reading: Reading,
) -> list[Check]:
    kinds, options = _kinds_in(layer, block, place, reading)
    known = _all_options(kinds).union(*(_options_in(kinds[key], block[key]) for key in kinds))
    for key in options:
        if key not in known:
            _explain_option(layer, key, key in own, block, place, reading.problems)
    checks = []
    for key, kind in kinds.items():
        if kind.combines:
            check = _combine(kind, key, layer, block, place, fields, reading)
        else:
            severity = default_severity(kind, layer, reading.severities)
            check = _build(kind, key, block, place, fields, reading.problems, severity=severity)
        if check is None:
            continue
        try:
            check.locate(reading.folder)
        except ValueError as error:
            reading.problems.add(place.value(block, key), f"context_file: {error}")
        checks.append(check)
    return checks


def _combine(
    kind: type[Check],
    key: str,
    layer: str,
    block: LocatedDict,
    place: Place,
    fields: dict[str, Any],
    reading: Reading,
) -> Check | None:
    """The combination of checks under this key. Its parts take settings of the block around it."""

    def read_part(part: LocatedDict, own: Mapping[str, Any], where: Place) -> list[Check]:
        whole = combinations.with_options(part, block, _options_in(kind, part))
        return _read_block(layer, whole, own, where, fields, reading)

    try:
        value, severity, where = _unwrapped(
            block[key], place.value(block, key), reading.problems, wraps_mapping=True
        )
    except Unreadable:
        return None
    return combinations.build(kind, key, layer, value, severity, where, reading, read_part)


def _options_in(kind: type[Check], value: Any) -> set[str]:
    """The settings that the checks inside a combination take."""
    found: set[str] = set()
    for part in combinations.blocks_within(value) if kind.combines else ():
        for key in part:
            inner = _known_check(key)
            if inner is not None:
                found |= _options_of(inner) | _options_in(inner, part[key])
    return found


def _known_check(key: Any) -> type[Check] | None:
    """The check of this name; None for a mistake, which is reported where the part is read."""
    return registry.find_check(key) if isinstance(key, str) and ":" not in key else None


def _kinds_in(
    layer: str, block: LocatedDict, place: Place, reading: Reading
) -> tuple[dict[str, type[Check]], list[str]]:
    """The checks that a block names, and its other keys: settings of checks, or mistakes."""
    kinds: dict[str, type[Check]] = {}
    options: list[str] = []
    for key in block:
        if not isinstance(key, str):  # only from code: keys from a file are texts
            reading.problems.add(place.key(block, key), "a key is text")
            continue
        try:
            kind = registry.find_check(key, reading.folder)
        except PluginError as error:
            reading.problems.add(place.key(block, key), str(error))
            continue
        if kind is None:
            options.append(key)
        elif kind.layer != layer and not kind.any_layer:
            reading.problems.add(
                place.key(block, key), f"belongs in the `{kind.layer}` block, not in `{layer}`"
            )
        else:
            kinds[key] = kind
    return kinds, options


def _all_options(kinds: Mapping[str, type[Check]]) -> set[str]:
    return {field for kind in kinds.values() for field in _fields_of(kind).options}


def _options_of(kind: type[Check]) -> set[str]:
    return _all_options({kind.key: kind}) - {"reference_tools"}


def _explain_option(
    layer: str, key: str, own: bool, block: LocatedDict, place: Place, problems: Problems
) -> None:
    """Report a key that no check of this block reads: misspelt, or its check is missing."""
    kinds = {kind.key: kind for kind in registry.all_checks()}
    here = {name: kind for name, kind in kinds.items() if kind.layer == layer or kind.any_layer}
    hosts = [name for name, kind in here.items() if key in _options_of(kind)]
    elsewhere = {kind.layer for kind in kinds.values() if key in _options_of(kind)}
    if not hosts and elsewhere and key != "severity":  # people look for that of the checks
        layer = sorted(elsewhere)[0]
        problems.add(place.key(block, key), f"belongs in the `{layer}` block")
    elif key == "reference_tools":
        problems.add(place.key(block, key), "belongs to the case, next to `query`")
    elif not hosts:
        known = {*here, *_all_options(here)} - {"reference_tools"}
        problems.add(place.key(block, key), "unknown key" + did_you_mean(key, known))
    elif own or key in _ASSERTING_OPTIONS:
        needed = " or ".join(f"`{host}`" for host in hosts)
        problems.add(place.key(block, key), f"has no effect alone: give {needed} next to it")


def _unwrapped(
    value: Any, place: Place, problems: Problems, wraps_mapping: bool
) -> tuple[Any, Severity | None, Place]:
    """A value and its severity: plain, or from `{value: …, severity: fail|warn}`."""
    if not isinstance(value, dict) or not {"value", "severity"} & set(value):
        return value, None, place
    if wraps_mapping and not set(value) <= {"value", "severity"}:
        return value, None, place
    for key in value:
        if key not in ("value", "severity"):
            hint = did_you_mean(key, ["value", "severity"])
            problems.add(place.key(value, key), "unknown key" + hint)
            raise Unreadable()
    if "value" not in value:
        problems.add(place, "`value` is missing next to `severity`")
        raise Unreadable()
    severity = None
    if "severity" in value:
        where = place.value(value, "severity")
        severity = validation.read(value["severity"], Severity, where, problems)
    return value["value"], severity, place.value(value, "value")


def _build(
    kind: type[Check],
    key: str,
    block: LocatedDict,
    place: Place,
    fields: dict[str, Any],
    problems: Problems,
    name: str | None = None,
    severity: Severity | None = None,
) -> Check | None:
    where = place.value(block, key)
    settings: dict[str, Any] = {}
    try:
        takes = _fields_of(kind)
        first, types = takes.value, takes.types
        value, given, where = _unwrapped(block[key], where, problems, wraps_mapping=takes.mapping)
        fallback, severity = severity, given
        settings[first] = validation.read(value, types[first], where, problems)
        if kind.is_flag and value is False:
            return None
        for field in takes.options:
            if field == "reference_tools":
                settings[field] = fields.get("reference_tools")
            elif field in block:
                # If the field is a check too, that check reports its mistakes.
                sink = Problems() if registry.find_check(field) else problems
                sibling, its_severity, there = _unwrapped(
                    block[field], place.value(block, field), sink, wraps_mapping=False
                )
                name_of_field = takes.fields.get(field, field)
                settings[name_of_field] = validation.read(
                    sibling, types[name_of_field], there, sink
                )
                if sink is problems:
                    severity = severity or its_severity
            elif field in takes.required:
                problems.add(place.key(block, key), f"needs `{field}` next to it to compare with")
                return None
        return kind(name=name or key, severity=severity or fallback, **settings)
    except Unreadable:
        return None
    except ValueError as error:
        problems.add(where, str(error))
        return None
    except BaseException as error:  # a third-party check may raise anything
        problems.add(where, f"`{key}` cannot be built: {crash(error)}")
        return None


class _CheckFields(Struct, frozen=True):
    """The fields of a kind of check: its value and its options.

    Computed once for each kind, not for each of thousands of cases. `mapping`: the value may be a
    mapping. `options` are keys of a spec, and `fields` the fields that they fill.
    """

    value: str
    options: tuple[str, ...]
    types: dict[str, Any]
    mapping: bool
    required: frozenset[str]
    fields: dict[str, str]


@cache
def _fields_of(kind: type[Check]) -> _CheckFields:
    from trialrun.checks.base import own_fields, setting_keys

    types = validation.field_types(kind)
    first = own_fields(kind)[0]
    keys = setting_keys(kind)
    taken = inspect.type_info(types[first])
    members = taken.types if isinstance(taken, inspect.UnionType) else (taken,)
    # A check whose plain value is a mapping may have `severity` as a key of that mapping.
    mapping = any(isinstance(kind, (inspect.DictType, inspect.StructType)) for kind in members)
    required = {
        field.name
        for field in struct_fields(kind)
        if field.default is NODEFAULT and field.default_factory is NODEFAULT
    }
    return _CheckFields(first, tuple(keys), types, mapping, frozenset(required), keys)


def _read_expected(value: Any, place: Place, reading: Reading) -> list[Check]:
    """The checks of evaldeck's `expected:` block, all of severity fail: it has no warnings."""
    if not isinstance(value, dict):
        reading.problems.add(place, f"expected a mapping, found {shown(value)}")
        return []
    refuse_unknown(value, set(EVALDECK), place, reading.problems)
    checks = []
    for key, item in value.items():
        if key not in EVALDECK:
            continue
        if item is None:
            refuse_null(value, key, place, reading.problems)
            continue
        if item == [] and key != "output_equals":
            reading.problems.add(place.value(value, key), "an empty list checks nothing")
            continue
        target = EVALDECK[key]
        kind = registry.find_check(target)
        assert kind is not None
        block = LocatedDict()
        block[target] = item
        renamed = Problems(reading.problems.file)
        check = _build(kind, target, block, place, {}, renamed, name=key, severity=Severity.FAIL)
        for problem in renamed.found:
            reading.problems.add(place.value(value, key), problem.message)
        if check is not None:
            checks.append(check)
    return checks
