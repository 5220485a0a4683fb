"""Providers of models: what each needs, and where it is asked. Nothing is loaded here."""

from __future__ import annotations

import os
from collections.abc import Iterable

from msgspec import Struct


class Provider(Struct, frozen=True):
    """What a client needs, and the variables by which it is told another address."""

    package: str
    keys: tuple[str, ...]
    addresses: tuple[str, ...]

    def has_key(self) -> bool:
        """Whether the environment has a key for it."""
        return any(os.environ.get(key) for key in self.keys)

    def address(self) -> str | None:
        """Where the environment says that it is asked, if it says so."""
        told = [value for name in self.addresses if (value := os.environ.get(name))]
        return " ".join(told) or None


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
"""Those of which a package, a key and an address is all there is to know: whether they can be
asked, and where, is told without loading a client, which takes seconds. Of all others, the client
is asked itself."""

WITH_OWN_PROTOCOL = ("anthropic", "google")
"""Providers that speak their own protocol at a `base_url` too; all others chat completions."""

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
"""Prefixes that no local model is called by. `mistral` is a provider too, but `mistral:7b` the tag
of a local model: taken for the other, an answer would leave the house for an address that nobody
named."""


def is_elsewhere(model: str, own: Iterable[str]) -> bool:
    """Whether a model is plainly of another provider than those of a block that has an address."""
    family = _family(model)
    return family is not None and family not in map(_family, own)


def _family(model: str) -> str | None:
    prefix, separator, _ = model.partition(":")
    return _FAMILIES.get(prefix) if separator else None
