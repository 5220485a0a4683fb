"""`trialrun run`: call live agents, judge and store every attempt."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct
from msgspec.structs import replace

from trialrun.cli.output import (
    ReportOptions,
    printing_to_stderr,
    put,
    report_options,
    require_baseline_option,
    require_writable,
    say,
    write_report,
)
from trialrun.cli.progress import Progress
from trialrun.cli.stores import judge_cache_option, store_option
from trialrun.engine.baseline_lookup import require_usable_baselines
from trialrun.engine.live_run import DEFAULT_LIMIT, MOST_UNTIL_DECIDED, RunSettings
from trialrun.engine.loading import require_judges, require_loadable
from trialrun.engine.plan import RunPlan, Selection, make_plan
from trialrun.engine.stability import FAIL_ON, FLAKY_INFRASTRUCTURE, apply_gates
from trialrun.errors import NothingSelected, UsageError
from trialrun.model.case import Suite
from trialrun.model.results import RunResult
from trialrun.reports.views.printable import one_line
from trialrun.spec.load import DEFAULT_SPEC, load_prices, load_suites
from trialrun.util.files import is_folder
from trialrun.util.money import dollars
from trialrun.util.texts import counted

if TYPE_CHECKING:
    from trialrun.engine.run_lifecycle import PreparedRun
    from trialrun.store.records import RunRecord
    from trialrun.store.store import Store

_DEFAULTS = RunSettings()
_RATE = re.compile(r"(\d+(?:\.\d+)?)/(s|m|min|h)\Z")  # 2/s, 60/m, 0.5/min
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600}


class _Number(click.FloatRange):
    """A number within bounds. NaN is refused: a gate with it would always hold."""

    def convert(self, value: Any, parameter: Any, context: Any) -> Any:
        number = super().convert(value, parameter, context)
        if not isfinite(number):
            self.fail(f"{value} is not a finite number", parameter, context)
        return number


def _rate(context: click.Context, option: click.Parameter, value: str | None) -> float | None:
    """The attempts started per second: 1.0 for `60/m`."""
    if value is None:
        return None
    found = _RATE.match(value)
    if found is None or float(found[1]) == 0:
        raise click.BadParameter(f"expected a rate such as 2/s or 60/m, found {value!r}")
    return float(found[1]) / _SECONDS[found[2]]


class _Options(Struct, kw_only=True):
    """The options of the command line."""

    store: str | None
    jobs: int
    timeout: float | None
    retries: int
    rate: float | None
    tags: tuple[str, ...]
    names: tuple[str, ...]
    agents: tuple[str, ...]
    failed: bool
    limit: int | None
    repeat: int | None
    until_decided: bool
    min_pass_rate: float | None
    fail_on: tuple[str, ...]
    fail_fast: bool
    max_cost: float | None
    max_memory: int | None
    dry_run: bool
    resume: bool
    accept_changes: bool
    in_process: bool
    keep_folders: bool
    baseline: str | None
    require_baseline: bool
    prices: str | None
    judge_cache: bool
    labels: tuple[str, ...]
    strict: bool = False


def _run_options(command: Callable[..., int]) -> Callable[..., int]:
    positive = _Number(min=0, min_open=True)
    options = (
        click.option("-j", "--jobs", type=click.IntRange(1, 1000), default=_DEFAULTS.jobs,
                     show_default=True, help="How many attempts run at the same time."),
        click.option("--timeout", type=positive, metavar="SECONDS",
                     help=f"Time limit per case [default: the spec's, else {DEFAULT_LIMIT:g}]."),
        click.option("--retries", type=click.IntRange(0, 20), default=_DEFAULTS.retries,
                     show_default=True,
                     help="Retries after an infrastructure error; a failed case is never retried."),
        click.option("--rate", callback=_rate, metavar="N/s|N/m",
                     help="Start at most N attempts per second or minute."),
        click.option("--tag", "tags", multiple=True,
                     help="Only cases with this tag; may be repeated."),
        click.option("--case", "names", multiple=True,
                     help="Only this case (globs work); may be repeated."),
        click.option("--agent", "agents", multiple=True,
                     help="Only this agent of `agents:`; may be repeated."),
        click.option("--failed", is_flag=True,
                     help="Only cases that did not pass in their last run."),
        click.option("--limit", type=click.IntRange(min=1), metavar="N",
                     help="Only the first N cases."),
        click.option("--repeat", type=click.IntRange(1, 10_000), metavar="N",
                     help=f"Attempts per case [default: {_DEFAULTS.repeat}; with --until-decided "
                     f"at most {MOST_UNTIL_DECIDED}]."),
        click.option("--until-decided", is_flag=True,
                     help="Repeat each case only until the 95% interval of its pass rate is above "
                     "or below --min-pass-rate."),
        click.option("--min-pass-rate", type=_Number(0, 1, min_open=True), metavar="RATE",
                     help="Fail if a case passes in a smaller share of its attempts; single "
                     "failures then do not fail the run."),
        click.option("--fail-on", multiple=True, type=click.Choice(FAIL_ON),
                     help="Fail if verdicts differ between attempts of a case, for any reason or "
                     "for the one given."),
        click.option("--fail-fast", is_flag=True, help="Start no more attempts after a failure."),
        click.option("--max-cost", type=_Number(min=0), metavar="DOLLARS",
                     help="Start no more attempts once this command has spent DOLLARS."),
        click.option("--max-memory", type=click.IntRange(64, 1_000_000_000), metavar="MB",
                     help="Memory limit of one agent process [default: 80% of the machine's]."),
        click.option("--dry-run", is_flag=True,
                     help="Only show what would run and what it may cost."),
        click.option("--resume", is_flag=True,
                     help="Continue the latest unfinished run of SPEC."),
        click.option("--accept-changes", is_flag=True,
                     help="With --resume: keep verdicts of cases whose text in the spec changed."),
        click.option("--in-process", is_flag=True,
                     help="Call Python agents in this process, one at a time, for a debugger."),
        click.option("--keep-folders", is_flag=True,
                     help="Do not delete the working folders of cases."),
        click.option("--baseline", metavar="FOLDER",
                     help="The folder of baselines [default: `baselines` beside the spec]."),
        require_baseline_option,
        click.option("--prices", metavar="FILE",
                     help="A file of prices that override the list prices."),
        click.option("--label", "labels", multiple=True, metavar="TEXT",
                     help="A text that is recorded with the run; may be repeated."),
        judge_cache_option,
        store_option,
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


@click.command("run")
@click.argument("spec", default=DEFAULT_SPEC)
@_run_options
@report_options
def command(spec: str, report: ReportOptions, **given: Any) -> int:
    """Run the agents of SPEC (a file or a folder; default: `trialrun.yaml`), and judge them.

    Every attempt is judged and stored before it is counted; --resume continues a run that was
    interrupted. Exit codes: 0 passed, 1 failed, 2 usage or spec error, 3 an error or an incomplete
    run, 5 nothing was selected.
    """
    options = _Options(**given)
    _check(options)
    options.strict = report.strict
    require_writable(report)
    with printing_to_stderr():
        suites = load_suites(spec)
        settings = _settings(options)
        require_judges(suites)
        if options.dry_run:
            require_loadable(suites)
            require_usable_baselines(suites, settings.baselines)
    if options.dry_run:
        return _describe(spec, suites, options, settings)
    from trialrun.store import open_store

    with open_store(options.store) as store:
        with printing_to_stderr():
            run = _run(store, spec, suites, options, settings, report.quiet)
        return write_report(run, replace(report, strict=options.strict))


def _check(options: _Options) -> None:
    if options.until_decided and options.min_pass_rate is None:
        raise UsageError("--until-decided needs --min-pass-rate: the rate to decide about")
    if options.accept_changes and not options.resume:
        raise UsageError("--accept-changes belongs to --resume")
    if options.resume:
        chosen = {
            "--tag": options.tags, "--case": options.names, "--failed": options.failed,
            "--limit": options.limit, "--repeat": options.repeat, "--agent": options.agents,
            "--label": options.labels,
        }  # fmt: skip
        for name, value in chosen.items():
            if value:
                raise UsageError(f"--resume continues the planned run; it takes no {name}")
    if options.baseline is not None and not is_folder(Path(options.baseline)):
        raise UsageError(f"--baseline {options.baseline[:200]}: no such folder")


def _settings(options: _Options) -> RunSettings:
    repeat = options.repeat or (MOST_UNTIL_DECIDED if options.until_decided else _DEFAULTS.repeat)
    return RunSettings(
        jobs=options.jobs,
        timeout=options.timeout,
        retries=options.retries,
        rate=options.rate,
        repeat=repeat,
        until_decided=options.min_pass_rate if options.until_decided else None,
        fail_fast=options.fail_fast,
        max_cost=options.max_cost,
        in_process=options.in_process,
        keeps_folders=options.keep_folders,
        memory_limit=None if options.max_memory is None else options.max_memory * 1_000_000,
        baselines=None if options.baseline is None else Path(options.baseline),
        require_baseline=options.require_baseline,
        prices=None if options.prices is None else load_prices(options.prices),
        judge_cache=options.judge_cache,
        labels=options.labels,
    )


def _run(
    store: Store,
    spec: str,
    suites: Sequence[Suite],
    options: _Options,
    settings: RunSettings,
    quiet: bool,
) -> RunResult:
    from trialrun.engine import run_lifecycle

    if options.resume:
        prepared, settings = _resumed(store, spec, suites, options)
        _require_repeats(options, settings)
    else:
        _require_repeats(options, settings)
        plan = _plan(store, spec, suites, options)
        prepared = run_lifecycle.begin(store, spec, suites, plan, settings, _given(options))
    if not quiet:
        done = f", {prepared.done} done before" if prepared.done else ""
        say(f"run {prepared.record.id}: {counted(prepared.left, 'attempt')} to make{done}")
    with Progress(prepared.left, quiet) as progress:
        run, reason = run_lifecycle.execute(store, prepared, settings, progress)
    apply_gates(run, store, prepared.record, options.min_pass_rate, options.fail_on)
    if reason is not None and not quiet:
        # As it is safe to print: an address may hold a password.
        where = f" --store {store.location}" if options.store else ""
        say(f"stopped: {reason}; continue with: trialrun run {spec} --resume{where}")
    return run


def _resumed(
    store: Store, spec: str, suites: Sequence[Suite], options: _Options
) -> tuple[PreparedRun, RunSettings]:
    """The latest unfinished run of the spec, with the settings that it was started with."""
    from trialrun.engine import run_lifecycle

    record = run_lifecycle.unfinished_run(store, spec)
    _restore_options(options, record)
    settings = run_lifecycle.as_recorded(_settings(options), record)
    prepared = run_lifecycle.resume(
        store,
        record,
        spec,
        make_plan(suites, Selection()),
        settings.baselines,
        accept_changes=options.accept_changes,
        prices=settings.prices,
    )
    return prepared, settings


_FILES = ("baseline", "prices")
_DECIDING = (*_FILES, "require_baseline", "timeout", "min_pass_rate", "fail_on", "strict")


def _given(options: _Options) -> dict[str, Any]:
    """The options that decide verdicts, for the store: a resumed run is judged by the same."""
    given = {name: getattr(options, name) for name in _DECIDING}
    files = {name: str(Path(given[name]).resolve()) for name in _FILES if given[name]}
    return {name: value for name, value in {**given, **files}.items() if value}


def _restore_options(options: _Options, record: RunRecord) -> None:
    """Fill in the options that the run was started with.

    Gates and the time limit may be given again; the files that verdicts depend on may not change.
    """
    begun = record.settings.get("given", {})
    now = _given(options)
    for name in _FILES:
        if name in now and now[name] != begun.get(name):
            was = begun.get(name, "none")
            raise UsageError(f"run {record.id} was started with --{name} {was}, found {now[name]}")
    for name, value in begun.items():
        if name not in now:
            setattr(options, name, tuple(value) if isinstance(value, list) else value)


def _require_repeats(options: _Options, settings: RunSettings) -> None:
    """Refuse a gate on flips for single attempts: it would always hold."""
    # An attempt that was retried is a flip by itself.
    needing = [name for name in options.fail_on if name != FLAKY_INFRASTRUCTURE]
    if needing and settings.repeat == 1:
        raise UsageError(f"--fail-on {needing[0]} needs --repeat: one attempt per case cannot flip")


def _plan(store: Store | None, spec: str, suites: Sequence[Suite], options: _Options) -> RunPlan:
    """The cases that the command line selects: by tag, name, agent, last run and number."""
    plan = make_plan(
        suites, Selection(tags=options.tags, names=options.names, agents=options.agents)
    )
    if options.failed:
        plan = plan.chosen(_not_passed(store, spec, plan))
    if options.limit is not None:
        plan = plan.chosen(range(min(options.limit, len(plan))))
    return plan


def _not_passed(store: Store | None, spec: str, plan: RunPlan) -> list[int]:
    from trialrun.engine.run_lifecycle import not_passed
    from trialrun.store.records import spec_key

    earlier = store.runs(spec_key(spec), limit=1) if store is not None else []
    if not earlier:
        raise UsageError(f"--failed: no run of {spec} is recorded yet")
    assert store is not None
    found = not_passed(store, spec, plan)
    if not found:
        raise NothingSelected("--failed: every case passed when it was last run")
    return found


def _describe(spec: str, suites: Sequence[Suite], options: _Options, settings: RunSettings) -> int:
    """`--dry-run`: show what would run, and an estimate of its cost from earlier runs."""
    from trialrun.engine.run_lifecycle import require_agents
    from trialrun.store import open_store
    from trialrun.store.records import spec_key

    with ExitStack() as stack:
        try:
            store = stack.enter_context(open_store(options.store, create=False))
        except UsageError:  # there is no store yet, so nothing to estimate from
            store = None
        if options.resume:
            plan, attempts = _left_over(store, spec, suites, options)
        else:
            plan = _plan(store, spec, suites, options)
            attempts = dict.fromkeys(range(len(plan)), settings.repeat)
        require_agents(plan)
        costs = store.costs(spec_key(spec)) if store is not None else {}
    lines, total, unknown = [], 0.0, 0
    for position, (suite, agent, name, _) in enumerate(plan.labels()):
        if position not in attempts:
            continue
        seen = costs.get((suite, agent, name))
        mean = sum(seen) / len(seen) if seen else None
        shown = "–" if mean is None else dollars(mean)
        lines.append("  ".join(part for part in (suite, agent, name, shown) if part))
        total += (mean or 0.0) * attempts[position]
        unknown += mean is None
    lines.append(_estimate(len(attempts), sum(attempts.values()), total, unknown))
    put("\n".join(map(one_line, lines)) + "\n")
    return 0


def _left_over(
    store: Store | None, spec: str, suites: Sequence[Suite], options: _Options
) -> tuple[RunPlan, dict[int, int]]:
    """The plan of the run that would be resumed, and position in it → missing attempts."""
    from trialrun.engine import run_lifecycle
    from trialrun.engine.stored_run import missing_attempts

    if store is None:
        raise run_lifecycle.nothing_to_resume(spec)
    prepared, _ = _resumed(store, spec, suites, options)
    missing = {
        position: len(missing_attempts(prepared.record, prepared.recorded.get(position, [])))
        for position in range(len(prepared.plan))
    }
    return prepared.plan, {position: count for position, count in missing.items() if count}


def _estimate(cases: int, attempts: int, total: float, unknown: int) -> str:
    planned = counted(cases, "case") + ("" if attempts == cases else f", {attempts:,} attempts")
    if unknown == cases:
        return f"{planned} would run; what they cost is not known from earlier runs"
    some = f"; {counted(unknown, 'case')} without a known cost not included" if unknown else ""
    return f"{planned} would run, for about {dollars(total)} as in earlier runs{some}"
