"""Helpers for tests that read recordings of other projects."""

from __future__ import annotations

import json
from pathlib import Path

from trialrun import read_traces

FORMATS = Path(__file__).parents[1] / "data" / "formats"


def read(name):
    """The one trace of a recording in `tests/data/formats`."""
    (trace,) = read_traces(FORMATS / name)
    return trace


def read_value(tmp_path, value, name="file.json"):
    """The traces of a document that a test has written."""
    file = tmp_path / name
    file.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return read_traces(file)


def report(trace):
    """The fidelity report of a trace."""
    return trace.metadata["imported"]
