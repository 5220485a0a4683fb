"""`url: http://…`: an agent at an HTTP address, with `method`, `headers`, `body` and `answer`.

Secrets are not read here: a header keeps its `${NAME}` until the run starts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from trialrun.agents.base import Agent, AgentContext, AgentKind
from trialrun.redaction import redact
from trialrun.spec.types import Address
from trialrun.util.texts import did_you_mean, shown

if TYPE_CHECKING:
    from trialrun.spec.validation import Place, Problems

METHODS = ("GET", "POST", "PUT", "PATCH")
PLACEHOLDERS = ("input", "history", "case", "case.name")
"""The names allowed in `{{…}}` in a body or an address."""

_BRACES = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)  # {{ input }}
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")  # ${NAME}
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+\Z")  # X-Api-Key
_NOT_IN_A_HEADER = re.compile(r"[^\t\x20-\x7e\xa0-\xff]")  # a line break, €


class UrlSettings(Struct, frozen=True, omit_defaults=True):
    """The address and what is sent to it.

    Headers may hold `${NAME}` for an environment variable, the body `{{input}}`, `{{history}}` and
    `{{case}}`; `answer` is the path of the answer in the reply, as `choices.0.message.content`.
    """

    url: Address
    method: str = "POST"
    headers: dict[str, str] = msgspec.field(default_factory=dict)
    body: Any = None
    answer: str | None = None


class UrlKind(AgentKind):
    """An HTTP address that is sent the question; its reply holds the answer."""

    name = "url"
    settings = UrlSettings
    about = {  # noqa: RUF012
        "method": "GET, POST, PUT or PATCH",
        "headers": "${NAME} is the value of an environment variable",
        "body": "any value; {{input}}, {{history}} and {{case}} are filled in",
        "answer": "the path of the answer in the reply, as choices.0.message.content",
    }

    @classmethod
    def check(cls, key: str, value: Any, place: Place, problems: Problems) -> Any:
        return _CHECKS[key](value, place, problems)

    @classmethod
    def create(cls, settings: UrlSettings, context: AgentContext) -> Agent:
        from trialrun.agents.running.http import HttpAgent

        return HttpAgent(settings)

    @classmethod
    def secret_variables(cls, settings: UrlSettings) -> Sequence[str]:
        """The variables that the headers name: secrets, whatever their names are."""
        values = settings.headers.values()
        return [match[1] for value in values for match in VARIABLE.finditer(value)]


def _method(value: str, place: Place, problems: Problems) -> str:
    if value.upper() not in METHODS:
        problems.add(place, f"expected one of {', '.join(METHODS)}, found {shown(value)}")
    return value.upper()


def _headers(headers: dict[str, str], place: Place, problems: Problems) -> dict[str, str]:
    for name, value in headers.items():
        if not _HEADER_NAME.match(name):
            problems.add(place.key(headers, name), "not the name of a header")
        where = place.value(headers, name)
        literal = VARIABLE.sub(" ", value)
        if "${" in literal:
            problems.add(where, "a variable is written ${NAME}; this `${` does not begin one")
        elif _NOT_IN_A_HEADER.search(value):
            problems.add(where, "a header cannot have line breaks or characters beyond Latin-1")
        elif redact(literal) != literal:
            # The value is left out of the message, which would spread the secret.
            problems.add(
                where,
                "looks like a secret: put it in an environment variable and write ${NAME}",
            )
    return dict(headers)


def _answer(value: str, place: Place, problems: Problems) -> str:
    if not all(value.split(".")):
        problems.add(
            place,
            "expected the path of the answer in the reply, such as "
            f"choices.0.message.content, found {shown(value)}",
        )
    return value


def _normalise_placeholders(value: Any, place: Place, problems: Problems) -> Any:
    """The value with its placeholders as `{{name}}`, without spaces inside the braces."""
    if isinstance(value, dict):
        return {
            key: _normalise_placeholders(item, place.value(value, key), problems)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [
            _normalise_placeholders(item, place.item(value, index), problems)
            for index, item in enumerate(value)
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


_CHECKS: dict[str, Callable[[Any, Place, Problems], Any]] = {
    "url": _normalise_placeholders,
    "method": _method,
    "headers": _headers,
    "body": _normalise_placeholders,
    "answer": _answer,
}
