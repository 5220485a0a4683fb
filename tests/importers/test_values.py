"""Single values of recordings: times and numbers that another program wrote."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from trialrun.importers._spans.span import as_kind, as_time, nested
from trialrun.importers._values import moment

# "²" is a digit to Python, and 5,000 digits are more than `int` reads.
NOT_NUMBERS = ["²", "²" * 19, "9" * 5000, "²³"]


@pytest.mark.parametrize("text", NOT_NUMBERS)
def test_digits_that_int_refuses_are_not_a_time(text):
    assert moment(text) is None
    assert as_time(text) is None


def test_a_time_in_digits():
    # 1,767,323,045 seconds are 20,455 days (to 2 January 2026), 3 hours, 4 minutes, 5 seconds.
    wanted = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert moment("1767323045") == moment("1767323045000") == wanted
    assert moment("1767323045000000000") == wanted


@pytest.mark.parametrize("text", NOT_NUMBERS)
def test_digits_that_int_refuses_are_not_a_kind_of_span(text):
    assert as_kind(text) not in ("internal", "server", "client", "producer", "consumer")
    assert as_kind("2") == "server"


@pytest.mark.parametrize("text", NOT_NUMBERS)
def test_digits_that_int_refuses_are_not_a_position(text):
    assert nested({f"llm.{text}.role": "user"}, "llm.") == []
    assert nested({"llm.1.role": "b", "llm.0.role": "a"}, "llm.") == [{"role": "a"}, {"role": "b"}]
