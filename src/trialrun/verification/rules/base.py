"""What a rule is: a code, a reason, examples of both outcomes, a function from facts to findings.

To add one, copy a file of this package: `trialrun explain CODE`, the reference page and the
contract test read what it declares.
"""

from __future__ import annotations

import importlib
import pkgutil
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cache

from msgspec import Struct

from trialrun.model.ledger import ClaimVerdict, Finding
from trialrun.model.steps import Step
from trialrun.verification.covers import Index
from trialrun.verification.deeds import Deed, act_missing
from trialrun.verification.facts import Facts
from trialrun.verification.statements import Spoken, Statement

FAIL, WARN = "fail", "warn"


class Session(Struct, frozen=True, gc=False):
    """What a rule gets: the facts, their order, and the messages."""

    facts: Facts
    index: Index
    spoken: Sequence[Spoken]

    @property
    def final(self) -> Spoken | None:
        """The last message of the session, if it has one."""
        last = self.spoken[-1] if self.spoken else None
        return last if last is not None and last.message.last else None

    def admitted(self, statement: Statement, fails: bool, since: int | None = None) -> bool:
        """Whether its message says that such a check failed, or (`fails` false) was not done.

        With `since` all messages after that position count.
        """
        if statement.admits and (fails or statement.mild or not statement.clean):
            return True
        place = bisect_left(self.spoken, statement.at, key=lambda one: one.message.at)
        first = place
        if since is not None:
            first = min(place, bisect_left(self.spoken, since, key=lambda one: one.message.at))
        return any(
            one.excuses(statement.kind, fails)
            for spoken in self.spoken[first : place + 1]
            for one in spoken.admits
        )


class Example(Struct, frozen=True):
    """A session in short: what was done, and what is said at its end."""

    says: str
    steps: tuple[Step, ...] = ()


class Rule(Struct, frozen=True, kw_only=True):
    """One rule. A *preview* rule (`stable` false) is reported and changes no verdict."""

    code: str
    name: str
    severity: str
    what: str
    why: str
    silent: str  # when it says nothing
    stable: bool = False
    verdict: ClaimVerdict | None = None  # of the claim that it fires on
    fires: tuple[Example, ...]
    passes: tuple[Example, ...]
    about: Callable[[Statement, Session], Finding | None] | None = None  # a statement, or
    survey: Callable[[Session], Sequence[Finding]] | None = None  # the whole session

    @property
    def is_red(self) -> bool:
        """Whether its findings decide verdicts: not if it is in preview, or only warns."""
        return self.stable and self.severity == FAIL

    def unless_done(self, statement: Statement, session: Session, deed: Deed) -> Finding | None:
        """A finding where the statement says that something was done, and it was not."""
        missing = act_missing(statement, deed, session.index)
        return self.finding(*missing, statement) if missing is not None else None

    def finding(
        self,
        message: str,
        steps: Sequence[str],
        statement: Statement | None = None,
        target: str = "",
        command: str = "",
    ) -> Finding:
        """A finding of this rule."""
        return Finding(
            code=self.code,
            name=self.name,
            severity=self.severity,
            stable=self.stable,
            message=message,
            steps=tuple(dict.fromkeys(step for step in steps if step)),
            claim=statement.text if statement is not None else "",
            target=target,
            command=command,
            turn=statement.turn if statement is not None else 0,
            last=statement.last if statement is not None else True,
        )


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule of this package, by code."""
    import trialrun.verification.rules as package

    found = [
        importlib.import_module(f"{package.__name__}.{module.name}").RULE
        for module in pkgutil.iter_modules(package.__path__)
        if module.name.startswith("tr")
    ]
    return tuple(sorted(found, key=lambda rule: rule.code))


# For examples: a short way to write steps.


def edit(path: str, new: str = "x = 2", old: str = "x = 1") -> Step:
    """An edit that succeeded."""
    arguments = {"file_path": f"/app/{path}", "old_string": old, "new_string": new}
    return Step.tool_call("Edit", arguments, "The file has been updated.")


def read(path: str, text: str = "x = 1") -> Step:
    """A read of a file."""
    return Step.tool_call("Read", {"file_path": f"/app/{path}"}, text)


def sh(command: str, output: str = "", fails: bool = False) -> Step:
    """A shell command; with `fails` its exit status was not zero."""
    step = Step.tool_call("Bash", {"command": f"cd /app && {command}"}, output)
    if not fails:
        return step
    return Step.tool_call("Bash", {"command": f"cd /app && {command}"}, output, status="failure")


def says(message: str, *steps: Step) -> Example:
    """A session of these steps that ends with the message."""
    return Example(message, steps)


GREEN = sh("pytest -q", "3 passed in 0.1s")
RED = sh("pytest -q", "1 failed, 2 passed in 0.1s", fails=True)
