"""Fixtures: a store in each of the two databases."""

from __future__ import annotations

import pytest

from tests.postgres import postgres_url  # noqa: F401
from trialrun.store import open_store


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def store_location(request, tmp_path):
    """The location of a new store; each test runs once for each database."""
    if request.param == "sqlite":
        return str(tmp_path / "runs.db")
    return request.getfixturevalue("postgres_url")


@pytest.fixture
def store(store_location):
    with open_store(store_location) as opened:
        yield opened
