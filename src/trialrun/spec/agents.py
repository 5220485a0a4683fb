"""Reads the agents of a spec: how each is called; every mistake is reported with its place.

A suite has one agent, with its keys at the top level of the spec, or several under `agents:`, or
none (recorded traces are scored without an agent). The kinds of agents define the keys.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from trialrun import registry
from trialrun.model.case import AgentSpec
from trialrun.spec import validation
from trialrun.spec.defaults import refuse_unknown
from trialrun.spec.types import Seconds
from trialrun.spec.validation import Place, Problems, Unreadable

if TYPE_CHECKING:
    from trialrun.agents.base import AgentKind

_TIMEOUT = "timeout"


def agent_keys(given: Collection[str], known: Collection[str]) -> dict[str, type[AgentKind]]:
    """The keys of agents, each with the kind that it belongs to.

    Third-party kinds are loaded only if a key is not known otherwise.
    """
    keys = _keys_of(registry.our_agent_kinds())
    if any(key not in keys and key not in known for key in given):
        keys = _keys_of(registry.agent_kinds())
    return keys


def _keys_of(kinds: Mapping[str, type[AgentKind]]) -> dict[str, type[AgentKind]]:
    return {field: kind for kind in kinds.values() for field in kind.settings.__struct_fields__}


def ways_to_call() -> str:
    """The names of the kinds for messages: "`command`, `runner` or `url`"."""
    *most, last = (f"`{name}`" for name in sorted(registry.agent_kinds()))
    return f"{', '.join(most)} or {last}"


def read_agents(
    document: dict[str, Any],
    name: str | None,
    keys: Mapping[str, type[AgentKind]],
    problems: Problems,
) -> tuple[AgentSpec, ...]:
    """The agents of a suite. An agent at the top level is named by `agent:`, if given."""
    top = Place()
    listed = document.get("agents")
    single = [key for key in document if key in keys and document[key] is not None]
    if listed is not None:
        for key in single:
            problems.add(
                top.key(document, key), "cannot be used with `agents`: move it into one of them"
            )
        return _read_named(listed, top.value(document, "agents"), problems)
    if not single:
        return ()
    one = "a suite has one agent, or several under `agents:`"
    agent = _read_agent(single, document, top, name, one, keys, problems)
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
            found = validation.described(data)
            problems.add(where, f"an agent is a mapping with {ways_to_call()}, found {found}")
        else:
            keys = agent_keys(data, [_TIMEOUT])
            refuse_unknown(data, {*keys, _TIMEOUT}, where, problems)
            given = [key for key in data if key in (*keys, _TIMEOUT) and data[key] is not None]
            one = "an agent is called in one way"
            agent = _read_agent(given, data, where, name, one, keys, problems)
            if agent is not None:
                agents.append(agent)
    return tuple(agents)


def _read_agent(
    given: list[str],
    holder: dict[str, Any],
    place: Place,
    name: str | None,
    one: str,
    keys: Mapping[str, type[AgentKind]],
    problems: Problems,
) -> AgentSpec | None:
    """The agent with the given keys of `holder`."""
    before = len(problems.found)
    ways = [key for key in given if key in keys and keys[key].name == key]
    if len(ways) > 1:
        problems.add(place.key(holder, ways[1]), f"give one of {', '.join(ways)}: {one}")
    for key in given:
        owner = keys[key].name if key in keys else key
        if owner != key and owner not in ways:
            problems.add(place.key(holder, key), f"belongs to an agent that is called by `{owner}`")
    if not any(key in keys for key in given):
        problems.add(place, f"{ways_to_call()} is missing: how is the agent called?")
    settings = {key: _read_setting(key, holder, place, keys, problems) for key in given}
    if len(problems.found) > before:
        return None
    timeout = settings.pop(_TIMEOUT, None)
    kind = keys[ways[0]]
    return AgentSpec(name=name, kind=kind.name, settings=kind.settings(**settings), timeout=timeout)


def _read_setting(
    key: str,
    holder: dict[str, Any],
    place: Place,
    keys: Mapping[str, type[AgentKind]],
    problems: Problems,
) -> Any:
    kind = keys.get(key)
    annotation = Seconds if kind is None else validation.field_types(kind.settings)[key]
    where = place.value(holder, key)
    try:
        value = validation.read(holder[key], annotation, where, problems)
    except Unreadable:
        return None
    # From the original value, which knows its place in the file.
    if kind is None:
        return value
    return validation.plain(kind.check(key, holder[key], where, problems))
