"""Hostile specs: one clear message with its place, exit 2, and no code is run."""

from __future__ import annotations

import json
import re
import socket
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hostile.conftest import QUICK
from tests.tiers import all_but_first
from tests.watchdog import cpu_watchdog, watchdog
from trialrun import EvalCase, Suite, Trace, TrialrunError, evaluate, evaluate_async, load_suite
from trialrun.measures import patterns
from trialrun.model.results import CheckStatus, LayerStatus

CASE = "queries:\n  - query: q\n    "


def mistake(name, content, place, *words):
    return pytest.param(content, place, words, id=name)


MISSPELT = [
    mistake("top-level", "querys: []\n", "1:1: querys", "`queries`"),
    mistake("case", CASE + "corectness: {}\n", "3:5: queries[0].corectness", "`correctness`"),
    mistake(
        "check",
        CASE + "correctness: {expected_in_answr: [a]}\n",
        "3:19: queries[0].correctness.expected_in_answr",
        "`expected_in_answer`",
    ),
    mistake(
        "defaults",
        "defaults: {corectness: {}}\n" + CASE + "path: {max_steps: 1}\n",
        "1:12: defaults.corectness",
        "`correctness`",
    ),
    mistake(
        "check in defaults",
        "defaults: {path: {max_tool_cals: 3}}\nqueries:\n  - query: q\n  - query: r\n",
        "1:19: defaults.path.max_tool_cals",
        "`max_tool_calls`",
    ),
    mistake(
        "turn",
        "queries:\n  - turns:\n      - {qury: q, path: {max_steps: 1}}\n",
        "3:10: queries[0].turns[0].qury",
        "`query`",
    ),
    mistake(
        "evaldeck",
        CASE + "expected: {tool_called: [a]}\n",
        "3:16: queries[0].expected.tool_called",
        "`tools_called`",
    ),
    mistake(
        "verification",
        CASE + "verification: {min_complience: 1}\n",
        "3:20: queries[0].verification.min_complience",
        "`min_compliance`",
    ),
    mistake(
        "verification tools",
        CASE + "verification: {min_compliance: 1, tools: {edit: [a]}}\n",
        "3:47: queries[0].verification.tools.edit",
        "`edits`",
    ),
    mistake(
        "judge",
        "judge: {modle: x}\n" + CASE + "path: {max_steps: 1}\n",
        "1:9: judge.modle",
        "`model`",
    ),
    mistake(
        "rubric",
        CASE + "correctness: {llm_judge: [{rule: polite, treshold: 1}]}\n",
        "3:46: queries[0].correctness.llm_judge[0].treshold",
        "`threshold`",
    ),
    mistake(
        "metric",
        "metrics: [step_cuont]\n" + CASE + "path: {max_steps: 1}\n",
        "1:11: metrics[0]",
        "`step_count`",
    ),
    mistake(
        "gate",
        "metrics: [{name: token_cost, maximum: 1}]\n" + CASE + "path: {max_steps: 1}\n",
        "1:30: metrics[0].maximum",
        "unknown key",
    ),
    mistake(
        "wrapper",
        CASE + "path: {max_steps: {value: 1, severty: fail}}\n",
        "3:34: queries[0].path.max_steps.severty",
        "`severity`",
    ),
    mistake(
        "severity",
        CASE + "path: {max_steps: {value: 1, severity: fial}}\n",
        "3:44: queries[0].path.max_steps.severity",
        "`fail`",
    ),
    mistake(
        "wanted call",
        CASE + "path: {tool_args: [{tool: a, arg: {x: 1}}]}\n",
        "3:34: queries[0].path.tool_args[0].arg",
        "`args`",
    ),
    mistake(
        "selection",
        CASE + "path: {span_assertions: [{select: {tipe: x}, field: input, contains: a}]}\n",
        "3:40: queries[0].path.span_assertions[0].select.tipe",
        "`type`",
    ),
    mistake(
        "field of a step",
        CASE + "path: {span_assertions: [{select: {name: x}, field: ouput, contains: a}]}\n",
        "3:57: queries[0].path.span_assertions[0].field",
        "`output`",
    ),
    mistake(
        "retrieval",
        CASE + "retrieval: {tool: s, min_result: 2}\n",
        "3:26: queries[0].retrieval.min_result",
        "`min_results`",
    ),
    mistake(
        "in the wrong block",
        CASE + "correctness: {max_steps: 1}\n",
        "3:19: queries[0].correctness.max_steps",
        "`path`",
    ),
    mistake(
        "option in the wrong block",
        CASE + "correctness: {exact_match: a, min_tool_recall: 1}\n",
        "3:35: queries[0].correctness.min_tool_recall",
        "`path`",
    ),
]

WRONG_TYPES = [
    mistake("text for a list", CASE + "tags: smoke\n", "3:11: queries[0].tags", "list", '"smoke"'),
    mistake("number for text", "queries:\n  - name: 12\n", "2:11: queries[0].name", "text", "12"),
    mistake(
        "boolean for text", "queries:\n  - name: true\n", "2:11: queries[0].name", 'write "true"'
    ),
    mistake(
        "number for a term",
        CASE + "correctness: {expected_in_answer: [30]}\n",
        "3:40: queries[0].correctness.expected_in_answer[0]",
        'write "30"',
    ),
    mistake(
        "number for an answer",
        CASE + "correctness: {exact_match: 42}\n",
        "3:32: queries[0].correctness.exact_match",
        'write "42"',
    ),
    mistake("list for text", CASE + "trace: [a]\n", "3:12: queries[0].trace", "text", "list"),
    mistake("list for a block", CASE + "path: [a]\n", "3:11: queries[0].path", "mapping"),
    mistake(
        "mapping for a pattern",
        CASE + "correctness: {regex_match: {a: 1}}\n",
        "3:32: queries[0].correctness.regex_match",
        "text",
        "mapping",
    ),
    mistake(
        "text for rubrics",
        CASE + "correctness: {llm_judge: polite}\n",
        "3:30: queries[0].correctness.llm_judge",
        "list",
        '"polite"',
    ),
    mistake(
        "text for a count",
        CASE + "path: {max_tool_calls: 'three'}\n",
        "3:28: queries[0].path.max_tool_calls",
        "whole number",
        '"three"',
    ),
    mistake(
        "fraction of a step",
        CASE + "path: {max_steps: 1.5}\n",
        "3:23: queries[0].path.max_steps",
        "whole number",
        "1.5",
    ),
    mistake("boolean for a count", CASE + "path: {max_steps: true}\n", "3:23: ", "true"),
    mistake("mapping of cases", "queries: {a: 1}\n", "1:10: queries", "list"),
    mistake("text of cases", "queries: hello\n", "1:10: queries", "list", '"hello"'),
    mistake("case is a number", "queries: [5]\n", "1:11: queries[0]", "mapping", "5"),
    mistake("case is null", "queries: [null]\n", "1:11: queries[0]", "mapping", "null"),
    mistake("case without a question", "queries: [{}]\n", "1:11: queries[0]", "`query`"),
    mistake("question is null", "queries: [{query: }]\n", "1:19: queries[0].query", "null"),
    mistake("version", "version: 2\nqueries: []\n", "1:10: version", "1", "2"),
    mistake("version is text", "version: '1'\nqueries: []\n", "1:10: version", "whole number"),
    mistake("runner", "runner: foo\nqueries: []\n", "1:9: runner", '"foo"'),
    mistake("command", "command: node x.js\nqueries: []\n", "1:10: command", "list"),
    mistake("address", "url: ftp://x\nqueries: []\n", "1:6: url", "ftp://x"),
    mistake("two agents", "runner: a:b\nurl: http://x\nqueries: []\n", "2:1: url", "one"),
    mistake("defaults", "defaults: [a]\nqueries: []\n", "1:11: defaults", "mapping"),
    mistake("judge", "judge: 4\nqueries: []\n", "1:8: judge", "4"),
    mistake("metrics", "metrics: step_count\nqueries: []\n", "1:10: metrics", "list"),
    mistake("both names of the list", "queries: []\ncases: []\n", "2:1: cases", "`queries`"),
    mistake(
        "both names of the question",
        CASE + "input: r\n    path: {max_steps: 1}\n",
        "3:5: queries[0].input",
        "`query`",
    ),
    mistake(
        "question and turns",
        CASE + "turns: [{query: a, path: {max_steps: 1}}]\n",
        "3:5: queries[0].turns",
        "`query`",
    ),
]

NUMBERS = [
    mistake("nan", CASE + "cost: {max_cost_usd: .nan}\n", "3:26: ", "max_cost_usd", "nan"),
    mistake("infinity", CASE + "cost: {max_latency_ms: .inf}\n", "3:28: ", "max_latency_ms", "inf"),
    mistake("minus infinity", CASE + "cost: {max_llm_calls: -.inf}\n", "3:27: ", "-inf"),
    mistake("too large for a float", CASE + "cost: {max_cost_usd: 1e999}\n", "3:26: ", "inf"),
    mistake(
        "negative tokens", CASE + "cost: {max_total_tokens: -1}\n", "3:30: ", "0 or more", "-1"
    ),
    mistake("negative dollars", CASE + "cost: {max_cost_usd: -0.01}\n", "3:26: ", "0 or more"),
    mistake("negative calls", CASE + "path: {max_tool_calls: -3}\n", "3:28: ", "0 or more"),
    mistake("zero repeats", CASE + "path: {max_repeats: 0}\n", "3:25: ", "1 or more"),
    mistake("zero multiplier", CASE + "cost: {max_cost_multiplier: 0}\n", "3:33: ", "above 0"),
    mistake(
        "recall above 1",
        CASE + "path: {expected_tools: [a], min_tool_recall: 1.5}\n",
        "3:50: queries[0].path.min_tool_recall",
        "above 0, at most 1",
        "1.5",
    ),
    mistake(
        "precision below 0",
        CASE + "path: {expected_tools: [a], min_tool_precision: -0.1}\n",
        "3:53: queries[0].path.min_tool_precision",
        "above 0, at most 1",
    ),
    mistake(
        "f1 not a number",
        CASE + "path: {expected_tools: [a], min_tool_f1: .nan}\n",
        "3:46: queries[0].path.min_tool_f1",
        "above 0, at most 1",
    ),
    mistake(
        "similarity", CASE + "path: {min_sequence_similarity: 2}\n", "3:37: ", "above 0, at most 1"
    ),
    mistake(
        "rubric threshold",
        CASE + "correctness: {llm_judge: [{rule: a, threshold: 1.1}]}\n",
        "3:52: queries[0].correctness.llm_judge[0].threshold",
        "from 0 to 1",
    ),
    mistake(
        "safety threshold",
        CASE + "correctness: {safety_check: {rule: a, threshold: -1}}\n",
        "3:54: queries[0].correctness.safety_check.threshold",
        "from 0 to 1",
    ),
    mistake(
        "compliance", CASE + "verification: {min_compliance: 7}\n", "3:36: ", "above 0, at most 1"
    ),
    mistake(
        "infinite gate",
        "metrics: [{name: step_count, max: .inf}]\n" + CASE + "path: {max_steps: 1}\n",
        "1:35: metrics[0].max",
        "inf",
    ),
    mistake(
        "gate that nothing passes",
        "metrics: [{name: step_count, min: 3, max: 2}]\n" + CASE + "path: {max_steps: 1}\n",
        "1:11: metrics[0]",
        "min 3 is above max 2",
    ),
    mistake(
        "five thousand digits",
        CASE + "cost: {max_cost_usd: " + "9" * 5000 + "}\n",
        "3:26: queries[0].cost.max_cost_usd",
        "number",
    ),
    mistake(
        "hexadecimal of five thousand digits as a budget",
        CASE + "cost: {max_cost_usd: 0x" + "f" * 5000 + "}\n",
        "3:26: queries[0].cost.max_cost_usd",
        "expected a number",
    ),
    mistake(
        "hexadecimal of five thousand digits as text",
        "queries:\n  - query: 0x" + "f" * 5000 + "\n",
        "2:12: queries[0].query",
        "expected text",
    ),
    mistake(
        "hexadecimal of five thousand digits as a key",
        "? 0x" + "f" * 5000 + "\n: 1\nqueries: []\n",
        "1:3: ",
        "key",
    ),
    mistake(
        "approx nan",
        CASE + "path: {tool_args: [{tool: a, args: {x: {approx: .nan}}}]}\n",
        "3:23: queries[0].path.tool_args",
        "approx",
    ),
    mistake(
        "negative tolerance",
        CASE + "path: {tool_args: [{tool: a, args: {x: {approx: 1, within: -1}}}]}\n",
        "3:23: queries[0].path.tool_args",
        "within",
    ),
]

MEANINGLESS = [
    mistake("no term", CASE + "correctness: {expected_in_answer: []}\n", "3:39: ", "not empty"),
    mistake("empty term", CASE + "correctness: {not_in_answer: ['']}\n", "3:35: ", "not empty"),
    mistake("empty choice", CASE + "correctness: {expected_in_answer: [[]]}\n", "3:40: ", "empty"),
    mistake("no pattern", CASE + "correctness: {regex_match: []}\n", "3:32: ", "not empty"),
    mistake("no rubric", CASE + "correctness: {llm_judge: []}\n", "3:30: ", "not empty"),
    mistake("no tool", CASE + "path: {forbidden_tools: []}\n", "3:29: ", "not empty"),
    mistake("no stage", CASE + "path: {order: []}\n", "3:19: ", "not empty"),
    mistake("no turn", "queries:\n  - turns: []\n", "2:12: queries[0].turns", "turns"),
    mistake("no block", "queries:\n  - {query: q}\n", "2:5: queries[0]", "checks nothing"),
    mistake("empty block", CASE + "path: {}\n", "2:5: queries[0]", "`q`", "checks nothing"),
    mistake("null block", CASE + "correctness: null\n", "3:5: queries[0].correctness", "no value"),
    mistake("flag off", CASE + "correctness: {refutes_premise: false}\n", "2:5: ", "nothing"),
    mistake(
        "only tools", CASE + "verification: {tools: {edits: [a]}}\n", "3:20: ", "no effect alone"
    ),
    mistake(
        "defaults removed",
        "defaults: {path: {max_steps: 1}}\n" + CASE + "path: {max_steps: null}\n",
        "3:5: queries[0]",
        "checks nothing",
    ),
    mistake(
        "recall of nothing",
        CASE + "path: {min_tool_recall: 0.5}\n",
        "3:12: queries[0].path.min_tool_recall",
        "`expected_tools`",
    ),
    mistake(
        "precision of nothing",
        CASE + "path: {min_tool_precision: 0.5}\n",
        "3:12: queries[0].path.min_tool_precision",
        "`expected_tools`",
    ),
    mistake(
        "f1 of nothing",
        CASE + "path: {min_tool_f1: 0.5}\n",
        "3:12: queries[0].path.min_tool_f1",
        "`expected_tools`",
    ),
    mistake(
        "severity of nothing",
        CASE + "path: {max_steps: {severity: fail}}\n",
        "3:23: queries[0].path.max_steps",
        "`value`",
    ),
    mistake(
        "assertion of nothing",
        CASE + "path: {span_assertions: [{select: {name: a}, field: input}]}\n",
        "3:30: queries[0].path.span_assertions[0]",
        "asserts nothing",
    ),
]

PATTERNS = [
    mistake(
        "in the answer",
        CASE + 'correctness: {regex_match: "(a"}\n',
        "3:32: queries[0].correctness.regex_match",
        '"(a"',
        "position 0",
    ),
    mistake(
        "one of a list",
        CASE + 'correctness: {regex_match: [a, "*"]}\n',
        "3:32: queries[0].correctness.regex_match",
        '"*"',
    ),
    mistake(
        "in an argument",
        CASE + 'path: {tool_args: [{tool: a, args: {x: {regex: "["}}}]}\n',
        "3:23: queries[0].path.tool_args",
        '"["',
    ),
    mistake(
        "in a step",
        CASE + 'path: {span_assertions: [{select: {name: a}, field: input, regex: "("}]}\n',
        "3:30: queries[0].path.span_assertions[0]",
        '"("',
    ),
    mistake(
        "in evaldeck's block",
        CASE + 'expected: {output_matches: "("}\n',
        "3:32: queries[0].expected.output_matches",
        '"("',
    ),
    mistake(
        "nested too deeply",
        CASE + "correctness: {regex_match: '" + "(" * 3000 + ")" * 3000 + "'}\n",
        "3:32: queries[0].correctness.regex_match",
        "nested too deeply",
    ),
    mistake(
        "repeated too often",
        CASE + "correctness: {regex_match: 'a{99999999999}'}\n",
        "3:32: queries[0].correctness.regex_match",
        "too large",
    ),
]

SCHEMAS = [
    mistake("no type", "{type: objekt}", "not a JSON schema", "objekt"),
    mistake("no pattern", '{pattern: "("}', "not a JSON schema", "pattern"),
    mistake("multiple of 0", "{multipleOf: 0}", "not a JSON schema", "multipleOf"),
    mistake("reference to nothing", '{$ref: "#/nope"}', "/nope"),
    mistake("reference is a number", "{$ref: 5}", "$ref"),
    mistake("draft is a number", "{$schema: 5}", "$schema"),
]

DOCUMENTS = [
    mistake("list", "- a\n- b\n", "1:1: ", "mapping", "a list"),
    mistake("scalar", "hello\n", "1:1: ", "mapping", '"hello"'),
    mistake("number", "5\n", "1:1: ", "mapping", "5"),
    mistake("empty", "", " the file is empty"),
    mistake("only comments", "# a\n# b\n", " the file is empty"),
    mistake("only a dash line", "---\n", "1:1: ", "mapping", "nothing"),
    mistake("two documents", "queries: []\n---\nqueries: []\n", "2:1: ", "second document"),
    mistake("bad UTF-8", b"queries:\n  - query: caf\xe9\n", "2:", "UTF-8", "0xe9", "offset 23"),
    mistake("UTF-16", "queries: []".encode("utf-16"), "1:1: ", "UTF-8", "offset 0"),
    mistake("NUL", b"queries:\n  - query: a\0b\n", "2:", "NUL", "offset 21"),
    mistake("bell", b"queries:\n  - query: a\x07b\n", "2:", "not YAML", "0007"),
    mistake("escape", b"queries:\n  - query: a\x1b[31mb\n", "2:", "not YAML", "001b"),
    mistake("lone surrogate", 'queries:\n  - query: "a\\ud800b"\n', "2:", "not YAML"),
    mistake("tab", "queries:\n\t- query: a\n", "2:1: ", "not YAML"),
    mistake("cut off", "queries: [a, b\n", "2:1: ", "not YAML"),
    mistake("wrong indent", "queries:\n  - query: a\n b: c\n", "3:", "not YAML"),
    mistake("unknown YAML", "%YAML 9.9\n---\nqueries: []\n", "1:1: ", "not YAML"),
    mistake(
        "call of Python",
        'queries: !!python/object/apply:os.system ["touch pwned"]\n',
        "1:10: queries",
        "python/object/apply:os.system",
        "not allowed",
    ),
    mistake(
        "name of Python",
        "queries:\n  - query: !!python/name:os.system x\n",
        "2:12: queries[0].query",
        "not allowed",
    ),
    mistake("custom tag", "queries: !mine []\n", "1:10: queries", "!mine", "not allowed"),
    mistake(
        "renamed tag",
        "%TAG ! tag:evil.example,2000:\n---\nqueries: !x []\n",
        "3:10: queries",
        "tag:evil.example,2000:x",
    ),
    mistake("merge key", "a: &a {query: q}\nqueries:\n  - <<: *a\n", "3:5: ", "<<", "`defaults:`"),
    mistake("alias in itself", "queries: &a\n  - *a\n", "2:5: queries[0]", "*a", "own anchor"),
    mistake("alias of nothing", "queries: *b\n", "1:10: queries", "*b"),
    mistake("list as a key", "queries:\n  - ? [a]\n    : b\n", "2:7: queries[0]", "key"),
    mistake("deep list", "queries: " + "[" * 20_000 + "]" * 20_000, "1:109: ", "100 levels"),
    mistake("deep list left open", "queries: " + "[" * 20_000, "1:109: ", "100 levels"),
    mistake("deep mapping", "q: " + "{a: " * 20_000 + "}" * 20_000, "1:", "100 levels"),
    mistake("deep block", "- " * 20_000 + "x\n", "1:201: ", "100 levels"),
    mistake("deep keys", "? " * 20_000 + "x\n", "1:3: ", "key"),
]


@pytest.mark.parametrize(("content", "place", "words"), MISSPELT)
def test_a_misspelt_key_is_refused_with_a_suggestion(bench, content, place, words):
    bench.expect_refused(content, f"spec.yaml:{place}", *words)


@pytest.mark.parametrize(("content", "place", "words"), WRONG_TYPES)
def test_a_wrong_type_is_named_with_its_place_and_what_would_be_right(bench, content, place, words):
    bench.expect_refused(content, f"spec.yaml:{place}", *words)


@pytest.mark.parametrize(("content", "place", "words"), NUMBERS)
def test_a_number_out_of_range_is_refused(bench, content, place, words):
    bench.expect_refused(content, f"spec.yaml:{place}", *words)


@pytest.mark.parametrize(("content", "place", "words"), MEANINGLESS)
def test_an_entry_that_checks_nothing_is_refused(bench, content, place, words):
    bench.expect_refused(content, f"spec.yaml:{place}", *words)


@pytest.mark.parametrize(("content", "place", "words"), PATTERNS)
def test_a_pattern_that_cannot_be_compiled_is_refused(bench, content, place, words):
    bench.expect_refused(content, f"spec.yaml:{place}", *words)


@pytest.mark.parametrize(("content", "place", "words"), DOCUMENTS)
def test_a_file_that_is_not_a_spec_is_refused(bench, content, place, words):
    bench.expect_refused(content, f"spec.yaml:{place}", *words)
    assert not (bench.folder / "pwned").exists()


@pytest.mark.parametrize(("schema", "word", "words"), SCHEMAS)
def test_an_invalid_json_schema_is_refused(bench, schema, word, words):
    content = CASE + "correctness: {json_schema: " + schema + "}\n"
    bench.expect_refused(
        content, "spec.yaml:3:32: queries[0].correctness.json_schema", word, *words
    )


def test_all_mistakes_of_a_file_are_reported_at_once(bench):
    found = bench.expect_refused(
        "querys: 1\nqueries:\n  - {qury: a, path: {max_steps: x}}\n  - 5\n"
    )
    assert len(found.err.splitlines()) == 5


def test_a_key_given_twice_is_named_with_both_lines(bench):
    bench.expect_refused(
        CASE + "query: r\n    path: {max_steps: 1, max_steps: 2}\nqueries: []\n",
        "spec.yaml:3:5: queries[0].query: the key `query` is given twice; first at 2:5",
        "spec.yaml:4:26: queries[0].path.max_steps",
        "first at 4:12",
        "spec.yaml:5:1: queries",
        "first at 1:1",
    )


def test_two_cases_of_one_name_are_named_with_both_lines(bench):
    bench.expect_refused(
        "queries:\n  - {name: a, query: q, path: {max_steps: 1}}\n"
        "  - {name: a, query: r, path: {max_steps: 1}}\n",
        "spec.yaml:3:12: queries[1].name",
        "`a`",
        "first at 2:12",
    )


def test_two_unnamed_cases_may_have_the_same_query(bench):
    bench.spec("queries:\n" + "  - {query: q, path: {max_steps: 1}}\n" * 3)
    bench.traces({"input": "q", "output": "a"})
    assert [r["case"] for r in json.loads(bench.score("--format", "json").out)["results"]] == [
        "q",
        "q-2",
        "q-3",
    ]


def test_a_null_name_is_the_same_as_no_name(bench):
    bench.spec("queries:\n" + "  - {name: null, query: q, path: {max_steps: 1}}\n" * 2)
    bench.run("validate", "spec.yaml").expect(0, "2 cases")


def test_yaml_1_1_booleans_are_text(bench):
    bench.case("correctness: {expected_in_answer: [yes, no, on, off]}")
    bench.traces({"name": "one", "input": "q", "output": "yes no on off"})
    bench.traces(
        {"name": "one", "input": "q", "output": "yes no on off"},
        {"name": "good", "input": "fine", "output": "yes"},
    )
    bench.score().expect(0, "2 passed")


def test_a_spec_may_be_json_with_surrogate_pairs(bench):
    """Python's `json.dumps` writes an emoji as a surrogate pair; YAML includes JSON."""
    cases = [{"name": "\U0001f600", "query": "q", "path": {"max_steps": 1}}]
    bench.spec(json.dumps({"queries": cases}))
    bench.run("validate", "spec.yaml").expect(0, "1 case")


def test_an_alias_bomb_is_refused_at_once(bench):
    lines = ["a: &a [x,x,x,x,x,x,x,x,x]"]
    for before, name in zip("abcdefgh", "bcdefghi", strict=True):
        lines.append(f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]")
    with cpu_watchdog():
        bench.expect_refused(
            "\n".join(lines), "spec.yaml:5:8: e[0]", "aliases expand to more than 10,000"
        )


@pytest.mark.parametrize(
    "block",
    [
        "correctness: {json_schema: {const: *a12}}",
        "path: {tool_args: [{tool: a, args: {x: *a12}}]}",
        "correctness: {llm_judge: [{rule: a, few_shot_examples: *a12}]}",
        "path: *a12",
        "name: *a12",
    ],
)
def test_aliases_do_not_nest_deeper_than_a_document_may(bench, block):
    lines = ["a0: &a0 " + "[" * 95 + "]" * 95]
    for number in range(1, 13):
        lines.append(f"a{number}: &a{number} " + "[" * 95 + f"*a{number - 1}" + "]" * 95)
    bench.expect_refused(
        "\n".join(lines) + f"\nqueries:\n  - query: q\n    {block}\n", "spec.yaml:"
    )


def test_a_message_about_a_very_long_key_stays_short(bench):
    found = bench.expect_refused(
        "queries: []\n? " + "k" * 1_000_000 + "\n: 1\n", "spec.yaml:2:3: kkk"
    )
    assert len(found.err) < 10_000


def test_a_line_break_in_a_key_cannot_forge_a_message(bench):
    found = bench.expect_refused(
        'queries: []\n"a\\nerror: all is well\\n::error::x": 1\n', "2:1: a"
    )
    assert len(found.err.splitlines()) == 1


def test_control_characters_in_a_key_are_shown_escaped(bench):
    bench.expect_refused(
        'queries:\n  - {query: q, "pa\\u202eth": 1, "\\u001b[2Jpath": 2}\n',
        "pa\\u202eth",
        "\\x1b[2Jpath",
    )


# Schemas must not access the network or files


@pytest.fixture
def listener():
    """A local port, and the connections to it; the test fails if there was one."""
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(0.05)
    calls, over = [], threading.Event()

    def listen():
        while not over.is_set():
            try:
                connection, caller = server.accept()
            except TimeoutError:
                continue
            calls.append(caller)
            connection.close()

    thread = threading.Thread(target=listen)
    thread.start()
    yield server.getsockname()[1], calls
    time.sleep(0.1)  # until a pending connection is accepted
    over.set()
    thread.join()
    server.close()
    assert calls == []


@pytest.mark.parametrize(
    "schema",
    [
        '{$ref: "http://127.0.0.1:PORT/x.json"}',
        '{properties: {a: {$ref: "http://127.0.0.1:PORT/x.json#/definitions/y"}}}',
        '{$id: "http://127.0.0.1:PORT/root.json", properties: {a: {$ref: "other.json"}}}',
        '{$defs: {x: {$id: "http://127.0.0.1:PORT/y", $ref: "z.json"}}}',
        '{$defs: {never: {$ref: "http://127.0.0.1:PORT/z.json"}}}',
        '{$dynamicRef: "http://127.0.0.1:PORT/x#meta"}',
        '{$schema: "https://json-schema.org/draft/2019-09/schema", '
        '$recursiveRef: "http://127.0.0.1:PORT/x"}',
    ],
)
def test_an_external_reference_in_a_schema_is_refused_and_never_fetched(bench, listener, schema):
    port, _ = listener
    bench.expect_refused(
        CASE + "correctness: {json_schema: " + schema.replace("PORT", str(port)) + "}\n",
        "spec.yaml:3:32: queries[0].correctness.json_schema",
        f"http://127.0.0.1:{port}/",
    )


def test_the_draft_of_a_schema_is_not_fetched(bench, listener):
    port, _ = listener
    bench.case(f'correctness: {{json_schema: {{$schema: "http://127.0.0.1:{port}/meta"}}}}')
    bench.traces({"name": "one", "input": "q", "output": "{}"})
    outcome = bench.score()
    assert "Traceback" not in outcome.text


@pytest.mark.parametrize("reference", ["file://FOLDER/other.json", "other.json", "./other.json"])
def test_a_reference_to_a_file_is_refused_even_if_the_file_is_there(bench, reference):
    bench.write("other.json", '{"type": "object"}')
    reference = reference.replace("FOLDER", str(bench.folder))
    bench.expect_refused(
        CASE + f'correctness: {{json_schema: {{$ref: "{reference}"}}}}\n',
        "spec.yaml:3:32: queries[0].correctness.json_schema",
        "other.json",
    )


@pytest.mark.parametrize(
    "schema",
    [
        '{$ref: "#"}',
        '{allOf: [{$ref: "#"}]}',
        '{$defs: {a: {$ref: "#/$defs/b"}, b: {$ref: "#/$defs/a"}}, $ref: "#/$defs/a"}',
        '{not: {$ref: "#"}}',
    ],
)
def test_a_schema_that_refers_to_itself_ends(bench, schema):
    bench.case("correctness: {json_schema: " + schema + "}")
    bench.traces(
        {"name": "one", "input": "q", "output": '{"a": 1}'},
        {"name": "good", "input": "fine", "output": "yes"},
    )
    outcome = bench.spawn("score", "spec.yaml", "traces.jsonl")  # a stack overflow is fatal
    assert outcome.code in (0, 1, 3)
    assert "good" in outcome.out


def test_a_pattern_in_a_schema_that_times_out_is_unknown_and_not_a_failure(bench):
    bench.case('correctness: {json_schema: {pattern: "^(a|aa)+\\\\1$"}}')
    bench.traces(
        {"name": "one", "input": "q", "output": json.dumps("a" * 60 + "!")},
        {"name": "good", "input": "fine", "output": "yes"},
    )
    bench.score().expect(3, "json_schema unknown", "1 passed, 1 in error")


# Patterns that never end

SLOW = "(a|aa)+$"
ANSWER = "a" * 60 + "!"


def test_a_slow_pattern_is_unknown_and_does_not_affect_other_cases(bench):
    bench.case(f"correctness: {{regex_match: '{SLOW}'}}")
    bench.traces(
        {"name": "one", "input": "q", "output": ANSWER},
        {"name": "good", "input": "fine", "output": "yes"},
    )
    with cpu_watchdog():
        bench.score().expect(3, "regex_match unknown", "0.05 s", "1 passed, 1 in error")


def test_a_slow_pattern_times_out_in_threads_too():
    case = EvalCase.from_dict({"query": "q", "correctness": {"regex_match": SLOW}})
    results = []

    def work():
        results.append(evaluate(case, Trace(input="q", output=ANSWER)))

    threads = [threading.Thread(target=work) for _ in range(2)]
    with watchdog():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [result.status for result in results] == [LayerStatus.ERROR] * 2
    assert all(check.status is CheckStatus.UNKNOWN for r in results for _, check in r.checks())


def test_a_slow_pattern_times_out_in_an_event_loop_too():
    import asyncio

    case = EvalCase.from_dict({"query": "q", "correctness": {"regex_match": SLOW}})
    with cpu_watchdog():
        result = asyncio.run(evaluate_async(case, Trace(input="q", output=ANSWER)))
    assert result.status is LayerStatus.ERROR


@pytest.mark.parametrize(
    "block",
    [
        {"correctness": {"regex_match": [f"{SLOW}(?#{number})" for number in range(15)]}},
        {"path": {"tool_args": [{"tool": "f", "args": {"x": {"regex": SLOW}}}]}},
        {
            "path": {
                "span_assertions": [
                    {"select": {"name": "f"}, "field": "tool_result", "regex": SLOW}
                ]
            }
        },
    ],
    ids=["list of patterns", "arguments of many calls", "results of many calls"],
)
def test_all_searches_of_one_check_share_one_time_limit(bench, monkeypatch, block):
    searches = []
    timed = patterns._search_under_timer

    def noted(*given):
        searches.append(given)
        return timed(*given)

    monkeypatch.setattr(patterns, "_search_under_timer", noted)
    call = {"type": "tool_call", "tool_name": "f", "tool_args": {"x": ANSWER}}
    steps = [{**call, "tool_result": ANSWER}] * 15
    case = EvalCase.from_dict({"query": "q", **block})
    result = evaluate(case, Trace.from_dict({"input": "q", "output": ANSWER, "steps": steps}))
    assert [check.status for _, check in result.checks()] == [CheckStatus.UNKNOWN]
    # The first uses up the limit; the timer may fire just before the clock reaches it.
    assert len(searches) in (1, 2)


def test_a_pattern_with_a_future_warning_prints_no_warning(bench):
    bench.case("correctness: {regex_match: '[[y]es'}")
    bench.traces(
        {"name": "one", "input": "q", "output": "yes"},
        {"name": "good", "input": "fine", "output": "yes"},
    )
    outcome = bench.score().expect(0, "2 passed")
    assert "FutureWarning" not in outcome.text


# Nothing to judge, and files that cannot be read


@pytest.mark.parametrize("content", ["version: 1\n", "queries:\n", "queries: []\n", "cases: []\n"])
def test_a_spec_without_cases_is_nothing_selected(bench, content):
    bench.spec(content)
    bench.traces({"input": "q", "output": "a"})
    bench.score().expect(5, "spec.yaml", "no cases")
    bench.run("validate", "spec.yaml").expect(5, "spec.yaml", "no cases")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--tag", "smoke"), ("tag 'smoke'",)),
        (("--case", "tw*"), ("name 'tw*'",)),
        (("--tag", "fast", "--case", "good"), ("tag 'fast'", "name 'good'")),
        (("--tag", ""), ("tag ''",)),
    ],
)
def test_a_filter_that_selects_nothing_is_nothing_selected(bench, arguments, words):
    bench.spec(
        "queries:\n  - {name: one, query: q, tags: [fast], path: {max_steps: 1}}\n"
        "  - {name: good, query: r, tags: [slow], path: {max_steps: 1}}\n"
    )
    bench.traces({"input": "q", "output": "a"})
    bench.score(*arguments).expect(5, "none of the 2 cases", *words)


def test_tags_in_use_are_listed_when_no_case_has_the_tag(bench):
    bench.spec("queries:\n  - {name: one, query: q, tags: [fast], path: {max_steps: 1}}\n")
    bench.run("score", "spec.yaml", "--tag", "fats").expect(5, "tags in use: fast")


def test_a_missing_spec_is_named(bench):
    bench.run("score", "nowhere.yaml").expect(2, "nowhere.yaml: no such file")
    bench.run("validate", "nowhere.yaml").expect(2, "nowhere.yaml: no such file")
    bench.run("validate").expect(2, "trialrun.yaml: no such file")


def test_a_folder_without_specs_is_nothing_selected(bench):
    (bench.folder / "empty").mkdir()
    bench.run("score", "empty").expect(5, "empty: no spec here", ".yaml")
    bench.run("validate", "empty").expect(5, "empty: no spec here", ".yaml")


def test_a_spec_that_cannot_be_read_is_named_with_the_reason(bench):
    (bench.folder / "loop.yaml").symlink_to("loop.yaml")
    bench.run("score", "loop.yaml").expect(2, "loop.yaml", "symbolic links")
    (bench.folder / "dangling.yaml").symlink_to("nowhere")
    bench.run("score", "dangling.yaml").expect(2, "dangling.yaml: no such file")


def test_a_folder_whose_name_ends_in_yaml_is_not_read_as_a_spec(bench):
    bench.write("specs/a.yaml", CASE + "path: {max_steps: 1}\n")
    bench.write("specs/b.yaml/c.yaml", CASE + "path: {max_steps: 1}\n")
    bench.run("validate", "specs").expect(0, "a.yaml: ok", "c.yaml: ok")


@pytest.mark.parametrize("name", ["x" * 300, "x" * 5000], ids=["300", "5000"])
def test_a_file_name_that_is_too_long_is_an_error_message(bench, name):
    bench.case("path: {max_steps: 1}")
    bench.traces({"input": "q", "output": "a"})
    bench.run("score", name).expect(2, name[:50])
    bench.run("validate", name).expect(2, name[:50])
    bench.run("score", "spec.yaml", name).expect(2, name[:50])
    bench.score("--baseline", name).expect(2, name[:50])
    bench.score("--prices", name).expect(2, name[:50])
    bench.run("init", name).expect(2, name[:50])


@pytest.mark.parametrize("name", ["x" * 300, "x" * 5000, "a\\0b"], ids=["300", "5000", "NUL"])
@pytest.mark.parametrize("key", ["trace", "baseline"])
def test_a_file_of_a_case_that_cannot_be_read_is_an_error_of_that_case(bench, key, name):
    bench.case(f'path: {{max_steps: 1}}\n    {key}: "{name}"')
    bench.traces(
        {"name": "one", "input": "q", "output": "yes"},
        {"name": "good", "input": "fine", "output": "yes"},
    )
    bench.score().expect(3, "ERROR one", "PASS  good", "1 passed, 1 in error")


@pytest.mark.parametrize(
    ("name", "shown"),
    [("nowhere.yaml", "nowhere.yaml"), (".", "."), ("x" * 300, "xxxxx"), ("a\\0b", "a\\x00b")],
    ids=["missing", "folder", "too long", "NUL"],
)
def test_a_price_file_that_cannot_be_read_is_named_with_its_place(bench, name, shown):
    content = f'prices: "{name}"\n' + CASE + "path: {max_steps: 1}\n"
    bench.expect_refused(content, f"spec.yaml:1:9: prices: {shown}")


def test_invalid_prices_are_reported_with_their_place_in_the_price_file(bench):
    bench.write("mine.yaml", "models: {x: {input: .nan, output: -1, foo: 2}}\n")
    bench.spec("prices: mine.yaml\n" + CASE + "path: {max_steps: 1}\n")
    bench.run("validate", "spec.yaml").expect(
        2, "mine.yaml:1:21: models.x.input", "mine.yaml:1:35: models.x.output", "models.x.foo"
    )


def test_a_bad_spec_is_reported_even_when_another_is_empty(bench):
    bench.write("bad.yaml", "querys: []\n")
    bench.write("empty.yaml", "queries: []\n")
    bench.run("validate", "bad.yaml", "empty.yaml").expect(2, "bad.yaml:1:1: querys")
    bench.run("validate", "empty.yaml", "bad.yaml").expect(2, "bad.yaml:1:1: querys")


def test_every_bad_spec_of_a_folder_is_reported(bench):
    bench.write("specs/a.yaml", "querys: []\n")
    bench.write("specs/b/c.yml", "- a\n")
    bench.write("specs/d.yaml", b"\xff")
    bench.run("score", "specs").expect(2, "a.yaml:1:1", "c.yml:1:1", "d.yaml:1:1")


def test_two_suites_of_the_same_name_are_both_counted(bench):
    for folder in ("a", "b"):
        bench.write(
            f"specs/{folder}/trialrun.yaml",
            'queries:\n  - {name: one, query: q, correctness: {expected_in_answer: ["yes"]}}\n',
        )
    bench.traces({"name": "one", "input": "q", "output": "yes"})
    bench.run("score", "specs", "traces.jsonl").expect(0, "2 cases: 2 passed")


@pytest.mark.parametrize("size", all_but_first(pytest.mark.process, [70, 200]))
def test_an_oversized_spec_is_refused_in_little_memory(bench, size):
    with (bench.folder / "spec.yaml").open("wb") as stream:
        stream.write(b"queries: []\n#")
        for _ in range(size):
            stream.write(b"x" * 1024 * 1024)
    outcome, peak = bench.measure("validate", "spec.yaml")
    outcome.expect(2, "spec.yaml", "at most 67,108,864")
    assert peak < 160


def test_a_case_in_code_with_a_key_that_is_not_text_is_a_spec_error():
    for data in (
        {"query": "q", 5: 1},
        {"query": "q", "path": {5: 1}},
        {"query": "q", "path": {None: 1}},
        {"query": "q", "expected": {5: 1}},
        {"query": "q", "path": {"max_steps": {"value": 1, 5: 2}}},
        {"query": "q", "path": {"tool_args": [{"tool": "a", "args": {5: 1}, 6: 7}]}},
        {"query": "q", "turns": [{5: 1}]},
        [],
        None,
        5,
    ):
        with pytest.raises(TrialrunError):
            EvalCase.from_dict(data)


# Agents, setup and state of a case, and tables of cases

TABLE = "queries:\n  - cases_from: rows.csv\n    name: '{{id}}'\n    query: ask {{id}}\n    "

AGENT_MISTAKES = [
    mistake("secret", "url: http://x\nheaders: {A: sk-" + "a1" * 20 + "}\n", "2:14: headers.A"),
    mistake("variable", "url: http://x\nheaders: {A: '${a b}'}\n", "2:14: headers.A", "${NAME}"),
    mistake("placeholder", "url: http://x\nbody: '{{inpt}}'\n", "2:7: body", "`input`"),
    mistake("body alone", "runner: a:b\nbody: x\n", "2:1: body", "`url`"),
    mistake("no agents", "agents: {}\n", "1:9: agents", "mapping"),
    mistake("agents of null", "agents: {a: null}\n", "1:13: agents.a", "mapping"),
    mistake("name of an agent", "agents: {'': {runner: 'a:b'}}\n", "1:10: agents.", "name"),
    mistake("both", "url: http://x\nagents: {a: {runner: 'a:b'}}\n", "1:1: url", "`agents`"),
    mistake("timeout", "timeout: .nan\n", "1:10: timeout", "above 0"),
    mistake("mask", "redact: ['a|']\n", "1:10: redact[0]", "everything"),
    mistake("setup", "defaults: {setup: a.sh}\n", "1:19: defaults.setup", "[bash, setup.sh]"),
    mistake("state", "defaults: {state: {a: 1}}\n", "1:20: defaults.state.a", "unknown key"),
    mistake(
        "state twice",
        "defaults: {state: 'a:b', correctness: {state: 'a:b'}}\n",
        "1:12: defaults.state",
        "give it once",
    ),
]


@pytest.mark.parametrize(("content", "place", "words"), AGENT_MISTAKES)
def test_a_mistake_in_agents_or_actions_is_refused(bench, content, place, words):
    bench.expect_refused(content + CASE + "path: {max_steps: 1}\n", f"spec.yaml:{place}", *words)


def test_a_secret_in_a_header_is_not_shown(bench):
    secret = "sk-" + "a1" * 20
    content = f"url: http://x\nheaders: {{A: {secret}}}\n" + CASE + "path: {max_steps: 1}\n"
    assert secret not in bench.expect_refused(content, "looks like a secret").text


def test_mistakes_in_a_table_of_cases_are_refused(bench):
    bench.write("rows.csv", "id,n\none,1\ntwo,x\n\x1b[31m,3\n")
    bench.spec(TABLE + "path: {max_steps: 1}\n")
    bench.run("validate", "spec.yaml").expect(0, "3 cases, 3 checks")
    bench.expect_refused(TABLE + "path: {max_steps: '{{nn}}'}\n", "5:23: ", "did you mean `n`?")
    bench.expect_refused(
        TABLE + "path: {max_steps: '{{n}}'}\n", "rows.csv:2", "rows.csv:3", ".jsonl"
    )
    bench.expect_refused(TABLE + "correctness: {exact_match: '{{n'}\n", "without `}}`")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "rows.csv: the file is empty"),
        (b"id\n", "rows.csv: no rows"),
        (b"id\n\xff\n", "rows.csv:2: not UTF-8: byte 0xff at offset 3"),
        (b"id\na\0b\n", "rows.csv:2: a NUL character"),
        (b'id\n"a\n', "rows.csv:2: not CSV: a quote is opened"),
        (b"id\na,b\n", "rows.csv:2: expected 1 fields"),
        (b"id,id\na,b\n", "rows.csv:1: two columns are named `id`"),
        (b"id\n\x1b]0;x\x07\n\x1b]0;x\x07\n", "two cases are named"),
    ],
)
def test_an_invalid_csv_file_is_refused_with_its_line(bench, content, words):
    bench.write("rows.csv", content)
    bench.spec(TABLE + "path: {max_steps: 1}\n")
    bench.run("validate", "spec.yaml").expect(2, words)
    bench.run("score", "spec.yaml", "nowhere.jsonl").expect(2, words)


@pytest.mark.parametrize("name", ["none.csv", ".csv", "../..", "x" * 300 + ".csv", "a\\0.csv", "~"])
def test_a_table_that_cannot_be_read_is_named_with_its_place(bench, name):
    content = TABLE.replace("rows.csv", f'"{name}"') + "path: {max_steps: 1}\n"
    bench.expect_refused(content, "spec.yaml:2:17: queries[0].cases_from: ")


def test_a_device_is_refused_as_a_table(bench):
    (bench.folder / "rows.csv").symlink_to("/dev/zero")
    bench.expect_refused(TABLE + "path: {max_steps: 1}\n", "rows.csv: cannot be read: not a file")


@pytest.mark.process
def test_an_oversized_table_is_refused_in_little_memory(bench):
    with (bench.folder / "rows.csv").open("wb") as stream:
        stream.write(b"id\n")
        stream.truncate(3 * 1024**3)
    bench.spec(TABLE + "path: {max_steps: 1}\n")
    outcome, peak = bench.measure("validate", "spec.yaml")
    outcome.expect(2, "rows.csv: at most 67,108,864 bytes are read")
    assert peak < 160


@pytest.mark.process
def test_a_row_needs_a_tenth_of_the_memory_of_a_case(bench):
    bench.spec(
        TABLE + "correctness: {expected_in_answer: ['{{word}}']}\n    path: {max_steps: 3}\n"
    )
    peaks = []
    for number in (2_000, 20_000):
        lines = [f"case-{n},the answer to question number {n}\n" for n in range(number)]
        bench.write("rows.csv", "id,word\n" + "".join(lines))
        outcome, peak = bench.measure("validate", "spec.yaml")
        outcome.expect(0, f"{number} cases, {2 * number} checks")
        peaks.append(peak)
    assert peaks[1] - peaks[0] < 12, peaks  # MiB; 18,000 case objects would take about 90


# Generated specs


WORDS = re.findall(
    r"\w+",
    """
    version name agent runner command url prices defaults judge metrics queries cases query input
    turns tags trace baseline reference_tools correctness path cost retrieval verification expected
    expected_in_answer any_expected_in_answer not_in_answer exact_match regex_match json_schema
    llm_judge safety_check refutes_premise normalize expected_tools min_tool_recall min_tool_f1
    max_tool_calls tool_args span_assertions select field order forbidden_tools match_mode
    max_cost_usd max_total_tokens max_latency_ms tool facts_in_context value severity rule threshold
    tools_called output_matches min_compliance step_count any regex approx within one_of absent
    agents timeout redact method headers body answer setup teardown state cases_from function
""",
)

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just(10**399),
    st.just(0xFFFF**400),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["{{q}}", "is {{ q }}", "a:b", "rows.csv", "${A}", "{{"]),
    st.sampled_from([*WORDS, "fail", "warn", "unicode", "(", "[a", "1", "yes", "\U0001f600", "é"]),
)
KEYS = st.one_of(st.sampled_from(WORDS), st.text("abcq_-.", max_size=4))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=12,
)
BLOCKS = st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=3)
CASES = st.fixed_dictionaries(
    {"query": st.one_of(st.just("q"), SCALARS)},
    optional={
        "name": st.one_of(st.just("one"), SCALARS),
        "tags": VALUES,
        "correctness": st.one_of(BLOCKS, VALUES),
        "path": st.one_of(BLOCKS, VALUES),
        "cost": st.one_of(BLOCKS, VALUES),
        "retrieval": BLOCKS,
        "verification": BLOCKS,
        "expected": BLOCKS,
        "turns": st.lists(st.one_of(BLOCKS, VALUES), max_size=2),
        "state": st.one_of(st.just(["a", "b"]), VALUES),
        "setup": st.one_of(st.just("a:b"), VALUES),
        "timeout": VALUES,
        "cases_from": st.one_of(st.just("rows.csv"), VALUES),
    },
)
SPECS = st.one_of(
    VALUES,
    st.fixed_dictionaries(
        {"queries": st.lists(st.one_of(CASES, VALUES), max_size=3)},
        optional={
            "defaults": st.one_of(BLOCKS, VALUES),
            "metrics": VALUES,
            "judge": VALUES,
            "version": VALUES,
            "agents": st.one_of(st.dictionaries(st.text(max_size=3), BLOCKS), VALUES),
            "headers": VALUES,
            "redact": VALUES,
        },
    ),
)
PIECES = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from([": ", ":\n", "- ", "\n", "\n  ", "\n    ", ", ", "[", "]", "{", "}", "? "]),
    st.sampled_from(["&a ", "*a", "!!str ", "!!int ", "!x ", "<<: ", "#", "'", '"', "\\", ">\n"]),
    st.sampled_from(["%", "---\n", "...\n", ".nan", "1e999", "0o7", "0x" + "f" * 5000, "~", "@"]),
    st.sampled_from(["\t", "\0", "\x07", "\x85", "\u2028", "\ufeff", "\U0001f600", "\\x", "`"]),
    st.text(max_size=3),
)


def load_or_none(file):
    """The suite, or None if it was refused with a TrialrunError. Other errors fail the test."""
    try:
        suite = load_suite(file)
    except TrialrunError as error:
        assert str(error)
        return None
    assert isinstance(suite, Suite)
    return suite


@QUICK
@given(pieces=st.lists(PIECES, max_size=40))
def test_any_text_is_a_suite_or_a_refusal(bench, pieces):
    load_or_none(bench.write("spec.yaml", "".join(pieces).encode("utf-8", "surrogatepass")))


@QUICK
@given(content=st.binary(max_size=200))
def test_any_bytes_are_a_suite_or_a_refusal(bench, content):
    load_or_none(bench.write("spec.yaml", content))


@QUICK
@given(data=SPECS)
def test_any_structure_is_a_refusal_or_a_suite_that_can_judge(bench, data):
    bench.write("rows.csv", "q,a b\nyes,1\n{{q}},\n")
    text = json.dumps(data, ensure_ascii=False)
    suite = load_or_none(bench.write("spec.yaml", text.encode("utf-8", "surrogatepass")))
    trace = Trace(input="q", output="yes")
    for case in suite.cases if suite else ():
        assert evaluate(case, trace).status in LayerStatus


@QUICK
@given(data=CASES)
def test_any_structure_in_code_is_a_case_or_a_refusal(data):
    try:
        case = EvalCase.from_dict(data)
    except TrialrunError as error:
        assert str(error)
        return
    assert evaluate(case, Trace(input="q", output="yes")).status in LayerStatus
