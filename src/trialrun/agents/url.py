"""`url: http://…`: an agent at an HTTP address, with `method`, `headers`, `body` and `answer`.

`api: openai` and `api: responses` are addresses that speak one of OpenAI's APIs.

Secrets are not read here: a header keeps its `${NAME}` until the run starts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from trialrun.agents._placeholders import normalise
from trialrun.agents.base import Agent, AgentContext, AgentKind
from trialrun.redaction import redact
from trialrun.spec.types import Address
from trialrun.util.texts import shown

if TYPE_CHECKING:
    from trialrun.spec.validation import Place, Problems

METHODS = ("GET", "POST", "PUT", "PATCH")
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")  # ${NAME}
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+\Z")  # X-Api-Key
_NOT_IN_A_HEADER = re.compile(r"[^\t\x20-\x7e\xa0-\xff]")  # a line break, €


class Api(StrEnum):
    """The APIs that need neither `body` nor `answer`."""

    OPENAI = "openai"  # chat completions, of OpenAI and of many other servers
    RESPONSES = "responses"


class UrlSettings(Struct, frozen=True, omit_defaults=True):
    """The address and what is sent to it.

    Headers may hold `${NAME}` for an environment variable, the body `{{input}}`, `{{history}}` and
    `{{case}}`; `answer` is the path of the answer in the reply, as `choices.0.message.content`,
    `usage` and `tool_calls` the paths of what the agent used and called.
    """

    url: Address
    method: str = "POST"
    headers: dict[str, str] = msgspec.field(default_factory=dict)
    body: Any = None
    answer: str | None = None
    usage: str | None = None
    tool_calls: str | None = None
    api: str | None = None


class UrlKind(AgentKind):
    """An HTTP address that is sent the question; its reply holds the answer."""

    name = "url"
    settings = UrlSettings
    about = {  # noqa: RUF012
        "method": "GET, POST, PUT or PATCH",
        "headers": "${NAME} is the value of an environment variable",
        "body": "any value; {{input}}, {{history}} and {{case}} are filled in",
        "answer": "the path of the answer in the reply, as choices.0.message.content",
        "usage": "the path of the tokens in the reply, as usage",
        "tool_calls": "the path of the tool calls in the reply",
        "api": "openai (chat completions) or responses: fills in body, answer, usage and calls",
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


def _path(value: str, place: Place, problems: Problems) -> str:
    if not all(value.split(".")):
        problems.add(
            place,
            "expected the path of the answer in the reply, such as "
            f"choices.0.message.content, found {shown(value)}",
        )
    return value


def _api(value: str, place: Place, problems: Problems) -> str:
    if value not in list(Api):
        problems.add(place, f"expected one of {', '.join(Api)}, found {shown(value)}")
    return value


_CHECKS: dict[str, Callable[[Any, Place, Problems], Any]] = {
    "url": normalise,
    "method": _method,
    "headers": _headers,
    "body": normalise,
    "answer": _path,
    "usage": _path,
    "tool_calls": _path,
    "api": _api,
}
