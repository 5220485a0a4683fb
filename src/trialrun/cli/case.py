"""`trialrun case`: cases for a spec, made from what was recorded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from trialrun.cli.output import put, say
from trialrun.cli.stores import store_option
from trialrun.errors import UsageError
from trialrun.spec.case import label
from trialrun.util.texts import counted, did_you_mean

if TYPE_CHECKING:
    from trialrun.model.trace import Trace


@click.group("case")
def command() -> None:
    """Make cases for a spec from recorded traces."""


@command.command("from-trace")
@click.argument("source", metavar="FILE|RUN")
@click.argument("case", required=False)
@click.option("-o", "--output", metavar="SPEC", help="Add the case to this spec, or begin it.")
@store_option
def from_trace(source: str, case: str | None, output: str | None, store: str | None) -> int:
    """Write the trace of CASE in FILE, or in a stored RUN, as a case of a spec.

    Its calls become `tool_args`; facts of its answer (numbers, dates, names) are comments to choose
    from. The case is printed unless a spec is given. If FILE holds one trace, CASE may be left out,
    or names the new case.
    """
    from trialrun.redaction import redact
    from trialrun.spec.adding import add_case
    from trialrun.spec.case_from_trace import case_lines

    is_file = Path(source).exists() or Path(source).suffix in (".json", ".jsonl")
    trace = _in_file(source, case) if is_file else _in_run(source, case, store)
    lines = case_lines(trace, case, redact)
    if output is None:
        put("queries:\n" + "".join(f"  {line}\n" for line in lines))
        return 0
    add_case(Path(output), lines)
    say(f"added to {output}; next: trialrun validate {output}")
    return 0


def _in_file(source: str, case: str | None) -> Trace:
    from trialrun.importers import read_traces

    traces = read_traces(source)
    if len(traces) == 1:
        return traces[0]
    names = [trace.name or label(trace.input) for trace in traces]
    if case is None:
        shown = ", ".join(names[:10])
        raise UsageError(f"{source} has {counted(len(traces), 'trace')}; give one CASE: {shown}")
    if case not in names:
        raise UsageError(f"{source} has no trace of `{case}`{did_you_mean(case, names)}")
    return traces[names.index(case)]


def _in_run(source: str, case: str | None, store: str | None) -> Trace:
    """The trace of the first attempt that passed, else of the first with an answer."""
    from trialrun.store import open_store

    with open_store(store, create=False) as opened:
        record = opened.find_run(source)
        cases = list(opened.plan(record.id))
        names = [planned.case for planned in cases]
        if case is None:
            raise UsageError(f"give a CASE of run {record.id}: {', '.join(names[:10])}")
        positions = [planned.position for planned in cases if planned.case == case]
        if not positions:
            hint = did_you_mean(case, names)
            raise UsageError(f"run {record.id} has no case `{case}`{hint}")
        attempts = list(opened.attempts(record.id, positions))
    answered = [one for one in attempts if one.trace is not None and one.trace.output is not None]
    passing = [one for one in answered if one.result.passed]
    for attempt in (*passing, *answered):
        assert attempt.trace is not None
        if not attempt.result.passed:
            say(f"attempt {attempt.attempt} of {case} did not pass; its trace is used all the same")
        return attempt.trace
    raise UsageError(f"no attempt at {case} in run {record.id} has an answer")
