"""Rules of `trialrun verify` as text: for `explain`, for lists, and for the reference page."""

from __future__ import annotations

from collections.abc import Iterator

from trialrun.model.steps import Step, StepStatus
from trialrun.verification.rules.base import Example, Rule, all_rules


def rule_named(name: str) -> Rule | None:
    """The rule of that code or name."""
    return next((one for one in all_rules() if name.upper() == one.code or name == one.name), None)


def rule_names() -> list[str]:
    """Every code and every name."""
    return [name for rule in all_rules() for name in (rule.code, rule.name)]


def state_of(rule: Rule) -> str:
    """`stable` or `preview`."""
    return "stable" if rule.stable else "preview"


def rule_table() -> str:
    """All rules, one a line."""
    rows = [(one.code, one.name, state_of(one), one.severity, one.what) for one in all_rules()]
    widths = [max(len(row[index]) for row in rows) for index in range(4)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*cells, row[4]]))
    return "".join(f"{line}\n" for line in lines)


def rule_lines(rule: Rule) -> Iterator[str]:
    """What `trialrun explain` says of a rule."""
    effect = "" if rule.stable else ": it is reported, and changes no verdict and no exit code"
    yield f"{rule.code} {rule.name}: a rule, {state_of(rule)}{effect}, severity {rule.severity}"
    yield ""
    yield rule.what
    yield ""
    yield f"Why:     {rule.why}"
    yield f"Silent:  {rule.silent}"
    if rule.verdict is not None:
        yield f"Claim:   {rule.verdict.value}"
    for title, examples in (("Fires on:", rule.fires), ("Does not fire on:", rule.passes)):
        yield ""
        yield title
        for number, example in enumerate(examples):
            yield from ([""] if number else [])
            yield from (f"  {line}" for line in example_lines(example))
    yield ""
    yield f"Off:     trialrun verify --ignore {rule.code}"


def example_lines(example: Example) -> Iterator[str]:
    """The calls of an example, then what the agent says at its end."""
    for step in example.steps:
        yield _step(step)
    yield f'"{example.says}"'


def _step(step: Step) -> str:
    arguments = step.tool_args or {}
    command = arguments.get("command")
    if isinstance(command, str):
        shown = command.removeprefix("cd /app && ")
        result = " ".join(str(step.tool_result or "").split())
        failed = " (fails)" if step.status is StepStatus.FAILURE else ""
        return f"$ {shown}{failed}" + (f"  → {result}" if result else "")
    path = str(arguments.get("file_path", "")).removeprefix("/app/")
    return f"{step.tool_name} {path}"
