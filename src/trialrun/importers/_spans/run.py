"""The spans of one trace as a tree, with the model calls and tool calls in it."""

from __future__ import annotations

from bisect import bisect_right

from trialrun.importers._spans import once
from trialrun.importers._spans.dialects import Operation
from trialrun.importers._spans.node import Node
from trialrun.importers._spans.phases import join_phases
from trialrun.importers._spans.span import Span


class Run:
    """One run: its spans as a tree, the model calls and tool calls of it."""

    def __init__(self, spans: list[Span]) -> None:
        numbered = sorted(enumerate(spans), key=lambda item: (item[1].start or 0, item[0]))
        self.nodes = [Node(span) for _, span in numbered]
        by_id = {node.span.span_id: node for node in self.nodes if node.span.span_id}
        for node in self.nodes:
            parent = by_id.get(node.span.parent_id)
            node.parent = parent if parent is not node else None
        self.why_cut = _why_cut(self.nodes)
        join_phases(self.nodes)
        _adopt(self.nodes)
        self.replies, self.repeated_replies = once.model_calls(self.nodes)
        self.agents = [node for node in self.nodes if node.operation is Operation.AGENT]
        has_agent = bool(self.replies or self.agents) or any(
            node.operation is Operation.TOOL and node.span.kind != "server" for node in self.nodes
        )
        self.tools, self.repeated_calls, self.no_calls = once.tool_calls(self.nodes, has_agent)
        self._around: dict[int, Node | None] = {}
        self._levels: dict[tuple[int, int], tuple[list[int], list[Node]]] | None = None
        self._children: dict[int, list[Node]] | None = None
        self.owner = {
            id(inner): node
            for node in (*self.replies, *self.tools)
            for inner in (node, *node.swallowed)
        }

    @property
    def is_run(self) -> bool:
        """Whether an agent, a model or a tool is among the spans."""
        created = any(node.operation is Operation.CREATION for node in self.nodes)
        return bool(self.replies or self.tools or self.agents) or created

    def agent_of(self, node: Node) -> Node | None:
        """The agent that did this."""
        found = (one for one in once.above(node) if one.operation is Operation.AGENT)
        return next(found, None)

    def call_around(self, node: Node) -> Node | None:
        """The tool call inside which this was done: the call of a subagent."""
        if id(node) not in self._around:
            self._around[id(node)] = self._find_around(node)
        return self._around[id(node)]

    def _find_around(self, node: Node) -> Node | None:
        for one in once.above(node):
            owner = self.owner.get(id(one))
            if owner is None or owner is self.owner.get(id(node)):
                continue
            if owner.operation is Operation.TOOL:
                return owner
        return None

    def level(self, node: Node) -> tuple[int, int]:
        """What has to be equal for two spans to belong to one conversation with a model."""
        return id(self.call_around(node)), id(self.agent_of(node))

    def reply_before(self, node: Node) -> Node | None:
        """The last model call before this, in the same conversation."""
        if self._levels is None:
            self._levels = {}
            for reply in self.replies:
                starts, found = self._levels.setdefault(self.level(reply), ([], []))
                starts.append(reply.span.start or 0)
                found.append(reply)
        starts, found = self._levels.get(self.level(node), ([], []))
        place = bisect_right(starts, node.span.start or 0)
        return found[place - 1] if place else None

    def children(self, node: Node) -> list[Node]:
        """The spans directly below."""
        if self._children is None:
            self._children = {}
            for one in self.nodes:
                if one.parent is not None:
                    self._children.setdefault(id(one.parent), []).append(one)
        return self._children.get(id(node), [])


_ENTRIES = ("server", "consumer")


def _why_cut(nodes: list[Node]) -> str | None:
    """Why a part of the run is missing, as far as the spans show it.

    The parent of a span that answers a request is in the program that asked, and need not be here.
    """
    tops = [node for node in nodes if node.parent is None]
    roots = [node for node in tops if not node.span.parent_id or node.span.kind in _ENTRIES]
    lost = len(tops) - len(roots)
    if not roots:
        return "the export has no root of this trace: it began before, or has not ended"
    if lost:
        spans = "1 span" if lost == 1 else f"{lost} spans"
        return f"the parents of {spans} are not in the export"
    if any(node.span.end is None for node in roots):
        return "the root of this trace has not ended"
    return None


def _adopt(nodes: list[Node]) -> None:
    """Give agents, and spans whose parent is missing, to the one tool call around them in time.

    Some libraries hang an agent that was called as a tool below the whole run.
    """
    tools: list[Node] = []
    for node in nodes:
        start, end = node.span.start, node.span.end
        if start is None or end is None:
            continue
        tools = [tool for tool in tools if (tool.span.end or 0) >= start]
        lost = node.parent is None and bool(node.span.parent_id)
        if lost or node.operation is Operation.AGENT:
            around = [tool for tool in tools if (tool.span.end or 0) >= end]
            if len(around) == 1 and not _related(node, around[0]):
                node.parent = around[0]
        if node.operation is Operation.TOOL:
            tools.append(node)


def _related(one: Node, other: Node) -> bool:
    """Whether one of the two is already above the other."""
    return one in once.above(other) or other in once.above(one)
