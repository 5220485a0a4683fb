"""Baselines: earlier runs to hold new ones against, as files under safe, unique names."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

from trialrun.errors import TraceError
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


def find_baseline(suite: Suite, case: EvalCase, folder: Path | None) -> Trace | None:
    """The baseline of a case, or None if it has none. TraceError if it has one that is unusable.

    Without a folder it is looked for in `baselines` beside the spec.
    """
    if folder is None:
        folder = _beside(suite, DEFAULT_FOLDER)
    if case.baseline is not None:
        named = _beside(suite, case.baseline)
        if not named.is_file():
            raise TraceError(f"the baseline {named} does not exist")
        return _read(named)
    for owner in dict.fromkeys((suite.name, suite.agent)):
        if owner is None:
            continue
        for key in dict.fromkeys((file_key(case.name), case.name)):
            if "/" in key or "\\" in key or key.startswith("."):
                continue
            for suffix in (".json", ".jsonl", ""):
                file = folder / file_key(owner) / f"{key}{suffix}"
                if file.is_file():
                    return _read(file)
    return None


def _beside(suite: Suite, file: str) -> Path:
    """A path in a spec is meant from the folder of the spec."""
    return Path(file) if suite.file is None else Path(suite.file).parent / file


def _read(file: Path) -> Trace:
    traces, problems, _ = scan(file)
    if problems:
        raise TraceError(f"the baseline cannot be read: {problems[0]}")
    if len(traces) != 1:
        raise TraceError(f"the baseline {file} holds {len(traces)} traces, expected one")
    return traces[0]
