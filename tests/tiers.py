"""Which tests `make test` leaves to `make test-all`: of a slow kind, all but a representative."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def all_but_first(mark: pytest.MarkDecorator, values: Iterable[Any]) -> list[Any]:
    """Parameters for a test: the first is the representative, the others carry the mark."""
    made = []
    for number, value in enumerate(values):
        given = value if isinstance(value, tuple) else (value,)
        made.append(pytest.param(*given, marks=mark) if number else pytest.param(*given))
    return made
