"""Audit a judge on stored answers; no agent is called.

Four measurements. Free checks on the same answers: a judge that passes what a free check fails is
wrong. Itself: the same answer several times. A person's labels. Changes that must not matter:
padding after the answer, the context in another order.
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
from trialrun.engine.judges import Judges, map_concurrently
from trialrun.engine.regrade import Regrader
from trialrun.engine.rubrics import why_not_judgeable
from trialrun.engine.stability import judged_names
from trialrun.errors import NothingSelected, NoVerdict, UsageError
from trialrun.judge import Judge, JudgeRequest
from trialrun.judge.prompt import PROMPT_VERSION
from trialrun.measures.agreement import Confusion
from trialrun.model.audit import Answers, Audit, Disagreement, Opinion, Retest, Sensitivity
from trialrun.model.case import EvalCase, Plan, Suite
from trialrun.model.judging import Inquiry
from trialrun.model.results import CheckStatus, EvaluationResult, JudgeSpend, Verdict
from trialrun.model.trace import Trace
from trialrun.redaction import Redactor
from trialrun.spec.case import plan_of
from trialrun.store.records import Attempt, RunRecord
from trialrun.util.texts import counted

if TYPE_CHECKING:
    from trialrun.store.store import Store

PADDING = (
    "\n\nI hope this helps. Please do not hesitate to reach out should you have any further "
    "questions; it is always a pleasure to be of assistance. Thank you very much for your patience "
    "and understanding, and have a wonderful day."
)
"""Text without content: a judge that scores it higher rewards length and manners."""

_SHOWN = 20
_MOST_OPINIONS = 1000  # rows of the table of all verdicts, in the file of the audit


class Item(Struct, frozen=True, kw_only=True):
    """One answer and one rubric. `facts`: whether the free correctness checks pass it.

    `turn` is 0 for the whole answer.
    """

    suite: Suite
    case: str
    attempt: int
    check: str
    request: JudgeRequest
    facts: bool | None
    against: str = ""
    turn: int = 0

    @property
    def key(self) -> str:
        """Identifies the answer for a label: a hash of rubric, question, answer and context.

        What a tool returned is part of it: an answer that is true for 30 days is not for 14.
        Without scale, examples and context the key is that of earlier versions: old labels match.
        """
        rubric, request = self.request.rubric, self.request
        asked = "\0".join((rubric.rule, request.question, request.answer))
        if rubric.scale or rubric.few_shot_examples or request.context:
            pieces = [(piece.name, piece.text) for piece in request.context]
            compared_with = [rubric.scale, rubric.few_shot_examples, pieces]
            asked = json.dumps([asked, *compared_with], default=repr)
        return sha256(asked.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def items_of(store: Store, records: Sequence[RunRecord], suites: Sequence[Suite]) -> Iterator[Item]:
    """Every stored answer that a rubric of the current spec asks about, each once."""
    seen: set[tuple[str, str]] = set()
    for record in records:
        labels = {case.position: (case.suite, case.case) for case in store.plan(record.id)}
        regrader = Regrader(suites, labels, None, None, [])
        for stored in store.attempts(record.id):
            for item in items_in(regrader, stored):
                # The same answer again adds no evidence, but would count as if it did.
                which = (item.suite.name, item.key)
                if which not in seen:
                    seen.add(which)
                    yield item


def items_in(regrader: Regrader, stored: Attempt) -> Iterator[Item]:
    """What the rubrics of the current spec ask about one stored attempt."""
    matched = regrader.match(stored)
    if isinstance(matched, str) or matched.trace.output is None:
        return
    case = matched.planned.case
    result = evaluate(case, matched.trace, matched.baseline)
    parts = [(None, plan_of(case), matched.trace), *_turns(case, matched.trace)]
    for number, plan, trace in parts:
        facts, against = facts_of(result, number)
        for check in plan.judges:
            if not isinstance(check, JudgedCheck) or not check.audited or trace.output is None:
                continue
            inquiry = check.inquiry(matched.trace, number)
            for request in inquiry.requests if isinstance(inquiry, Inquiry) else ():
                # A rubric with its own model has a judge other than the audited one.
                if request.rubric.model is not None or why_not_judgeable(request) is not None:
                    continue
                # A single statement may be true in an answer that is wrong.
                whole = check.layer != "verification"
                yield Item(
                    suite=matched.planned.suite,
                    case=case.name,
                    attempt=stored.attempt,
                    check=check.name,
                    request=request,
                    facts=facts if whole else None,
                    against=against if whole else "",
                    turn=number or 0,
                )


def _turns(case: EvalCase, trace: Trace) -> list[tuple[int | None, Plan, Trace]]:
    """The turns of a conversation, each with its plan and its part of the trace."""
    parts = zip(case.turns, trace.turns() if case.turns else [], strict=False)
    return [(number, plan_of(turn), part) for number, (turn, part) in enumerate(parts, 1)]


def facts_of(result: EvaluationResult, turn: int | None) -> tuple[bool | None, str]:
    """Whether the free correctness checks pass, else why not; None if none or one is unknown."""
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
    """Ask the judge about the answers, several times and in several variants.

    The cache is never used: a cached verdict says what the judge was, not what it is.
    """
    if not items:
        raise NothingSelected("nothing to audit: no rubric asks about a stored answer")
    redactor = Redactor([pattern for suite in suites for pattern in suite.redact])
    async with Judges(suites, cached=False, redactor=redactor.plain) as judges:
        asked = {judges.of(item.suite): item for item in items}
        identities = {judge.identity() for judge in asked}
        if len(identities) > 1:
            raise UsageError(
                f"these suites have {len(identities)} judges; audit one spec at a time: "
                "trialrun judge audit --spec FILE"
            )
        for judge, item in asked.items():  # a missing model is an error before any call is paid
            await judge.prepare([item.request.rubric])

        async def ask(item: Item) -> _Answered:
            judge = judges.of(item.suite)
            return _Answered(
                item,
                await judge.verdict(item.request),
                [await judge.verdict(item.request) for _ in range(retests)],
                {name: await judge.verdict(other) for name, other in _variants(item.request)},
            )

        answered = await map_concurrently(items, ask, judges.concurrency)
        judge = judges.of(items[0].suite)
    _require_verdict(answered, redactor)
    return _summary(judge, answered, runs, labels, retests, redactor)


def _require_verdict(answered: Sequence[_Answered], redactor: Redactor) -> None:
    """Refuse an audit without any verdict: it would describe a judge that never answered."""
    verdicts = [verdict for one in answered for verdict in one.verdicts()]
    if any(verdict.passed is not None for verdict in verdicts):
        return
    errors = (vote.error for verdict in verdicts for vote in verdict.votes if vote.error)
    why = redactor.text(next(errors, "no reason given"))
    raise NoVerdict(
        f"the judge gave no verdict in {counted(len(verdicts), 'request')}, so nothing was "
        f"audited and no file was written: {why}"
    )


def _summary(
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
    facts, fact_answers = _confusion([(one, one.item.facts) for one in answered])
    labelled, label_answers = _confusion([(one, labels.get(one.item.key)) for one in answered])
    return Audit(
        judge=judge.shown(),
        identity=judge.identity(),
        prompt_version=PROMPT_VERSION,
        runs=list(runs),
        verdicts=len(answered),
        answers=_distinct_answers(answered),
        without_verdict=sum(one.is_incomplete() for one in answered),
        passes=sum(one.first.passed is True for one in answered),
        facts=facts,
        fact_answers=fact_answers,
        retest=_retest(answered, retests),
        labels=labelled,
        label_answers=label_answers,
        sensitivity=[
            _sensitivity(name, answered) for name in ("padding", "the order of the context")
        ],
        disagreements=[
            replace(wrong, rationale=redactor.text(wrong.rationale))
            for wrong in _disagreements(answered, labels)[:_SHOWN]
        ],
        opinions=[
            Opinion(
                case=one.item.case,
                attempt=one.item.attempt,
                rule=redactor.text(one.item.request.rubric.rule),
                score=one.first.score,
                judge=one.first.passed,
                fact=one.item.facts,
                person=labels.get(one.item.key),
            )
            for one in answered[:_MOST_OPINIONS]
        ],
        calls=spend.calls,
        cost_usd=spend.cost_usd,
        made_at=datetime.now(UTC).date().isoformat(),
    )


class _Answered(Struct, frozen=True):
    """The judge's verdicts on one item: the first, the repeats, and those on its variants."""

    item: Item
    first: Verdict
    repeats: Sequence[Verdict]
    variants: Mapping[str, Verdict]

    def verdicts(self) -> Sequence[Verdict]:
        """All verdicts."""
        return self.first, *self.repeats, *self.variants.values()

    def same_answer(self) -> list[bool | None]:
        """Its verdicts on the unchanged answer."""
        return [verdict.passed for verdict in (self.first, *self.repeats)]

    def is_incomplete(self) -> bool:
        """Whether the judge gave no verdict at least once."""
        return any(verdict.passed is None for verdict in self.verdicts())


def _distinct_answers(answered: Iterable[_Answered]) -> int:
    """The number of distinct answers, however many rules and suites ask about them."""
    return len({(one.item.request.question, one.item.request.answer) for one in answered})


def _variants(request: JudgeRequest) -> Iterator[tuple[str, JudgeRequest]]:
    yield "padding", replace(request, answer=request.answer + PADDING)
    if len(request.context) > 1:
        yield "the order of the context", replace(request, context=request.context[::-1])


def _confusion(matched: Sequence[tuple[_Answered, bool | None]]) -> tuple[Confusion, Answers]:
    """Verdicts compared with what is known; items where either is missing are not counted."""
    counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    about: dict[bool, list[_Answered]] = {True: [], False: []}
    for one, known in matched:
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
    return table, Answers(
        _distinct_answers(passed), _distinct_answers(failed), _distinct_answers(passed + failed)
    )


def _retest(answered: Sequence[_Answered], times: int) -> Retest:
    whole = [one for one in answered if one.repeats and None not in one.same_answer()]
    return Retest(
        verdicts=len(whole),
        flipped=sum(len(set(one.same_answer())) > 1 for one in whole),
        times=times,
        answers=_distinct_answers(whole),
    )


def _sensitivity(name: str, answered: Sequence[_Answered]) -> Sensitivity:
    moves, verdicts, measured = [], 0, []
    for one in answered:
        other = one.variants.get(name)
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
        answers=_distinct_answers(measured),
    )


def _disagreements(answered: Sequence[_Answered], labels: Mapping[str, bool]) -> list[Disagreement]:
    """Answers that the judge passed although a free check or a label failed them."""
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
