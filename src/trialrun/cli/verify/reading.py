"""Finds the sessions that `trialrun verify` reads, and makes the ledger of each."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from trialrun.cli.verify.project import Project
from trialrun.errors import NothingSelected, UsageError
from trialrun.importers import importer_of, scan, trace_files
from trialrun.model.ledger import NOT_COMPLIANT_AT_MOST, Ledger
from trialrun.model.trace import Trace
from trialrun.model.verified import RuleText, Session, Verification
from trialrun.util.files import is_folder

UNREADABLE = "parts of the session cannot be read"
MOST_HEADS = 2_000
"""Files of Codex whose first line is read to find those of this project."""

Listed = tuple[Path, bool]
"""A file, and whether it was found in a folder."""


class Opened(Struct, frozen=True):
    """What was read from one file."""

    file: Path
    traces: Sequence[Trace]
    problems: Sequence[str]
    notes: Sequence[str]
    damaged: bool  # the one session of the file is not whole


def files_of(
    paths: Sequence[str], latest: bool, all_sessions: bool, since: str | None
) -> tuple[list[Listed], list[str]]:
    """The files to read, and what cannot be listed."""
    if since is not None and not all_sessions:
        raise UsageError("--since belongs to --all")
    after = time.time() - _seconds(since) if since is not None else 0.0
    if latest or (all_sessions and not paths):
        if paths:
            raise UsageError("--latest finds the session by itself: give no PATHS")
        found = sessions_of_project(Path.cwd(), after)
        if not found:
            raise NothingSelected(
                f"no session of {Path.cwd()} under {_claude_folder() / 'projects'} or "
                f"{_codex_folder()}{' in that time' if since else ''}"
            )
        return [(file, False) for file in (found[:1] if latest else found)], []
    if not paths:
        raise UsageError("give PATHS of sessions, or --latest, or --all; --help says more")
    files: list[Listed] = []
    unread: list[str] = []
    for path in map(Path, paths):
        listed, unreadable = trace_files(path)
        files += [(file, file != path) for file in listed if _modified(file) >= after]
        unread += [f"{place}: {why}" for place, why in unreadable]
    return files, unread


_AGE = re.compile(r"(\d{1,6})([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 24 * 7}


def _seconds(age: str) -> float:
    found = _AGE.fullmatch(age.strip())
    if found is None:
        raise UsageError(f"--since {age}: expected a number of hours, days or weeks: 12h, 30d, 8w")
    return int(found[1]) * _HOURS[found[2]] * 3600.0


# The sessions of a project


def sessions_of_project(folder: Path, after: float = 0.0) -> list[Path]:
    """The sessions of Claude Code and Codex in that folder, the newest first."""
    found = {file: _modified(file) for file in (*_of_claude(folder), *_of_codex(folder))}
    recent = [file for file, moment in found.items() if moment >= after]
    return sorted(recent, key=lambda file: found[file], reverse=True)


def _claude_folder() -> Path:
    given = os.environ.get("CLAUDE_CONFIG_DIR", "").strip()
    return Path(given) if given else Path.home() / ".claude"


def _codex_folder() -> Path:
    given = os.environ.get("CODEX_HOME", "").strip()
    return (Path(given) if given else Path.home() / ".codex") / "sessions"


def _of_claude(folder: Path) -> Iterator[Path]:
    # Claude Code replaces whatever is not a letter or a digit; older versions only `/` and `.`.
    names = {re.sub(r"[^A-Za-z0-9]", "-", str(folder)), re.sub(r"[/.]", "-", str(folder))}
    for name in names:
        place = _claude_folder() / "projects" / name
        for file in _listed(place, "*.jsonl"):
            if not file.name.startswith("agent-"):  # a subagent, read with its session
                yield file


def _of_codex(folder: Path) -> Iterator[Path]:
    files = sorted(_listed(_codex_folder(), "**/rollout-*.jsonl"), key=_modified, reverse=True)
    for file in files[:MOST_HEADS]:
        if _codex_cwd(file) == str(folder):
            yield file


def _listed(place: Path, pattern: str) -> list[Path]:
    try:
        return [file for file in place.glob(pattern) if file.is_file()]
    except OSError:
        return []


def _codex_cwd(file: Path) -> str | None:
    """The folder of a session of Codex, from its first line."""
    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            head = json.loads(stream.readline(1_000_000))
    except (OSError, ValueError, RecursionError):
        return None
    payload = head.get("payload") if isinstance(head, dict) else None
    cwd = payload.get("cwd") if isinstance(payload, dict) else None
    return cwd if isinstance(cwd, str) else None


def _modified(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


# Their ledgers


def opened(files: Sequence[Listed]) -> Iterator[Opened]:
    """The traces of each file: only those of one are held at a time."""
    for file, among_others in files:
        traces, unread, left_out = scan(file, in_folder=among_others)
        damaged = bool(unread) and not is_folder(file) and importer_of(file).one_run_a_file
        yield Opened(file, traces, list(map(str, unread)), list(map(str, left_out)), damaged)


def found_in(
    files: Sequence[Listed],
    unread: Sequence[str],
    project: Project,
    baseline: str | None = None,
    keep: Callable[[Session, Trace], None] | None = None,
) -> tuple[Verification, list[str]]:
    """The ledgers of the sessions, and notes on what was left out of them.

    `keep` gets each session with its trace, of which only those of one file are held at a time.
    """
    from trialrun.cli.verify.known import read_known

    known = read_known(baseline) if baseline is not None else frozenset()
    sessions: list[Session] = []
    problems, notes = list(unread), list[str]()
    for one in opened(files):
        problems += one.problems
        notes += one.notes
        for trace in one.traces:
            sessions.append(session_of_trace(trace, one.file, project, known, one.damaged))
            if keep is not None:
                keep(sessions[-1], trace)
    return Verification(sessions, rule_texts(), problems), notes


def session_of_trace(
    trace: Trace,
    file: Path,
    project: Project,
    known: frozenset[str] = frozenset(),
    damaged: bool = False,
) -> Session:
    """One session with its ledger; a damaged one has no verdict."""
    from trialrun.verification import audit

    cwd = trace.metadata.get("cwd")
    ledger = audit(trace, project.settings(cwd))
    name = trace.name or trace.id or file.name
    return Session(
        name=name,
        id=trace.id or name,
        file=str(file),
        ledger=_without_verdict(ledger) if damaged else ledger,
        cwd=cwd if isinstance(cwd, str) else "",
        known=known,
    )


def _without_verdict(ledger: Ledger) -> Ledger:
    return replace(
        ledger,
        compliant=False,
        score=min(ledger.score, NOT_COMPLIANT_AT_MOST),
        reason=f"{UNREADABLE}; {ledger.reason}",
        no_verdict=UNREADABLE,
    )


def rule_texts() -> list[RuleText]:
    """What reports say of every rule."""
    from trialrun.verification.rules.base import all_rules

    return [
        RuleText(rule.code, rule.name, rule.severity, rule.stable, rule.what, rule.why)
        for rule in all_rules()
    ]
