"""Joins spans that show the start and the end of one call as spans of their own."""

from __future__ import annotations

import re

from trialrun.importers._spans.dialects import Operation
from trialrun.importers._spans.node import Node

# "tool.search.wikipedia.start-12": what, the phase, the number that the phases share.
_PHASE = re.compile(r"(?P<what>.+)\.(?P<phase>start|success|error|finish)-(?P<number>\d+)")


def join_phases(nodes: list[Node]) -> None:
    """BeeAI writes the start and the end of a call as spans: the start is the call."""
    starts: dict[tuple[str, str], Node] = {}
    ends: list[tuple[tuple[str, str], Node]] = []
    for node in nodes:
        if node.operation is Operation.AGENT and "target" in node.attributes:
            node.operation = Operation.STRUCTURE  # an event of the agent
        if node.operation not in (Operation.INFERENCE, Operation.TOOL):
            continue
        found = _PHASE.fullmatch(node.span.name)
        if found is None:
            continue
        key = (found["what"], found["number"])
        if found["phase"] == "start" and "target" in node.attributes:
            starts[key] = node
            node.span.name = found["what"]
        else:
            ends.append((key, node))
    for key, node in ends:
        start = starts.get(key)
        if start is not None:
            start.attributes = {**node.attributes, **start.attributes}
            node.operation = Operation.STRUCTURE
