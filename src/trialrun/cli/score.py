"""`trialrun score`: judge recorded traces by a spec."""

from __future__ import annotations

from pathlib import Path

import click

from trialrun.cli.bulk import BulkOptions, bulk_options, judge, require_sensible, show
from trialrun.cli.output import (
    ReportOptions,
    printing_to_stderr,
    report_options,
    require_baseline_option,
    require_writable,
)
from trialrun.cli.stores import judge_cache_option
from trialrun.engine.bulk.output import is_rows
from trialrun.engine.bulk.scoring import Bulk
from trialrun.engine.bulk.work import Options
from trialrun.errors import UsageError
from trialrun.spec.load import load_prices, load_suites
from trialrun.util.files import is_folder
from trialrun.util.lazy_patterns import lazy_pattern

_SHARE = lazy_pattern(r"(\d+(?:\.\d+)?)%\Z")  # 5%, 0.5%


def _share(context: click.Context, option: click.Parameter, value: str | None) -> float | None:
    """The share of traces: 0.05 for `5%`."""
    if value is None:
        return None
    found = _SHARE.match(value)
    if found is None or float(found[1]) > 100:
        raise click.BadParameter(f"expected a share such as 5%, found {value!r}")
    return float(found[1]) / 100


@click.command("score")
@click.argument("spec")
@click.argument("traces", nargs=-1)
@click.option(
    "--baseline",
    metavar="FOLDER",
    help="The folder of baselines [default: `baselines` beside the spec].",
)
@require_baseline_option
@click.option("--tag", "tags", multiple=True, help="Only cases with this tag; may be repeated.")
@click.option(
    "--case", "names", multiple=True, help="Only this case (globs work); may be repeated."
)
@click.option("--prices", metavar="FILE", help="A file of prices that override the list prices.")
@click.option(
    "--allow-incomplete",
    callback=_share,
    metavar="N%",
    help="Do not end with 3 if at most N% of the traces are unreadable or have no answer.",
)
@judge_cache_option
@bulk_options
@report_options
def command(
    spec: str,
    traces: tuple[str, ...],
    baseline: str | None,
    require_baseline: bool,
    tags: tuple[str, ...],
    names: tuple[str, ...],
    prices: str | None,
    allow_incomplete: float | None,
    judge_cache: bool,
    bulk: BulkOptions,
    report: ReportOptions,
) -> int:
    """Judge recorded TRACES (files or folders) by SPEC (a file, or a folder of them).

    A trace belongs to the case that names it, else to the case with the same name, else to the
    case with the same input; several traces of one case are attempts. A case without a trace is an
    ERROR.

    `-o results.jsonl` or `.parquet` writes a row for each attempt; see docs/scale.md for many
    traces and many machines.
    """
    if baseline is not None and not is_folder(Path(baseline)):
        raise UsageError(f"--baseline {baseline[:200]}: no such folder")
    require_sensible(bulk, report, traces)
    if not is_rows(report.output):
        require_writable(report)
    with printing_to_stderr():
        options = Options(
            baselines=None if baseline is None else Path(baseline),
            require_baseline=require_baseline,
            tags=tags,
            names=names,
            prices=None if prices is None else load_prices(prices),
            sample=bulk.sample,
        )
        paths = () if bulk.merge else traces
        work = Bulk(load_suites(spec), paths, options, judge_cache=judge_cache)
        found = judge(work, bulk, report, spec, allow_incomplete, traces)
    return show(work, found, bulk, report)
