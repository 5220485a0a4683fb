"""Makes the JSON schema of a spec from the classes of checks and agents."""

from __future__ import annotations

import inspect
from typing import Any

import msgspec

from trialrun import registry
from trialrun.checks.base import Check, own_fields, setting_keys
from trialrun.model.case import MODULE_AND_NAME, JudgeSettings, Selector
from trialrun.model.results import LAYERS, Severity
from trialrun.spec import load, validation
from trialrun.spec.blocks import EVALDECK


def spec_schema() -> dict[str, Any]:
    """The schema of a whole spec file."""
    components: dict[str, Any] = {}
    blocks = {layer: _block(layer, components) for layer in LAYERS}
    expected = _expected(components)
    turn = _object(
        {
            "query": {"type": "string"},
            "input": {"type": "string"},
            "description": {"type": "string"},
            "reference_tools": _texts(),
            **_block_references(),
            "expected": {"$ref": "#/$defs/expected"},
        }
    )
    state = blocks["correctness"]["properties"]["state"]
    around = {"setup": _action(), "teardown": _action(), "state": state}
    case = _object(
        {
            **turn["properties"],
            **around,
            "name": {"type": "string", "minLength": 1},
            "tags": _texts(),
            "trace": {"type": "string"},
            "baseline": {"type": "string"},
            "timeout": _seconds(),
            "match": _match(components),
            "severity": _severities(),
            "turns": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/turn"}},
        }
    )
    cases = {
        "type": "array",
        "items": {
            "if": {"type": "object", "required": ["cases_from"]},
            "then": {"$ref": "#/$defs/template"},
            "else": {"$ref": "#/$defs/case"},
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "trialrun spec",
        **_object(
            {
                "version": {"const": load.SPEC_VERSION},
                "name": {"type": "string"},
                "description": {"type": "string"},
                "agent": {"type": "string"},
                **_agent(components),
                "agents": {
                    "type": "object",
                    "minProperties": 1,
                    "additionalProperties": _object({**_agent(components), "timeout": _seconds()}),
                },
                "timeout": _seconds(),
                "redact": {**_texts(), "description": "regular expressions for text to mask"},
                "prices": {"type": "string", "description": "a file with your prices"},
                "match": {
                    "enum": ["name", "all"],
                    "description": "name: the input of a trace may differ from the query of its "
                    "case; all: every case is for every trace",
                },
                "severity": _severities(),
                "defaults": _object({**_block_references(), **around}),
                "judge": {"anyOf": [_type(JudgeSettings, components), {"type": "string"}]},
                "metrics": {"type": "array", "items": _metric()},
                "queries": cases,
                "cases": cases,
            }
        ),
        "$defs": {
            "case": case,
            "template": _template(case),
            "turn": turn,
            "expected": expected,
            **{f"{layer}_block": block for layer, block in blocks.items()},
            **components,
        },
    }


def _template(case: dict[str, Any]) -> dict[str, Any]:
    """A case with `cases_from`: a `{{column}}` may be replaced by a value of any type."""
    file = {
        "type": "string",
        "pattern": r"\.(csv|jsonl)$",
        "description": "a table: each row makes a case, {{column}} is replaced by its value",
    }
    anything: dict[str, Any] = {key: {} for key in case["properties"]}
    return _object({**anything, "cases_from": file})


def _agent(components: dict[str, Any]) -> dict[str, Any]:
    """The keys of all kinds of agents; the loader checks which may be combined."""
    found = {}
    for kind in registry.agent_kinds().values():
        for key, annotation in validation.field_types(kind.settings).items():
            schema = _type(annotation, components)
            described = {"description": kind.about[key]} if key in kind.about else {}
            found[key] = {"anyOf": [schema, {"type": "null"}], **described} if schema else described
    return found


def _action() -> dict[str, Any]:
    function = {"type": "string", "pattern": MODULE_AND_NAME}
    return {"anyOf": [function, {**_texts(), "minItems": 1}, {"type": "null"}]}


def _seconds() -> dict[str, Any]:
    return {"type": ["number", "null"], "exclusiveMinimum": 0}


def _severities() -> dict[str, Any]:
    by_layer = _object({layer: {"enum": [one.value for one in Severity]} for layer in LAYERS})
    text = "the default severity of a layer's checks, such as {path: fail}"
    return {**by_layer, "minProperties": 1, "description": text}


def _match(components: dict[str, Any]) -> dict[str, Any]:
    text = "the case is for every recorded trace, or for all that fit: it needs no query"
    fitting = _type(Selector, components)
    components["Selector"]["minProperties"] = 1
    return {"anyOf": [{"const": "all"}, fitting], "description": text}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _texts() -> dict[str, Any]:
    return {"type": "array", "items": {"type": "string", "minLength": 1}}


def _block_references() -> dict[str, Any]:
    return {
        layer: {"anyOf": [{"$ref": f"#/$defs/{layer}_block"}, {"type": "null"}]} for layer in LAYERS
    }


def _type(annotation: Any, components: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type; its named parts are added to the components."""
    (schema,), parts = msgspec.json.schema_components((annotation,), ref_template="#/$defs/{name}")
    for name, part in parts.items():
        if part.get("type") == "object" and "properties" in part:
            part["additionalProperties"] = False
        components[name] = part
    return dict(schema)


def _wrapped(plain: dict[str, Any]) -> dict[str, Any]:
    """The plain value of a check, or the value with a severity, or null."""
    severity = {"enum": ["fail", "warn"]}
    wrapper = _object({"value": plain, "severity": severity})
    return {"anyOf": [plain, {**wrapper, "required": ["value"]}, {"type": "null"}]}


def _block(layer: str, components: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    options: dict[str, Any] = {}
    for name in registry.names(registry.CHECKS):
        kind = registry.find_check(name)
        if kind is None or (kind.layer != layer and not kind.any_layer):
            continue
        if kind.combines:
            properties[name] = {**_combination(kind, layer), "description": _description(kind)}
            continue
        types = validation.field_types(kind)
        first = own_fields(kind)[0]
        properties[name] = {
            **_wrapped(_type(types[first], components)),
            "description": _description(kind),
        }
        for option, field in setting_keys(kind).items():
            if option != "reference_tools":
                options.setdefault(option, _wrapped(_type(types[field], components)))
    return {**_object({**options, **properties}), "patternProperties": {":": {}}}


def _combination(kind: type[Check], layer: str) -> dict[str, Any]:
    """A list of blocks of the same layer, or one block."""
    block: dict[str, Any] = {"$ref": f"#/$defs/{layer}_block", "minProperties": 1}
    if not kind.takes_list:  # type: ignore[attr-defined]
        return _wrapped(block)
    return _wrapped({"type": "array", "items": block, "minItems": 1})


def _description(kind: type[Check]) -> str:
    return inspect.cleandoc(kind.__doc__ or "").split("\n\n")[0].replace("\n", " ")


def _expected(components: dict[str, Any]) -> dict[str, Any]:
    properties = {}
    for name, target in EVALDECK.items():
        kind = registry.find_check(target)
        assert kind is not None
        properties[name] = _wrapped(
            _type(validation.field_types(kind)[own_fields(kind)[0]], components)
        )
    return _object(properties)


def _metric() -> dict[str, Any]:
    number = {"type": "number"}
    gate = _object(
        {
            "name": {"type": "string"},
            "min": number,
            "max": number,
            "severity": {"enum": ["fail", "warn"]},
        }
    )
    names = {"enum": registry.names(registry.METRICS)}
    plug_in = {"type": "string", "pattern": ":"}
    return {"anyOf": [names, plug_in, {**gate, "required": ["name"]}]}
