"""trialrun's pytest plug-in: it does nothing until a test uses one of its fixtures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from trialrun.testing import FakeAgent


@pytest.fixture
def mock_agent() -> FakeAgent:
    """A scripted agent: `mock_agent.reply(prompt, output, steps)`."""
    from trialrun.testing import FakeAgent

    return FakeAgent()
