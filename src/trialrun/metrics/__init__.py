"""One file per metric. Each class can be imported from here and is loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from trialrun.metrics.base import BaseMetric

__all__ = ["BaseMetric"]  # and every built-in: see `__getattr__`


def __getattr__(name: str) -> Any:
    """The metric class with this name, searched in the modules of this package."""
    if name.endswith("Metric"):
        from trialrun import registry

        for key in registry.our_names(registry.METRICS):
            found = getattr(import_module(f"trialrun.metrics.{key}"), name, None)
            if found is not None and found.__module__ == f"trialrun.metrics.{key}":
                return found
    raise AttributeError(f"module 'trialrun.metrics' has no attribute {name!r}")
