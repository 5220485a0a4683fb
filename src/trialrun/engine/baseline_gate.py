"""Add the gate against baselines to the specs of suites that were saved for the first time."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from trialrun.engine.baseline_files import Written
from trialrun.engine.baseline_lookup import read_baseline
from trialrun.engine.evaluate import evaluate
from trialrun.errors import TrialrunError
from trialrun.model.case import EvalCase, LazyCases, Suite
from trialrun.model.results import CheckStatus
from trialrun.pricing import PriceBook
from trialrun.spec.case import plan_of
from trialrun.spec.gate import GATE, LIMIT, MULTIPLIER, SAME, CannotInsert, gate_lines, with_gate
from trialrun.spec.load import load_suites
from trialrun.util.files import reason, replacement_for


class GateNote(Struct, frozen=True):
    """The gate of one spec: the lines that were added, or that a person has to add, and why.

    `unknown` are checks that were left out, because the saved runs did not record what they need;
    without lines, they are in the spec already.
    """

    file: str
    lines: Sequence[str]
    why_not: str | None = None
    unknown: Sequence[str] = ()


def add_gates(spec: str, saved: Mapping[str, Sequence[Written]]) -> list[GateNote]:
    """Add the gate to the spec of each suite that has no `regression:` yet.

    `saved` has the suites, each with its baselines.
    """
    try:
        suites = {suite.name: suite for suite in load_suites(spec)}
    except TrialrunError as error:
        return [GateNote(spec, gate_lines(), f"it cannot be read: {error.messages()[0]}")]
    notes: list[GateNote | None] = []
    for name, written in saved.items():
        if name in suites:
            notes.append(_add(suites[name], written))
        else:
            notes.append(GateNote(spec, gate_lines(), f"it no longer has the suite {name}"))
    return [note for note in notes if note is not None]


def _add(suite: Suite, written: Sequence[Written]) -> GateNote | None:
    target = Path(suite.file or "").resolve()  # of a link: the link stays
    unknown = _not_decided(suite, written)
    checks = [name for name in GATE if name not in unknown]
    if not set(SAME) & set(checks):
        return GateNote(str(suite.file), (), "the saved runs did not record their tool calls")
    try:
        found = with_gate(target.read_bytes(), checks)
        if found is None:
            asked = [name for name in unknown if name in _checks_of(suite)]
            return GateNote(str(suite.file), (), unknown=asked) if asked else None
        data, lines = found
        if not target.stat().st_mode & 0o222:
            raise CannotInsert("the file is read-only")
        with replacement_for(target) as temporary:
            temporary.write_bytes(data)
            shutil.copymode(target, temporary)
    except CannotInsert as error:
        return GateNote(str(suite.file), gate_lines(checks), str(error))
    except OSError as error:
        why = f"it cannot be written: {reason(error)}"
        return GateNote(str(suite.file), gate_lines(checks), why)
    return GateNote(str(suite.file), lines, unknown=unknown)


def _checks_of(suite: Suite) -> set[str]:
    """The names of the checks that the cases of the spec ask for."""
    cases = () if isinstance(suite.cases, LazyCases) else suite.cases
    return {check.name for case in cases for layer in plan_of(case).free for check in layer.checks}


def _not_decided(suite: Suite, written: Sequence[Written]) -> list[str]:
    """The checks that an unchanged agent would not pass: something was not recorded."""
    first = None if isinstance(suite.cases, LazyCases) else next(iter(suite.cases), None)
    prices = None if first is None else first.prices
    found: set[str] = set()
    for one in written:
        found |= _unknown_checks(one, prices)
    return [name for name in GATE if name in found]


def _unknown_checks(one: Written, prices: PriceBook | None) -> set[str]:
    """The checks that are not decided where the runs of a baseline are compared with it."""
    baseline = read_baseline(one.file)
    asked = {"query": "q", "regression": dict.fromkeys(SAME, True), "cost": {MULTIPLIER: LIMIT}}
    case = EvalCase.from_dict(asked).with_options(prices, False)
    unknown: set[str] = set()
    for trace in one.repeats:
        for _, check in evaluate(case, trace, baseline, metrics=()).checks():
            if check.status is CheckStatus.UNKNOWN:
                unknown.add(check.name)
    return unknown
