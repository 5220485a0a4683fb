"""Counts what several spans show once: the same model call or tool call seen by two libraries."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from trialrun.importers._spans.dialects import Operation
from trialrun.importers._spans.node import Node

_BREAKS = (Operation.TOOL, Operation.AGENT)


def above(node: Node) -> Iterable[Node]:
    """The spans around it, the nearest first. A damaged file can have a circle."""
    seen = {id(node)}
    found = node.parent
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        yield found
        found = found.parent


def model_calls(nodes: list[Node]) -> tuple[list[Node], int]:
    """The model calls, each once, and how many spans showed a call once more."""
    calls = [node for node in nodes if node.operation is Operation.INFERENCE]
    inner: dict[int, list[Node]] = {}
    outer: dict[int, Node] = {}
    for node in calls:
        around = _nearest(node, Operation.INFERENCE)
        if around is not None:
            inner.setdefault(id(around), []).append(node)
            outer[id(node)] = around
    for node in calls:
        # A loop of several calls is not a call itself. A failed attempt is not a call of its own.
        real = [child for child in inner.get(id(node), ()) if not child.span.failed]
        if len(real) > 1:
            node.operation = Operation.AGENT
            for child in inner[id(node)]:
                outer.pop(id(child), None)
    kept: list[Node] = []
    for node in calls:
        around = outer.get(id(node))
        if node.operation is not Operation.INFERENCE:
            continue
        if around is not None and around.operation is Operation.INFERENCE:
            continue
        node.swallowed = _below(node, inner)
        kept.append(node)
    once = _by_response(kept)
    once = _by_time(once)
    return once, sum(node.operation is Operation.INFERENCE for node in calls) - len(once)


def _below(node: Node, inner: dict[int, list[Node]]) -> list[Node]:
    found: list[Node] = []
    waiting = list(inner.get(id(node), ()))
    while waiting and len(found) < 1000:
        child = waiting.pop(0)
        found.append(child)
        waiting += inner.get(id(child), ())
    return found


def _nearest(node: Node, operation: Operation) -> Node | None:
    for found in above(node):
        if found.operation is operation:
            return found
        if found.operation in _BREAKS:
            return None
    return None


def _by_response(calls: list[Node]) -> list[Node]:
    kept: list[Node] = []
    known: dict[str, Node] = {}
    for node in calls:
        key = node.response_id
        first = known.get(key) if key else None
        if first is None or _is_another(first, node):
            kept.append(node)
            if key:
                known[key] = node
        else:
            first.swallowed += [node, *node.swallowed]
    return kept


def _is_another(first: Node, node: Node) -> bool:
    """Whether a later span has the id of a whole run of calls, as the Agent Framework gives it."""
    end, start = first.span.end, node.span.start
    if end is None or start is None or start < end or first.span.scope != node.span.scope:
        return False
    mine, theirs = node.tokens, first.tokens
    return mine is not None and theirs is not None and mine.total_tokens != theirs.total_tokens


def _by_time(calls: list[Node]) -> list[Node]:
    """A sibling inside the time of another, with equal model and tokens, by another library."""
    kept: list[Node] = []
    open_calls: list[Node] = []
    for node in calls:
        start = node.span.start
        open_calls = [one for one in open_calls if _is_open(one, start)]
        around = next((one for one in open_calls if is_same(one, node)), None)
        if around is not None:
            around.swallowed += [node, *node.swallowed]
            continue
        kept.append(node)
        open_calls.append(node)
    return kept


def _is_open(node: Node, at: int | None) -> bool:
    return at is not None and node.span.end is not None and node.span.end >= at


def is_same(around: Node, node: Node) -> bool:
    """Whether two libraries saw one model call: at one time, with equal model and tokens."""
    if around.span.scope == node.span.scope and (
        around.span.scope or around.span.name == node.span.name
    ):
        return False  # two calls of one library are two calls
    if not _at_one_time(around, node) or around in above(node):
        return False  # inside it lies the call of a subagent
    mine, theirs = node.tokens, around.tokens
    if mine is None or theirs is None or not mine.total_tokens:
        return False
    if mine.total_tokens != theirs.total_tokens:
        return False
    first, second = around.model or "", node.model or ""
    return first.startswith(second) or second.startswith(first)


def _at_one_time(one: Node, other: Node) -> bool:
    """One inside the other; of two known libraries, most of the shorter one is enough."""
    first, second = one.span, other.span
    if first.start is None or first.end is None or second.start is None or second.end is None:
        return False
    common = min(first.end, second.end) - max(first.start, second.start)
    shorter = min(first.end - first.start, second.end - second.start)
    if first.scope and second.scope and first.scope != second.scope:
        return common * 2 >= shorter and common >= 0
    return common == shorter


# "(merged tools)": the span that Google ADK adds around parallel calls.
_MERGED = re.compile(r"\(merged( tools)?\)")


def tool_calls(nodes: list[Node], has_agent: bool) -> tuple[list[Node], int, int]:
    """The tool calls, each once; how many spans were repeats; how many were not calls."""
    kept: list[Node] = []
    by_id: dict[str, list[Node]] = {}
    repeated = dropped = 0
    for node in nodes:
        if node.operation is not Operation.TOOL:
            continue
        if _MERGED.fullmatch(node.tool_name) or not has_agent:
            dropped += 1
            continue
        same = _same_tool(node, by_id)
        if same is not None:
            same.swallowed.append(node)
            repeated += 1
            continue
        kept.append(node)
        key = node.call_id
        if key:
            by_id.setdefault(key, []).append(node)
    clients: dict[str, list[Node]] = {}
    for node in kept:
        if not _is_server(node):
            clients.setdefault(simple_name(node.tool_name), []).append(node)
    once: list[Node] = []
    for node in kept:
        found = clients.get(simple_name(node.tool_name), ()) if _is_server(node) else ()
        client = next((one for one in found if _overlap(node, one)), None)
        if client is None:
            once.append(node)
        else:
            client.swallowed.append(node)
            repeated += 1
    return once, repeated, dropped


def _same_tool(node: Node, by_id: dict[str, list[Node]]) -> Node | None:
    around = _nearest(node, Operation.TOOL)
    if around is not None and same_name(around.tool_name, node.tool_name):
        return around
    key = node.call_id
    for one in by_id.get(key or "", ()):
        # Some agents count their calls from 1 again in each reply: those do not overlap.
        if same_name(one.tool_name, node.tool_name) and (
            one.span.scope != node.span.scope or _overlap(one, node)
        ):
            return one
    return None


def same_name(one: str, other: str) -> bool:
    """Whether two names are of one tool."""
    return simple_name(one) == simple_name(other)


@lru_cache(1000)
def simple_name(name: str) -> str:
    """`get_weather`, `Get Weather` and `mcp__weather__get_weather` are one tool."""
    return "".join(sign for sign in name.lower().rpartition("__")[2] if sign.isalnum())


def _overlap(one: Node, other: Node) -> bool:
    first, second = one.span, other.span
    if first.start is None or first.end is None or second.start is None or second.end is None:
        return True
    return first.start <= second.end and second.start <= first.end


def _is_server(node: Node) -> bool:
    return node.span.kind == "server" and "mcp.method.name" in node.attributes
