"""One file per metric. Each class is importable from here and loaded when it is first used."""

from __future__ import annotations

from typing import Any

from trialrun.metrics.base import BaseMetric

__all__ = ["BaseMetric"]  # and every built-in: see `__getattr__`


def __getattr__(name: str) -> Any:
    """The metric of that class name, found by looking through the files of this room."""
    if name.endswith("Metric"):
        from trialrun import registry

        for key in registry.our_names(registry.METRICS):
            found = registry.find_metric(key)
            if found is not None and found.__name__ == name:
                return found
    raise AttributeError(f"module 'trialrun.metrics' has no attribute {name!r}")
