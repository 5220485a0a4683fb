"""What every report promises, over every one that is registered."""

from __future__ import annotations

import pytest

from tests.reports.ledgers import verification
from tests.reports.pages import readable
from tests.reports.runs import NASTY, everything
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


READ_SESSIONS = [kind for kind in REPORTS.values() if kind.reads_sessions]


@pytest.mark.parametrize("kind", READ_SESSIONS, ids=lambda kind: kind.name)
def test_findings_are_shown_with_code_step_and_claim_and_made_safe(kind):
    found = verification(message=f"tax.py {NASTY}", claim=f"All tests pass. {NASTY}")
    text = kind().render_sessions(found, View())
    step = "step 2" if kind.reads_traces else "s6"
    shown = readable(text)
    for expected in ("TR104", "TR107", step, "All tests pass.", "tax.py"):
        assert expected in shown
    assert not set(shown) & {"\x1b", "\x00", "\u202e", "\ud800"}
    assert text.endswith("\n")


def test_which_reports_show_what():
    def names(attribute):
        return {kind.name for kind in REPORTS.values() if getattr(kind, attribute)}

    assert names("reads_sessions") >= {"terminal", "json", "github", "sarif", "markdown", "junit"}
    assert names("reads_comparisons") >= {"terminal", "json", "markdown", "junit", "html"}
    assert names("reads_audits") >= {"terminal", "json", "markdown", "junit", "html"}
