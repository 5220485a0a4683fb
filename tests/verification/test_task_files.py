"""Tasks of a project: what runs known checks, by the project's own files."""

from __future__ import annotations

import json

import pytest

from trialrun.verification.runners import default_table
from trialrun.verification.task_files import task_runners

PACKAGE = {
    "preflight": "jest",
    "gates": "npm run preflight && eslint .",
    "hidden": "jest || true",
    "part": "jest src/a.test.ts",
    "odd": "./scripts/odd.sh && jest",
    "test": "jest",
    "loop": "npm run loop",
}


def found(folder):
    """Name of the task → the kinds of its checks."""
    return {
        runner.name: {runner.kind, *(one.kind for one in runner.also)}
        for runner in task_runners(folder, default_table())
    }


def test_package_json(tmp_path):
    (tmp_path / "package.json").write_text(json.dumps({"scripts": PACKAGE}))
    assert found(tmp_path) == {"npm preflight": {"test"}, "npm gates": {"test", "lint"}}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "Makefile",
            ".PHONY: gate\nX := 1\ngate: lint\n\t@pytest -q\n",
            {"make gate": {"lint", "test"}},
        ),
        ("Makefile", "gate:\n\t-pytest -q\n", {}),
        ("justfile", "set x := '1'\ngate: \n  cargo test\n", {"just gate": {"test"}}),
        ("mise.toml", '[tasks.gate]\nrun = ["go vet ./..."]\n', {"mise gate": {"lint"}}),
        ("mise.toml", '[tasks]\ngate = "go test ./..."\n', {"mise gate": {"test"}}),
        ("tox.ini", "[testenv:py]\ncommands =\n  pytest {posargs}\n", {"tox -e py": {"test"}}),
    ],
)
def test_other_files(name, text, expected, tmp_path):
    (tmp_path / name).write_text(text)
    assert found(tmp_path) == expected


@pytest.mark.parametrize("name", ["package.json", "Makefile", "justfile", "mise.toml", "tox.ini"])
@pytest.mark.parametrize(
    "text", ["", "{", "[", "\x00", "[[[[", '{"scripts": [1]}', "[tasks]\na = 3\n"]
)
def test_damaged_files_say_nothing(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    assert found(tmp_path) == {}
