"""How a run ended: of its own module, because workers of agents need nothing else of a trace."""

from __future__ import annotations

from enum import StrEnum


class TraceStatus(StrEnum):
    """How the run ended. `error` and `timeout` mean that the agent did not finish."""

    SUCCESS = "success"
    FAILURE = "failure"
    TIMEOUT = "timeout"
    ERROR = "error"
