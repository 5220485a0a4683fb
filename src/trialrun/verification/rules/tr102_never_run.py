"""TR102: a check is said to pass, and no such check was run."""

from __future__ import annotations

from trialrun.model.ledger import ClaimVerdict, Finding
from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification.claim_kinds import RUN_KINDS, Kind
from trialrun.verification.relevant import CHECK_KINDS, may_have_run, relevant, told_by_user
from trialrun.verification.rules.base import FAIL, GREEN, Rule, Session, edit, says, sh
from trialrun.verification.statements import Statement

_WORD = lazy_pattern(r"(?<![\w-])[a-z][a-z0-9_-]{2,}")  # not the options of a command


def _about(statement: Statement, session: Session) -> Finding | None:
    if statement.kind not in CHECK_KINDS or session.admitted(statement, fails=False):
        return None
    if statement.names and not statement.runner:  # a command, or a piece of code
        return None
    index = session.index
    if relevant(statement, index).runs:
        return None
    before = [run for run in index.facts.runs if run.at < statement.at]
    if told_by_user(statement, index) or any(run.name == statement.runner for run in before):
        return None
    if not _is_unheard_of(statement, session):
        # What ran before the last change of code could not show this, whatever it was.
        since = index.last_code_change(statement.at)
        if statement.kind is Kind.COMMAND or may_have_run(statement, index, since):
            return None
    what = statement.names[0] if statement.names else f"{RUN_KINDS.get(statement.kind, 'such')} run"
    return RULE.finding(f"no {what} was started before this was said", (), statement)


def _is_unheard_of(statement: Statement, session: Session) -> bool:
    """Whether the program that is named occurs in no command and no output of the session."""
    words = [word for name in statement.names for word in _WORD.findall(name.lower())]
    return bool(words) and any(word not in session.index.words for word in words)


RULE = Rule(
    code="TR102",
    name="check-never-run",
    severity=FAIL,
    stable=True,
    verdict=ClaimVerdict.UNSUPPORTED,
    what="Tests, a build, a linter or a type checker are said to pass, and nothing of the kind was "
    "run.",
    why="A sentence about a run that never happened is the plainest false claim there is.",
    silent="where a command that is not known, a task, a hook, a build, CI, a subagent or the user "
    "may have run it; unless it names a program that occurs nowhere in the session.",
    fires=(
        says("All tests pass.", edit("tax.py")),
        says("`mypy --strict` passes.", edit("tax.py"), GREEN),
    ),
    passes=(
        says("All tests pass.", edit("tax.py"), GREEN),
        says("All tests pass.", edit("tax.py"), sh("frobnicate --all", "fine")),
        says("The tests should pass.", edit("tax.py"), sh("python tax.py")),
    ),
    about=_about,
)
