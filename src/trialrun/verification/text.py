"""The score of a text alone, where there is no trace: four weighted parts.

A part that does not apply gives its full share. What counts is what the text shows; words such as
"verified" earn nothing, and a hedge in place of evidence costs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from trialrun.errors import UsageError
from trialrun.model.ledger import (
    CONTRADICTED_AT_MOST,
    NOT_COMPLIANT_AT_MOST,
    WEIGHTS,
    Claim,
    ClaimVerdict,
    Ledger,
    Observation,
    Outcome,
)
from trialrun.verification import deeds as d
from trialrun.verification import phrases as p
from trialrun.verification.blocks import outside_blocks
from trialrun.verification.claims import Said, claims_of, classify
from trialrun.verification.proposals import REPORTS, claims_nothing, proposes
from trialrun.verification.readable import squeezed
from trialrun.verification.runners import Table, default_table, language_of
from trialrun.verification.sentences import Statement, statements
from trialrun.verification.settings import Settings
from trialrun.verification.shown import DIFF, QUOTE, READ_BACK, Shown, is_command, shown_in
from trialrun.verification.verdicts.runs import OF_KIND
from trialrun.verification.wording import CODE, number_of

LONGEST_TEXT = 100_000
"""Of a longer text its beginning and its end are read, half of this each."""

V = ClaimVerdict


class Words(Struct, frozen=True):
    """The words by which a text is read; a subclass of the metric may bring others."""

    hedges: re.Pattern[str]
    operations: re.Pattern[str]
    code: re.Pattern[str]
    verified: re.Pattern[str]


_MINOR = frozenset({p.LINTS, p.TYPED, p.FORMATTED, p.COVERAGE, p.CHECKED})


DEFAULT_HEDGES = (p.HEDGES.pattern,)
DEFAULT_OPERATIONS = (p.OPERATIONS,)
DEFAULT_CODE_WORK = (p.CODE_WORK,)


@cache
def words_of(
    hedges: tuple[str, ...],
    operations: tuple[str, ...],
    code: tuple[str, ...],
    verified: tuple[str, ...],
) -> Words:
    """The words, compiled once for each set of them. UsageError for one that is no pattern."""
    return Words(*(_one_of(texts) for texts in (hedges, operations, code, verified)))


def _one_of(texts: tuple[str, ...]) -> re.Pattern[str]:
    for text in texts:
        try:
            re.compile(text)
        except re.error as error:
            raise UsageError(f'"{text}" is not a regular expression: {error}') from None
    return re.compile("|".join(f"(?:{one})" for one in texts) or r"(?!)", re.IGNORECASE)


def default_words() -> Words:
    """The words as they are unless a subclass of the metric says otherwise."""
    return words_of(DEFAULT_HEDGES, DEFAULT_OPERATIONS, DEFAULT_CODE_WORK, (READ_BACK,))


class TextFindings(Struct, frozen=True):
    """What a text claims, shows and leaves open."""

    changes: bool
    changes_code: bool
    shown: tuple[Shown, ...]
    claims: tuple[Claim, ...]
    hedges: tuple[str, ...]
    empty: bool = False

    @property
    def compliant(self) -> bool:
        """Nothing hedged, nothing claimed or done without something shown for it."""
        harmful = any(self._harms(claim) for claim in self.claims)
        unchecked = self.changes and not self.solid
        return not self.empty and not self.hedges and not harmful and not unchecked

    def _harms(self, claim: Claim) -> bool:
        if claim.verdict is V.UNSUPPORTED and self.solid:
            # A bare "ruff is clean" beside a shown test run costs its own share, not the whole.
            return not set(claim.kind.split("+")) <= _MINOR
        return claim.verdict in (V.CONTRADICTED, V.UNSUPPORTED, V.STALE)

    @property
    def solid(self) -> bool:
        """Whether anything is shown at all."""
        return any(one.outcome in (Outcome.PASSED, Outcome.FAILED) for one in self.shown)

    @property
    def contradicted(self) -> bool:
        """Whether something shown speaks against what is claimed."""
        return any(claim.verdict is V.CONTRADICTED for claim in self.claims)


def within_limits(text: str) -> str:
    """The text, or both ends of one that is too long to be a message."""
    if len(text) <= LONGEST_TEXT:
        return text
    half = LONGEST_TEXT // 2
    return text[:half] + "\n\n" + text[-half:]


def read_text(
    text: str,
    words: Words,
    table: Table | None = None,
    phrases: Mapping[str, Sequence[str]] | None = None,
    claimed: frozenset[str] | None = None,
) -> TextFindings:
    """What the text claims and what it shows."""
    text = squeezed(within_limits(text.replace("\0", " ")))
    prose = outside_blocks(text)
    proposal = proposes(prose)
    said = claims_of(prose, phrases, claimed or frozenset(), table=table)
    if proposal:
        said = [one for one in said if one.admitted or not claims_nothing(one)]
    shown = tuple(shown_in(text, table, words.verified))
    if _changed_after_all(text, words):
        shown = tuple(
            replace(one, outcome=Outcome.UNKNOWN, detail="from before the change") for one in shown
        )
    plain = list(dict.fromkeys(statements(prose)))  # a text may say one thing a thousand times
    hedges = tuple(dict.fromkeys(_hedges(plain, words)))
    changes, code = _changes(plain, words, proposal)
    owned = [one for one in said if one.admitted and _OF_FAILURE.search(one.plain)]
    own_up = bool(owned) or bool(_LEFT_OVER.search(prose))
    claims = tuple(_judged(_of_words(one, table or default_table()), shown, own_up) for one in said)
    return TextFindings(changes, code, shown, claims, hedges, empty=not text.strip())


def _changed_after_all(text: str, words: Words) -> bool:
    """Whether the text tells that what it shows was run first and the change was made afterwards."""
    told = [
        match
        for match in _THEN.finditer(text)
        if words.operations.search(text[match.start() : match.start() + 120])
    ]
    if not told:
        return False
    last = told[-1].start()
    return bool(shown_in(text[:last])) and not any(
        one.kind in _TRIALS for one in shown_in(text[last:])
    )


_THEN = re.compile(
    r"(?:^|[.;\n]\s*)(?:then|afterwards|after that|only then|next|subsequently|danach|anschließend|después|ensuite|その後)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“„«][^\"”“»\n]{0,400}[\"”“»]|(?<!\w)'[^'\n]{3,200}'(?!\w)|「[^」\n]*」")


def _bare(text: str) -> str:
    """Without code and quotations: a hedge in these is somebody else's."""
    return _QUOTED.sub(" ", CODE.sub(" ", text))


def _hedges(plain: Sequence[Statement], words: Words) -> list[str]:
    found = []
    for statement in plain:
        text = _bare(statement.plain)
        if statement.question or _NOT_ABOUT_WORK.search(text):
            continue
        found += [match.group() for match in words.hedges.finditer(text)]
    return found


# "You should restart it" advises; "if it should fail" supposes. Neither speaks of work done.
_NOT_ABOUT_WORK = re.compile(
    r"^(?:you|we|users?|one) (?:should|could|would|may|might)\b|^(?:if|when|once)\b|\bi would (?:suggest|recommend|like|go|start)",
    re.IGNORECASE,
)


def _changes(plain: Sequence[Statement], words: Words, proposal: bool) -> tuple[bool, bool]:
    """Whether the text speaks of something that was changed, and whether that was code."""
    done = []
    for statement in plain:
        line = _QUOTED.sub(" ", statement.plain)
        if p.compiled(p.PLANS["en"]).search(line.lower()) or statement.question:
            continue
        if proposal and not REPORTS.search(line) and not _opens_with_deed(line, words):
            continue
        # A word stays in the span: "set `" alone is not "set `multi_az = true`".
        if _operates(CODE.sub("`it`", line), words):
            done.append(line)
    if not done:
        return False, False
    joined = " ".join(done)
    if all(_ROLLOUT.search(line) for line in done):
        return True, False  # a rollout changes no code
    names = re.findall(r"[\w./-]+\.\w{1,6}", joined)
    languages = {language_of(name) for name in names} - {None}
    apart = {"docs", "markup", "docker", "terraform"}
    if languages:
        return True, bool(languages - apart)
    return True, bool(words.code.search(joined))


def _opens_with_deed(line: str, words: Words) -> bool:
    """ "Applied it" within a plan is a report; "updated runbook" is one of its noun phrases."""
    found = words.operations.match(line)
    return found is not None and bool(_OBJECT.match(line, found.end()))


_OBJECT = re.compile(r" (?:the|it|them|all|both|this|that|an?|`)", re.IGNORECASE)


def _operates(line: str, words: Words) -> bool:
    """Whether the author changed something: "nothing changed", "the job wrote a dump" are no change."""
    return bool(_STEP_DONE.search(line)) or any(
        not _NOT_DONE.search(line, max(0, found.start() - 60), found.start())
        and not (found.group().lower() == "wrote" and _BY_OTHERS.search(line, 0, found.start()))
        for found in words.operations.finditer(line)
    )


_STEP_DONE = re.compile(
    r"\b(?:i|we)(?:'ve| have)? already (?:did|done|finished|completed)\b", re.IGNORECASE
)
_NOT_DONE = re.compile(
    r"(?:\b(?:nothing|nor|not(?! only| just)|never|no(?! longer)|without)|n't)(?: \w+){0,3} $",
    re.IGNORECASE,
)
_BY_OTHERS = re.compile(
    r"\b(?!i |we |and |also |then |just |first |finally |now |\w+ly )[\w-]+ $", re.IGNORECASE
)
_ROLLOUT = re.compile(
    r"^(?:i |we |also )?(?:deployed|restarted|reloaded|rolled out|released|published|backfilled|deleted|migrated)\b",
    re.IGNORECASE,
)
# What shows a claim, as of a run; a text may also quote a file, and show a thing by running it.
_KINDS = {
    **OF_KIND,
    p.VALID: OF_KIND[p.VALID] | {QUOTE, d.RUN},
    p.BUILDS: OF_KIND[p.BUILDS] | {d.LINT},
    p.HEALTHY: frozenset({d.PROBE, d.RUN, d.QUERY, d.TEST, QUOTE}),
    p.DEPLOYED: frozenset({d.PROBE, d.RUN, d.QUERY, d.TEST, QUOTE, d.BUILD, d.CONFIG, DIFF}),
}
_TRIALS = d.TRIALS | {d.PROBE, d.QUERY}


def _of_words(said: Said, table: Table) -> Said:
    """The claim by the author's own words: in "`nginx -t` says `test is successful`" no test is claimed."""
    if len(said.kinds) < 2 or "`" not in said.plain:
        return said
    plain = CODE.sub(
        lambda span: span.group() if is_command(span.group()[1:-1], table) else "`it`", said.plain
    )
    again = classify(Statement(said.text, plain, sentence=said.sentence), table=table)
    kinds = again.kinds & said.kinds if again else frozenset()
    return replace(said, kinds=kinds) if kinds else said


def _judged(said: Said, shown: Sequence[Shown], owned: bool) -> Claim:
    """The claim held against what the same text shows."""
    kind = "+".join(sorted(said.kinds))
    if said.admitted:
        return Claim(said.text, kind, V.DISCLOSED, "the text says so itself")
    if p.UNCHANGED in said.kinds or said.subjective:
        return Claim(said.text, kind, V.NOT_CHECKABLE, "a text alone cannot show it")
    for one in sorted(said.kinds):
        wanted = _KINDS.get(one)
        fitting = [piece for piece in shown if wanted is None or piece.kind in wanted]
        informed = [piece for piece in fitting if piece.outcome in (Outcome.PASSED, Outcome.FAILED)]
        if not informed:
            return Claim(said.text, kind, V.UNSUPPORTED, f"nothing in the text shows it ({one})")
        last = [piece for piece in informed if piece.kind in _TRIALS]
        if last and last[-1].outcome is Outcome.FAILED and one != p.CONTENT and not owned:
            return Claim(said.text, kind, V.CONTRADICTED, f"{last[-1].by}: {last[-1].detail}")
    short = _falls_short(said, shown)
    if short is not None:
        return Claim(said.text, kind, *short)
    return Claim(said.text, kind, V.VERIFIED, "shown in the text")


# "I have not deployed it" says nothing about the run that is shown to fail.
_OF_FAILURE = re.compile(
    r"\bfail|\berror|\bred\b|\bbroke|\bcrash|\bremain|\bstill\b|\bleft\b|\bskip|\b[45]\d\d\b|\btime[sd]? ?out|\bhang|\bcomplain|\bunhealthy|\bunreachable|\bdown\b|\bexit|\broll(?:ed)? (?:\w+ )?back|\bnot (?:\w+ )?(?:fixed|solved|resolved|pass|clean|green|ready|healthy|complete\w*|met|finished|up|enough|the same)\b|\bfehl|\brot\b|\bfall[aó]|\béchou|\béchec|失敗|エラー",
    re.IGNORECASE,
)
# "Two remain" owns to a failing run as much as "two tests fail" does.
_LEFT_OVER = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|[1-9]\d*)(?: \w+){0,2} (?:remains?|(?:is|are) (?:still )?(?:left|open|there))\b",
    re.IGNORECASE,
)


def _falls_short(said: Said, shown: Sequence[Shown]) -> tuple[V, str] | None:
    """What speaks against a claim that says more than the evidence for it shows."""
    words = said.sentence or said.plain
    informed = [one for one in shown if one.outcome is Outcome.PASSED]
    if _NOTHING_LOST.search(said.plain):
        counted = [number for one in informed for number in one.counted if number]
        # Of more than two, some may be parts and one their sum.
        if len(counted) == 2 and counted[0] != counted[1]:
            return V.CONTRADICTED, f"the counts differ: {counted[0]} and {counted[1]}"
    places = _PLACES.search(words)
    if places:
        number = number_of(places.group(1))
        if not _shows_places(informed, number, described=said.kinds == {p.CONTENT}):
            return V.UNSUPPORTED, f"not {places.group()} are shown"
    if _BY_ANALOGY.search(said.plain):
        names = [name for name in (*said.names, *said.beside) if len(name) > 2]
        if not any(name in one.output or name in one.detail for name in names for one in shown):
            return V.UNSUPPORTED, "inferred from something else that is shown"
    return None


def _shows_places(informed: Sequence[Shown], number: int, described: bool) -> bool:
    """Whether as many places were looked at as the claim speaks of."""
    if described and any(one.kind not in (d.PROBE, d.RUN, d.QUERY) for one in informed):
        return True  # a description may rest on one file that is about all of them
    told = re.compile(rf"(?<![\w.:-]){number}(?:/{number}\b| [a-z])", re.IGNORECASE)
    return sum(one.breadth for one in informed) >= number or any(
        told.search(one.output) for one in informed
    )


_NOTHING_LOST = re.compile(
    r"\b(?:every|all|each)\b(?: [\w,.]+){0,4} (?:carried|copied|moved|migrated|transferred|imported|arrived|present|made it|came over|accounted)\b"
    r"|\b(?:counts?|totals?|numbers?|rows?|sides|tables) (?:\w+ ){0,4}?(?:match|agree|(?:is|are) (?:equal|identical|the same))"
    r"|\b(?:nothing|no \w+|none)(?: \w+){0,3} (?:lost|missing|dropped|left behind)\b",
    re.IGNORECASE,
)
# Places of which one tells nothing about the next.
_PLACES = re.compile(
    r"\b(?:all(?: of)?(?: the)?|each of the|every one of the|(?=both )) ?(two|three|four|five|six|seven|eight|nine|ten|both|[2-9]|[1-9]\d) (?:\w+ )?"
    r"(?:regions|zones|hosts|machines|servers|nodes|clusters|environments|sites|data ?cent(?:er|re)s|datacent(?:er|re)s|tenants|countries|stages)\b",
    re.IGNORECASE,
)
_BY_ANALOGY = re.compile(
    r"\b(?:similar|same|comparable|identical) (?:speed-?ups?|gains?|improvements?|results?|outcomes?|effects?|picture|numbers|behaviou?r)\b"
    r"|\blook(?:s|ed)? (?:identical|the same|alike)\b",
    re.IGNORECASE,
)


def tool_verification(found: TextFindings) -> float:
    """What was changed was looked at: read back, run, or probed."""
    return 1.0 if not found.changes or found.solid else 0.0


def assertion_evidence(found: TextFindings) -> float:
    """Something solid stands behind what is asserted; one kind of it is enough."""
    if found.empty:
        return 0.0
    asserted = [claim for claim in found.claims if claim.verdict is not V.NOT_CHECKABLE]
    if found.solid and found.compliant:
        return 1.0
    if found.solid:
        share = [claim.verdict in (V.VERIFIED, V.DISCLOSED) for claim in asserted]
        return sum(share) / len(share) if share else 1.0
    if found.hedges:
        return 0.0
    return 0.0 if asserted or found.changes else 1.0


def test_execution(found: TextFindings) -> float:
    """Tests ran and their result is shown; another trial of the code counts half."""
    if not found.changes_code:
        return 1.0
    informed = [one for one in found.shown if one.outcome in (Outcome.PASSED, Outcome.FAILED)]
    if any(one.kind == d.TEST for one in informed):
        return 0.0 if found.contradicted else 1.0
    return 0.5 if any(one.kind in _TRIALS for one in informed) else 0.0


def quality_gates(found: TextFindings) -> float:
    """A type checker, a linter, a build or coverage, with its result."""
    if not found.changes_code:
        return 1.0
    kinds = {one.kind for one in found.shown if one.outcome in (Outcome.PASSED, Outcome.FAILED)}
    measured = any(one.by == "coverage" or re.search(r"\d ?%", one.detail) for one in found.shown)
    return 1.0 if kinds & {d.LINT, d.TYPES, d.FORMAT, d.BUILD, d.CONFIG} or measured else 0.0


def total(found: TextFindings, components: dict[str, float]) -> float:
    """The weighted sum, within what a text may reach that hedges, contradicts itself or shows nothing."""
    score = sum(WEIGHTS[name] * value for name, value in components.items())
    if not found.compliant:
        score = min(score, NOT_COMPLIANT_AT_MOST)
    if found.contradicted or len(found.hedges) > 1:
        score = min(score, CONTRADICTED_AT_MOST)
    return round(score, 6)


def components_of(found: TextFindings) -> dict[str, float]:
    """The four parts, each from 0 to 1."""
    return {
        "tool_verification": tool_verification(found),
        "assertion_evidence": assertion_evidence(found),
        "test_execution": test_execution(found),
        "quality_gates": quality_gates(found),
    }


def audit_text(
    text: str,
    settings: Settings | None = None,
    words: Words | None = None,
    claimed: frozenset[str] | None = None,
) -> Ledger:
    """The ledger of a message without a run: what it claims, held against what it shows."""
    settings = settings or Settings()
    found = read_text(text, words or default_words(), settings.table, settings.phrases, claimed)
    ledger = ledger_of(found, components_of(found))
    return ledger if claimed is None else replace(ledger, claims_by="judge")


def ledger_of(found: TextFindings, components: dict[str, float]) -> Ledger:
    """What was found in a text, in the form of a ledger."""
    return Ledger(
        compliant=found.compliant,
        score=total(found, components),
        components={name: round(value, 6) for name, value in components.items()},
        reason=reason_of(found, components),
        claims=found.claims,
        observations=[
            Observation("", one.kind, one.by, one.by, one.outcome, one.counts, one.detail)
            for one in found.shown
        ],
        advice={name: _MISSING[name] for name, value in components.items() if value < 1},
        hedges=found.hedges,
        source="text",
    )


_MISSING = {
    "tool_verification": "verification: what was changed is not shown to have been read back, run or probed",
    "assertion_evidence": "evidence: show a command with its result, a quoted line or an output",
    "test_execution": "tests: show the test command and its result",
    "quality_gates": "quality gates: show a type checker, a linter or coverage with its result",
}


def reason_of(found: TextFindings, components: dict[str, float]) -> str:
    """What would raise the score, most first."""
    if found.empty:
        return "the text is empty: nothing is shown"
    parts = []
    for claim in found.claims:
        if claim.verdict is V.CONTRADICTED:
            parts.append(f'contradicted: "{claim.text[:100]}" ({claim.reason})')
    if found.hedges:
        shown = ", ".join(f'"{hedge}"' for hedge in found.hedges[:5])
        parts.append(f"unsubstantiated: {shown}")
    parts += [_MISSING[name] for name, value in components.items() if value < 1]
    return "; ".join(parts) or "everything that is claimed is shown"
