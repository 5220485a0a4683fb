"""The plan of a run: every selected case of every suite, for every agent, by position."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from trialrun import registry
from trialrun.checks.base import JudgedCheck
from trialrun.errors import NothingSelected, UsageError
from trialrun.model.case import AgentSpec, EvalCase, JudgeSettings, LazyCases, Suite, is_named
from trialrun.model.results import LAYERS
from trialrun.model.trace import Trace
from trialrun.redaction import Redactor
from trialrun.spec.case import plan_of
from trialrun.util.texts import did_you_mean


class Selection(Struct, frozen=True, kw_only=True):
    """Which cases to run: by tag, by name (globs), by agent."""

    tags: Sequence[str] = ()
    names: Sequence[str] = ()
    agents: Sequence[str] = ()


class Planned(Struct, frozen=True):
    """One case for one agent. Without an agent, its recorded trace is evaluated."""

    suite: Suite
    agent: AgentSpec | None
    case: EvalCase


class _Section(Struct, frozen=True):
    """The selected cases of one suite for one agent."""

    suite: Suite
    agent: AgentSpec | None
    cases: Sequence[EvalCase]
    labels: Sequence[tuple[str, Sequence[str]]]


class RunPlan:
    """The plan as a sequence; a case is built only when it is accessed."""

    def __init__(
        self, sections: Sequence[_Section], positions: Sequence[int] | None = None
    ) -> None:
        self._sections = sections
        self._ends = list(accumulate(len(section.cases) for section in sections))
        self._positions = range(self._ends[-1]) if positions is None else positions

    def chosen(self, positions: Iterable[int]) -> RunPlan:
        """The plan with only these positions, in this order."""
        return RunPlan(self._sections, array("L", [self._positions[at] for at in positions]))

    def __len__(self) -> int:
        return len(self._positions)

    def _at(self, position: int) -> tuple[_Section, int]:
        place = self._positions[position]
        number = bisect_right(self._ends, place)
        return self._sections[number], place - (self._ends[number - 1] if number else 0)

    def __getitem__(self, position: int) -> Planned:
        section, index = self._at(position)
        return Planned(section.suite, section.agent, section.cases[index])

    def labels(self) -> Iterator[tuple[str, str | None, str, Sequence[str]]]:
        """Suite, agent, name and tags of each planned case, without building it."""
        for position in range(len(self)):
            section, index = self._at(position)
            agent = section.agent.name if section.agent is not None else None
            name, tags = section.labels[index]
            yield section.suite.name, agent, name, tags

    def positions_in(self, suite: Suite) -> Iterator[int]:
        """The positions of a suite's cases."""
        return (at for at in range(len(self)) if self._at(at)[0].suite is suite)

    def pairs(self, positions: Iterable[int] | None = None) -> list[tuple[Suite, AgentSpec | None]]:
        """Each suite with each agent that has a case in the plan, or at these positions."""
        places = range(len(self)) if positions is None else positions
        numbers = {bisect_right(self._ends, self._positions[at]) for at in places}
        chosen = [self._sections[number] for number in sorted(numbers)]
        return [(section.suite, section.agent) for section in chosen]


def make_plan(suites: Sequence[Suite], selection: Selection) -> RunPlan:
    """The plan for these suites. Raises NothingSelected if no case is left."""
    _require_agents(suites, selection.agents)
    sections: list[_Section] = []
    for suite in suites:
        cases = suite.selected(selection.tags, selection.names)
        for agent in suite.agents or (None,):
            wanted = not selection.agents or (agent is not None and agent.name in selection.agents)
            if wanted and len(cases):
                sections.append(_Section(suite, agent, cases, _labels(cases)))
    if not sections:
        raise NothingSelected(why_nothing(suites, selection))
    require_matches(suites, selection)
    return RunPlan(sections)


def require_matches(suites: Sequence[Suite], selection: Selection) -> None:
    """Refuse a tag or a name that no case has, though others have one: it was misspelt."""
    if not selection.tags and not selection.names:
        return
    labels = [label for suite in suites for label in _labels(suite.cases)]
    tags = {tag for _, given in labels for tag in given}
    names = {name for name, _ in labels}
    problems = [
        f"--tag {tag}: no case has this tag{did_you_mean(tag, tags)}"
        for tag in selection.tags
        if tag not in tags
    ]
    problems += [
        f"--case {name}: no case has this name{did_you_mean(name, names)}"
        for name in selection.names
        if name not in names and not any(is_named(one, name) for one in names)
    ]
    if problems:
        raise UsageError("; ".join(problems))


def _labels(cases: Sequence[EvalCase]) -> Sequence[tuple[str, Sequence[str]]]:
    if isinstance(cases, LazyCases):
        return _LazyLabels(cases)
    return [(case.name, case.tags) for case in cases]


class _LazyLabels(Sequence[tuple[str, Sequence[str]]]):
    """The names and tags of a table's cases, without building the cases."""

    def __init__(self, cases: LazyCases) -> None:
        self._cases = cases

    def __len__(self) -> int:
        return len(self._cases)

    def __getitem__(self, index: Any) -> Any:
        return self._cases.label(index)


def redactor_for(plan: RunPlan) -> Redactor:
    """A redactor for the secrets that suites name and for the variables that agents send."""
    pairs = list(plan.pairs())
    patterns = [pattern for suite, _ in pairs for pattern in suite.redact]
    agents = [agent for _, agent in pairs if agent is not None]
    variables = [
        name
        for agent in agents
        for name in registry.find(registry.AGENTS, agent.kind).secret_variables(agent.settings)
    ]
    return Redactor(list(dict.fromkeys(patterns)), variables)


def _require_agents(suites: Sequence[Suite], names: Sequence[str]) -> None:
    known = sorted({agent.name for suite in suites for agent in suite.agents if agent.name})
    for name in names:
        if name not in known:
            there = f"; there are {', '.join(known)}" if known else ""
            raise UsageError(f"no agent is named `{name}`{did_you_mean(name, known)}{there}")


def why_nothing(suites: Sequence[Suite], selection: Selection) -> str:
    """The message if no case is selected."""
    total = sum(len(suite.cases) for suite in suites)
    if not total:
        files = ", ".join(suite.file or suite.name for suite in suites)
        return f"{files}: the spec has no cases; add some under `queries:`"
    tags, names = selection.tags, selection.names
    asked = [f"the tag {tag!r}" for tag in tags] + [f"the name {name!r}" for name in names]
    if not asked:
        return "nothing is selected"
    known = sorted({tag for suite in suites for case in suite.cases for tag in case.tags})
    hint = f"; tags in use: {', '.join(known)}" if tags and known else ""
    cases = "the one case does not have" if total == 1 else f"none of the {total} cases has"
    meant = (
        ""
        if tags
        else "".join(
            did_you_mean(name, [case.name for suite in suites for case in suite.cases])
            for name in names[:1]
        )
    )
    return f"nothing is selected: {cases} {' and '.join(asked)}{hint}{meant}"


_FINGERPRINTED = (
    *("query", *LAYERS, "expected", "trace", "baseline", "reference_tools"),
    *("setup", "teardown", "state", "timeout", "severity"),
)


def fingerprint(planned: Planned, baseline: Trace | None = None) -> str:
    """A short hash of the case, the agent, the baseline, the judge, the prices and the trace.

    It shows whether a finished case has changed since. Texts that cannot change a verdict
    (description, tags) are left out.
    """
    plain = _fingerprinted(planned.case)
    plain["against"] = None if baseline is None else baseline.to_dict()
    plain["turns"] = [_fingerprinted(turn) for turn in planned.case.turns]
    plain["agent"] = None if planned.agent is None else _plain_agent(planned.agent)
    judged = [
        check for part in (planned.case, *planned.case.turns) for check in plan_of(part).judges
    ]
    if judged:
        rubrics = [one for one in judged if isinstance(one, JudgedCheck) and one.audited]
        plain["judge"] = _judge_fingerprint(planned.suite.judge, rubrics)
        plain["contexts"] = [check.contexts for check in rubrics]
    plain["metrics"] = [
        (plan.metric.name, plan.minimum, plan.maximum, plan.severity)
        for plan in planned.case.metrics or ()
        if plan.gated
    ]
    # Only where there are any, so that the other fingerprints of stored runs stay as they are.
    if planned.case.prices is not None:
        plain["prices"] = planned.case.prices
    if planned.case.match is not None:
        plain["match"] = planned.case.match
    if planned.case.trace is not None:
        plain["trace_content"] = _content(planned.suite, planned.case.trace)
    from hashlib import sha256

    encoded = msgspec.json.encode(plain, order="deterministic", enc_hook=repr)
    return sha256(encoded).hexdigest()[:16]


def _content(suite: Suite, trace: str) -> str | None:
    """A hash of the recorded trace that is evaluated in place of an agent; None if unreadable."""
    from hashlib import sha256

    place = (Path(suite.file).parent if suite.file else Path()) / trace
    digest = sha256()
    try:
        files = sorted(place.rglob("*")) if place.is_dir() else [place]
        for file in files:
            if not file.is_dir():
                digest.update(file.read_bytes())
    except (OSError, ValueError):
        return None
    return digest.hexdigest()


def _plain_agent(agent: AgentSpec) -> msgspec.Raw:
    """Name, settings and timeout in this order, on which stored fingerprints depend."""
    parts = {"name": agent.name, **msgspec.to_builtins(agent.settings), "timeout": agent.timeout}
    encode = msgspec.json.Encoder(order="deterministic", enc_hook=repr).encode
    pairs = (
        encode(key) + b":" + encode(value) for key, value in parts.items() if value is not None
    )
    return msgspec.Raw(b"{" + b",".join(pairs) + b"}")


def _judge_fingerprint(
    block: JudgeSettings | Callable[..., Any] | str | None, judged: Sequence[JudgedCheck]
) -> Any:
    """The settings of a judge that can change a verdict, the environment's address included.

    Timeouts cannot. `require_audit` can: with it, a judge that is not audited gives no verdict.
    """
    from trialrun.judge import Judge  # of a run: `score` selects cases without one

    judge = Judge(JudgeSettings() if block is None or isinstance(block, str) else block)
    rubrics = [rubric for check in judged for rubric in check.rubrics_asked()]
    own = {rubric.model for rubric in rubrics if rubric.model is not None}
    places = [(model, judge.address_of(model)) for model in sorted(own)]
    name = block if isinstance(block, str) else judge.identity()
    return [name, judge.settings.require_audit, places]


def _fingerprinted(case: EvalCase) -> dict[str, Any]:
    return {key: value for key in _FINGERPRINTED if (value := getattr(case, key))}
