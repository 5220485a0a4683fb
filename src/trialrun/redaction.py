"""Secrets in what an agent said or did, masked before anything is shown or written."""

from __future__ import annotations

import os
import re
from functools import lru_cache

MASK = "[redacted]"

_PATTERNS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|(?<![A-Za-z0-9_-])sk-[A-Za-z0-9_-]{20,}"  # OpenAI, Anthropic and their kin
    r"|\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{20,}"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"  # AWS
    r"|\bAIza[0-9A-Za-z_-]{35}"  # Google
    r"|\bxox[abeoprs]-[A-Za-z0-9-]{10,}"  # Slack
    r"|\bglpat-[A-Za-z0-9_-]{20,}|\bhf_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{40,}"
    r"|(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"
    r"|(?i:\bbearer\s+)[A-Za-z0-9._~+/-]{16,}=*",
    re.DOTALL,
)
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)

# Shorter values of environment variables are words such as `true`, which texts are full of.
_SHORTEST_VALUE = 12


def redact(text: str) -> str:
    """The text with keys, tokens and the values of secret environment variables masked."""
    if len(text) < _SHORTEST_VALUE:
        return text
    text = _PATTERNS.sub(MASK, text)
    values = _secret_values(frozenset(os.environ.items()))
    return values.sub(MASK, text) if values is not None else text


@lru_cache(maxsize=4)
def _secret_values(environment: frozenset[tuple[str, str]]) -> re.Pattern[str] | None:
    values = {
        value
        for name, value in environment
        if _SECRET_NAME.search(name) and len(value) >= _SHORTEST_VALUE
    }
    if not values:
        return None
    return re.compile("|".join(re.escape(value) for value in sorted(values, key=len, reverse=True)))
