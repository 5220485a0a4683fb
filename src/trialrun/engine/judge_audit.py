"""A judge held against what is known, on stored runs: no agent is called.

Four measurements. Against free checks on the same answers: a judge that passes what a hard fact
fails is wrong. Against itself: the same answer several times. Against a person's labels. Against
changes that must not matter: empty words after the answer, the context in another order.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from trialrun.checks.base import JudgedCheck
from trialrun.engine.evaluate import evaluate
from trialrun.engine.judges import Judges, in_order
from trialrun.engine.regrade import Again
from trialrun.engine.rubrics import why_unfit
from trialrun.engine.stability import judged_names
from trialrun.errors import NothingSelected, UsageError
from trialrun.judge import Judge, JudgeRequest
from trialrun.judge.prompt import PROMPT_VERSION
from trialrun.measures.agreement import Confusion
from trialrun.model.audit import Answers, Audit, Disagreement, Retest, Sensitivity
from trialrun.model.case import EvalCase, Plan, Suite
from trialrun.model.judging import Inquiry
from trialrun.model.results import CheckStatus, EvaluationResult, JudgeSpend, Verdict
from trialrun.model.trace import Trace
from trialrun.redaction import Redactor
from trialrun.spec.case import plan_of
from trialrun.store.records import Attempt, RunRecord

if TYPE_CHECKING:
    from trialrun.store.store import Store

PADDING = (
    "\n\nI hope this helps. Please do not hesitate to reach out should you have any further "
    "questions; it is always a pleasure to be of assistance. Thank you very much for your patience "
    "and understanding, and have a wonderful day."
)
"""Words that say nothing: a judge that likes them likes length and manners, not the answer."""

_SHOWN = 20


class Item(Struct, frozen=True, kw_only=True):
    """One answer and one rubric. `facts`: what the free checks of correctness say about it."""

    suite: Suite
    case: str
    attempt: int
    check: str
    request: JudgeRequest
    facts: bool | None
    against: str = ""

    @property
    def key(self) -> str:
        """By which a label is found again: the rubric, the question, the answer and the context.

        What a tool returned belongs to it: an answer that was true of 30 days is not of 14. Without
        scale, examples and context, the key is as it was before they counted: old labels hold.
        """
        rubric, request = self.request.rubric, self.request
        asked = "\0".join((rubric.rule, request.question, request.answer))
        if rubric.scale or rubric.few_shot_examples or request.context:
            pieces = [(piece.name, piece.text) for piece in request.context]
            held_against = [rubric.scale, rubric.few_shot_examples, pieces]
            asked = json.dumps([asked, *held_against], default=repr)
        return sha256(asked.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def items_of(store: Store, records: Sequence[RunRecord], suites: Sequence[Suite]) -> Iterator[Item]:
    """Every answer on record that a rubric of the present spec asks about, each once."""
    seen: set[tuple[str, str]] = set()
    for record in records:
        labels = {case.position: (case.suite, case.case) for case in store.plan(record.id)}
        again = Again(suites, labels, None, None, [])
        for stored in store.attempts(record.id):
            for item in _items(again, stored):
                # The same answer again says nothing new, and would be counted as if it did.
                which = (item.suite.name, item.key)
                if which not in seen:
                    seen.add(which)
                    yield item


def _items(again: Again, stored: Attempt) -> Iterator[Item]:
    held = again.found(stored)
    if isinstance(held, str) or held.trace.output is None:
        return
    case = held.planned.case
    result = evaluate(case, held.trace, held.baseline)
    parts = [(None, plan_of(case), held.trace), *_turns(case, held.trace)]
    for number, plan, trace in parts:
        facts, against = _facts(result, number)
        for check in plan.judges:
            if not isinstance(check, JudgedCheck) or not check.audited or trace.output is None:
                continue
            inquiry = check.inquiry(held.trace, number)
            for request in inquiry.requests if isinstance(inquiry, Inquiry) else ():
                # A rubric with its own model has another judge than the one that is audited.
                if request.rubric.model is not None or why_unfit(request) is not None:
                    continue
                yield Item(
                    suite=held.planned.suite,
                    case=case.name,
                    attempt=stored.attempt,
                    check=check.name,
                    request=request,
                    facts=facts,
                    against=against,
                )


def _turns(case: EvalCase, trace: Trace) -> list[tuple[int | None, Plan, Trace]]:
    """The turns of a conversation, each with its own plan and part of the trace."""
    parts = zip(case.turns, trace.turns() if case.turns else [], strict=False)
    return [(number, plan_of(turn), part) for number, (turn, part) in enumerate(parts, 1)]


def _facts(result: EvaluationResult, turn: int | None) -> tuple[bool | None, str]:
    """Whether the free checks hold; None where there are none, or one is unknown."""
    rubrics = judged_names()
    checks = [
        check
        for check in result.layers["correctness"].checks
        if check.turn == turn
        and check.name not in rubrics
        and check.status is not CheckStatus.SKIPPED
    ]
    failed = [check for check in checks if check.status is CheckStatus.FAIL]
    if failed:
        return False, f"{failed[0].name}: {failed[0].message}"
    known = checks and all(check.status is CheckStatus.PASS for check in checks)
    return (True, "") if known else (None, "")


async def audit(
    items: Sequence[Item],
    suites: Sequence[Suite],
    runs: Sequence[str],
    labels: Mapping[str, bool],
    retests: int,
) -> Audit:
    """Put the answers to the judge, several times and in several forms.

    Past the cache, every time: a verdict that is kept says what the judge was, not what it is.
    """
    if not items:
        raise NothingSelected("nothing to audit: no stored answer is asked about by a rubric")
    redactor = Redactor([pattern for suite in suites for pattern in suite.redact])
    async with Judges(suites, cached=False, redactor=redactor.plain) as judges:
        asked = {judges.of(item.suite): item for item in items}
        identities = {judge.identity() for judge in asked}
        if len(identities) > 1:
            raise UsageError(
                f"these suites have {len(identities)} judges; audit one spec at a time: "
                "trialrun judge audit --spec FILE"
            )
        for judge, item in asked.items():  # a model that cannot be had is told before any is paid
            await judge.prepare([item.request.rubric])

        async def ask(item: Item) -> _Answered:
            judge = judges.of(item.suite)
            return _Answered(
                item,
                await judge.verdict(item.request),
                [await judge.verdict(item.request) for _ in range(retests)],
                {name: await judge.verdict(other) for name, other in _variants(item.request)},
            )

        answered = await in_order(items, ask, judges.at_once)
        judge = judges.of(items[0].suite)
    return _concluded(judge, answered, runs, labels, retests, redactor)


def _concluded(
    judge: Judge,
    answered: Sequence[_Answered],
    runs: Sequence[str],
    labels: Mapping[str, bool],
    retests: int,
    redactor: Redactor,
) -> Audit:
    spend = JudgeSpend()
    for one in answered:
        for verdict in one.verdicts():
            for vote in verdict.votes:
                spend.add_vote(vote)
    facts, fact_answers = _table([(one, one.item.facts) for one in answered])
    labelled, label_answers = _table([(one, labels.get(one.item.key)) for one in answered])
    return Audit(
        judge=judge.shown(),
        identity=judge.identity(),
        prompt_version=PROMPT_VERSION,
        runs=list(runs),
        verdicts=len(answered),
        answers=_different(answered),
        without_verdict=sum(one.is_incomplete() for one in answered),
        passes=sum(one.first.passed is True for one in answered),
        facts=facts,
        fact_answers=fact_answers,
        retest=_retest(answered, retests),
        labels=labelled,
        label_answers=label_answers,
        sensitivity=[
            _moved(name, answered) for name in ("empty words", "the order of the context")
        ],
        disagreements=[
            replace(wrong, rationale=redactor.text(wrong.rationale))
            for wrong in _disagreements(answered, labels)[:_SHOWN]
        ],
        calls=spend.calls,
        cost_usd=spend.cost_usd,
        made_at=datetime.now(UTC).date().isoformat(),
    )


class _Answered(Struct, frozen=True):
    """What the judge said to one item: first, again, and to its other forms."""

    item: Item
    first: Verdict
    again: Sequence[Verdict]
    changed: Mapping[str, Verdict]

    def verdicts(self) -> Sequence[Verdict]:
        """All of them."""
        return self.first, *self.again, *self.changed.values()

    def repeated(self) -> list[bool | None]:
        """What it said to one and the same answer."""
        return [verdict.passed for verdict in (self.first, *self.again)]

    def is_incomplete(self) -> bool:
        """Whether the judge gave no verdict at least once."""
        return any(verdict.passed is None for verdict in self.verdicts())


def _different(answered: Iterable[_Answered]) -> int:
    """How many answers they are about, whatever the rules and the suites that ask about them."""
    return len({(one.item.request.question, one.item.request.answer) for one in answered})


def _variants(request: JudgeRequest) -> Iterator[tuple[str, JudgeRequest]]:
    yield "empty words", replace(request, answer=request.answer + PADDING)
    if len(request.context) > 1:
        yield "the order of the context", replace(request, context=request.context[::-1])


def _table(held: Sequence[tuple[_Answered, bool | None]]) -> tuple[Confusion, Answers]:
    """Verdicts against what is so; where one of the two is not known, there is nothing to count."""
    counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    about: dict[bool, list[_Answered]] = {True: [], False: []}
    for one, known in held:
        if one.first.passed is not None and known is not None:
            counts[one.first.passed, known] += 1
            about[known].append(one)
    table = Confusion(
        true_pass=counts[True, True],
        false_pass=counts[True, False],
        false_fail=counts[False, True],
        true_fail=counts[False, False],
    )
    passed, failed = about[True], about[False]
    return table, Answers(_different(passed), _different(failed), _different(passed + failed))


def _retest(answered: Sequence[_Answered], times: int) -> Retest:
    whole = [one for one in answered if one.again and None not in one.repeated()]
    return Retest(
        verdicts=len(whole),
        flipped=sum(len(set(one.repeated())) > 1 for one in whole),
        times=times,
        answers=_different(whole),
    )


def _moved(name: str, answered: Sequence[_Answered]) -> Sensitivity:
    moves, verdicts, measured = [], 0, []
    for one in answered:
        other = one.changed.get(name)
        if other is None or other.score is None or one.first.score is None:
            continue
        measured.append(one)
        moves.append(other.score - one.first.score)
        verdicts += other.passed is not one.first.passed
    return Sensitivity(
        name=name,
        verdicts=len(moves),
        score_moved=sum(move != 0 for move in moves),
        verdict_moved=verdicts,
        mean_move=sum(moves) / len(moves) if moves else 0.0,
        answers=_different(measured),
    )


def _disagreements(answered: Sequence[_Answered], labels: Mapping[str, bool]) -> list[Disagreement]:
    """The answers that the judge passed and something known did not: the row that matters."""
    found = []
    for one in answered:
        labelled = labels.get(one.item.key)
        if one.first.passed is not True or (one.item.facts is not False and labelled is not False):
            continue
        found.append(
            Disagreement(
                case=one.item.case,
                attempt=one.item.attempt,
                rule=one.item.request.rubric.rule,
                score=one.first.score,
                against=one.item.against if one.item.facts is False else "a person's label: fail",
                rationale=next((vote.rationale for vote in one.first.votes if vote.rationale), ""),
            )
        )
    return found
