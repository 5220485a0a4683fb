"""Reads spans of every tracing library: spans to operations, operations to the steps of a run."""

from __future__ import annotations

from trialrun.importers._spans.reader import Batch, last_places, read
from trialrun.importers._spans.span import Event, Span, as_id, as_time

__all__ = ["Batch", "Event", "Span", "as_id", "as_time", "last_places", "read"]
