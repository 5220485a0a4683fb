"""Makes `AgentSpec` objects for tests."""

from __future__ import annotations

from typing import Any

from trialrun import registry
from trialrun.model.case import AgentSpec


def agent(name: str | None = None, timeout: float | None = None, **settings: Any) -> AgentSpec:
    """`agent(runner="m:f")`: the kind is the first key."""
    kind = registry.find(registry.AGENTS, next(iter(settings)))
    return AgentSpec(name=name, kind=kind.name, settings=kind.settings(**settings), timeout=timeout)
