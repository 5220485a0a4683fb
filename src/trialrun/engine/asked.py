"""What was asked in an attempt, and whether two attempts were asked, and checked, the same.

An answer to another question says nothing about this one, and a verdict by other checks nothing
about these: both are *not comparable*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from trialrun import registry
from trialrun.checks.base import Check
from trialrun.model.argument_rules import NO_RULES
from trialrun.model.asked import Asked, AskedCheck
from trialrun.model.baseline import Baseline, repeats_of
from trialrun.model.behaviour import leaves, short_text
from trialrun.model.case import EvalCase, Suite
from trialrun.model.results import Severity
from trialrun.model.steps import StepType
from trialrun.model.trace import Trace
from trialrun.redaction import MASK, Redactor
from trialrun.spec.case import plan_of
from trialrun.util.texts import excerpt

NOT_COMPARABLE = "not comparable: "
"""Prefix of the reason why there is no verdict on an answer to another question."""

_REMEDY = "if that is meant, write `match: name` at the top of the spec"
_GATE = {"min": "higher", "max": "lower"}
_LONGEST = 80


# Questions


def questions_of(case: EvalCase) -> tuple[str, ...]:
    """What the case asks; in a conversation, in each turn. White space around it does not count."""
    asked = [turn.query for turn in case.turns] if case.turns else [case.query]
    return tuple(text.strip() for text in asked)


def questions_in(trace: Trace) -> tuple[str, ...]:
    """What the agent of the trace was asked, turn by turn."""
    later = (step.input for step in trace.steps if step.type is StepType.HUMAN_INPUT)
    return tuple(str(text or "").strip() for text in (trace.input, *later))


def another_question(suite: Suite, case: EvalCase, trace: Trace, what: str) -> str | None:
    """Why the trace does not answer the question of the case; None if it does, or may differ.

    `what` names the trace in the reason. Turns that the trace does not have are not compared: they
    have no answer.
    """
    if suite.match is not None or case.match is not None:
        return None
    wanted = questions_of(case)
    everything = questions_in(trace)
    found = everything[: len(wanted)]
    if not case.turns and len(everything) > 1:
        # Its answer is to what the user said last.
        return (
            f"{NOT_COMPARABLE}{what} is a conversation of {len(everything)} turns, the case asks "
            f"one question; write its `turns`, or {_REMEDY}"
        )
    if wanted[: len(found)] == found:
        return None
    redact = Redactor(suite.redact).text
    for number, (ours, theirs) in enumerate(zip(wanted, found, strict=False), 1):
        if ours != theirs and redact(ours).strip() != redact(theirs).strip():
            turn = f" in turn {number}" if case.turns else ""
            return (
                f"{NOT_COMPARABLE}{what} answers another question{turn}: "
                f"{excerpt(theirs, _LONGEST)}, the case asks {excerpt(ours, _LONGEST)}; "
                f"{_REMEDY}"
            )
    return None


# What is recorded with an attempt


def asked_in(case: EvalCase, baseline: Trace | None = None) -> Asked:
    """The question, the checks and the baseline of the case, for the record of an attempt."""
    questions = questions_of(case)
    checks: dict[str, AskedCheck] = {}
    for number, part in enumerate((case, *case.turns)):
        before = f"turn {number} " if number else ""
        for name, check in _checks_of(part):
            checks[_free(f"{before}{name}", checks)] = check
    for plan in case.metrics or ():
        if plan.gated:
            severity = (plan.severity or Severity.FAIL).value
            settings = {"min": plan.minimum, "max": plan.maximum}
            checks[f"metrics.{plan.metric.name}"] = AskedCheck(severity, settings)
    return Asked(
        questions=questions,
        question_digest=_digest(questions),
        checks=checks,
        checks_digest=_digest(checks),
        baseline="" if baseline is None else _baseline_digest(baseline),
    )


def asked_by(trace: Trace) -> Asked:
    """What a baseline was asked: it holds behaviour, not checks."""
    return Asked(questions=questions_in(trace), question_digest="", checks={}, checks_digest="")


def _baseline_digest(baseline: Trace) -> str:
    rules = baseline.rules if isinstance(baseline, Baseline) else NO_RULES
    repeats = [one.to_dict() for one in map(_bare, repeats_of(baseline))]
    return _digest([msgspec.to_builtins(rules), repeats])


def _bare(trace: Trace) -> Trace:
    """The trace alone, without further repeats."""
    fields = {name: getattr(trace, name) for name in Trace.__struct_fields__}
    return Trace(**fields)


def _checks_of(case: EvalCase) -> list[tuple[str, AskedCheck]]:
    plan = plan_of(case)
    found: list[tuple[str, str, Severity | None, dict[str, Any]]] = [
        (layer, result.name, result.severity, {}) for layer, result in plan.settled
    ]
    checks = [check for layer in plan.free for check in layer.checks]
    for check in (*checks, *plan.judges):
        found.append((check.layer, check.name, check.severity, _settings(check)))
    return [
        (f"{layer}.{name}", AskedCheck((severity or Severity.FAIL).value, settings))
        for layer, name, severity, settings in found
    ]


def _settings(check: Check) -> dict[str, Any]:
    fields = [name for name in check.__struct_fields__ if name not in ("name", "severity")]
    given = {name: getattr(check, name) for name in fields}
    plain: dict[str, Any] = msgspec.to_builtins(given, enc_hook=_name_of, str_keys=True)
    return plain


def _name_of(value: Any) -> str:
    """A function or an object by its name: its `repr` has an address, which differs each time."""
    kind = value if hasattr(value, "__qualname__") else type(value)
    return f"{kind.__module__}:{kind.__qualname__}"


def _free(name: str, taken: Mapping[str, Any]) -> str:
    number = 1
    while name in taken:
        number += 1
        name = f"{name.partition(' (')[0]} ({number})"
    return name


def _digest(value: Any) -> str:
    from hashlib import sha256

    encoded = msgspec.json.encode(msgspec.to_builtins(value), order="deterministic")
    return sha256(encoded).hexdigest()[:32]


# Two attempts


class Difference(Struct, frozen=True):
    """How two attempts at a case differ in what was asked.

    `checks` are those that were removed, loosened or replaced, `stricter` those that were added or
    made stricter. `loosened` says the former with old and new values, and whether the baseline is
    another one.
    """

    question: str | None = None
    checks: Sequence[str] = ()
    stricter: Sequence[str] = ()
    loosened: Sequence[str] = ()


def difference(before: Asked, after: Asked) -> Difference:
    """How the later attempt differs from the earlier one."""
    if not _same_question(before, after):
        texts = [excerpt(" / ".join(asked.questions), _LONGEST) for asked in (before, after)]
        return Difference(f"the question was {texts[0]}, and is {texts[1]}")
    loosened = _baseline_change(before, after)
    if before.checks_digest == after.checks_digest or not before.checks_digest:
        return Difference(loosened=loosened)
    checks, stricter = [], []
    for name in dict.fromkeys((*before.checks, *after.checks)):
        old, new = before.checks.get(name), after.checks.get(name)
        if old is None:
            stricter.append(f"{name} added")
        elif new is None:
            checks.append(f"{name} removed")
            loosened.append(f"{name} removed")
        elif old != new:
            if _is_stricter(name, old, new):
                stricter.append(f"{name} stricter")
            else:
                checks.append(f"{name} changed")
                loosened.append(f"{name} {_what_changed(old, new)}")
    if not checks and not stricter:  # only what was masked in the record differs
        checks.append("a check changed in a part that is masked")
        loosened.append(checks[0])
    return Difference(None, checks, stricter, loosened)


def _baseline_change(before: Asked, after: Asked) -> list[str]:
    if not before.baseline or before.baseline == after.baseline:
        return []
    return ["baseline rewritten" if after.baseline else "baseline removed"]


def _what_changed(old: AskedCheck, new: AskedCheck) -> str:
    """`limit 5 → 9`, `severity fail → warn`."""
    parts = []
    if old.severity != new.severity:
        parts.append(f"severity {old.severity} → {new.severity}")
    earlier, later = _flat(old.settings), _flat(new.settings)
    for name in dict.fromkeys((*earlier, *later)):
        if earlier.get(name) != later.get(name):
            texts = [short_text(values.get(name)) for values in (earlier, later)]
            parts.append(f"{name} {texts[0]} → {texts[1]}")
    return ", ".join(parts)


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, those within a mapping by their path: `limit.value`."""
    return dict(leaves(settings))


def _same_question(before: Asked, after: Asked) -> bool:
    if before.question_digest and after.question_digest:
        return before.question_digest == after.question_digest
    # A baseline has the texts only, after masking; a session may have gone on after the last turn.
    turns = min(len(before.questions), len(after.questions))
    redact = Redactor().text
    pairs = zip(before.questions[:turns], after.questions[:turns], strict=True)
    return all(one == other or redact(one) == redact(other) or MASK in one for one, other in pairs)


def _is_stricter(name: str, old: AskedCheck, new: AskedCheck) -> bool:
    """Whether whatever passes the new check passes the old one, as far as its settings show."""
    if (old.severity, new.severity) == ("fail", "warn"):
        return False
    directions = _directions(name)
    before, after = _flat(old.settings), _flat(new.settings)
    for setting in {**before, **after}:
        earlier, later = before.get(setting), after.get(setting)
        if earlier != later and not _is_narrower(directions.get(setting), earlier, later):
            return False
    return True


def _directions(name: str) -> Mapping[str, str]:
    layer, _, check = name.rpartition(".")
    if layer.endswith("metrics"):
        return _GATE
    # A check of the user (`module:name`) is not loaded for a comparison.
    kind = None if ":" in check else registry.find_check(check.partition(" (")[0])
    return {} if kind is None else kind.stricter


def _is_narrower(direction: str | None, earlier: Any, later: Any) -> bool:
    if direction is None or later is None:
        return False
    if direction in ("higher", "lower"):
        if earlier is None:
            return True
        try:
            return bool(later > earlier if direction == "higher" else later < earlier)
        except TypeError:
            return False
    old, new = (one if isinstance(one, list) else [one] for one in (earlier, later))
    if direction == "fewer":
        old, new = new, old
    return bool(old) and all(item in new for item in old)
