"""Which recorded trace belongs to which case: by equal name, else by equal input.

A trace serves the cases that ask its question. Two suites may have a case of one name: a trace of
that name belongs to the one that asks what it answers.
"""

from __future__ import annotations

from collections.abc import Sequence

from trialrun.engine.asked import NOT_COMPARABLE, another_question, questions_of
from trialrun.model.case import EvalCase, Suite
from trialrun.model.trace import Trace
from trialrun.util.texts import excerpt

_WHAT = "the trace of this name"


class Matches:
    """Matches traces to cases. A trace that answers another question is matched, with a reason."""

    def __init__(self, suites: Sequence[Suite], pool: Sequence[Trace]) -> None:
        cases = [(suite, case) for suite in suites for case in suite.cases if case.trace is None]
        named: dict[str, list[tuple[Suite, EvalCase]]] = {}
        for suite, case in cases:
            named.setdefault(case.name, []).append((suite, case))
        self._shared = {name for name, those in named.items() if _ask_differently(those)}
        self._by_name: dict[tuple[str, str], list[Trace]] = {}
        by_input: dict[str, list[Trace]] = {}
        for trace in pool:
            if trace.name is not None and trace.name in named:
                for suite, case in _owners(trace, named[trace.name]):
                    self._by_name.setdefault((suite.name, case.name), []).append(trace)
            else:
                by_input.setdefault(trace.input.strip(), []).append(trace)
        inputs = {
            case.input.strip()
            for suite, case in cases
            if (suite.name, case.name) not in self._by_name
        }
        self._by_input = {text: traces for text, traces in by_input.items() if text in inputs}
        self.strays = [
            trace for text, traces in by_input.items() if text not in inputs for trace in traces
        ]

    def of(self, suite: Suite, case: EvalCase) -> list[Trace]:
        """The traces of this case; several are attempts."""
        by_name = self._by_name.get((suite.name, case.name))
        return by_name or self._by_input.get(case.input.strip()) or []

    def why_not(self, suite: Suite, case: EvalCase, trace: Trace) -> str | None:
        """Why the trace, though matched, cannot be judged by this case; None if it can."""
        if case.name in self._shared and trace.name == case.name and not _fits(case, trace):
            return (
                f"{NOT_COMPARABLE}several suites have a case of this name, and ask different "
                f"questions; the trace answers {excerpt(trace.input)}, this case asks "
                f"{excerpt(case.input)}"
            )
        return another_question(suite, case, trace, _WHAT if trace.name == case.name else "it")

    def orphans(self) -> list[str]:
        """Warnings about traces without a case: the name of a case may be misspelt."""
        return [
            f"a trace belongs to no case: {excerpt(trace.name or trace.id or 'unnamed', 60)}, "
            f"input {excerpt(trace.input, 60)}"
            for trace in self.strays
        ]


def _owners(
    trace: Trace, namesakes: Sequence[tuple[Suite, EvalCase]]
) -> Sequence[tuple[Suite, EvalCase]]:
    """The cases of the trace's name that ask its question; all of them if none does."""
    if len(namesakes) == 1:
        return namesakes
    return [(suite, case) for suite, case in namesakes if _fits(case, trace)] or namesakes


def _fits(case: EvalCase, trace: Trace) -> bool:
    suite = Suite(name="", cases=())
    return another_question(suite, case, trace, _WHAT) is None


def _ask_differently(namesakes: Sequence[tuple[Suite, EvalCase]]) -> bool:
    return len({questions_of(case) for _, case in namesakes}) > 1
