"""Any result or trace is read back equal; secrets are masked, fixed words are not."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta, timezone

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from tests.helpers import property_test
from tests.store.samples import NOON, attempt, no_redaction, planned, record_run, results_of, run
from trialrun import CheckStatus, LayerStatus, Step, StepStatus, TokenUsage, Trace, TraceStatus
from trialrun.model.results import (
    CheckResult,
    EvaluationResult,
    LayerResult,
    MetricResult,
    Severity,
)
from trialrun.model.trace import EVIDENCE
from trialrun.store import Attempt, PlannedCase, RunState, codec, open_store, rows
from trialrun.store.backends.sqlite import SqliteDatabase

FAR = datetime(9000, 1, 1, tzinfo=NOON.tzinfo)

texts = some.text(some.characters(), max_size=12) | some.sampled_from(
    [
        "\0",
        "a\0b",
        "\ud800",
        "\ud83d\ude00",
        "\\",
        "\\u0000",
        "\\\\0",
        "\N{GRINNING FACE}",
        "x" * 300,
    ]
)
values = some.recursive(
    some.none() | some.booleans() | some.integers() | texts | some.floats(allow_nan=False),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
amounts = some.none() | some.floats(0, 1e6)
moments = some.none() | some.datetimes(timezones=some.just(NOON.tzinfo))
plain = some.dictionaries(texts, values, max_size=2)
steps = some.one_of(
    some.builds(
        Step.llm_call,
        texts,
        texts,
        texts,
        some.none() | some.builds(TokenUsage, some.integers(0, 99), some.integers(0, 99)),
        cost_usd=amounts,
        timestamp=moments,
    ),
    some.builds(
        Step.tool_call,
        texts.filter(bool),
        plain,
        values,
        status=some.sampled_from(StepStatus),
        id=texts,
        parent_id=texts,
        metadata=plain,
    ),
)
traces = some.builds(
    Trace,
    id=some.none() | texts,
    input=texts,
    output=some.none() | texts,
    status=some.sampled_from(TraceStatus),
    steps=some.lists(steps, max_size=4),
    started_at=moments,
    duration_ms=amounts,
    recorded=some.sets(some.sampled_from(sorted(EVIDENCE))),
    metadata=plain,
)
checks = some.builds(
    CheckResult,
    texts,
    some.sampled_from(CheckStatus),
    some.sampled_from(Severity),
    texts,
    some.none() | some.integers(1, 9),
)
layers = some.builds(
    LayerResult, some.sampled_from(LayerStatus), some.lists(checks, max_size=3).map(tuple)
)
metrics = some.builds(
    MetricResult,
    texts,
    some.none() | some.integers() | some.floats(allow_nan=False),
    details=plain,
    error=some.none() | texts,
    gate=some.none() | checks,
)
results = some.builds(
    EvaluationResult,
    case_name=texts,
    suite_name=some.none() | texts,
    status=some.sampled_from(LayerStatus),
    layers=some.dictionaries(texts, layers, max_size=3),
    metrics=some.lists(metrics, max_size=2),
    error=some.none() | texts,
    tags=some.lists(texts, max_size=2).map(tuple),
    duration_ms=amounts,
    total_tokens=some.none() | some.integers(0, 10**15),
    cost_usd=amounts,
)


@property_test
@given(results, traces)
def test_a_packed_attempt_is_unpacked_equal(result, trace):
    made = Attempt(position=0, attempt=1, result=result, trace=trace)
    _, packed_result, packed_trace, _ = codec.pack_attempt(made, no_redaction)
    assert codec.unpack_result(packed_result) == result
    assert codec.unpack_trace(packed_trace) == trace


@property_test
@given(texts)
def test_escaped_text_is_storable_and_restored_equal(text):
    safe = codec.safe_text(text)
    assert "\0" not in safe
    safe.encode()
    assert codec.original_text(safe) == text


def test_ordinary_text_is_not_escaped():
    assert codec.safe_text("zwölf \N{GRINNING FACE}\n") == "zwölf \N{GRINNING FACE}\n"
    assert codec.safe_text("a\\b\0") == "a\\\\b\\u0000"


@pytest.fixture(
    scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)]
)
def shared_store(request, tmp_path_factory):
    """One store for all examples; a database for each would take minutes."""
    from tests import postgres

    if request.param == "sqlite":
        location = str(tmp_path_factory.mktemp("store") / "runs.db")
    else:
        server = postgres.postgres_server()
        postgres.execute(server, "CREATE DATABASE examples TEMPLATE template0")
        location = f"{server}/examples"
    with open_store(location) as store:
        yield store
    if request.param == "postgresql":
        postgres.execute(server, "DROP DATABASE examples")


@property_test
@given(texts, some.none() | texts, some.lists(texts, max_size=3), plain, moments)
def test_rows_of_a_run_are_read_back_equal(text, agent, words, options, moment):
    made = run(count=1, finished_at=moment, settings=options, warnings=words)
    made.spec = made.spec_key = text
    case = PlannedCase(position=3, suite=text, agent=agent, case=text, tags=tuple(words))
    for stored_moment in (as_stored_by_sqlite, as_returned_by_postgresql):
        row = rows.run_values(made, no_redaction, stored_moment)
        found = rows.run_record(row)
        assert found == made
        assert found.created_at.utcoffset() == timedelta(0)
        assert all(value is None or is_storable(value) for value in row)
    ((run_id, *row),) = rows.planned_values("the run", [case], no_redaction)
    assert (run_id, rows.planned_case(row)) == ("the run", case)
    assert all(value is None or is_storable(value) for value in row)


def as_stored_by_sqlite(moment):
    return SqliteDatabase.moment(None, moment)


def as_returned_by_postgresql(moment):
    """In the time zone of the session, which may be any."""
    return moment.astimezone(timezone(timedelta(hours=5) if moment < FAR else timedelta(hours=-5)))


def is_storable(value):
    """Whether PostgreSQL accepts the value."""
    return not isinstance(value, str) or ("\0" not in value and value.encode() is not None)


@settings(property_test, max_examples=10)
@given(results, traces, texts, some.lists(texts, max_size=3), plain)
def test_records_are_read_back_equal_from_both_databases(
    shared_store, result, trace, text, words, options
):
    store, made = shared_store, run(count=1)
    made.spec, made.spec_key, made.settings, made.warnings = text, text, options, words
    case = PlannedCase(position=0, suite=text, agent=text, case=text, tags=tuple(words))
    given_attempt = Attempt(position=0, attempt=1, result=result, trace=trace)
    store.delete_runs([made.id])
    store.create_run(made, [case], no_redaction)
    store.add(made.id, [given_attempt], no_redaction)
    assert store.runs(spec_key=text) == [made]
    assert list(store.plan(made.id)) == [case]
    assert list(store.attempts(made.id)) == [given_attempt]


def test_numbers_that_json_cannot_represent_are_preserved():
    numbers = [math.inf, -math.inf, math.nan, 2**80]
    trace = Trace(input="q", metadata={"numbers": numbers})
    made = Attempt(position=0, attempt=1, result=attempt().result, trace=trace)
    found = codec.unpack_trace(codec.pack_attempt(made, no_redaction)[2]).metadata["numbers"]
    assert [found[0], found[1], found[3]] == [math.inf, -math.inf, 2**80]
    assert math.isnan(found[2])


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-1], lambda b: b"", lambda b: b[:9] + b"\0" + b[10:]]
)
def test_damaged_bytes_are_detected(damage):
    _, result, trace, _ = codec.pack_attempt(attempt(), no_redaction)
    with pytest.raises(codec.Damaged):
        codec.unpack_result(damage(result))
    with pytest.raises(codec.Damaged):
        codec.unpack_trace(damage(trace))


def test_intact_bytes_that_are_not_a_record_count_as_damaged():
    for other in ([], {"case_name": "x"}, "text"):
        with pytest.raises(codec.Damaged):
            codec.unpack_result(codec._compressed(codec._encode(other)))
        with pytest.raises(codec.Damaged):
            codec.unpack_trace(codec._compressed(codec._encode(other)))


def masking(pattern):
    """A redactor that masks the pattern in every text, keys included."""

    def redactor(value):
        if isinstance(value, str):
            return re.sub(pattern, "[redacted]", value)
        if isinstance(value, dict):
            return {redactor(key): redactor(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [redactor(item) for item in value]
        return value

    return redactor


def with_secret():
    """An attempt with the secret in every field that may contain untrusted text."""
    secret = "SECRET"
    check = CheckResult(secret, CheckStatus.FAIL, Severity.FAIL, secret)
    made = attempt(0, error=secret * 100, tags=(secret,), trace_id=secret)
    made.result.case_name = made.result.suite_name = secret
    made.result.layers["path"] = LayerResult(LayerStatus.FAIL, (check,))
    made.result.metrics.append(MetricResult(secret, 1, secret, {secret: [secret]}, secret, check))
    step = {"input": secret, "output": secret, "model": secret, "error": secret, "id": secret}
    step |= {"reasoning_text": secret, "handoff_to": secret, "parent_id": secret}
    made.trace = Trace(
        id=secret,
        name=secret,
        input=secret,
        output=secret,
        error=secret,
        framework=secret,
        agent_name=secret,
        metadata={secret: {secret: secret}},
        steps=[
            Step(
                type="tool_call",
                tool_name=secret,
                tool_args={secret: secret},
                tool_result=[secret],
                metadata={"status": secret},
                **step,
            )
        ],
    )
    return made


def test_no_secret_reaches_the_database(store):
    mask = masking("SECRET")
    made = run(
        count=1, spec="SECRET", settings={"gates": {"SECRET": "SECRET"}}, warnings=["SECRET"]
    )
    case = PlannedCase(position=0, suite="SECRET", agent="SECRET", case="SECRET", tags=["SECRET"])
    store.create_run(made, [case], mask)
    assert "SECRET" not in repr((store.runs(), list(store.plan(made.id))))
    store.add(made.id, [with_secret()], mask)
    store.finish(made.id, RunState.FINISHED, NOON, ["SECRET"], mask)
    with store._database.reading() as connection:
        found = [
            list(row)
            for table in ("runs", "planned", "attempts")
            for row in connection.rows(f"SELECT * FROM trialrun_{table}")
        ]
    assert len(found) == 3
    assert "SECRET" not in repr(found)
    (found,) = store.attempts(made.id)
    whole = repr((msgspec.to_builtins(found.result), found.trace.to_dict()))
    assert "SECRET" not in whole
    assert whole.count("[redacted]") > 30


def test_without_a_redactor_the_known_secrets_are_masked(store):
    key = "sk-" + "a1B2" * 8
    made = run(count=1, settings={"gates": [{"key": key}]}, warnings=[key], spec=key)
    store.create_run(made, [PlannedCase(position=0, suite=key, case=key)])
    store.finish(made.id, RunState.FINISHED, NOON, [key])
    assert key not in repr((store.runs(), list(store.plan(made.id))))


@pytest.mark.parametrize("pattern", ["pass", r"\d+", "tool", ".+", "[a-z_]+"])
def test_a_pattern_that_matches_fixed_words_does_not_make_a_record_unreadable(store, pattern):
    given = run(count=1, settings={"gates": 1})
    store.create_run(given, planned(1), masking(pattern))
    made = attempt()
    store.add(given.id, [made], masking(pattern))
    (found,) = store.attempts(given.id)
    assert found.result.status is LayerStatus.PASS
    assert found.result.error is None
    assert found.trace.started_at == NOON
    assert [step.type for step in found.trace.steps] == [step.type for step in made.trace.steps]
    assert list(store.runs()[0].settings) == ["gates"]


def damage(store, run_id, position, column):
    with store._database.writing() as connection:
        blob = connection.value(
            f"SELECT {column} FROM trialrun_attempts WHERE position = ?", [position]
        )
        damaged = bytes(blob[:20]) + bytes([blob[20] ^ 1]) + bytes(blob[21:])
        connection.execute(
            f"UPDATE trialrun_attempts SET {column} = ? WHERE position = ?", [damaged, position]
        )


def test_a_damaged_result_is_an_error_and_the_others_are_read(store):
    run_id = record_run(store)
    damage(store, run_id, 1, "result")
    for found in (list(results_of(store, run_id)), [one.result for one in store.attempts(run_id)]):
        assert [one.status for one in found] == ["pass", "error", "pass"]
        damaged = found[1]
        assert (damaged.case_name, damaged.suite_name, damaged.attempt) == ("case 1", "suite", 1)
        assert f"run {run_id}, case 'case 1', attempt 1 is damaged" in damaged.error
        assert store.location in damaged.error
        assert not damaged.passed


def test_a_damaged_trace_is_an_error_and_the_others_are_read(store):
    run_id = record_run(store)
    damage(store, run_id, 1, "trace")
    assert [one.status for one in results_of(store, run_id)] == ["pass"] * 3
    found = list(store.attempts(run_id))
    assert [one.result.status for one in found] == ["pass", "error", "pass"]
    assert [one.trace is None for one in found] == [False, True, False]
