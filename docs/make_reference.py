"""Write the reference pages from the classes, and what commands print into others: `make docs`."""

from __future__ import annotations

import inspect
import io
import os
import re
import runpy
import sys
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import cast

from trialrun import registry
from trialrun.checks.base import Check
from trialrun.cli.explain import example_lines
from trialrun.cli.main import main as run
from trialrun.cli.rules import example_lines as rule_example_lines
from trialrun.cli.rules import state_of
from trialrun.importers.base import Importer
from trialrun.metrics.base import DEFAULT_METRICS
from trialrun.model.evidence import EVIDENCE
from trialrun.model.results import LAYERS
from trialrun.verification.rules.base import Rule, all_rules

HERE = Path(__file__).parent

CHECKS_HEAD = """\
# Checks

Made by `make docs` from the checks themselves; `trialrun explain NAME` prints the same.

A check is *pass*, *fail*, *unknown* or *skipped*. Its severity decides what that does to its
layer: FAIL if a check of severity fail failed, else ERROR if one of severity fail is unknown, else
WARN if any failed or is unknown, else PASS; SKIP if nothing was asked. Every check takes its plain
value, or `{value: …, severity: fail|warn}`. E and U are the sets of expected and used tools, P and
R the calls and the reference in order.

evaldeck's `expected:` block is read too: `tools_called` (expected_tools), `tools_not_called`
(forbidden_tools), `tool_call_order` (order), `output_contains` (expected_in_answer),
`output_not_contains` (not_in_answer), `output_equals` (exact_match), `output_matches`
(regex_match), `max_steps`, `min_steps`, `max_tool_calls`, `max_llm_calls`, `task_completed`. They
are all of severity fail.

## Match modes are not synonyms

Other tools use the same words for other things:

| here | ADK | LangChain agentevals | pydantic-evals |
|---|---|---|---|
| `strict`: the same list | EXACT | `strict` (compares messages too) | – |
| `unordered`: the same set, extra repeats allowed | – | `unordered` forbids extra calls | – |
| `subset`: the reference's tools were all used, extras allowed | ANY_ORDER allows extras | \
`superset` means that extras are allowed | – |
| `superset`: nothing outside the reference was used | – | `subset` | – |
| `order: [a, b]`: in this order, extras allowed | IN_ORDER | – | `in_order` is an F1 score |

"""
COMBINATIONS = """\
## Combinations, in every layer

`any_of`, `all_of` and `not` combine checks of one layer, in any depth. Each part is judged as if it
were alone: it is unknown if its evidence was not recorded. Settings of the block (`tool: search`)
apply to the parts too. The message has the reasons of the parts.

"""
METRICS_HEAD = """\
# Metrics

Made by `make docs` from the metrics themselves. A value of `None` (shown as –) is undefined: what
it needs was not recorded. `{name: …, min: …, max: …, severity: fail|warn}` in a spec makes a metric
a gate (default severity: warn); an undefined value does not pass a gate.

"""


def checks() -> str:
    kinds = [
        kind for name in registry.our_names(registry.CHECKS) if (kind := registry.find_check(name))
    ]
    text = CHECKS_HEAD
    for layer in LAYERS:
        members = [kind for kind in kinds if kind.layer == layer and not kind.any_layer]
        if members:
            text += f"## {layer.capitalize()}\n\n" + "".join(map(_check, members))
    text += COMBINATIONS + "".join(_check(kind) for kind in kinds if kind.any_layer)
    return text.rstrip() + "\n"


def _check(kind: type[Check]) -> str:
    text = f"### {kind.key}\n\n{inspect.cleandoc(kind.__doc__ or '')}\n\n"
    text += f"- Formula: {kind.formula}\n"
    severity = "that of the layer" if kind.any_layer else kind.default_severity.value
    text += f"- Severity: {severity}\n"
    if kind.needs:
        text += f"- Needs: {', '.join(sorted(kind.needs))}\n"
    if kind.recommended:
        text += f"- Recommended: {kind.recommended}\n"
    lines = [line for example in kind.examples for line in example_lines(kind, example)]
    return text + "\n```yaml\n" + "\n".join(lines) + "\n```\n\n"


def metrics() -> str:
    text = METRICS_HEAD + "| metric | unit | formula | what it says |\n|---|---|---|---|\n"
    for name in registry.our_names(registry.METRICS):
        kind = registry.find_metric(name)
        assert kind is not None
        default = " (default)" if name in DEFAULT_METRICS else ""
        formula = getattr(kind, "formula", "").replace("|", "\\|")
        text += f"| `{name}`{default} | {kind.unit or '–'} | {formula} | {summary(kind)} |\n"
    return text


FORMATS_HEAD = """\
# Formats, agents and stores

What can trialrun read, write and call? Made by `make docs` from the classes themselves. To add one:
[CONTRIBUTING.md](../CONTRIBUTING.md).

"""


_IMPORTER_COLUMNS = ("importer", "reads", "files", "never recorded", "how to get one")


def _lacks(kind: type[Importer]) -> str:
    return ", ".join(sorted(EVIDENCE - kind.carries)) or "–"


def formats() -> str:
    importers = [
        (f"`{name}`", kind.title, _endings(kind.suffixes), _lacks(kind), kind.export)
        for name, kind in registry.importers().items()
    ]
    reports = [
        (f"`{name}`", _endings(kind.suffixes), summary(kind))
        for name, kind in registry.reports().items()
    ]
    agents = [
        (f"`{name}:`", ", ".join(f"`{key}`" for key in keys) or "–", summary(kind))
        for name, kind in registry.agent_kinds().items()
        for _, *keys in [kind.settings.__struct_fields__]
    ]
    stores = [
        (", ".join(f"`{one}://…`" if one else "a path" for one in kind.schemes), summary(kind))
        for kind in registry.find_all(registry.STORES).values()
    ]
    return FORMATS_HEAD + "\n".join(
        (
            table("Traces that are read", _IMPORTER_COLUMNS, importers),
            table("Spans of libraries", ("spans of", "not in them", "how to turn on"), spans()),
            table("Reports (`--format`, `-o`)", ("report", "files", ""), reports),
            table("Agents (keys of a spec)", ("key", "further keys", ""), agents),
            table("Stores (`--store`)", ("location", ""), stores),
        )
    )


RULES_HEAD = """\
# Rules of `trialrun verify`

What does TR104 mean, and when is it silent? Made by `make docs` from the rules themselves;
`trialrun explain TR104` prints the same. How to use them: [verification.md](verification.md).

A *stable* rule decides the verdict of a claim. A finding of a rule in *preview* is listed, and
changes no verdict, no score and no exit code. In the examples `$` is a command with what it
printed, and the line in quotation marks is what the agent says at the end.

"""


def rules() -> str:
    """The page of rules: a table, then each with its examples."""
    found = all_rules()
    rows = [
        (f"[{one.code}](#{one.code.lower()}-{one.name})", one.name, state_of(one), one.severity)
        for one in found
    ]
    head = ("code", "name", "", "severity")
    text = RULES_HEAD + table("All rules", head, rows) + "\n"
    return (text + "".join(map(_rule, found))).rstrip() + "\n"


def _rule(rule: Rule) -> str:
    verdict = f"- The claim is: {rule.verdict.value}\n" if rule.verdict is not None else ""
    text = f"## {rule.code} {rule.name}\n\n{rule.what}\n\n- Why: {rule.why}\n"
    text += f"- Silent: {rule.silent}\n{verdict}"
    text += f"- State: {state_of(rule)}, severity {rule.severity}\n\n"
    for title, examples in (("Fires on", rule.fires), ("Does not fire on", rule.passes)):
        blocks = ["\n".join(rule_example_lines(one)) for one in examples]
        text += f"{title}:\n\n```text\n" + "\n\n".join(blocks) + "\n```\n\n"
    return text


def spans() -> Sequence[Sequence[str]]:
    """Libraries that record spans, from the file beside this one."""
    found = runpy.run_path(str(HERE / "span_sources.py"))["rows"]()
    return cast("Sequence[Sequence[str]]", found)


def _endings(suffixes: Sequence[str]) -> str:
    return ", ".join(f"`{suffix}`" for suffix in suffixes if suffix)


def summary(kind: type) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join(inspect.cleandoc(kind.__doc__ or "").split("\n\n")[0].split())


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return f"## {title}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


# "```console\\n$ trialrun verify demo/compliant.jsonl\\n…```": what it prints is below the command.
_SHOWN = re.compile(
    r"(```console\n\$ trialrun )((?:verify|explain)[^\n]* (?:demo/\S+|TR\d+)(?: -\S+)*)\n.*?```",
    re.DOTALL,
)


def with_outputs(page: str) -> str:
    """The page, with what commands on the bundled runs print now."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            _printed(["demo", "--copy", "demo"])
            return _SHOWN.sub(
                lambda found: f"{found[1]}{found[2]}\n{_printed(found[2].split())}```", page
            )
        finally:
            os.chdir(here)


def _printed(command: Sequence[str]) -> str:
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        run(command)
    return out.getvalue()


def main() -> int:
    """Write the pages; with --check, only say whether they are up to date."""
    stale = []
    pages = {
        "checks.md": checks(),
        "metrics.md": metrics(),
        "formats.md": formats(),
        "rules.md": rules(),
    }
    for name in ("verification.md", "../README.md"):
        pages[name] = with_outputs((HERE / name).read_text(encoding="utf-8"))
    for name, text in pages.items():
        file = HERE / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            stale.append(name)
            if "--check" not in sys.argv:
                file.write_text(text, encoding="utf-8")
    if stale and "--check" in sys.argv:
        sys.stderr.write(f"out of date, run `make docs`: {', '.join(stale)}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
