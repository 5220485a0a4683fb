"""A look counts for what it showed, and for nothing else."""

from __future__ import annotations

import pytest

from tests.verification.runs import GREEN, bash, edit, is_open, ledger, read, verdict
from trialrun import Step

# What a filter lets through.


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("pytest -q | tail -3", GREEN),
        ("pytest -q | grep -v Warning", GREEN),
        ("pytest -q 2>&1 | head -50", f"....\n{GREEN}"),
        ("pytest -q | tee out.log", GREEN),
        ("set -o pipefail; go test ./... | grep ok", "ok  \ta\t0.1s"),
        ("pytest -q | cat", GREEN),
        ("pytest -q 2>&1 | tail -5 | head -3", GREEN),
    ],
)
def test_a_filter_that_hides_nothing(command, output):
    steps = [edit("lib/a.xyz"), bash(command, output)]
    assert verdict("All tests pass.", *steps) == "verified"


def test_a_filter_does_not_hide_a_failure_that_it_shows():
    shown = bash("go test ./... | head -3", "--- FAIL: TestA\nFAIL\nFAIL\ta\t0.1s")
    assert verdict("All tests pass.", edit("a.go"), shown) == "contradicted"


# Words of the script's own.


@pytest.mark.parametrize(
    "command",
    [
        'pytest() { echo "12 passed in 0.3s"; }; pytest',
        'function pytest { echo "12 passed in 0.3s"; }\npytest -q',
        "alias pytest='echo 12 passed in 0.3s'; pytest",
        'echo "12 passed in 0.3s"',
    ],
)
def test_what_a_script_prints_itself_is_no_result(command):
    assert verdict("All tests pass.", edit(), bash(command, GREEN)) == "unsupported"


@pytest.mark.parametrize("script", ["f() { f; f; }; f", "f() { g; g; }; g() { f; f; }; f; g"])
def test_a_function_that_calls_itself_comes_to_an_end(script):
    assert is_open(edit(), bash(script)) == ["src/app.py"]


def test_what_is_printed_because_it_went_well():
    command = 'npx tsc --noEmit && echo "no errors" || echo "errors"'
    assert verdict("Type check is clean.", edit("a.ts"), bash(command, "no errors")) == "verified"


# Another part of the file.

FAR = "".join(f"{n}\timport module_{n}\n" for n in range(1, 20))


@pytest.mark.parametrize(
    "look",
    [
        read(text=FAR, offset=1, limit=20),
        bash("sed -n 1,20p src/app.py", FAR),
        bash("head -5 src/app.py", FAR),
        bash("cat src/app.py | head -5", FAR),
        bash("tail -n 5 src/app.py", FAR),
        bash("grep -n import src/app.py", "1:import module_1"),
        bash("cat src/app.py | grep import", "import module_1"),
        bash("cat src/app.py | wc -l", "120"),
        Step.tool_call("Grep", {"pattern": "import", "path": "src/app.py"}, "1:import module_1"),
        Step.tool_call(
            "str_replace_editor",
            {"command": "view", "path": "src/app.py", "view_range": [1, 20]},
            FAR,
        ),
    ],
)
def test_another_part_of_the_file_was_shown(look):
    assert is_open(edit(), look) == ["src/app.py"]
    assert verdict("The total now includes the rate.", edit(), look) != "verified"


# Codes and probes.


# Looks that were not taken for looks.


@pytest.mark.parametrize(
    ("path", "command", "output"),
    [
        ("run.sh", "chmod +x run.sh && ./run.sh", "done"),
        ("scripts/deploy.sh", "scripts/deploy.sh --dry-run", "would deploy"),
        ("x.yml", "python -c \"import yaml; yaml.safe_load(open('x.yml'))\"", ""),
        (
            ".github/workflows/ci.yml",
            'python3 -c "import yaml,sys; '
            "yaml.safe_load(open('.github/workflows/ci.yml')); print('ok')\"",
            "ok",
        ),
        ("x.json", "python -m json.tool x.json > /dev/null", ""),
        ("x.json", "python -m json.tool < x.json", "{}"),
        ("x.json", "node -e \"JSON.parse(require('fs').readFileSync('x.json'))\"", ""),
        ("x.json", "node -e \"require('./x.json')\"", ""),
        ("x.yml", "ruby -ryaml -e \"YAML.load_file('x.yml')\"", ""),
        ("x.toml", "python -c \"import tomllib; tomllib.load(open('x.toml','rb'))\"", ""),
        ("x.py", "python -c \"import ast; ast.parse(open('x.py').read())\"", ""),
        ("script.sh", "bash -n script.sh", ""),
        ("x.xml", "xmllint --noout x.xml", ""),
    ],
)
def test_a_file_that_was_tried_was_looked_at(path, command, output):
    assert is_open(edit(path)) == [path]
    assert is_open(edit(path), bash(command, output)) == []


def test_rights_are_no_content():
    assert is_open(bash("chmod +x run.sh")) == []
    assert [one.kind for one in ledger("Done.", bash("chmod +x a && ./a", "x")).observations] == [
        "run"
    ]


@pytest.mark.parametrize(
    ("path", "command", "output"),
    [
        ("/etc/logrotate.d/feedd", "logrotate -d /etc/logrotate.d/feedd", "Handling 1 logs"),
        ("docker-compose.yml", "docker compose config -q", ""),
        ("chart/values-prod.yaml", "helm lint chart -f chart/values-prod.yaml", "1 linted"),
        ("sim/render/text.cc", "bazel test //sim/render/...", "Executed 7 tests: 7 tests pass."),
    ],
)
def test_looks_at_the_thing_itself(path, command, output):
    assert is_open(edit(path), bash(command, output)) == []


def test_each_line_of_evidence_is_its_own():
    run = bash("ruff check . && pytest -q", "All checks passed!\n22 passed in 0.4s")
    (claim,) = ledger("ruff is clean.", edit(), run).claims
    assert "22 passed" not in claim.reason
