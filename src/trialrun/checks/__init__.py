"""One file per check, named like the check; `base.py` has the base classes.

Each class can be imported from here and is loaded on first use.
"""

from __future__ import annotations

from typing import Any

_BASE = ("Check", "JudgedCheck", "check")


def __getattr__(name: str) -> Any:
    """The base classes, the decorator, and the check class with this name."""
    if name == "__all__":
        return __dir__()
    if name in _BASE:
        from trialrun.checks import base

        return getattr(base, name)
    found = _built_in().get(name) if name[:1].isupper() else None
    if found is None:
        raise AttributeError(f"module 'trialrun.checks' has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    return sorted([*_BASE, *_built_in()])


def _built_in() -> dict[str, Any]:
    """Every built-in check by the name of its class."""
    from trialrun import registry

    found = (registry.find(registry.CHECKS, name) for name in registry.our_names(registry.CHECKS))
    return {kind.__name__: kind for kind in found}
