"""`state`: commands and functions confirm the state that the agent left behind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct
from msgspec.structs import replace

from trialrun.checks.base import (
    Check,
    Text,
    Texts,
    check,
    fails,
    is_unknown,
    passes,
)
from trialrun.model.case import BROKEN, HELD, MODULE_AND_NAME, UNKNOWN, Action
from trialrun.model.check_data import LONGEST_MESSAGE
from trialrun.model.results import CheckResult
from trialrun.model.trace import Trace
from trialrun.util.texts import shown

_IS_FUNCTION = re.compile(MODULE_AND_NAME)


def _require_function(text: str) -> None:
    if not _IS_FUNCTION.search(text):
        raise ValueError(
            f"expected module:function, found the text {shown(text)}; "
            "a command is a list, such as [bash, look.sh]"
        )


class StateItem(Struct, frozen=True, omit_defaults=True):
    """A command or a function that checks the state, with a name for reports."""

    name: Text | None = None
    command: Texts | None = None
    function: Text | None = None

    def __post_init__(self) -> None:
        if (self.command is None) == (self.function is None):
            raise ValueError("give `command` or `function`, one of them")
        if self.function is not None:
            _require_function(self.function)


def _facts(outcome: str, detail: str = "") -> dict[str, Any]:
    return {"state": {"pytest -q": {"outcome": outcome, "detail": detail}}}


@check(layer="correctness", order=70)
class State(Check):
    """Passes when every action confirms the state that the agent left behind (files, data, …).

    A command confirms it by exit status 0, a function (`module:function`) by not reporting a
    problem. `[pytest, -q]` is one command; a list of functions, of commands and of mappings with
    `name` and `command` or `function` is several actions. They run when the agent has ended; if a
    trace has no results of them, the check is unknown. It may also be written as `state:` next to
    `query`.
    """

    looks: Text | StateItem | Annotated[list[Text | Texts | StateItem], Meta(min_length=1)]

    stricter: ClassVar = {"looks": "more"}
    formula: ClassVar = "∀ action: its outcome is held"
    combinable: ClassVar = False  # its actions run when the agent has ended, whatever is judged
    when_passed: ClassVar = "the state is as it should be"
    examples: ClassVar = (
        passes(["pytest", "-q"], metadata=_facts(HELD)),
        fails(
            ["pytest", "-q"],
            metadata=_facts(BROKEN, "exit 1: 2 failed"),
            because="`pytest -q` failed: exit 1: 2 failed",
        ),
        is_unknown(
            [["pytest", "-q"], "my_app.checks:order_was_saved"],
            metadata=_facts(HELD),
            because="my_app.checks:order_was_saved",
        ),
        is_unknown(
            ["pytest", "-q"], metadata=_facts(UNKNOWN, "no such program"), because="program"
        ),
    )

    def validate(self) -> None:
        assert self.actions

    @cached_property
    def actions(self) -> Sequence[Action]:
        """The actions to run, in order, with unique names."""
        return _with_unique_names([_item(look) for look in _listed(self.looks)])

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        found = trace.metadata.get("state")
        facts = found if isinstance(found, dict) else {}
        broken, undecided = [], []
        for action in self.actions:
            outcome, detail = _fact(facts.get(action.name))
            why = f": {detail}" if detail else ""
            if outcome == BROKEN:
                broken.append(f"`{action.name}` failed{why}")
            elif outcome == UNKNOWN:
                undecided.append(f"`{action.name}` gave no result{why}")
            elif outcome != HELD:
                undecided.append(f"the trace has no result of `{action.name}`")
        if broken:
            return self.failed("; ".join(broken))
        if undecided:
            return self.unknown("; ".join(undecided)[:LONGEST_MESSAGE])
        return self.pass_result


def _fact(found: Any) -> tuple[Any, str]:
    """The outcome and its detail; a trace made by another tool may have other values there."""
    if not isinstance(found, dict):
        return None, ""
    detail = found.get("detail")
    return found.get("outcome"), detail if isinstance(detail, str) else ""


def _listed(looks: str | StateItem | list[Any]) -> list[Any]:
    """The actions as a list. A list of texts is one command, unless all of them are functions."""
    if not isinstance(looks, list):
        return [looks]
    texts = all(isinstance(look, str) for look in looks)
    if texts and not all(_IS_FUNCTION.search(look) for look in looks):
        return [looks]
    return looks


def _item(look: str | list[str] | StateItem) -> StateItem:
    if isinstance(look, StateItem):
        return look
    if isinstance(look, list):
        return StateItem(command=look)
    return StateItem(function=look)


def _with_unique_names(items: list[StateItem]) -> tuple[Action, ...]:
    """Results are stored by name: refuse a name given twice, number repeated default names."""
    taken: set[str] = set()
    for item in items:
        if item.name is not None and item.name in taken:
            raise ValueError(f"two of them are named `{item.name}`")
        taken.update({item.name} if item.name is not None else ())
    numbers: dict[str, int] = {}
    actions = []
    for item in items:
        command = tuple(item.command) if item.command is not None else None
        action = Action(command=command, function=item.function, name=item.name or "")
        name = made = action.name
        while item.name is None and name in taken:
            numbers[made] = numbers.get(made, 1) + 1
            name = f"{made} ({numbers[made]})"
        taken.add(name)
        actions.append(replace(action, name=name))
    return tuple(actions)
