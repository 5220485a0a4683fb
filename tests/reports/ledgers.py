"""What `trialrun verify` found, with every kind of finding, for tests of the reports."""

from __future__ import annotations

from trialrun import Step, Trace
from trialrun.model.ledger import WEIGHTS, Finding, Ledger
from trialrun.model.verified import RuleText, Session, Verification

KNOWN = Finding(
    "TR104", "changed-after-run", "fail", True, "it is known", ("s9",), "Known.", "/etc/passwd"
)


def verification(no_verdict="", message="my tax.py was changed", claim="All tests pass."):
    """One session with a red, a preview, a known and an earlier finding."""
    findings = [
        Finding(
            "TR104",
            "changed-after-run",
            "fail",
            True,
            message,
            ("s4", "s6"),
            claim,
            "/srv/app/src/my tax.py",
            "pytest -q",
        ),
        Finding("TR107", "result-hidden", "warn", False, "only a part was run", ("s4",)),
        KNOWN,
        Finding("TR104", "x", "fail", True, "an earlier turn", turn=1, last=False),
    ]
    ledger = Ledger(
        compliant=False,
        score=0.5,
        components=dict.fromkeys(WEIGHTS, 1.0),
        reason="",
        findings=findings,
        no_verdict=no_verdict,
    )
    known = frozenset({KNOWN.fingerprint("id")})
    session = Session("a session", "id", "/home/a b/s.jsonl", ledger, "/srv/app", known)
    rules = [
        RuleText("TR104", "changed-after-run", "fail", True, "What.", "Why."),
        RuleText("TR107", "result-hidden", "warn", False, "What.", "Why."),
    ]
    steps = [
        Step.tool_call("Bash", {"command": "pytest -q"}, "2 passed", id="s4"),
        Step.tool_call("Edit", {"file_path": "/srv/app/src/my tax.py"}, message, id="s6"),
    ]
    trace = Trace(name="a session", input="Fix the tax.", output=claim, steps=steps)
    return Verification([session], rules, traces=[trace])
