"""Baselines: earlier runs to hold new ones against, as files under safe, unique names."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

from trialrun.errors import TraceError, UsageError
from trialrun.importers.native import scan
from trialrun.test_case import EvalCase, Suite
from trialrun.trace import Trace

DEFAULT_FOLDER = "baselines"

_SAFE = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}\Z")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])\Z")


def file_key(name: str) -> str:
    """A file name for a label: the label itself where that is safe, else a safe part and a hash.

    A name is only ever a label: `../../pwned`, `CON`, 300 characters, emoji, or two names that
    differ only in case or in how their characters are composed must not meet in one file, nor
    leave the folder.
    """
    if _SAFE.match(name) and not _RESERVED.match(name):
        return name
    readable = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{readable}-{digest}" if readable else digest


def find_baseline(
    suite: Suite, case: EvalCase, folder: Path | None, warnings: list[str]
) -> Trace | None:
    """The baseline of a case, or None if it has none. TraceError if it has one that is unusable.

    Without a folder it is looked for in `baselines` beside the spec.
    """
    if case.baseline is not None:
        named = _beside(suite, case.baseline)
        if not _is_there(named) or named.is_dir():
            raise TraceError(f"the baseline {named} does not exist")
        return _read(named, warnings)
    if folder is None:
        folder = _beside(suite, DEFAULT_FOLDER)
    for owner in dict.fromkeys((suite.name, suite.agent)):
        for suffix in (".json", ".jsonl", ""):
            file = folder / file_key(owner or suite.name) / f"{file_key(case.name)}{suffix}"
            if _is_there(file) and not file.is_dir():
                return _read(file, warnings)
    return None


def _is_there(file: Path) -> bool:
    """Whether there is something of that name; a link that points nowhere is something."""
    try:
        return file.is_symlink() or file.exists()
    except (OSError, ValueError) as error:
        raise TraceError(f"the baseline {str(file)[:200]} cannot be read: {error}") from None


def _beside(suite: Suite, file: str) -> Path:
    """A path in a spec is meant from the folder of the spec."""
    return Path(file) if suite.file is None else Path(suite.file).parent / file


def _read(file: Path, warnings: list[str]) -> Trace:
    try:
        traces, problems, notes = scan(file)
    except UsageError as error:
        raise TraceError(f"the baseline cannot be read: {error}") from None
    if problems:
        raise TraceError(f"the baseline cannot be read: {problems[0]}")
    if len(traces) != 1:
        raise TraceError(f"the baseline {file} holds {len(traces)} traces, expected one")
    warnings += [str(note) for note in notes]
    return traces[0]
