"""Baselines that cannot be used: each is an ERROR with its reason, never a pass."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.engine.refunds import begin, case, saved

GATE = {"same_calls": True, "same_arguments": True}
EARLIER = Path(__file__).parents[1] / "data" / "written_by_0_1"


@pytest.fixture
def file(project):
    begin(project, case(regression=GATE), repeat=2)
    project.command("baseline", "save")
    return project.folder / "baselines" / "spec" / "refund.json"


def error(project):
    done = project.run()
    assert done.code == 3
    (found,) = done.errors
    return found


def test_a_torn_file(project, file):
    file.write_bytes(file.read_bytes()[:200])
    assert error(project).startswith("the baseline cannot be read: ")


def test_an_empty_file(project, file):
    file.write_bytes(b"")
    assert "refund.json" in error(project)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"exact"', '"exakt"', 'found the text "exakt"'),
        ('"exact"', '{"within": -1}', "within"),
        ('"exact"', '{"regex": "("}', '"(" is not a regular expression'),
        ('"exact"', '{"regexp": "a"}', "regexp: unknown key; did you mean `regex`?"),
        ('"exact"', "7", "found the number 7"),
        ('"arguments"', '"argument"', "did you mean `arguments`?"),
    ],
)
def test_a_typo_in_a_rule_has_line_and_column(project, file, old, new, said):
    lines = file.read_text().splitlines()
    number = next(i for i, line in enumerate(lines) if '"regression"' in line)
    number = next(i for i, line in enumerate(lines) if i > number and old in line)
    lines[number] = lines[number].replace(old, new, 1)
    file.write_text("\n".join(lines))
    found = error(project)
    column = lines[number].index(new) + 1
    assert said in found
    assert f"refund.json:{number + 1}:" in found
    if "{" not in new:  # inside of a mapping, the place is that of the key or value in it
        assert f":{number + 1}:{column}:" in found


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"amount"', '"amonut"', "no such argument; did you mean `amount`?"),
        ('"issue_refund"', '"isue_refund"', "no such tool; did you mean `issue_refund`?"),
        ('"regression"', '"regresion"', "no such key; did you mean `regression`?"),
        ('"repeats"', '"repeat"', "no such key; did you mean `repeats`?"),
    ],
)
def test_a_misspelt_name_has_line_and_column(project, file, old, new, said):
    lines = file.read_text().splitlines()
    number = next(i for i, line in enumerate(lines) if f"{old}: " in line and i > 20)
    lines[number] = lines[number].replace(old, new, 1)
    file.write_text("\n".join(lines))
    found = error(project)
    assert f"refund.json:{number + 1}:{lines[number].index(new) + 1}: " in found
    assert said in found


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"regression"', '"regresion"', "regresion: no such key; did you mean `regression`?"),
        ('"exact"', '"exakt"', "regression: "),
    ],
)
def test_a_mistake_beside_a_character_that_yaml_refuses(project, file, old, new, said):
    """JSON allows U+007F, and the reader that has lines and columns does not."""
    text = file.read_text().replace('"output": "', '"output": "\x7f', 1)
    assert "\x7f" in text
    file.write_text(text.replace(old, new, 1))
    found = error(project)
    assert "the baseline cannot be read: " in found and said in found


def test_rules_for_what_is_not_called_any_more_are_fine(project, file):
    rules = '"arguments": {"issue_refunds": {"amount": "ignore"}, "other": {"a": "exact"}, '
    file.write_text(json.dumps(saved(project)).replace('"arguments": {', rules, 1))
    assert "issue_refunds" in file.read_text()
    assert project.run().code == 0


@pytest.mark.parametrize("command", [["validate", "spec.yaml"], ["run", "spec.yaml", "--dry-run"]])
def test_it_is_said_before_an_agent_is_asked(project, file, command):
    assert project.command(*command).code == 0
    asked = len(project.calls)
    file.write_text(file.read_text().replace('"exact"', '"exakt"', 1))
    done = project.command(*command)
    assert done.code == 2
    assert "spec.yaml: refund: the baseline cannot be read: " in done.err
    assert "did you mean `exact`?" in done.err
    file.unlink()
    assert project.command(*command).code == 0
    project.spec(case(regression=GATE, baseline="gone.json"))
    assert "refund: the baseline gone.json does not exist" in project.command(*command).err
    assert len(project.calls) == asked


def test_another_question(project, file):
    project.spec(case(regression=GATE) | {"query": "Refund order 13."})
    found = error(project)
    assert found.startswith("not comparable: the baseline baselines/spec/refund.json answers ")
    assert "for a new baseline delete the file, run, and save it again" in found
    file.unlink()
    assert project.run().code == 0
    assert project.command("baseline", "save").code == 0


def test_repeats_that_are_not_a_list(project, file):
    file.write_text(json.dumps(saved(project) | {"repeats": {"a": 1}}))
    assert "repeats: expected a list" in error(project)


def test_a_repeat_that_is_not_a_trace(project, file):
    file.write_text(json.dumps(saved(project) | {"repeats": [{"output": 1}]}))
    assert "the baseline cannot be read" in error(project)


def test_a_named_baseline_that_is_missing(project):
    begin(project, case(regression=GATE, baseline="gone.json"))
    assert error(project) == "the baseline gone.json does not exist"


def test_a_file_with_one_trace_and_no_rules(project, file):
    plain = saved(project)
    del plain["repeats"], plain["regression"]
    file.write_text(json.dumps(plain))
    assert project.run().code == 0


def test_baselines_of_version_0_1_are_read(project):
    (folder,) = [place for place in (EARLIER / "baselines").iterdir() if place.is_dir()]
    target = project.folder / "baselines" / "spec"
    shutil.copytree(folder, target)
    traces = {one.stem: json.loads(one.read_text()) for one in target.glob("*.json")}
    assert traces
    project.agent("def run(question):\n    return {'output': question, 'steps': []}")
    project.spec(
        *(
            {"name": trace["name"], "query": trace["input"], "regression": {"same_calls": True}}
            for trace in traces.values()
        )
    )
    done = project.run()
    assert set(done.statuses) <= {"pass", "fail"}
    assert {"pass", "fail"} & set(done.statuses)
