"""What was asked of an agent in one attempt: the question, and the checks of its answer."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class AskedCheck(Struct, frozen=True):
    """A check with its settings as plain values."""

    severity: str
    settings: dict[str, Any]


class Asked(Struct, frozen=True, kw_only=True):
    """The question (in a conversation, those of all turns) and the checks, by layer and name.

    Secrets in both are masked where this is stored. The digests are of the texts before that: two
    questions that differ only in a secret are different questions.
    """

    questions: tuple[str, ...]
    question_digest: str
    checks: dict[str, AskedCheck]
    checks_digest: str
    baseline: str = ""
    """A digest of the baseline that the attempt was held to; "" if there was none."""

    def any_number(self) -> list[str]:
        """The tools that the case allows to be called any number of times."""
        given = (check.settings.get("any_number") for check in self.checks.values())
        return list(dict.fromkeys(glob for globs in given for glob in globs or ()))
