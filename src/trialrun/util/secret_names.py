"""Finds secrets in data by the names of their keys: `{"password": "hunter2"}`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any

from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.util.secrets import is_placeholder, reads_like_text

Place = tuple[int, Any]
"""The `id` of a dict or list, and a key or an index in it."""

_SHORTEST = 6
_SHORTEST_TOKEN = 8


class _Names(Enum):
    """What the name of a key says about its value."""

    PASSWORD = "password"  # whatever it reads like, it is one
    SECRET = "secret"  # it is one unless it reads like words, a number or a path
    TOKEN = "token"  # as before, but parsers and models have short tokens of text, too
    NOTHING = "nothing"


# `dbPassword`, `DB_PASSWORD`, `db-password`; not `password_hint`, `max_tokens`, `next_page_token`
_PASSWORD = lazy_pattern(r"(?:.*[_-])?(?:password|passwd|pwd|passphrase)")
_SECRET = lazy_pattern(
    r"(?:.*[_-])?(?:pass|secret|secret_?value|credentials?|cookie|authorization"
    r"|(?:api|access|account|secret|auth|private|signing|master)[_-]?key)"
)
_TOKEN = lazy_pattern(
    r"token|(?:.*[_-])?(?:access|api|auth|bearer|bot|id|refresh|security|session)[_-]?token"
)
_CAMEL = lazy_pattern(r"(?<=[a-z0-9])(?=[A-Z])")  # dbPassword: db_Password
_OPTION = lazy_pattern(r"--?[a-z-]{0,20}(?:key|token|secret|password)")  # --token, --api-key
_VARIABLE = lazy_pattern(r"[A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD)[A-Z0-9_]*")  # OPENAI_API_KEY
# What describes a value: `{"password": {"type": "string", "description": "…"}}` holds no password.
_DESCRIBES = frozenset(
    {"type", "description", "title", "format", "default", "examples", "enum", "label", "help"}
)


# Chat models stream `{"token": {"id": "chatcmpl-…"}}`: not a secret.
_HOLDERS = (_Names.PASSWORD, _Names.SECRET)


def _named(key: str) -> _Names:
    if len(key) > 100:
        return _Names.NOTHING
    name = _CAMEL.sub("_", key).lower()
    for pattern, kind in (
        (_PASSWORD, _Names.PASSWORD),
        (_SECRET, _Names.SECRET),
        (_TOKEN, _Names.TOKEN),
    ):
        if pattern.fullmatch(name):
            return kind
    return _Names.NOTHING


def _is_secret(kind: _Names, value: str) -> bool:
    if kind is _Names.NOTHING or not value.strip() or is_placeholder(value.strip()):
        return False
    if kind is _Names.PASSWORD:
        return True
    shortest = _SHORTEST_TOKEN if kind is _Names.TOKEN else _SHORTEST
    # A text with spaces is read as such: `Basic dXNlcjpw…` is masked by its form, in part.
    return len(value) >= shortest and " " not in value and not reads_like_text(value)


def secret_places(containers: Iterable[Any]) -> set[Place]:
    """Where a text is a secret by the name of its key, or by the option before it in a list."""
    places: set[Place] = set()
    for container in containers:
        if isinstance(container, dict):
            for key in container:
                # Most keys say nothing, and each is looked at for every stored attempt.
                if key not in _SAYING_NOTHING:
                    places.update(_at_key(container, key))
            if "value" in container:
                places.update(_beside_name(container))
        else:
            places.update(_in_list(container))
    return places


_SAYING_NOTHING: set[Any] = set()
_MOST_KEYS = 10_000


def _at_key(container: dict[Any, Any], key: Any) -> Iterator[Place]:
    kind = _named(key) if isinstance(key, str) else _Names.NOTHING
    value = container[key]
    if kind is _Names.NOTHING:
        if len(_SAYING_NOTHING) >= _MOST_KEYS:  # those that are in use come back
            _SAYING_NOTHING.clear()
        _SAYING_NOTHING.add(key)
    elif isinstance(value, str):
        if _is_secret(kind, value):
            yield id(container), key
    elif isinstance(value, (dict, list, tuple)) and kind in _HOLDERS:
        yield from _below(value)


def _beside_name(container: dict[Any, Any]) -> Iterator[Place]:
    """{"name": "API_KEY", "value": "…"}, as Kubernetes writes environment variables."""
    name, value = container.get("name", container.get("key")), container["value"]
    if isinstance(name, str) and isinstance(value, str):
        kind = _Names.SECRET if _VARIABLE.fullmatch(name) else _named(name)
        if _is_secret(kind, value):
            yield id(container), "value"


def _below(value: Any) -> Iterator[Place]:
    """Texts in what a telling key holds: `{"secret": {"value": "a1b2c3d4"}}`."""
    waiting = [value]
    while waiting:
        container = waiting.pop()
        items = container.items() if isinstance(container, dict) else enumerate(container)
        for key, item in items:
            if key in _DESCRIBES:
                continue
            if isinstance(item, str):
                if _is_secret(_Names.SECRET, item):
                    yield id(container), key
            elif isinstance(item, (dict, list, tuple)):
                waiting.append(item)


def _in_list(container: list[Any] | tuple[Any, ...]) -> Iterator[Place]:
    """The value after an option: `["--token", "a1b2c3d4"]`."""
    for index, option in enumerate(container):
        if not isinstance(option, str) or option[:1] != "-" or index + 1 == len(container):
            continue
        value = container[index + 1]
        if isinstance(value, str) and value[:1] != "-" and _OPTION.fullmatch(option):
            kind = _Names.PASSWORD if option.endswith("password") else _Names.SECRET
            if _is_secret(kind, value):
                yield id(container), index + 1
