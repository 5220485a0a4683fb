"""`trialrun verify`: a linter for the work of agents, over recorded sessions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct
from msgspec.structs import replace

from trialrun.cli.output import put, say
from trialrun.cli.reporting import Wanted, kind_of, to_file, wanted_options, write
from trialrun.errors import NothingSelected, UsageError
from trialrun.model.ledger import ClaimVerdict
from trialrun.model.verified import Session, Verification
from trialrun.reports.base import Report, View
from trialrun.reports.views.printable import one_line
from trialrun.util.texts import did_you_mean

if TYPE_CHECKING:
    from trialrun.cli.verify.kept import KeptTraces
    from trialrun.cli.verify.project import Project
    from trialrun.cli.verify.reading import Listed
    from trialrun.engine.verified_run import VerifiedRun
    from trialrun.model.trace import Trace

OPEN = "open"
_CHOICES = (
    ClaimVerdict.CONTRADICTED.value,
    ClaimVerdict.UNSUPPORTED.value,
    ClaimVerdict.STALE.value,
    OPEN,
)
_OLDER_WORDS = {"unchecked": OPEN}
EXIT_FAILED = 1
EXIT_INCOMPLETE = 3


class Options(Struct, frozen=True, kw_only=True):
    """What the command was called with."""

    paths: tuple[str, ...]
    latest: bool
    all_sessions: bool
    since: str | None
    as_json: bool
    form: str | None
    output: str | None
    fail_on: tuple[str, ...]
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    baseline: str | None
    write_baseline: str | None
    spec: str | None
    store: str | None
    quiet: bool
    verbose: bool
    share: bool = False

    @property
    def wanted(self) -> Wanted:
        """Which report is asked for."""
        return Wanted(
            form=self.form,
            output=self.output,
            as_json=self.as_json,
            share=self.share,
            quiet=self.quiet,
            verbose=self.verbose,
        )


@click.command("verify")
@click.argument("paths", nargs=-1)
@click.option("--latest", is_flag=True, help="Read the newest session of the current folder.")
@click.option(
    "--all",
    "all_sessions",
    is_flag=True,
    help="Show rates over PATHS, or over all sessions of the current folder.",
)
@click.option("--since", metavar="AGE", help="With --all: sessions of the last 30d, 12h, 8w.")
@click.option("--facts", is_flag=True, help="Show what was recognised in the sessions instead.")
@click.option("--rules", is_flag=True, help="List the rules, and read nothing.")
@click.option("--select", multiple=True, metavar="CODES", help="Only these rules: TR1, TR103.")
@click.option("--ignore", multiple=True, metavar="CODES", help="All rules but these.")
@click.option(
    "--fail-on",
    multiple=True,
    metavar="VERDICTS",
    help="Exit with 1 if a claim is contradicted, unsupported or stale, or if a change is open: "
    "never exercised afterwards, and not said to be.",
)
@click.option("--baseline", metavar="FILE", help="Count the findings of this file as known.")
@click.option("--write-baseline", metavar="FILE", help="Write all findings to this file.")
@wanted_options(to_file)
@click.option(
    "--spec",
    metavar="FILE",
    help="Use the settings in `defaults: verification:` of this spec: tools, runners, phrases, "
    "select, ignore, severity.",
)
@click.option(
    "--store",
    is_flag=False,
    flag_value="",
    metavar="[PATH|URL]",
    help="Record the sessions with their ledgers, for `trialrun view`; where, if not in the usual "
    "store. Write --store after PATHS, or --store=PATH.",
)
@click.option("--hook", is_flag=True, help="Be a Stop hook of Claude Code: its JSON is on stdin.")
@click.option("--block", is_flag=True, help="With --hook: send the agent back to work.")
@click.option("--verbose", "-v", is_flag=True, help="Also earlier turns, scores and advice.")
@click.option("--quiet", "-q", is_flag=True, help="Show only the summary.")
def command(facts: bool, rules: bool, hook: bool, block: bool, **given: Any) -> int:
    """Compare what an agent claims with what it did, in PATHS: sessions of Claude Code, Codex and
    other agents, files of traces, or folders of them.

    Every statement of the last message is verified, stale (something was changed afterwards),
    contradicted, unsupported, disclosed (the agent says so itself), or not checkable. No
    configuration is needed; `[tool.trialrun.verification]` in pyproject.toml may have one.

    Exits with 0, with 1 where --fail-on finds something, with 3 where a session is unfinished or
    cannot be read.
    """
    options = Options(**given)
    if rules:
        from trialrun.cli.rules import rule_table

        put(rule_table())
        return 0
    if hook:
        from trialrun.cli.verify.hook import run_hook

        return run_hook(block, options.select, options.ignore)
    if block:
        raise UsageError("--block belongs to --hook")
    return _verify(options, facts)


def _verify(options: Options, facts: bool) -> int:
    from trialrun.cli.verify.project import Project
    from trialrun.cli.verify.reading import files_of

    wanted = _wanted(options.fail_on)
    kind = kind_of(options.wanted, "reads_sessions")
    as_json = kind.name == "json"
    project = Project(spec=options.spec, select=options.select, ignore=options.ignore)
    files, unread = files_of(options.paths, options.latest, options.all_sessions, options.since)
    if facts:
        from trialrun.cli.verify.facts import show_facts

        return show_facts(files, unread, project, as_json=as_json)
    with _kept(kind) as traces:
        found, notes = _read(options, files, unread, project, traces)
        if not found.sessions and not found.problems:
            raise NothingSelected("there is no run in these files")
        if options.write_baseline is not None:
            from trialrun.cli.verify.known import write_known

            return write_known(options.write_baseline, found)
        _show(found if traces is None else replace(found, traces=traces), kind, options)
    for line in (*notes, *found.problems):
        say(line)
    return _exit_code(found, wanted, options.all_sessions)


def _read(
    options: Options,
    files: Sequence[Listed],
    unread: Sequence[str],
    project: Project,
    traces: KeptTraces | None,
) -> tuple[Verification, list[str]]:
    """The sessions, recorded and their traces kept where that is wanted."""
    from trialrun.cli.verify.reading import found_in

    with _recording(options) as record:

        def keep(session: Session, trace: Trace) -> None:
            if record is not None:
                record.add(session, trace)
            if traces is not None:
                traces.add(trace)

        return found_in(files, unread, project, options.baseline, keep)


def _show(found: Verification, kind: type[Report], options: Options) -> None:
    """Write the report; with --all, on a terminal and as JSON, rates."""
    if options.all_sessions and kind.name in ("terminal", "json"):
        from trialrun.cli.verify.rates import rates_text

        def render(report: Report, view: View) -> str:
            return rates_text(found, as_json=kind.name == "json")

    else:
        if options.share:
            from trialrun.engine.sharing import shared_verification

            found = shared_verification(found)

        def render(report: Report, view: View) -> str:
            return report.render_sessions(found, view)

    write(kind, options.wanted, render)


@contextmanager
def _kept(kind: type[Report]) -> Iterator[KeptTraces | None]:
    """Where traces are kept for a report that shows them."""
    if not kind.reads_traces:
        yield None
        return
    import tempfile

    from trialrun.cli.verify.kept import KeptTraces

    with tempfile.TemporaryFile(prefix="trialrun-") as file:
        yield KeptTraces(file)


@contextmanager
def _recording(options: Options) -> Iterator[VerifiedRun | None]:
    """With --store, what records the sessions while they are read."""
    if options.store is None:
        yield None
        return
    from trialrun.engine.verified_run import VerifiedRun
    from trialrun.store import open_store

    first = options.paths[0] if options.paths else "--latest" if options.latest else "--all"
    more = f" and {len(options.paths) - 1} more" if len(options.paths) > 1 else ""
    with open_store(options.store or None) as store, VerifiedRun(store, first + more) as record:
        yield record
        record.finish()
    if record.id is not None:
        say(f"run {record.id}: recorded; `trialrun view` shows it")


def _exit_code(found: Verification, wanted: frozenset[str], all_sessions: bool) -> int:
    failed = [(one.name, words) for one in found.sessions if (words := _found(one, wanted))]
    if failed:
        shown = ", ".join(f"{one_line(name)} ({', '.join(words)})" for name, words in failed[:5])
        more = f" and {len(failed) - 5} more" if len(failed) > 5 else ""
        say(f"failed by --fail-on: {shown}{more}")
        return EXIT_FAILED
    # Rates count unfinished sessions: among all of a project there are always some.
    unfinished = any(one.ledger.no_verdict for one in found.sessions) and not all_sessions
    return EXIT_INCOMPLETE if found.problems or unfinished else 0


def _found(session: Session, wanted: frozenset[str]) -> list[str]:
    """The wanted verdicts that occur in the session."""
    found = {claim.verdict.value for claim in session.harmful}
    if session.open:
        found.add(OPEN)
    return [name for name in _CHOICES if name in wanted & found]


def _wanted(fail_on: Sequence[str]) -> frozenset[str]:
    names = [_OLDER_WORDS.get(name, name) for name in words_of(fail_on)]
    for name in names:
        if name not in _CHOICES:
            raise UsageError(f"--fail-on {name}: no such verdict{did_you_mean(name, _CHOICES)}")
    if fail_on and not names:
        raise UsageError(f"--fail-on: name one or more of {', '.join(_CHOICES)}")
    return frozenset(names)


def words_of(given: Sequence[str]) -> list[str]:
    """The words of an option that may be given several times, and with commas."""
    words = (word.strip().replace("-", "_") for text in given for word in text.split(","))
    return [word for word in words if word]
