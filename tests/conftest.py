"""Set-up for every test: default signal handling, and a short time limit for patterns."""

from __future__ import annotations

import signal

import pytest

from trialrun.measures import patterns

PATTERN_SECONDS = 0.05


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
