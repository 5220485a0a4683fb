"""`cases_from`: cases from the rows of a table, built when they are accessed."""

from __future__ import annotations

import csv
import gc
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import property_test
from trialrun import EvalCase, SpecError, Trace, evaluate, load_suite
from trialrun.model.case import LazyCases

CSV = "id,country,capital\nfr,France,Paris\nde,Germany,Berlin\n"
TEMPLATE = {
    "cases_from": "rows.csv",
    "name": "capital-{{id}}",
    "query": "What is the capital of {{ country }}?",
    "correctness": {"expected_in_answer": ["{{capital}}"]},
    "path": {"max_tool_calls": 3},
}


@pytest.fixture
def place(tmp_path):
    class Place:
        folder = tmp_path

        def write(self, name, content):
            data = content if isinstance(content, bytes) else content.encode()
            (tmp_path / name).write_bytes(data)

        def load(self, *cases, **top):
            spec = tmp_path / "spec.yaml"
            spec.write_text(json.dumps({**top, "queries": list(cases)}, indent=1))
            return load_suite(spec)

        def refusal(self, *cases, **top):
            with pytest.raises(SpecError) as refused:
                self.load(*cases, **top)
            return str(refused.value).replace(f"{tmp_path}/", "").splitlines()

    return Place()


def rows(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def without(*keys, **changed):
    kept = {key: value for key, value in TEMPLATE.items() if key not in keys}
    return {**kept, **changed}


# From a row to a case


def test_a_row_makes_a_case(place):
    place.write("rows.csv", CSV)
    suite = place.load(TEMPLATE)
    written = place.load(
        {
            "name": "capital-fr",
            "query": "What is the capital of France?",
            "correctness": {"expected_in_answer": ["Paris"]},
            "path": {"max_tool_calls": 3},
        },
        {
            "name": "capital-de",
            "query": "What is the capital of Germany?",
            "correctness": {"expected_in_answer": ["Berlin"]},
            "path": {"max_tool_calls": 3},
        },
    )
    assert list(suite.cases) == list(written.cases)
    france, germany = suite.cases
    assert (
        evaluate(france, Trace(input="q", output="It is Paris.", steps=[])).status.value == "pass"
    )
    assert (
        evaluate(germany, Trace(input="q", output="It is Paris.", steps=[])).status.value == "fail"
    )


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


RECORDS = st.lists(st.fixed_dictionaries({"a": TEXTS, "b": TEXTS.filter(str.strip)}), min_size=1)


@property_test
@given(records=RECORDS)
def test_table_cases_equal_cases_written_by_hand(tmp_path_factory, records):
    """Compared with the slow way: the text of each case put together by hand and loaded."""
    folder = tmp_path_factory.mktemp("table")
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, ["a", "b"])
    writer.writeheader()
    writer.writerows(records)
    (folder / "rows.csv").write_bytes(table.getvalue().encode())
    (folder / "rows.jsonl").write_text(rows(*records))

    def load(*cases):
        (folder / "spec.yaml").write_text(json.dumps({"queries": cases}))
        return list(load_suite(folder / "spec.yaml").cases)

    def case(a, b):
        return {
            "query": f"{a} and {b}",
            "tags": [b],
            "correctness": {"not_in_answer": [b, "same"]},
            "cost": {"max_llm_calls": 1},
        }

    expected = load(*(case(**record) for record in records))
    for file in ("rows.csv", "rows.jsonl"):
        assert load({"cases_from": file, **case("{{a}}", "{{ b }}")}) == expected


def test_a_value_with_braces_is_data(place):
    place.write("rows.jsonl", rows({"a": "{{b}}", "b": "{{a}}"}))
    (case,) = place.load(
        without(
            "name",
            cases_from="rows.jsonl",
            query="{{a}} {{b}}",
            correctness={"exact_match": "{{a}}"},
        )
    ).cases
    assert case.query == "{{b}} {{a}}"
    assert case.correctness == {"exact_match": "{{b}}"}


def test_every_string_at_any_depth_is_filled_but_keys_are_not(place):
    place.write("rows.jsonl", rows({"x": "one", "n": 2, "t": ["a", "b"], "f": 1.5, "b": True}))
    (case,) = place.load(
        {
            "cases_from": "rows.jsonl",
            "name": "n-{{n}}-{{f}}-{{b}}",
            "description": "{{x}}",
            "tags": "{{t}}",
            "turns": [
                {"query": "{{x}}?", "correctness": {"expected_in_answer": [["{{x}}", "no"]]}},
            ],
            "state": [{"name": "look {{x}}", "command": ["look", "{{x}}"]}],
            "setup": ["prepare", "{{x}}"],
            "timeout": "{{n}}",
            "path": {
                "max_tool_calls": "{{n}}",
                "tool_args": [{"tool": "t", "args": {"{{x}}": {"deep": ["{{n}}", "{{x}}"]}}}],
            },
        }
    ).cases
    assert case.name == "n-2-1.5-true"
    assert (case.description, list(case.tags), case.timeout) == ("one", ["a", "b"], 2.0)
    assert case.turns[0].query == "one?"
    assert case.turns[0].correctness == {"expected_in_answer": [["one", "no"]]}
    assert case.state[0].name == "look one" and case.state[0].command == ("look", "one")
    assert case.setup.name == "prepare one"
    assert case.path["max_tool_calls"] == 2
    assert case.path["tool_args"][0]["args"] == {"{{x}}": {"deep": [2, "one"]}}


def test_defaults_and_shared_settings(place):
    place.write("rows.csv", CSV)
    place.write("prices.yaml", "models: {m: {input: 1.0, output: 1.0}}\n")
    suite = place.load(
        without("path"),
        defaults={"path": {"max_steps": 4}, "setup": "m:f"},
        metrics=["step_count"],
        prices="prices.yaml",
    )
    for case in suite.cases:
        assert case.path == {"max_steps": 4}
        assert case.setup.name == "m:f"
        assert [plan.metric.name for plan in case.metrics] == ["step_count"]
        assert case.prices is not None


@pytest.mark.parametrize("key", ["state", "reference_tools"])
def test_checks_with_values_from_the_row_are_not_shared(place, key):
    place.write("rows.jsonl", rows({"v": ["a", "1"]}, {"v": ["b", "2"]}))
    one, two = place.load(
        {
            "cases_from": "rows.jsonl",
            "query": "q",
            key: "{{v}}",
            "correctness": {"exact_match": "same"},
            "path": {"match_mode": "strict"},
        }
    ).cases
    fresh = [
        EvalCase.from_dict(
            {
                "query": "q",
                key: value,
                "correctness": {"exact_match": "same"},
                "path": {"match_mode": "strict"},
            }
        )
        for value in (["a", "1"], ["b", "2"])
    ]
    assert [one.plan, two.plan] == [case.plan for case in fresh]
    assert one.plan != two.plan


def test_changing_one_case_does_not_change_another(place):
    place.write("rows.csv", CSV)
    suite = place.load(TEMPLATE)
    suite.cases[0].path["max_tool_calls"] = 99
    assert suite.cases[0].path == suite.cases[1].path == {"max_tool_calls": 3}


# Names


def test_a_name_without_a_placeholder_is_numbered(place):
    place.write("rows.csv", CSV)
    assert [c.name for c in place.load(without(name="capital")).cases] == ["capital-1", "capital-2"]


def test_a_missing_name_is_made_from_the_question_and_unique(place):
    place.write("rows.csv", "a\nsame\nsame\n")
    template = without("name", query="Is it {{a}}?", correctness={"exact_match": "x"})
    written = {"query": "Is it same?", "path": {"max_steps": 1}}
    suite = place.load(written, template, written)
    names = ["is-it-same", "is-it-same-2", "is-it-same-3", "is-it-same-4"]
    assert [case.name for case in suite.cases] == names
    assert [name for name, _ in suite.cases.labels()] == names


def test_equal_names_are_refused_with_both_rows(place):
    place.write("rows.csv", CSV + "fr,France again,Paris\n")
    (found,) = place.refusal(TEMPLATE)
    assert found.startswith("spec.yaml:5:")
    assert "queries[0].name: two cases are named `capital-fr`" in found
    assert found.endswith(": rows.csv:2 and rows.csv:4")


def test_the_name_of_a_written_case_is_refused(place):
    place.write("rows.csv", CSV)
    written = {"name": "capital-de", "query": "q", "path": {"max_steps": 1}}
    (found,) = place.refusal(written, TEMPLATE)
    assert "two cases are named `capital-de`: 4:" in found and "rows.csv:3" in found
    (found,) = place.refusal(TEMPLATE, written)
    assert "two cases are named `capital-de`; first at" in found and "rows.csv:3" in found


# A lazy sequence


def test_cases_are_a_sequence_in_the_order_of_the_spec(place):
    place.write("rows.csv", CSV)
    before = {"name": "before", "query": "q", "path": {"max_steps": 1}}
    after = {"name": "after", "query": "q", "path": {"max_steps": 1}}
    cases = place.load(before, TEMPLATE, after, without(name="again")).cases
    names = ["before", "capital-fr", "capital-de", "after", "again-1", "again-2"]
    assert isinstance(cases, LazyCases) and len(cases) == 6
    assert [case.name for case in cases] == names
    assert [cases[index].name for index in range(-6, 6)] == names + names
    assert [case.name for case in cases[1:-1]] == names[1:-1]
    assert [case.name for case in cases[::-2]] == names[::-2]
    assert [name for name, _ in cases[::-1].labels()] == names[::-1]
    for index in (6, -7):
        with pytest.raises(IndexError):
            cases[index]


def test_without_a_table_the_cases_are_a_list(place):
    assert type(place.load({"query": "q", "path": {"max_steps": 1}}).cases) is list


def test_a_case_is_rebuilt_equal_each_time(place):
    place.write("rows.csv", CSV)
    cases = place.load(TEMPLATE).cases
    assert cases[0] == cases[0] and cases[0] is not cases[0]


def cases_alive():
    gc.collect()
    return sum(type(thing) is EvalCase for thing in gc.get_objects())


@pytest.mark.slow
def test_a_table_does_not_keep_its_cases_in_memory(place):
    place.write("rows.csv", "id,country,capital\n" + "".join(f"{n},a,b\n" for n in range(300)))
    before = cases_alive()
    suite = place.load(TEMPLATE)
    selected = suite.selected(names=["capital-*"])
    assert len({case.name for case in selected}) == 300
    assert cases_alive() == before
    held = list(selected)  # the counter works
    assert cases_alive() == before + len(held)


@pytest.mark.parametrize(
    ("tags", "names", "expected"),
    [
        ([], [], ["fr", "de", "x"]),
        (["west"], [], ["fr"]),
        (["all"], [], ["fr", "de"]),
        (["all", "other"], ["?r", "x"], ["fr", "x"]),
        ([], ["d*"], ["de"]),
        (["none"], [], []),
    ],
)
def test_a_selection_is_lazy_and_equals_that_of_a_list(place, tags, names, expected):
    place.write("rows.csv", "id,side\nfr,west\nde,east\n")
    template = {
        "cases_from": "rows.csv",
        "name": "{{id}}",
        "query": "q {{id}}",
        "tags": ["all", "{{side}}"],
        "path": {"max_steps": 1},
    }
    written = {"name": "x", "query": "q", "tags": ["other"], "path": {"max_steps": 1}}
    suite = place.load(template, written)
    chosen = suite.selected(tags, names)
    assert [case.name for case in chosen] == expected
    assert len(chosen) == len(expected)
    suite.cases = list(suite.cases)
    assert [case.name for case in suite.selected(tags, names)] == expected


# Mistakes in the template


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (
            without(query="of {{contry}}?"),
            ["queries[0].query: rows.csv has no column `contry`; did you mean `country`?"],
        ),
        (
            without(correctness={"expected_in_answer": ["a", ["{{}}"]]}),
            ["queries[0].correctness.expected_in_answer[1][0]: rows.csv has no column ``"],
        ),
        (
            without(query="of {{country}?"),
            ["queries[0].query: `{{` without `}}` after it"],
        ),
        (
            without("name", query="q", correctness={"exact_match": "a"}),
            ["queries[0].cases_from: no row would change this case: write {{id}}, {{country}}"],
        ),
        (without(cases_from="rows.txt"), ["queries[0].cases_from: expected a file that ends in"]),
        (without(cases_from="none.csv"), ["queries[0].cases_from: none.csv: no such file"]),
        (without(cases_from=["rows.csv"]), ["queries[0].cases_from: expected text, found a list"]),
        (without(cases_from=None), ["queries[0].cases_from: expected text, found null"]),
        (without(pth={}), ["queries[0].pth: unknown key; did you mean `path`?"]),
        (
            without(path={"max_tool_cals": 3, "max_steps": -1}),
            [
                "queries[0].path.max_tool_cals: unknown key; did you mean `max_tool_calls`?",
                "queries[0].path.max_steps: expected a whole number, 0 or more",
            ],
        ),
        (without("correctness", "path"), ["queries[0]: the case checks nothing"]),
    ],
)
def test_a_mistake_in_the_template_is_reported_once(place, template, expected):
    place.write("rows.csv", CSV)
    found = place.refusal(template)
    assert len(found) == len(expected), found
    for line, words in zip(found, expected, strict=True):
        assert line.startswith("spec.yaml:") and words in line
        assert "(rows.csv" not in line


def test_a_folder_is_refused_as_a_table(place):
    (place.folder / "rows.csv").mkdir()
    (found,) = place.refusal(TEMPLATE)
    assert "rows.csv: a folder, where a file is expected" in found


def test_the_path_is_relative_to_the_folder_of_the_spec(place, tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    place.write("data/rows.csv", CSV)
    monkeypatch.chdir("/")
    assert len(place.load(without(cases_from="data/rows.csv")).cases) == 2


# Mistakes in a row


def test_a_mistake_in_a_row_names_the_spec_and_the_row(place):
    place.write("rows.jsonl", rows({"n": 1}, {"n": -1}, {"n": "x"}, {"n": -1}))
    found = place.refusal(
        {"cases_from": "rows.jsonl", "query": "q", "path": {"max_tool_calls": "{{n}}"}}
    )
    assert [line.split(": ", 2)[1] for line in found] == ["queries[0].path.max_tool_calls"] * 2
    assert "found the number -1 (" in found[0] and "rows.jsonl:2 and 1 more)" in found[0]
    assert 'found the text "x" (' in found[1] and found[1].endswith("rows.jsonl:3)")


def test_a_number_from_a_csv_is_text_and_the_remedy_is_named(place):
    place.write("rows.csv", "n\n1\n2\n")
    found = place.refusal(
        {"cases_from": "rows.csv", "query": "q", "path": {"max_tool_calls": "{{n}}"}}
    )
    assert [line.split("; ")[1] for line in found] == [
        f"a .csv holds texts: use .jsonl for other values (rows.csv:{line})" for line in (2, 3)
    ]


def test_a_row_that_leaves_nothing_to_check_is_refused(place):
    place.write("rows.jsonl", rows({"p": {"max_steps": 1}}, {"p": {}}))
    (found,) = place.refusal({"cases_from": "rows.jsonl", "query": "q", "path": "{{p}}"})
    assert "the case checks nothing; it could only pass (" in found
    assert found.endswith("rows.jsonl:2)")


@pytest.mark.parametrize(("record", "word"), [({"b": 1}, "missing"), ({"a": None}, "null")])
def test_a_row_without_a_value_that_is_needed_is_refused(place, record, word):
    place.write("rows.jsonl", rows({"a": "x"}, record))
    found = place.refusal(
        {"cases_from": "rows.jsonl", "query": "q", "correctness": {"exact_match": "{{a}}"}}
    )
    assert found == [f"rows.jsonl:2: the column `a` is {word}, and the case needs it"]


def test_a_list_cannot_be_inserted_into_a_text(place):
    place.write("rows.jsonl", rows({"a": [1]}, {"a": "x"}))
    (found,) = place.refusal(
        {"cases_from": "rows.jsonl", "query": "q {{a}}", "path": {"max_steps": 1}}
    )
    assert "`a` is a list, which cannot be part of a text (" in found


@pytest.mark.parametrize("key", ["value", "absent"])
def test_at_most_twenty_mistakes_are_reported(place, key):
    place.write(
        "rows.jsonl", rows({"n": 1}, *({"n": -n} if key == "value" else {} for n in range(1, 61)))
    )
    found = place.refusal(
        {"cases_from": "rows.jsonl", "query": "q", "path": {"max_tool_calls": "{{n}}"}}
    )
    assert len(found) == 21
    assert "and 40 more in rows.jsonl" in found[-1]
    place.write("rows.csv", "id,country,capital\n" + "a,b,c\n" * 61)
    found = place.refusal(TEMPLATE)
    assert len(found) == 21
    assert "and 40 more names" in found[-1]


# Files that are not tables


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "rows.csv: the file is empty; its first line names the columns"),
        ("\n\n", "rows.csv: the file is empty"),
        ("id,country,capital\n", "rows.csv: no rows"),
        ("id,country,id\n1,2,3\n", "rows.csv:1: two columns are named `id`"),
        ("id, ,capital\n1,2,3\n", "rows.csv:1: column 2 has no name"),
        (CSV + "it,Italy\n", "rows.csv:4: expected 3 fields, as in the first line, found 2"),
        (
            CSV + "\nit,Italy,Rome,x\n",
            "rows.csv:5: expected 3 fields, as in the first line, found 4",
        ),
        (CSV + '"a\nb",c,d\nit,Italy\n', "rows.csv:6: expected 3 fields"),
        (
            CSV + 'it,"Italy,Rome\nx,y,z\n',
            "rows.csv:4: not CSV: a quote is opened and never closed",
        ),
        (CSV + 'it,"Italy"x,Rome\n', "rows.csv:4: not CSV: "),
        (CSV + "it,It\0aly,Rome\n", "rows.csv:4: a NUL character"),
        (CSV.encode() + b"it,\xff,Rome\n", "rows.csv:4: not UTF-8: byte 0xff at offset 56"),
        (CSV + f"it,{'x' * 140_000},Rome\n", "use .jsonl for texts of this length"),
    ],
)
def test_invalid_csv_files_are_refused(place, content, expected):
    place.write("rows.csv", content)
    found = place.refusal(TEMPLATE)
    assert any(expected in line for line in found), found


def test_accepted_csv_variants(place):
    content = (
        '\ufeff id , country,capital\r\nfr,"Fr""a""nce,\r\nthe",Paris\r\n\r\nde,Germany,Berlin'
    )
    place.write("rows.csv", content)
    one, two = place.load(TEMPLATE).cases
    assert one.query == 'What is the capital of Fr"a"nce,\r\nthe?'
    assert two.name == "capital-de"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "rows.jsonl: no rows"),
        ("\n \n", "rows.jsonl: no rows"),
        ('{"a": "1"}\n[1]\n', "rows.jsonl:2: expected an object, {column: value}, found a list"),
        (
            '{"a": "1"}\n\n"x"\n',
            "rows.jsonl:3: expected an object, {column: value}, found the text",
        ),
        ('{"a": "1"}\n{"a": \n', "rows.jsonl:2: not JSON: "),
        ('{"a": "1", "a": "2"}\n', "rows.jsonl:1: the key `a` is given twice"),
        ('{"a": {"b": 1, "b": 2}}\n', "rows.jsonl:1: the key `b` is given twice"),
        ('{"a": NaN}\n', "rows.jsonl:1: NaN is not a number"),
        ('{"a": 1e999}\n', "rows.jsonl:1: 1e999 is not a number"),
        ('{"a": ' + "9" * 5000 + "}\n", "rows.jsonl:1: "),
        ('{"a": "\\ud800"}\n', "rows.jsonl:1: a text contains half a character"),
        ('{"a": ' + "[" * 150 + "]" * 150 + "}\n", "rows.jsonl:1: nested more than 100 levels"),
        ('{"a": ' + "[" * 90_000 + "]" * 90_000 + "}\n", "rows.jsonl:1: nested more than 100"),
        (b'{"a": "\xff"}\n', "rows.jsonl:1: not UTF-8: byte 0xff at offset 7"),
        ('{"a": "1"}\n' + "x\n" * 30, "rows.jsonl: and 10 more lines that cannot be read"),
    ],
)
def test_invalid_jsonl_files_are_refused(place, content, expected):
    place.write("rows.jsonl", content)
    found = place.refusal(
        {"cases_from": "rows.jsonl", "query": "q", "correctness": {"exact_match": "{{a}}"}}
    )
    assert any(expected in line for line in found), found


def test_an_escaped_pair_is_one_character(place):
    place.write("rows.jsonl", '{"a": "\\ud83d\\ude00"}\n')
    (case,) = place.load(
        {"cases_from": "rows.jsonl", "query": "{{a}}!", "path": {"max_steps": 1}}
    ).cases
    assert case.query == "\U0001f600!"


def test_mistakes_of_the_spec_and_of_its_tables_are_reported_together(place):
    place.write("rows.csv", "a\n")
    found = place.refusal({"query": "q", "pth": 1}, TEMPLATE, {"query": 5})
    assert [line.split(": ")[1] for line in found] == [
        "queries[0].pth",
        "no rows",
        "queries[2].query",
    ]
