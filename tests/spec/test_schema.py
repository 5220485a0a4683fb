"""The JSON schema accepts what the loader accepts."""

from __future__ import annotations

import json

import jsonschema_rs
import pytest

from trialrun import SpecError, load_suite
from trialrun.spec.schema import spec_schema

VALIDATOR = jsonschema_rs.validator_for(json.loads(json.dumps(spec_schema())))
CASE = {"query": "q", "path": {"max_steps": 1}}


def with_case(**keys):
    return {"queries": [{**CASE, **keys}]}


RIGHT = [
    {"runner": "m:f", "queries": [CASE]},
    {"command": ["a", "b"], "timeout": 5, "redact": ["a+"], "queries": [CASE]},
    {
        "url": "http://x",
        "method": "put",
        "headers": {"A": "${B}"},
        "body": {"a": ["{{input}}"]},
        "answer": "a.0",
        "queries": [CASE],
    },
    {
        "agents": {
            "a": {"runner": "m:f", "timeout": 1.5},
            "b": {"url": "http://x", "body": "{{input}}"},
        },
        "queries": [CASE],
    },
    {"defaults": {"setup": "m:f", "teardown": ["a"], "state": ["a", "b"]}, "queries": [CASE]},
    with_case(setup="m:f", teardown=["a"], timeout=2),
    {
        "defaults": {"setup": "m:f", "teardown": ["a"], "state": ["a", "b"]},
        **with_case(setup=None, teardown=None, state=None, timeout=None),
    },
    with_case(state="m:f"),
    with_case(state=["pytest", "-q"]),
    with_case(state=[["a"], "m:f", {"name": "n", "command": ["a"]}]),
    with_case(state={"value": "m:f", "severity": "warn"}),
    with_case(correctness={"state": ["m:f"]}),
    {
        "queries": [
            {
                "cases_from": "rows.jsonl",
                "name": "case-{{id}}",
                "query": "{{q}}",
                "tags": "{{tags}}",
                "timeout": "{{n}}",
                "path": {"max_tool_calls": "{{n}}"},
            },
            CASE,
        ]
    },
]

WRONG = [
    {"command": [], "queries": [CASE]},
    {"url": "ftp://x", "queries": [CASE]},
    {"timeout": 0, "queries": [CASE]},
    {"redact": "a", "queries": [CASE]},
    {"agents": {}, "queries": [CASE]},
    {"agents": {"a": {"runer": "m:f"}}, "queries": [CASE]},
    with_case(setup="setup.sh"),
    with_case(setup=[]),
    with_case(state=5),
    with_case(state=[{"comand": ["a"]}]),
    with_case(timeout="soon"),
    with_case(cases_from="a.txt"),
    {"queries": [{"turns": [{"query": "q", "state": "m:f"}]}]},
    {"queries": [{"cases_from": "rows.jsonl", "query": "{{q}}", "pth": {}}]},
]


@pytest.fixture
def loaded(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"id": "1", "q": "a", "tags": ["t"], "n": 3}\n')

    def load(document):
        (tmp_path / "spec.yaml").write_text(json.dumps(document))
        return load_suite(tmp_path / "spec.yaml")

    return load


@pytest.mark.parametrize("document", RIGHT)
def test_valid_specs_match_the_schema(loaded, document):
    assert loaded(document).cases
    assert [str(error) for error in VALIDATOR.iter_errors(document)] == []


@pytest.mark.parametrize("document", WRONG)
def test_invalid_specs_do_not_match_the_schema(loaded, document):
    with pytest.raises(SpecError):
        loaded(document)
    assert not VALIDATOR.is_valid(document)
