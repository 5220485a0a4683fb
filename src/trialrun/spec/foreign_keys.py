"""Keys that users of other tools write, with what they are called here."""

from __future__ import annotations

from trialrun import registry
from trialrun.model.results import LAYERS

_EQUIVALENTS = {
    "assert": "checks are in `correctness:`, `path:`, `cost:` and other blocks of a case",
    "assertions": "checks are in `correctness:`, `path:`, `cost:` and other blocks of a case",
    "baseline_dir": "give the folder on the command line: --baseline FOLDER",
    "criteria": "write it as a rubric: `correctness: {llm_judge: [{rule: …}]}`",
    "evaluation_steps": "write them as a rubric: `correctness: {llm_judge: [{rule: …}]}`",
    "evaluators": "checks are in `correctness:`, `path:`, `cost:` and other blocks of a case",
    "expected_answer": "write `correctness: {exact_match: …}` or `{expected_in_answer: […]}`",
    "expected_output": "write `correctness: {exact_match: …}` or `{expected_in_answer: […]}`",
    "graders": "checks are in `correctness:`, `path:`, `cost:` and other blocks of a case",
    "ideal": "write `correctness: {exact_match: …}` or `{expected_in_answer: […]}`",
    "judge_config": "write `judge: {model: …}`",
    "prompt": "the question is `query:`",
    "prompts": "the questions are in `queries:`, each with `query:`",
    "providers": "the agent is `runner:`, `command:` or `url:`; several are under `agents:`",
    "question": "the question is `query:`",
    "scorers": "checks are in `correctness:`, `path:`, `cost:` and other blocks of a case",
    "target": "write `correctness: {exact_match: …}` or `{expected_in_answer: […]}`",
    "test_cases": "cases are in `queries:`",
    "tests": "cases are in `queries:`",
    "vars": "a table makes cases: `cases_from: rows.csv` with `{{column}}`",
}


def equivalent(key: str, in_case: bool) -> str | None:
    """What a key is called here, or which block it belongs in; None if that is not known."""
    layer = _layer_of(key)
    if layer is not None:
        block = f"`{layer}:`" if in_case else f"`{layer}:` of a case, or of `defaults:`"
        return f"belongs in {block}"
    hint = _EQUIVALENTS.get(key)
    return None if hint is None else f"unknown key; {hint}"


def _layer_of(key: str) -> str | None:
    """The layer of the check with this name, or of a check that has it as a setting."""
    from trialrun.checks.base import setting_keys

    if key in LAYERS:
        return None
    kinds = registry.all_checks()
    for kind in kinds:
        if kind.key == key:
            return kind.layer
    layers = {kind.layer for kind in kinds if key in setting_keys(kind)}
    return layers.pop() if len(layers) == 1 else None
