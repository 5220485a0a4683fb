"""`severity: {path: fail}`: the default severity of a layer's checks, of a suite or of a case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trialrun.model.results import LAYERS, Severity
from trialrun.spec import validation
from trialrun.spec.validation import Place, Problems, Unreadable
from trialrun.util.texts import did_you_mean, shown

if TYPE_CHECKING:
    from trialrun.checks.base import Check

KEY = "severity"

Severities = Mapping[str, Severity]
"""By the names of layers; a layer that is not named keeps its own default."""


def read_severities(data: Mapping[str, Any], place: Place, problems: Problems) -> Severities:
    """The severities under this key of a suite or a case; empty after adding its problems."""
    given = data.get(KEY)
    if KEY not in data or (given is None and not isinstance(data, validation.LocatedDict)):
        return {}
    where = place.value(data, KEY)  # type: ignore[arg-type]
    if not isinstance(given, dict) or not given:
        wanted = "expected layers and their severities, such as {path: fail}"
        hint = ""
        if isinstance(given, str):
            hint = "; a single check has its own: {value: …, severity: fail}"
        problems.add(where, f"{wanted}; found {shown(given)}{hint}")
        return {}
    found = {}
    for layer, severity in given.items():
        if layer not in LAYERS:
            hint = did_you_mean(str(layer), LAYERS)
            problems.add(where.key(given, layer), f"unknown layer{hint}")
            continue
        try:
            there = where.value(given, layer)
            found[layer] = validation.read(severity, Severity, there, problems)
        except Unreadable:
            continue
    return found


def default_severity(kind: type[Check], layer: str, severities: Severities) -> Severity:
    """The severity of a check that gives none itself; one that has its own keeps it."""
    own = LAYERS[layer].severity if kind.any_layer else kind.default_severity
    return own if kind.keeps_severity else severities.get(layer, own)
