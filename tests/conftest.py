"""What holds for every test: signals as a terminal gives them, and a short limit for patterns."""

from __future__ import annotations

import signal

import pytest

from trialrun.measures import patterns

PATTERN_SECONDS = 0.05


def pytest_configure() -> None:
    """Let Ctrl-C be Ctrl-C in the processes that tests start.

    A shell starts `make test &` with SIGINT ignored, and so does nohup in some shells. A process
    hands that on to its children, where Python then installs no handler: a test that sends SIGINT
    to one of them would wait for ever.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def short_limit_for_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that has no end is given up after some hundredths of a second of computing."""
    monkeypatch.setattr(patterns, "LIMIT_SECONDS", PATTERN_SECONDS)
