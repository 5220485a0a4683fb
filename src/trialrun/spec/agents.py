"""The agents of a spec: how each is called, every mistake with its place.

A suite has one agent, whose keys stand at the top of the spec, or several under `agents:`, or none
(recorded traces are scored without one). Secrets are never read here: a header keeps its `${NAME}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isfinite
from typing import Annotated, Any

from msgspec import Meta

from trialrun.model.case import WEB_ADDRESS, AgentSpec
from trialrun.redaction import redact
from trialrun.spec import validation
from trialrun.spec.blocks import Command, Function, Seconds
from trialrun.spec.defaults import refuse_unknown
from trialrun.spec.validation import Place, Problems, Unreadable
from trialrun.util.texts import did_you_mean, shown

METHODS = ("GET", "POST", "PUT", "PATCH")
PLACEHOLDERS = ("input", "history", "case", "case.name")
"""What `{{…}}` in a body or an address may name."""

Address = Annotated[str, Meta(pattern=WEB_ADDRESS)]

_WAYS = ("runner", "command", "url")
_OF_URL = ("method", "headers", "body", "answer")
_KINDS: dict[str, Any] = {
    "runner": Function,
    "command": Command,
    "url": Address,
    "method": str,
    "headers": dict[str, str],
    "body": Any,
    "answer": str,
    "timeout": Seconds,
}
AGENT_KEYS = (*_WAYS, *_OF_URL)
"""The keys of an agent that may also stand at the top of a spec."""

_BRACES = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_VARIABLE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+\Z")
_NOT_IN_A_HEADER = re.compile(r"[^\t\x20-\x7e\xa0-\xff]")


def read_agents(
    document: dict[str, Any], name: str | None, problems: Problems
) -> tuple[AgentSpec, ...]:
    """The agents of a suite. The one at the top is named as `agent:` says, if it says."""
    top = Place()
    listed = document.get("agents")
    single = [key for key in AGENT_KEYS if document.get(key) is not None]
    if listed is not None:
        for key in single:
            problems.add(
                top.key(document, key), "stands beside `agents`: put it into one of them, or alone"
            )
        return _read_named(listed, top.value(document, "agents"), problems)
    if not single:
        return ()
    holder = {key: document[key] for key in single}
    one = "a suite has one agent, or several under `agents:`"
    agent = _read_agent(holder, document, top, name, one, problems)
    return () if agent is None else (agent,)


def _read_named(listed: Any, place: Place, problems: Problems) -> tuple[AgentSpec, ...]:
    if not isinstance(listed, dict) or not listed:
        found = "an empty one" if listed == {} else validation.described(listed)
        problems.add(place, f"expected a mapping of names to agents, found {found}")
        return ()
    agents = []
    for name, data in listed.items():
        where = place.value(listed, name)
        if not name:
            problems.add(place.key(listed, name), "an agent needs a name")
        elif not isinstance(data, dict):
            problems.add(
                where,
                f"an agent is a mapping with {_choice(_WAYS)}, found {validation.described(data)}",
            )
        else:
            refuse_unknown(data, set(_KINDS), where, problems)
            given = {key: data[key] for key in _KINDS if data.get(key) is not None}
            one = "an agent is called in one way"
            agent = _read_agent(given, data, where, name, one, problems)
            if agent is not None:
                agents.append(agent)
    return tuple(agents)


def _read_agent(
    given: dict[str, Any],
    holder: dict[str, Any],
    place: Place,
    name: str | None,
    one: str,
    problems: Problems,
) -> AgentSpec | None:
    """The agent with these keys; `holder` is where they stood."""
    before = len(problems.found)
    ways = [key for key in _WAYS if key in given]
    if len(ways) > 1:
        problems.add(place.key(holder, ways[1]), f"give one of {', '.join(ways)}: {one}")
    for key in _OF_URL:
        if key in given and "url" not in given:
            problems.add(place.key(holder, key), "belongs to an agent that is called by `url`")
    if not ways and not any(key in given for key in _OF_URL):
        problems.add(place, f"{_choice(_WAYS)} is missing: how is the agent called?")
    settings = {}
    for key, value in given.items():
        where = place.value(holder, key)
        try:
            settings[key] = validation.read(value, _KINDS[key], where, problems)
        except Unreadable:
            continue
        if key in _FURTHER:  # from the value that knows its place
            settings[key] = _FURTHER[key](value, where, problems)
    return None if len(problems.found) > before else AgentSpec(name=name, **settings)


def _choice(keys: tuple[str, ...]) -> str:
    return " or ".join((", ".join(f"`{key}`" for key in keys[:-1]), f"`{keys[-1]}`"))


def _method(value: str, place: Place, problems: Problems) -> str:
    if value.upper() not in METHODS:
        problems.add(place, f"expected one of {', '.join(METHODS)}, found {shown(value)}")
    return value.upper()


def _headers(headers: dict[str, str], place: Place, problems: Problems) -> dict[str, str]:
    for name, value in headers.items():
        if not _HEADER_NAME.match(name):
            problems.add(place.key(headers, name), "not the name of a header")
        where = place.value(headers, name)
        literal = _VARIABLE.sub(" ", value)
        if "${" in literal:
            problems.add(where, "a variable is written ${NAME}; this `${` begins none")
        elif _NOT_IN_A_HEADER.search(value):
            problems.add(where, "a header holds no line break and nothing beyond Latin-1")
        elif redact(literal) != literal:
            # The value is not shown: the message would spread what it warns of.
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


def _filled_later(value: Any, place: Place, problems: Problems) -> Any:
    """The value with its placeholders as `{{name}}`, however they were spaced."""
    if isinstance(value, dict):
        return {
            key: _filled_later(item, place.value(value, key), problems)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [
            _filled_later(item, place.item(value, index), problems)
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
            problems.add(place, f"nothing is put in for {shown(match[0])}{hint}")
        return "{{" + name + "}}"

    if "{{" in _BRACES.sub("", value):
        problems.add(place, "`{{` without `}}` after it")
    return _BRACES.sub(named, value)


_FURTHER: dict[str, Callable[[Any, Place, Problems], Any]] = {
    "url": _filled_later,
    "method": _method,
    "headers": _headers,
    "body": _filled_later,
    "answer": _answer,
}
