"""Which recorded trace belongs to which case: by equal name, else by equal input.

A trace serves the cases that ask its question. Two suites may have a case of one name: a trace of
that name belongs to the one that asks what it answers. A case with `match: all` gets every trace.

The cases are indexed once, and each trace is then matched by itself, so that no trace has to be
kept. One thing is not known from a trace alone: a case that has a trace of its name takes no trace
by its input. A match by input is therefore `weak`, and `bulk.merge`, which knows all traces, drops
it if the case has a match by name.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Sequence

from msgspec import Struct

from trialrun.engine.asked import NOT_COMPARABLE, another_question, questions_of
from trialrun.model.case import EvalCase, LazyCases, Selector, Suite
from trialrun.model.steps import StepType
from trialrun.model.trace import Trace
from trialrun.spec.case import plan_of
from trialrun.util.texts import excerpt

_WHAT = "the trace of this name"
_MOST_BUILT = 1_000


class Match(Struct, frozen=True):
    """A case that a trace belongs to, by its number; `weak` if only the input is the same."""

    number: int
    weak: bool = False


class Cases:
    """All cases of some suites by number, in the order of the specs.

    Cases of a table are built when they are asked for, and the latest ones are kept.
    """

    def __init__(self, suites: Sequence[Suite], tags: Sequence[str], names: Sequence[str]) -> None:
        self._places = [(suite, index) for suite in suites for index in range(len(suite.cases))]
        self._built: OrderedDict[int, EvalCase] = OrderedDict()
        first, self.planned = 0, array("L")
        for suite in suites:
            self.planned.extend(first + index for index in suite.selected_indexes(tags, names))
            first += len(suite.cases)
        self.is_planned = bytearray(first)
        for number in self.planned:
            self.is_planned[number] = 1

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, number: int) -> tuple[Suite, EvalCase]:
        suite, index = self._places[number]
        if not isinstance(suite.cases, LazyCases):
            return suite, suite.cases[index]
        case = self._built.get(number)
        if case is None:
            case = self._built[number] = suite.cases[index]
            if len(self._built) > _MOST_BUILT:
                self._built.popitem(last=False)
        return suite, case


class CaseIndex:
    """Finds the cases of a trace. One that answers another question is matched, with a reason."""

    def __init__(self, cases: Cases) -> None:
        self._cases = cases
        self._named: dict[str, list[int]] = {}
        self._by_input: dict[str, list[int]] = {}
        self._for_all: list[int] = []
        self.with_file: list[int] = []
        self.with_rubrics: list[int] = []
        questions: dict[str, set[tuple[str, ...]]] = {}
        for number in range(len(cases)):
            suite, case = cases[number]
            if cases.is_planned[number] and any(
                plan_of(part).judges for part in (case, *case.turns)
            ):
                self.with_rubrics.append(number)
            if case.trace is not None:
                self.with_file.append(number)
            elif takes_all(suite, case):
                self._for_all.append(number)
            else:
                self._named.setdefault(case.name, []).append(number)
                self._by_input.setdefault(case.input.strip(), []).append(number)
                questions.setdefault(case.name, set()).add(questions_of(case))
        self._shared = {name for name, asked in questions.items() if len(asked) > 1}

    def of(self, trace: Trace) -> list[Match]:
        """The cases of the trace; without any, the name of a case may be misspelt."""
        found = [Match(number) for number in self._for_all if self._applies(number, trace)]
        namesakes = self._named.get(trace.name) if trace.name is not None else None
        if namesakes is not None:
            return found + [Match(number) for number in self._owners(trace, namesakes)]
        by_input = self._by_input.get(trace.input.strip(), ())
        return found + [Match(number, True) for number in by_input]

    def why_not(self, number: int, trace: Trace) -> str | None:
        """Why the trace, though matched, cannot be judged by this case; None if it can."""
        suite, case = self._cases[number]
        if takes_all(suite, case):
            return None
        if case.name in self._shared and trace.name == case.name and not _fits(case, trace):
            return (
                f"{NOT_COMPARABLE}several suites have a case of this name, and ask different "
                f"questions; the trace answers {excerpt(trace.input)}, this case asks "
                f"{excerpt(case.input)}"
            )
        return another_question(suite, case, trace, _WHAT if trace.name == case.name else "it")

    def _owners(self, trace: Trace, namesakes: Sequence[int]) -> Sequence[int]:
        """The cases of the trace's name that ask its question; all of them if none does."""
        if len(namesakes) == 1:
            return namesakes
        return [one for one in namesakes if _fits(self._cases[one][1], trace)] or namesakes

    def _applies(self, number: int, trace: Trace) -> bool:
        wanted = self._cases[number][1].match
        if wanted is None or wanted == _EVERY:
            return True
        models = {step.model for step in trace.steps if step.type is StepType.LLM_CALL}
        service = trace.metadata.get("service")
        return wanted.fits(
            trace.agent_name,
            service if isinstance(service, str) else None,
            [model for model in models if model],
        )


_EVERY = Selector()


def takes_all(suite: Suite, case: EvalCase) -> bool:
    """Whether the checks of the case are put on every trace, or on all that fit its `match`."""
    return case.match is not None or suite.match == "all"


def label_of(trace: Trace) -> str:
    """The trace in a warning that no case wants it: the name of a case may be misspelt."""
    name = excerpt(trace.name or trace.id or "unnamed", 60)
    return f"a trace belongs to no case: {name}, input {excerpt(trace.input, 60)}"


def _fits(case: EvalCase, trace: Trace) -> bool:
    suite = Suite(name="", cases=())
    return another_question(suite, case, trace, _WHAT) is None
