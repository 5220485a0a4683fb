"""`trialrun show`: a recorded run, or one case of it in full."""

from __future__ import annotations

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
from trialrun.model.results import RunResult
from trialrun.reports.views.origin import origin_line
from trialrun.util.texts import did_you_mean

if TYPE_CHECKING:
    from trialrun.store.records import RunRecord
    from trialrun.store.store import Store


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
            return _show_case(opened, record, case, report.share)
        if not report.quiet:
            state = state_of(opened, record)
            say(
                f"run {record.id} of {record.spec}: {state}, {record.created_at:%Y-%m-%d %H:%M} UTC"
            )
        if not report.quiet and (line := origin_line(record.origin)):
            say(line)
        return write_report(stored_run(opened, record), report)


def _show_case(store: Store, record: RunRecord, name: str, share: bool) -> int:
    from trialrun.engine.sharing import shared_result, shared_trace
    from trialrun.reports.views.attempt import render

    cases = list(store.plan(record.id))
    positions = [case.position for case in cases if case.case == name]
    if not positions:
        hint = did_you_mean(name, {case.case for case in cases})
        raise UsageError(f"run {record.id} has no case `{name}`{hint}")
    shown = []
    for attempt in store.attempts(record.id, positions):
        result, trace = attempt.result, attempt.trace
        if share:
            result = shared_result(result)
            trace = None if trace is None else shared_trace(trace)
        put(render(result, trace))
        shown.append(result)
    if not shown:
        raise NothingSelected(f"the case `{name}` of run {record.id} was not run")
    return RunResult(results=shown, planned=len(positions)).exit_code()
