"""What each model provider needs and where it is asked; nothing is imported here."""

from __future__ import annotations

import os
from collections.abc import Iterable

from msgspec import Struct


class Provider(Struct, frozen=True):
    """What a client needs, and the environment variables that change its address."""

    package: str
    keys: tuple[str, ...]
    addresses: tuple[str, ...]

    def has_key(self) -> bool:
        """Whether the environment has a key for it."""
        return any(os.environ.get(key) for key in self.keys)

    def address(self) -> str | None:
        """The address that is set in the environment, if any."""
        given = [value for name in self.addresses if (value := os.environ.get(name))]
        return " ".join(given) or None


_OPENAI = Provider("openai", ("OPENAI_API_KEY",), ("OPENAI_BASE_URL",))
PLAIN = {
    "openai": _OPENAI,
    "openai-chat": _OPENAI,
    "openai-responses": _OPENAI,
    "anthropic": Provider("anthropic", ("ANTHROPIC_API_KEY",), ("ANTHROPIC_BASE_URL",)),
    "google": Provider(
        "google.genai",
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        ("GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_API_VERSION"),
    ),
}
"""Providers that are fully described by package, key and address: whether and where they can be
asked is known without loading a client, which takes seconds. All others need their client to
answer that."""

WITH_OWN_PROTOCOL = ("anthropic", "google")
"""Providers with their own protocol even at a `base_url`; all others use chat completions."""

_FAMILIES = {
    "openai": "openai",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "anthropic": "anthropic",
    "google": "google",
    "google-cloud": "google",
    "azure": "azure",
    "azure-responses": "azure",
    "bedrock": "bedrock",
    "groq": "groq",
}
"""Prefixes that no local model name has. `mistral` is missing although it is a provider:
`mistral:7b` is the tag of a local model, and an answer must not be sent to an address that the
user did not name."""


def is_elsewhere(model: str, own: Iterable[str]) -> bool:
    """Whether a model clearly belongs to another provider than the block with the address."""
    family = _family(model)
    return family is not None and family not in map(_family, own)


def _family(model: str) -> str | None:
    prefix, separator, _ = model.partition(":")
    return _FAMILIES.get(prefix) if separator else None
