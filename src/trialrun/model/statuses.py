"""How statuses are combined, which is defined only here.

A layer is FAIL if a check of severity fail failed, else ERROR if one of severity fail is unknown,
else WARN if any check failed or is unknown, else PASS; SKIP if there are no checks or all were
skipped.
"""

from __future__ import annotations

from collections.abc import Sequence

from trialrun.model.results import CheckResult, CheckStatus, LayerStatus, Severity

# Looking a member up on an Enum class costs ten times a global in Python 3.11.
_FAILED = CheckStatus.FAIL
_UNKNOWN = CheckStatus.UNKNOWN
_PASSED = CheckStatus.PASS
_HARD = Severity.FAIL
_PASS = LayerStatus.PASS
_WARN = LayerStatus.WARN
_FAIL = LayerStatus.FAIL
_ERROR = LayerStatus.ERROR
_SKIP = LayerStatus.SKIP


def fold_checks(checks: Sequence[CheckResult]) -> LayerStatus:
    """The status of a layer with these checks."""
    for check in checks:
        if check.status is not _PASSED:
            break
    else:
        return _PASS if checks else _SKIP
    status = _SKIP
    for check in checks:
        hard = check.severity is _HARD
        if check.status is _FAILED and hard:
            return _FAIL
        if check.status is _UNKNOWN and hard:
            status = _ERROR
        elif check.status in (_FAILED, _UNKNOWN):
            status = _ERROR if status is _ERROR else _WARN
        elif check.status is _PASSED and status is _SKIP:
            status = _PASS
    return status


def fold_layers(statuses: Sequence[LayerStatus]) -> LayerStatus:
    """The worst of the statuses; ERROR if all layers were skipped: no checks is not a pass."""
    worst = _SKIP
    for status in statuses:
        if status is _PASS or status is _SKIP:
            if worst is _SKIP:
                worst = status
        elif status is _FAIL:
            return _FAIL
        elif worst is not _ERROR:
            worst = status
    return _ERROR if worst is _SKIP else worst
