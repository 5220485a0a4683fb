"""The ids of runs."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

from trialrun.store import new_run_id


def test_an_id_is_the_time_in_utc_and_random_characters():
    there = timezone(timedelta(hours=2))
    made = {new_run_id(datetime(2026, 11, 16, 1, 38, 47, tzinfo=there)) for _ in range(50)}
    assert len(made) > 45
    assert all(re.fullmatch(r"20261115-233847-[a-z2-9]{4}", one) for one in made)
