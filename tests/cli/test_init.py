"""`trialrun init`: the template has the gate against baselines, and an example for CI."""

from __future__ import annotations

from trialrun.cli.init import TEMPLATE
from trialrun.cli.main import main
from trialrun.spec.gate import LIMIT, MULTIPLIER, SAME, with_gate
from trialrun.spec.load import load_suite


def test_the_template_has_the_gate_that_baseline_save_would_add(tmp_path):
    file = tmp_path / "mine.yaml"
    assert main(["init", str(file)]) == 0
    defaults = load_suite(file).defaults
    assert defaults["regression"] == dict.fromkeys(SAME, True)
    assert defaults["cost"][MULTIPLIER] == LIMIT
    assert with_gate(file.read_bytes()) is None


def test_the_example_for_ci_requires_baselines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    main(["init", "mine.yaml"])
    last = (tmp_path / "mine.yaml").read_text().splitlines()[-1]
    assert last == "#   trialrun run mine.yaml --require-baseline -o report.xml"
    assert "{path}" in TEMPLATE
