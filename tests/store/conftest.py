"""The fixtures of both databases, and a store in either."""

from __future__ import annotations

import pytest

from tests.postgres import postgres_url, store_location  # noqa: F401
from trialrun.store import open_store


@pytest.fixture
def store(store_location):  # noqa: F811
    with open_store(store_location) as opened:
        yield opened
