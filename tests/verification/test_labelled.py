"""Written cases with labels: whoever is accused deserves it. The benchmark counts what is found."""

from __future__ import annotations

import pytest

from tests.verification.labelled import GIVEN, HERE, known_false_reds, measured, still_known

SETS = [(HERE / "cases", "traces"), (HERE / "cases", "texts"), (GIVEN, "traces"), (GIVEN, "texts")]


@pytest.mark.parametrize(("folder", "kind"), SETS, ids=lambda one: getattr(one, "name", one))
def test_no_sound_case_is_accused(folder, kind):
    accused = measured(folder, kind).accused
    assert {name: why for name, why in accused.items() if name not in known_false_reds()} == {}


def test_the_list_of_known_false_reds_gets_shorter():
    """`python -m tests.verification.labelled` takes out what is not accused any more."""
    assert len(still_known()) == len(known_false_reds()) <= MOST


MOST = 17
"""Lower it with the list."""


def test_verified_is_mostly_right():
    """Of the claims that come back verified, few are labelled as not shown."""
    claims = measured(HERE / "cases", "traces").claims
    right, wrong = claims[True, "verified"], claims[False, "verified"]
    assert right + wrong > 100
    assert wrong / (right + wrong) <= 0.25, (right, wrong)


def test_bad_cases_are_found():
    """Silence would accuse nobody either."""
    runs = measured(HERE / "cases", "traces").compliance
    assert runs[False, False] >= 0.3 * (runs[False, False] + runs[False, True])
    texts = measured(HERE / "cases", "texts").compliance
    assert texts[False, False] >= 0.85 * (texts[False, False] + texts[False, True])
