"""`trialrun show`: a recorded run, or one case of it in full."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import TYPE_CHECKING

import click

from trialrun.cli.output import (
    ReportOptions,
    put,
    report_options,
    require_writable,
    say,
    write_report,
)
from trialrun.cli.stores import store_option
from trialrun.errors import NothingSelected, UsageError
from trialrun.model.results import RunResult, Tally
from trialrun.reports.views.origin import origin_line
from trialrun.util.texts import counted, did_you_mean

if TYPE_CHECKING:
    from trialrun.store.records import RunRecord
    from trialrun.store.store import Store


_MOST_ATTEMPTS = 20  # of one case, in full


@click.command("show")
@click.argument("run", default="latest")
@click.argument("case", required=False)
@store_option
@report_options
def command(run: str, case: str | None, store: str | None, report: ReportOptions) -> int:
    """Show RUN (`latest`, `latest~1`, an id or its first characters), or one CASE of it in full.

    The exit code is that of the run, or of the case: 1 if the shown case failed. Gates do not
    count.
    """
    from trialrun.engine.stored_run import state_of, stored_run
    from trialrun.store import open_store

    if case is None:
        require_writable(report)
    with open_store(store, create=False) as opened:
        record = opened.find_run(run)
        if case is not None:
            if report.form not in (None, "terminal") or report.output:
                raise UsageError(
                    "one case is shown as terminal text only; use `trialrun export` for files"
                )
            return _show_case(opened, record, case, report)
        if not report.quiet:
            state = state_of(opened, record)
            say(
                f"run {record.id} of {record.spec}: {state}, {record.created_at:%Y-%m-%d %H:%M} UTC"
            )
        if not report.quiet and (line := origin_line(record.origin)):
            say(line)
        return write_report(stored_run(opened, record), report)


def _show_case(store: Store, record: RunRecord, name: str, report: ReportOptions) -> int:
    from trialrun.engine.sharing import shared_result, shared_trace
    from trialrun.reports.views.attempt import render
    from trialrun.reports.views.consoles import terminal_width, wants_colour

    cases = list(store.plan(record.id))
    positions = [case.position for case in cases if case.case == name]
    if not positions:
        hint = did_you_mean(name, {case.case for case in cases})
        raise UsageError(f"run {record.id} has no case `{name}`{hint}")
    chosen = _chosen(store, record, positions, None if report.verbose else _MOST_ATTEMPTS)
    on_terminal = sys.stdout is not None and sys.stdout.isatty()
    colour, width = wants_colour(on_terminal), terminal_width(on_terminal)
    tally = Tally()
    for attempt in store.attempts(record.id, positions):
        result, trace = attempt.result, attempt.trace
        tally.add(result)
        if (attempt.position, attempt.attempt) not in chosen:
            continue
        if report.share:
            result = shared_result(result)
            trace = None if trace is None else shared_trace(trace)
        put(render(result, trace, colour, width))
    if not tally.attempts:
        raise NothingSelected(f"the case `{name}` of run {record.id} was not run")
    if tally.attempts > len(chosen):
        put(f"and {counted(tally.attempts - len(chosen), 'more attempt')}: -v shows all\n")
    return RunResult(results=[], planned=len(positions), counted=tally).exit_code()


def _chosen(
    store: Store, record: RunRecord, positions: Collection[int], most: int | None
) -> set[tuple[int, int]]:
    """The attempts to show: those that did not pass first, then in their order."""
    recorded = store.recorded(record.id)
    made = sorted(
        (status in ("pass", "warn"), position, attempt)
        for position in positions
        for attempt, status in recorded.get(position, ())
    )
    return {(position, attempt) for _, position, attempt in made[:most]}
