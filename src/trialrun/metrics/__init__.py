"""One file per metric. Each class can be imported from here and is loaded on first use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from trialrun.metrics.base import BaseMetric as BaseMetric


def __getattr__(name: str) -> Any:
    """The metric class with this name, searched in the modules of this package."""
    if name == "__all__":
        return __dir__()
    found = _built_in().get(name) if name.endswith("Metric") else None
    if found is None:
        raise AttributeError(f"module 'trialrun.metrics' has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    return sorted(["BaseMetric", *_built_in()])


def _built_in() -> dict[str, Any]:
    """Every built-in metric by the name of its class."""
    from trialrun import registry

    modules = [import_module(f"{__name__}.{key}") for key in registry.our_names(registry.METRICS)]
    return {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if name.endswith("Metric") and getattr(value, "__module__", "") == module.__name__
    }
