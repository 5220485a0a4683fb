"""The evidence ledger of a run: what was changed, what was observed, what was claimed.

These classes hold conclusions only; `verification/` makes them from a trace. Every entry names the
steps that it is based on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from math import fsum

from msgspec import Struct

LEDGER_VERSION = 2

WEIGHTS = {
    "tool_verification": 0.4,
    "assertion_evidence": 0.3,
    "test_execution": 0.2,
    "quality_gates": 0.1,
}
"""The four components of the score and their weights."""

NOT_COMPLIANT_AT_MOST = 0.84
CONTRADICTED_AT_MOST = 0.64

BANDS = ((0.85, "perfect"), (0.75, "good"), (0.65, "moderate"), (0.0, "poor"))


def band_of(score: float) -> str:
    """The band of a score: perfect, good, moderate or poor."""
    return next(word for least, word in BANDS if score >= least - 1e-9)


class Outcome(StrEnum):
    """The outcome of an observation. `nothing`: nothing ran or was read, so it shows nothing."""

    PASSED = "passed"
    FAILED = "failed"
    NOTHING = "nothing"
    UNKNOWN = "unknown"


class ClaimVerdict(StrEnum):
    """The result of checking a claim against the run."""

    VERIFIED = "verified"
    STALE = "stale"
    CONTRADICTED = "contradicted"
    UNSUPPORTED = "unsupported"
    DISCLOSED = "disclosed"
    NOT_CHECKABLE = "not_checkable"


HARMFUL = (ClaimVerdict.CONTRADICTED, ClaimVerdict.UNSUPPORTED, ClaimVerdict.STALE)
"""Verdicts that make a run not compliant, worst first."""


class Counts(Struct, frozen=True, omit_defaults=True, gc=False):
    """The counts that a test runner printed."""

    passed: int | None = None
    failed: int | None = None
    skipped: int | None = None
    total: int | None = None

    def __str__(self) -> str:
        parts = [
            f"{value:,} {name}"
            for name in ("passed", "failed", "skipped")
            if (value := getattr(self, name)) is not None
        ]
        if not parts and self.total is not None:
            parts = [f"{self.total:,} in all"]
        return ", ".join(parts)


class Mutation(Struct, frozen=True, omit_defaults=True, gc=False):
    """Something that the agent changed."""

    step: str
    kind: str  # file, service, data
    target: str
    by: str  # the tool or the program


class Observation(Struct, frozen=True, omit_defaults=True, gc=False):
    """Something that the agent read or ran, and the outcome."""

    step: str
    kind: (
        str  # read, search, diff, list, test, build, lint, types, format, config, run, probe, query
    )
    target: str
    by: str
    outcome: Outcome
    counts: Counts | None = None
    detail: str = ""


class Obligation(Struct, frozen=True, omit_defaults=True, gc=False):
    """Something that was changed, and whether the agent checked it afterwards."""

    target: str
    step: str
    met_by: str | None = None
    disclosed: bool = False


class Finding(Struct, frozen=True, omit_defaults=True):
    """A rule that fired: what is wrong, and the steps that show it."""

    code: str
    name: str
    severity: str  # fail or warn
    stable: bool  # a preview finding changes no verdict
    message: str
    steps: tuple[str, ...] = ()
    claim: str = ""  # the statement that it is about, if it is about one
    target: str = ""  # the file
    command: str = ""  # what to run, where the session shows it
    turn: int = 0
    last: bool = True  # about the last message, or the work as a whole

    @property
    def is_red(self) -> bool:
        """Whether it may fail a command or block an agent: stable, and of severity fail."""
        return self.stable and self.severity == "fail"

    def fingerprint(self, session: str) -> str:
        """What stays the same when the session is read again by another version of trialrun.

        The code, the session, and the claim (or the file, for a finding about none), without
        case, punctuation and white space.
        """

        from hashlib import sha256  # results name ledgers, and `score` needs no digest

        about = " ".join(_WORDS.findall((self.claim or self.target).casefold()))
        text = "\n".join((self.code, session, about))
        return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]


_WORDS = re.compile(r"\w+")


class Claim(Struct, frozen=True, omit_defaults=True):
    """A statement of a message about the state of the work."""

    text: str
    kind: str
    verdict: ClaimVerdict
    reason: str = ""
    evidence: tuple[str, ...] = ()  # the steps that support it, or that contradict it
    found_by: str = "phrases"  # or "judge"
    turn: int = 0
    last: bool = True  # a statement of the last message
    rule: str = ""  # the code of the rule that decided it


class Ledger(Struct, frozen=True):
    """The ledger of one run: what was proven claim by claim, and what was never checked."""

    compliant: bool
    score: float
    components: dict[str, float]
    reason: str
    claims: Sequence[Claim] = ()
    mutations: Sequence[Mutation] = ()
    observations: Sequence[Observation] = ()
    obligations: Sequence[Obligation] = ()
    advice: dict[str, str] = {}  # for each component below 1: what would raise it
    hedges: Sequence[str] = ()
    source: str = "trace"  # or "text", if the trace has no tool call
    claims_by: str = "phrases"
    silent: bool = False  # the run ends without a message: there is nothing to check
    findings: Sequence[Finding] = ()
    earlier: Sequence[Claim] = ()  # statements of earlier messages, superseded by the last
    statements: int = 0  # sentences of the last message
    no_verdict: str = ""  # why there is none: unfinished, or not recorded
    ledger_version: int = LEDGER_VERSION

    @property
    def empty(self) -> bool:
        """Whether no call was recorded, and the message shows and states nothing checkable."""
        nothing = not (self.observations or self.hedges) and all(
            claim.kind == "other" for claim in self.claims
        )
        about_work = [name for name in WEIGHTS if name != "assertion_evidence"]
        return (
            nothing
            and self.source == "text"
            and all(self.components[name] == 1 for name in about_work)
        )

    @property
    def open_obligations(self) -> list[str]:
        """What was changed and never checked afterwards, even if the agent discloses it."""
        return [one.target for one in self.obligations if one.met_by is None]

    @property
    def band(self) -> str:
        """The band of the score: perfect, good, moderate or poor."""
        return band_of(self.score)

    @property
    def unchecked(self) -> list[str]:
        """What was changed and never checked, without the agent disclosing it."""
        return [one.target for one in self.obligations if one.met_by is None and not one.disclosed]

    @property
    def checked(self) -> int:
        """How many statements of the last message some rule or run decided."""
        return len(self.claims) - self.count(ClaimVerdict.NOT_CHECKABLE)

    def count(self, verdict: ClaimVerdict) -> int:
        """How many claims have this verdict."""
        return sum(claim.verdict is verdict for claim in self.claims)


class ComplianceSummary(Struct, frozen=True):
    """Counts and means over many ledgers."""

    runs: int
    compliant: int
    claims: dict[str, int]  # by verdict
    bands: dict[str, int]
    components: dict[str, float]  # the mean of each
    score: float | None  # the mean
    with_verdict: int = 0  # not unfinished, and not without recorded results
    checked: int = 0  # statements that are not `not_checkable`
    findings: dict[str, int] = {}  # by the code of the rule

    @property
    def total_claims(self) -> int:
        """How many claims there are in all."""
        return sum(self.claims.values())


def summarised(ledgers: Sequence[Ledger]) -> ComplianceSummary:
    """The counts and means over many runs."""
    verdicts = [claim.verdict for ledger in ledgers for claim in ledger.claims]
    bands = [ledger.band for ledger in ledgers]
    codes = sorted(found.code for ledger in ledgers for found in ledger.findings)
    return ComplianceSummary(
        runs=len(ledgers),
        compliant=sum(ledger.compliant for ledger in ledgers),
        claims={verdict.value: verdicts.count(verdict) for verdict in ClaimVerdict},
        bands={word: bands.count(word) for _, word in BANDS},
        components={
            name: fsum(ledger.components[name] for ledger in ledgers) / len(ledgers)
            for name in WEIGHTS
            if ledgers
        },
        score=fsum(ledger.score for ledger in ledgers) / len(ledgers) if ledgers else None,
        with_verdict=sum(not ledger.no_verdict for ledger in ledgers),
        checked=sum(ledger.checked for ledger in ledgers),
        findings=dict(Counter(codes)),
    )
