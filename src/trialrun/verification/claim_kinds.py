"""What a statement may be about, and the kind of run that shows it."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """What a statement is about."""

    TESTS = "tests"
    BUILD = "build"
    LINT = "lint"
    TYPES = "types"
    FORMAT = "format"
    COMMAND = "run"
    CHECKS = "checks"  # whatever the project calls so: "all checks pass", "the gate is green"
    FILE = "file"
    CHANGE = "change"
    COMMIT = "commit"
    PUSH = "push"
    PULL_REQUEST = "pull request"
    CI = "ci"
    DEPLOY = "deploy"
    NOTHING_CHANGED = "nothing changed"
    OTHER = "other"  # about the work, and of no kind that a rule knows


RUN_KINDS = {
    Kind.TESTS: "test", Kind.BUILD: "build", Kind.LINT: "lint", Kind.TYPES: "types",
    Kind.FORMAT: "format",
}  # fmt: skip
"""Statements about checks, and the kind of run that each is about."""
BY_RUN = {run: kind for kind, run in RUN_KINDS.items()}
