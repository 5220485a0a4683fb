"""`trialrun regrade`: judge stored traces again by the current spec."""

from __future__ import annotations

from pathlib import Path

import click

from trialrun.cli.output import ReportOptions, printing_to_stderr, report_options, say, write_report
from trialrun.cli.stores import judge_cache_option, require_cases, store_option
from trialrun.errors import UsageError
from trialrun.spec.load import load_prices, load_suites
from trialrun.util.files import is_folder


@click.command("regrade")
@click.argument("run", default="latest")
@click.option("--spec", help="The spec to use [default: the one that the run was made with].")
@click.option(
    "--baseline",
    metavar="FOLDER",
    help="The folder of baselines [default: `baselines` beside the spec].",
)
@click.option("--prices", metavar="FILE", help="A file of prices that override the list prices.")
@judge_cache_option
@store_option
@report_options
def command(
    run: str,
    spec: str | None,
    baseline: str | None,
    prices: str | None,
    judge_cache: bool,
    store: str | None,
    report: ReportOptions,
) -> int:
    """Judge the stored traces of RUN (default: `latest`) again by the current spec.

    No agent is called. The new verdicts are stored as a new run: `trialrun compare RUN latest`
    shows what changed.
    """
    from trialrun.engine.regrade import regrade
    from trialrun.store import open_store

    if baseline is not None and not is_folder(Path(baseline)):
        raise UsageError(f"--baseline {baseline[:200]}: no such folder")
    with open_store(store, create=False) as opened:
        record = opened.find_run(run)
        require_cases(record, spec)
        given = record.settings.get("given", {})  # the options that the run was judged with
        folder = baseline or given.get("baseline")
        file = prices or given.get("prices")
        with printing_to_stderr():
            suites = load_suites(spec or record.spec_key)
            judged = regrade(
                opened,
                record,
                spec or record.spec,
                suites,
                None if folder is None else Path(folder),
                None if file is None else load_prices(file),
                judge_cache,
                given.get("require_baseline", False),
            )
        if not report.quiet:
            say(f"run {judged.run_id}: run {record.id} judged again")
        return write_report(judged, report)
