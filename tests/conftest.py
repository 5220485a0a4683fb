"""Set-up for every test: signals, a short time limit for patterns, examples of property tests."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

from trialrun.measures import patterns

PATTERN_SECONDS = 0.05

# `make test` takes the same examples each time, so that it is not red by chance; `make fuzz` takes
# other ones each time. No deadline: a busy machine must not make a test fail.
_EVERYWHERE = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fixed", derandomize=True, **_EVERYWHERE)
settings.register_profile("random", **_EVERYWHERE)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


def pytest_configure() -> None:
    """Make SIGINT work in the processes that tests start.

    A shell starts `make test &` with SIGINT ignored, and so does nohup in some shells. Children
    inherit that, and Python then installs no handler: a test that sends SIGINT to a child would
    wait forever.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def short_limit_for_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop endless searches after a few hundredths of a second of CPU time."""
    monkeypatch.setattr(patterns, "LIMIT_SECONDS", PATTERN_SECONDS)
