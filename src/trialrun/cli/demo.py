"""`trialrun demo`: what a judged run looks like, without keys and without configuration."""

from __future__ import annotations

from importlib.resources import as_file, files

import click

from trialrun.cli.output import ReportOptions, report_options, say, write_report
from trialrun.engine.load import load_suite
from trialrun.engine.score import score


@click.command("demo")
@report_options
def command(report: ReportOptions) -> int:
    """Judge the bundled runs of a small support agent: a pass, a warning, a failure, an error."""
    with as_file(files("trialrun") / "demo") as folder:
        if not report.quiet:
            say(f"trialrun score {folder / 'support.yaml'} {folder / 'traces.jsonl'}")
            say("")
        run = score([load_suite(folder / "support.yaml")], [folder / "traces.jsonl"])
        code = write_report(run, report)
    if not report.quiet:
        say("")
        say(f"On runs of your own, `trialrun score` would exit with {code}. Next: trialrun init")
    return 0
