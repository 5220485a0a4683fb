"""Placeholders in the settings of agents: `{{input}}`, `{{history}}` and `{{case}}`."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, Any

import msgspec

from trialrun.util.texts import did_you_mean, shown

if TYPE_CHECKING:
    from trialrun.spec.validation import Place, Problems

PLACEHOLDERS = ("input", "history", "case", "case.name")
"""The names allowed in `{{…}}` in a body, an address or a command."""

_BRACES = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)  # {{ input }}
_PLACEHOLDER = re.compile(r"\{\{\s*([a-z.]+)\s*\}\}")  # {{case.name}}


def normalise(value: Any, place: Place, problems: Problems) -> Any:
    """The value with its placeholders as `{{name}}`, without spaces inside the braces."""
    if isinstance(value, dict):
        return {
            key: normalise(item, place.value(value, key), problems) for key, item in value.items()
        }
    if isinstance(value, list):
        return [
            normalise(item, place.item(value, index), problems) for index, item in enumerate(value)
        ]
    if isinstance(value, float) and not isfinite(value):
        problems.add(place, f"{value} cannot be sent: JSON has no such number")
    if not isinstance(value, str):
        return value

    def named(match: re.Match[str]) -> str:
        name = match[1].strip()
        if name not in PLACEHOLDERS:
            hint = did_you_mean(name, PLACEHOLDERS)
            problems.add(place, f"unknown placeholder {shown(match[0])}{hint}")
        return "{{" + name + "}}"

    if "{{" in _BRACES.sub("", value):
        problems.add(place, "`{{` without `}}` after it")
    return _BRACES.sub(named, value)


def fill(template: Any, values: dict[str, Any]) -> Any:
    """A body with its placeholders filled in; a text that is only a placeholder keeps the type."""
    if isinstance(template, str):
        alone = _PLACEHOLDER.fullmatch(template)
        return _value(alone[1], values) if alone else fill_text(template, values)
    if isinstance(template, dict):
        return {key: fill(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [fill(value, values) for value in template]
    return template


def fill_text(
    template: str, values: dict[str, Any], escape: Callable[[str], str] = lambda text: text
) -> str:
    """A text with its placeholders filled in; what is not a text is written as JSON."""

    def text(match: re.Match[str]) -> str:
        if match[1] not in PLACEHOLDERS:
            return match[0]
        found = _value(match[1], values)
        return escape(found if isinstance(found, str) else msgspec.json.encode(found).decode())

    return _PLACEHOLDER.sub(text, template)


def has_placeholder(template: str) -> bool:
    """Whether anything is filled in."""
    return any(match[1] in PLACEHOLDERS for match in _PLACEHOLDER.finditer(template))


def check_words(words: list[str], place: Place, problems: Problems) -> None:
    """Report placeholders that are misspelt. Others are the program's own: `{{.State}}`."""
    for index, word in enumerate(words):
        for match in _PLACEHOLDER.finditer(word):
            hint = did_you_mean(match[1], PLACEHOLDERS)
            if match[1] not in PLACEHOLDERS and hint:
                problems.add(place.item(words, index), f"unknown placeholder {match[0]}{hint}")


def _value(path: str, values: dict[str, Any]) -> Any:
    found: Any = values
    for part in path.split("."):
        found = found[part]
    return found
