from __future__ import annotations

import json

import pytest

from tests.helpers import FAIL, PASS, first, refusal, said
from trialrun import EvalCase

STATUS = {"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}}


def found(schema, answer):
    return first("correctness", {"json_schema": schema}, said(answer))


def test_the_answer_must_conform():
    assert found(STATUS, '{"status": "ok"}').status is PASS
    assert found(STATUS, '{"status": 1}').status is FAIL
    assert found(STATUS, "{}").status is FAIL


def test_the_message_names_the_place():
    assert "status" in found(STATUS, '{"status": 1}').message


@pytest.mark.parametrize(
    "answer", ["", "It is ok.", "{'status': 'ok'}", '{"status": "ok"} done', "{} {}", "[1,]"]
)
def test_an_answer_that_is_not_one_json_document_fails(answer):
    assert found(True, answer).status is FAIL


@pytest.mark.parametrize("answer", ["NaN", "Infinity", '{"n": NaN}'])
def test_python_numbers_that_json_does_not_have_fail(answer):
    assert found(True, answer).status is FAIL


@pytest.mark.parametrize("answer", ["1", "null", "true", '"text"', "[]", " {}\n"])
def test_any_json_document_is_allowed_not_only_objects(answer):
    assert found(True, answer).status is PASS


@pytest.mark.parametrize(
    "answer",
    [
        '```json\n{"status": "ok"}\n```',
        '\n```json\n{"status": "ok"}\n```\n',
        '```json\n{\n  "status": "ok"\n}\n```',
    ],
)
def test_a_single_fence_is_removed(answer):
    assert found(STATUS, answer).status is PASS


def test_a_single_fence_with_windows_line_ends_is_removed():
    assert found(STATUS, '```json\r\n{"status": "ok"}\r\n```').status is PASS


@pytest.mark.parametrize(
    "answer",
    [
        'Here it is:\n```json\n{"status": "ok"}\n```',
        '```json\n{"status": "ok"}\n```\nAnything else?',
        '```json\n{"status": "ok"}\n```\n```json\n{"status": "ok"}\n```',
        '```json\n```json\n{"status": "ok"}\n```\n```',
        '```json\n{"status": "ok"}',
        '```yaml\n{"status": "ok"}\n```',
    ],
)
def test_other_text_around_the_document_is_not_removed(answer):
    assert found(STATUS, answer).status is FAIL


def test_a_fence_inside_a_text_of_the_document_stays():
    assert found({"const": "```json\n1\n```"}, '"```json\\n1\\n```"').status is PASS


def test_the_default_draft_is_2020_12():
    pair = {"prefixItems": [{"type": "integer"}]}
    assert found(pair, '["a"]').status is FAIL
    draft_7 = {"$schema": "http://json-schema.org/draft-07/schema#", **pair}
    assert found(draft_7, '["a"]').status is PASS  # draft 7 does not know `prefixItems`


def test_the_draft_of_the_schema_decides_the_meaning_of_keywords():
    above_one = {"minimum": 1, "exclusiveMinimum": True}
    draft_4 = {"$schema": "http://json-schema.org/draft-04/schema#", **above_one}
    assert found(draft_4, "2").status is PASS
    assert found(draft_4, "1").status is FAIL
    assert "json_schema" in refusal("correctness", {"json_schema": above_one})


def test_a_reference_inside_the_schema_is_followed():
    schema = {"$ref": "#/$defs/name", "$defs": {"name": {"type": "string"}}}
    assert found(schema, '"a"').status is PASS
    assert found(schema, "1").status is FAIL


@pytest.mark.parametrize(
    "reference",
    ["http://127.0.0.1:9/schema.json", "https://example.com/schema.json", "file:///etc/hostname"],
)
def test_a_reference_outside_the_schema_is_refused(reference):
    assert "json_schema" in refusal("correctness", {"json_schema": {"$ref": reference}})


@pytest.mark.parametrize("schema", [{"type": "objekt"}, {"required": "status"}, "object", []])
def test_a_bad_schema_is_a_spec_error(schema):
    assert "json_schema" in refusal("correctness", {"json_schema": schema})


def test_the_schema_false_accepts_nothing():
    assert found(False, "1").status is FAIL


def test_whole_numbers_beyond_64_bits_are_compared_exactly():
    schema = {"const": 123456789012345678901234567890}
    assert found(schema, "123456789012345678901234567890").status is PASS
    assert found(schema, "123456789012345678901234567891").status is FAIL


def test_a_schema_can_have_a_severity():
    block = {"json_schema": {"value": STATUS, "severity": "warn"}}
    result = first("correctness", block, said("{}"))
    assert (result.status, result.severity) == ("fail", "warn")


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "object", "requierd": ["status"]}, "unknown keyword `requierd`"),
        ({"propertys": {"a": {"type": "string"}}}, "did you mean `properties`?"),
        ({"properties": {"a": {"typ": "string"}}}, "properties/a: unknown keyword `typ`"),
        ({"items": {"minlength": 3}}, "items: unknown keyword `minlength`"),
        ({"anyOf": [{}, {"enums": [1]}]}, "anyOf/1: unknown keyword `enums`"),
        ({"$defs": {"x": {"max_length": 3}}}, "$defs/x: unknown keyword `max_length`"),
        ({"properties": {"a": {"not": {"patern": "x"}}}}, "properties/a/not: unknown keyword"),
        ({"format": "emial"}, "unknown format `emial` of a JSON schema; did you mean `email`?"),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "requierd": ["a"]},
            "did you mean `required`?",
        ),
    ],
)
def test_a_misspelt_keyword_is_a_spec_error(schema, message):
    assert message in refusal("correctness", {"json_schema": schema})


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"requierd": {"type": "string"}, "typ": {}}, "required": ["typ"]},
        {"type": "object", "example": {}, "x-order": 1, "nullable": True, "discriminator": {}},
        {"enum": [{"requierd": 1}], "const": {"requierd": 1}, "default": {"typ": 1}},
        {"format": "int32"},
        {"title": "A", "description": "b", "$comment": "c", "deprecated": True},
    ],
)
def test_names_of_properties_and_extensions_are_allowed(schema):
    EvalCase.from_dict({"query": "q", "correctness": {"json_schema": schema}})


@pytest.mark.parametrize(
    "draft",
    [
        {},
        {"$schema": "https://json-schema.org/draft/2020-12/schema"},
        {"$schema": "https://json-schema.org/draft/2019-09/schema"},
        {"$schema": "http://json-schema.org/draft-07/schema#"},
    ],
)
@pytest.mark.parametrize(
    ("form", "right", "wrong"),
    [
        ("email", "a@example.org", "not an email"),
        ("date", "2026-02-28", "2026-02-30"),
        ("ipv4", "127.0.0.1", "127.0.0.256"),
    ],
)
def test_a_format_must_hold_in_every_draft(draft, form, right, wrong):
    schema = {**draft, "properties": {"a": {"format": form}}}
    assert found(schema, json.dumps({"a": right})).status is PASS
    assert found(schema, json.dumps({"a": wrong})).status is FAIL
