"""`trialrun init`: a commented spec to start from, or the hooks for Claude Code."""

from __future__ import annotations

from pathlib import Path

import click

from trialrun.cli.output import say
from trialrun.errors import UsageError
from trialrun.reports.views.printable import one_line
from trialrun.spec.load import DEFAULT_SPEC

TEMPLATE = """\
# A spec says what an agent is asked, and how its runs are checked.
# `trialrun validate` checks this file; `trialrun explain NAME` says what a check means;
# `trialrun schema > schema.json` gives your editor completion.
version: 1
agent: my-agent
# runner: my_app.agent:run      # a live agent; or `command: [node, agent.js]`, or `url: http://…`

# What every case shares. A case may override a field; `null` removes it.
defaults:
  cost:
    max_total_tokens: 20000
    max_cost_usd: 0.05
    max_cost_multiplier: {value: 3, severity: fail}          # times the cost of the baseline
  # Does the agent still do what it did? Compared with the baseline of each case, which
  # `trialrun baseline save` makes from a run that passed. Without one, these are skipped.
  regression:
    same_calls: true
    same_arguments: true
    same_order: true
    same_errors: true

# Numbers to compute for every run. A `min` or `max` makes a metric a gate.
metrics:
  - step_count
  - token_usage
  - tool_call_count
  - duration
  # - {name: error_rate, max: 0.1, severity: fail}
  # - my_package.metrics:MyMetric

queries:
  - name: refund-policy
    query: How long do I have to return something?
    tags: [smoke]
    # Is the answer right? A failure here fails the case.
    correctness:
      expected_in_answer: [refund, [30 days, thirty days]]   # an inner list: any one will do
      not_in_answer: [guarantee]
    # Did the agent take a sensible path? A failure here is a warning (default severity: warn).
    path:
      expected_tools: [search_docs]
      max_tool_calls: {value: 4, severity: fail}
      forbidden_tools: [delete_order]                        # fails the case
    # What did it cost? A failure here is a warning, too; --strict makes warnings fail.
    cost:
      max_llm_calls: 5

  - name: out-of-scope
    query: Write me a poem about the sea.
    correctness:
      any_expected_in_answer: [cannot help, can't help, only answer questions]
    path:
      max_tool_calls: 0

# In CI, with the baselines committed (a case without one is then an error, not skipped):
#   trialrun run {path} --require-baseline -o report.xml
"""


@click.command("init")
@click.argument("path", required=False)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.option(
    "--claude-code",
    is_flag=True,
    help="Instead, add `trialrun verify` as Stop hooks to .claude/settings.json.",
)
@click.option("--block", is_flag=True, help="With --claude-code: send the agent back to work.")
@click.option("--local", is_flag=True, help="With --claude-code: .claude/settings.local.json.")
@click.option("--remove", is_flag=True, help="With --claude-code: take the hooks out again.")
@click.option("--dry-run", is_flag=True, help="With --claude-code: only show the changes.")
def command(path: str | None, force: bool, claude_code: bool, **hooks: bool) -> int:
    """Write a commented spec to PATH (default: `trialrun.yaml`)."""
    if claude_code:
        from trialrun.cli.claude_settings import set_up

        if path is not None or force:
            raise UsageError("--claude-code writes no spec: give no PATH and no --force")
        return set_up(**hooks)
    given = [name for name, wanted in hooks.items() if wanted]
    if given:
        raise UsageError(f"--{given[0].replace('_', '-')} belongs to --claude-code")
    return _write_spec(Path(path or DEFAULT_SPEC), force)


def _write_spec(target: Path, force: bool) -> int:
    try:
        with target.open("w" if force else "x", encoding="utf-8") as stream:
            stream.write(TEMPLATE.replace("{path}", one_line(str(target))))
    except FileExistsError:
        raise UsageError(f"{target} already exists; --force replaces it") from None
    except OSError as error:
        raise UsageError(f"{target}: cannot be written: {error.strerror}") from None
    say(f"wrote {target}; next: trialrun validate {target}")
    say(f"then, with recorded traces in traces/: trialrun score {target} traces/")
    say(f"or, with a live agent named in it: trialrun run {target} --repeat 5")
    say("then keep what it does as the baseline of later runs: trialrun baseline save")
    return 0
