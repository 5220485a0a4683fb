"""What `score` needs for many traces: its options, the progress, what is shown of a large run."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct
from msgspec.structs import replace

from trialrun.cli.output import ReportOptions, put, say, say_lines, say_warnings, write_report
from trialrun.engine.bulk.job import Shard
from trialrun.engine.bulk.output import is_rows, parts_of
from trialrun.engine.bulk.scoring import (
    Bulk,
    Engine,
    Progress,
    merge_to_file,
    on_this_machine,
    score_in_bulk,
    score_to_file,
)
from trialrun.errors import UsageError
from trialrun.reports import terminal
from trialrun.reports.base import View
from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.util.money import dollars

if TYPE_CHECKING:
    from trialrun.engine.bulk.merge import Totals
    from trialrun.engine.bulk.part import Counts
    from trialrun.engine.bulk.record import Target

_MOST_SHOWN = 1_000
_MOST_GROUPS = 50
_SHARD = lazy_pattern(r"(\d{1,6})/(\d{1,6})\Z")  # 3/10


class BulkOptions(Struct, frozen=True, kw_only=True):
    """The options of `score` for many traces."""

    jobs: int | None
    sample: float | None
    by: Sequence[str]
    resume: bool
    shard: Shard | None
    merge: bool
    engine: str
    scheduler: str | None
    store: str | None


def _shard(context: click.Context, option: click.Parameter, value: str | None) -> Shard | None:
    if value is None:
        return None
    found = _SHARD.match(value)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise click.BadParameter(f"expected a number and how many there are, as 3/10: {value!r}")
    return Shard(int(found[1]), int(found[2]))


def bulk_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options to a command, which gets them as one argument `bulk`."""

    @wraps(command)
    def with_options(**given: Any) -> int:
        own = {name: given.pop(name) for name in BulkOptions.__struct_fields__}
        return command(bulk=BulkOptions(**own), **given)

    decorated: Callable[..., int] = with_options
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


_OPTIONS = (
    click.option(
        "-j",
        "--jobs",
        type=click.IntRange(1, 1024),
        metavar="N",
        help="Judge in this many processes [default: one for each core].",
    ),
    click.option(
        "--sample",
        type=click.FloatRange(0, 1, min_open=True),
        metavar="SHARE",
        help="Judge only this share of the traces, 0.1 for a tenth: always the same ones.",
    ),
    click.option(
        "--by",
        type=click.Choice(["tag", "model", "day"]),
        multiple=True,
        help="Also sum up by tag, model or day; may be repeated.",
    ),
    click.option(
        "--resume", is_flag=True, help="Go on with an `-o` that was interrupted (.jsonl, .parquet)."
    ),
    click.option(
        "--shard",
        callback=_shard,
        metavar="I/N",
        help="Judge only this share of the chunks; --merge puts the shards together.",
    ),
    click.option("--merge", is_flag=True, help="TRACES are folders of parts, made by --shard."),
    click.option(
        "--engine",
        type=click.Choice(["local", "dask"]),
        default="local",
        help="Where chunks are judged [default: in processes of this machine].",
    ),
    click.option(
        "--scheduler", metavar="ADDRESS", help="The Dask scheduler; else a local cluster is used."
    ),
    click.option(
        "--store",
        metavar="PATH|URL",
        help="Also record the run, with its traces, for `show`, `compare` and `regrade`.",
    ),
)


def require_sensible(options: BulkOptions, report: ReportOptions, paths: Sequence[str]) -> None:
    """Refuse options that do not go together."""
    rows = is_rows(report.output)
    needs_rows = {"--resume": options.resume, "--shard": options.shard, "--merge": options.merge}
    for name, given in needs_rows.items():
        if given and not rows:
            raise UsageError(f"{name} needs `-o FILE` that ends in .jsonl or .parquet")
    if rows and report.form is not None:
        raise UsageError(f"{report.output}: rows are written; leave out --format {report.form}")
    if options.merge and (options.shard or options.resume or options.engine != "local"):
        raise UsageError("--merge puts finished shards together: leave out what judges")
    if options.merge and not paths:
        raise UsageError("--merge needs the folders of parts in place of TRACES")
    if options.scheduler is not None and options.engine != "dask":
        raise UsageError("--scheduler is for --engine dask")
    if options.store is not None and (options.shard or options.merge):
        raise UsageError("--store records a run that is judged here: leave out --shard and --merge")


def judge(
    bulk: Bulk,
    options: BulkOptions,
    report: ReportOptions,
    spec: str,
    allow_incomplete: float | None,
    paths: Sequence[str],
) -> Totals | None:
    """Judge, or merge what was judged; None of a shard."""
    output = Path(report.output) if report.output is not None and is_rows(report.output) else None
    if options.merge:
        assert output is not None
        return merge_to_file(bulk, [Path(path) for path in paths], output, allow_incomplete)
    watcher = _Watcher(report.quiet)
    with ExitStack() as stack:
        stack.callback(watcher.end)
        common: dict[str, Any] = {
            "engine": _engine(options, spec),
            "allow_incomplete": allow_incomplete,
            "watcher": watcher.show,
            "target": _target(options, spec, stack),
        }
        if output is None:
            return score_in_bulk(bulk, **common)
        return _to_file(bulk, options, output, report, common)


def show(bulk: Bulk, found: Totals | None, options: BulkOptions, report: ReportOptions) -> int:
    """Report what was judged; the exit code."""
    if found is None:
        assert report.output is not None
        return _say_shard(bulk, options, parts_of(Path(report.output)), report.quiet)
    if found.run.run_id is not None and not report.quiet:
        say(f"recorded as run {found.run.run_id}")
    code = _report(found, report)
    _sum_up(found, options.by, report)
    return code


def _to_file(
    bulk: Bulk, options: BulkOptions, output: Path, report: ReportOptions, common: dict[str, Any]
) -> Totals | None:
    try:
        return score_to_file(bulk, output, resume=options.resume, shard=options.shard, **common)
    except KeyboardInterrupt:
        if not report.quiet:
            say("interrupted; go on with the same command and --resume")
        raise


def _engine(options: BulkOptions, spec: str) -> Engine:
    if options.engine == "dask":
        from trialrun.engine.bulk.dask import on_a_cluster

        return on_a_cluster(str(Path(spec).absolute()), options.scheduler, options.jobs)
    return on_this_machine(options.jobs)


def _target(options: BulkOptions, spec: str, stack: ExitStack) -> Target | None:
    if options.store is None:
        return None
    from trialrun.engine.bulk.record import Target
    from trialrun.store import open_store

    return Target(stack.enter_context(open_store(options.store)), spec)


def _say_shard(bulk: Bulk, options: BulkOptions, place: Path, quiet: bool) -> int:
    assert options.shard is not None
    mine = [chunk for chunk in bulk.plan.chunks if options.shard.has(chunk.number)]
    if not quiet:
        say(
            f"shard {options.shard}: {len(mine)} of {len(bulk.plan.chunks)} chunks are in {place}; "
            "when all shards are, put them together with --merge"
        )
    return 0  # the verdict is that of the whole


def _report(found: Totals, report: ReportOptions) -> int:
    run = found.run
    if is_rows(report.output):
        if not report.quiet:
            say_warnings(run.warnings)
            shown = replace(run, results=list(found.red))
            view = View(strict=report.strict, verbose=report.verbose)
            say_lines(terminal.render(shown, view))
            say(f"{run.tally.attempts:,} rows written to {report.output}")
        return run.exit_code(report.strict)
    to_terminal = report.form in (None, "terminal") and report.output is None
    if to_terminal and len(run.results) > _MOST_SHOWN and not report.quiet:
        say(f"many results: the first {len(found.red)} with a failure or an error are shown")
        run = replace(run, results=list(found.red))
    return write_report(run, report)


# Sums


def _sum_up(found: Totals, kinds: Sequence[str], report: ReportOptions) -> None:
    lines = [line for kind in dict.fromkeys(kinds) for line in _table(kind, found.sums.by[kind])]
    if not lines:
        return
    text = "".join(f"{line}\n" for line in lines)
    if report.output is None and report.form in (None, "terminal"):
        put(text)
    else:
        say_lines(text)


def _table(kind: str, groups: dict[str, Counts]) -> list[str]:
    from trialrun.reports.views.printable import one_line

    names = sorted(groups) if kind == "day" else sorted(groups, key=lambda n: -groups[n].attempts)
    rows = [[kind, "attempts", "passed", "warned", "failed", "in error", "cost"]]
    for name in names[:_MOST_GROUPS]:
        counts = groups[name]
        statuses = [counts.statuses.get(one, 0) for one in ("pass", "warn", "fail", "error")]
        known = counts.known_cost == counts.attempts
        cost = dollars(counts.cost_usd) if counts.known_cost else "–"
        rows.append(
            [
                one_line(name)[:60],
                f"{counts.attempts:,}",
                *(f"{count:,}" for count in statuses),
                cost if known or not counts.known_cost else f"at least {cost}",
            ]
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *(map(str.rjust, row[1:], widths[1:]))]) for row in rows
    ]
    if len(names) > _MOST_GROUPS:
        lines.append(f"and {len(names) - _MOST_GROUPS:,} more")
    return ["", *lines]


# Progress


class _Watcher:
    """Shows how far it is on stderr: one line that changes on a terminal, some lines elsewhere."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet or sys.stderr is None
        self._is_terminal = not self._quiet and sys.stderr.isatty()
        self._began = time.monotonic()
        self._next = self._began + 2.0
        self._is_shown = False

    def show(self, progress: Progress) -> None:
        """Show it, if it is time."""
        now = time.monotonic()
        if self._quiet or now < self._next:
            return
        self._next = now + (0.5 if self._is_terminal else 30.0)
        text = progress_line(progress, now - self._began)
        if self._is_terminal:
            say_lines(f"\r{text}\x1b[K")
            self._is_shown = True
        else:
            say(text)

    def end(self) -> None:
        """Leave no half line behind."""
        if self._is_shown:
            say_lines("\r\x1b[K")


def progress_line(progress: Progress, seconds: float) -> str:
    """`40% · 12,000 traces · 3,000/s · 6 s left`."""
    share = progress.done / progress.total if progress.total else 1.0
    parts = [f"{share:.0%}", f"{progress.traces:,} traces"]
    if seconds > 0:
        parts.append(f"{progress.traces / seconds:,.0f}/s")
    if share > 0:
        parts.append(f"{_duration(seconds * (1 - share) / share)} left")
    return " · ".join(parts)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
