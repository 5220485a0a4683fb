"""The GitHub report: annotations, and text of an agent that cannot forge a command."""

from __future__ import annotations

import re

import pytest

from tests.reports.ledgers import verification
from tests.reports.runs import everything
from trialrun.reports.base import View
from trialrun.reports.github import GithubReport

COMMAND = re.compile(r"::(error|warning|notice)( [a-z]+=[^:,\n]*(,[a-z]+=[^:,\n]*)*)?::[^\n]*")


def commands(text):
    """The lines that the runner of GitHub Actions takes for commands."""
    return [line for line in text.splitlines() if line.lstrip().startswith("::") or "##[" in line]


def test_findings_are_annotations_of_the_changed_file():
    lines = GithubReport().render_sessions(verification(), View()).splitlines()
    assert lines[0] == (
        "::error file=src/my tax.py,title=TR104 changed-after-run::a session:s6: my tax.py was "
        'changed: "All tests pass." (run: pytest -q)'
    )
    assert lines[1].startswith("::notice title=TR107 result-hidden::")
    assert "it is known" not in "".join(lines) and "earlier" not in "".join(lines)


def test_a_session_without_a_verdict_is_an_error():
    text = GithubReport().render_sessions(verification(no_verdict="it is torn"), View())
    assert "::error::a session: no verdict: it is torn" in text.splitlines()


@pytest.mark.parametrize(
    "text",
    [
        "x\n::add-mask::secret",
        "x\r::error::forged",
        "::stop-commands::abc",
        "##[add-mask]secret",
        "100%0A::error::forged",
        "a, title=forged::b",
    ],
)
def test_text_of_an_agent_cannot_forge_a_command(text):
    made = GithubReport().render_sessions(verification(message=text, claim=text), View())
    found = commands(made)
    assert len(found) == 2
    assert all(COMMAND.fullmatch(line) for line in found)
    assert "%0A::" not in made.replace("%250A", "")


def test_a_run_of_cases():
    text = GithubReport().render(everything(), View())
    found = commands(text)
    assert [line.partition(" ")[0] for line in found] == ["::warning", "::error", "::error"]
    assert all(COMMAND.fullmatch(line) for line in found)
    assert "pass  suite: good" in text.splitlines()
