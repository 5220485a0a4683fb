"""`trialrun demo`: judge bundled runs, or copy the demo; needs no keys and no configuration."""

from __future__ import annotations

import shutil
import sys
from importlib.resources import as_file, files
from pathlib import Path

import click

from trialrun.cli.output import ReportOptions, report_options, say, write_report
from trialrun.engine.score import score
from trialrun.errors import UsageError
from trialrun.spec.load import load_suite
from trialrun.util.files import reason


@click.command("demo")
@click.option(
    "--copy", metavar="FOLDER", help="Write the demo's spec, recorded runs and agent there instead."
)
@report_options
def command(copy: str | None, report: ReportOptions) -> int:
    """Judge the bundled runs of a small support agent: a pass, a warning, a failure, an error."""
    if copy is not None:
        return _copy(Path(copy))
    with as_file(files("trialrun") / "demo") as folder:
        if not report.quiet:
            say(f"trialrun score {folder / 'support.yaml'} {folder / 'traces.jsonl'}")
            say("")
        run = score([load_suite(folder / "support.yaml")], [folder / "traces.jsonl"])
        code = write_report(run, report)
    if not report.quiet:
        say("")
        say(f"On your own runs, `trialrun score` would exit with {code}. Next: {typed()} init")
    return 0


def typed() -> str:
    """What to type to run trialrun: its name where a shell finds it, else the way it was called."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return f"{sys.executable} -m trialrun"
    found = shutil.which("trialrun")
    if called.stem != "trialrun" or (found and Path(found).resolve() == called.resolve()):
        return "trialrun"
    return str(called)


_FILES = {
    "support.yaml": "demo",
    "traces.jsonl": "demo",
    "support_agent.py": "demo",
    "refunds.yaml": "demo",
    "refund_agent.py": "demo",
    "rubrics.yaml": "demo",
    "customers.csv": "demo",
    "support_judge.py": "demo",
    "verification.yaml": "scenarios",
    "compliant.jsonl": "scenarios",
    "non-compliant.jsonl": "scenarios",
    "test_scenarios.py": "scenarios",
}


def _copy(target: Path) -> int:
    """The demo's spec, recorded runs and agent as files, to run and to change."""
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, folder in _FILES.items():
            with (target / name).open("x", encoding="utf-8") as stream:
                stream.write((files("trialrun") / folder / name).read_text(encoding="utf-8"))
    except FileExistsError:
        raise UsageError(f"{target}: the demo already exists there") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{str(target)[:200]}: cannot be written: {reason(error)}") from None
    say(f"wrote {len(_FILES)} files to {target}")
    spec = target / "support.yaml"
    say(f"next: {typed()} score {spec} {target / 'traces.jsonl'} judges the recorded runs,")
    say(f"      {typed()} run {spec} asks the agent")
    return 0
