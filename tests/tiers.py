"""Marks slow tests for `make test-all` only; one of each kind stays in `make test`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def all_but_first(mark: pytest.MarkDecorator, values: Iterable[Any]) -> list[Any]:
    """Parameters for a test: all but the first, the representative, get the mark."""
    made = []
    for number, value in enumerate(values):
        given = value if isinstance(value, tuple) else (value,)
        made.append(pytest.param(*given, marks=mark) if number else pytest.param(*given))
    return made
