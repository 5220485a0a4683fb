"""What every report promises, over every one that is registered."""

from __future__ import annotations

import pytest

from tests.reports.runs import everything
from trialrun import registry
from trialrun.model.results import RunResult
from trialrun.reports.base import View

REPORTS = registry.reports()


@pytest.fixture(params=REPORTS.values(), ids=list(REPORTS))
def report(request):
    return request.param()


def test_it_names_every_case_and_every_reason(report):
    text = report.render(everything(), View())
    for expected in ("good", "so-so", "bad", "gone", "a little much", "the agent crashed"):
        assert expected in text


def test_it_shows_no_character_that_a_terminal_acts_on(report):
    text = report.render(everything(), View())
    assert not set(text) & {"\x1b", "\x00", "\u202e", "\ud800"}


def test_it_renders_an_empty_run_and_every_view(report):
    empty = RunResult(results=[], planned=0)
    for view in (View(strict=True), View(quiet=True), View(verbose=True)):
        assert report.render(empty, view).endswith("\n")
        assert report.render(everything(), view).endswith("\n")


def test_it_is_documented_and_no_two_share_an_ending(report):
    assert report.__doc__
    others = [kind for kind in REPORTS.values() if kind is not type(report)]
    assert not set(report.suffixes) & {suffix for kind in others for suffix in kind.suffixes}
