"""Tool calls of a run: spans of tools, joined to the calls that models asked for.

A loop written by hand has no spans of tools: its calls are in what the model said, and their
results in the next request.
"""

from __future__ import annotations

from trialrun.importers._spans import once
from trialrun.importers._spans.dialects import Operation
from trialrun.importers._spans.messages import Answered, Asked
from trialrun.importers._spans.node import Node
from trialrun.importers._spans.run import Run


class Call:
    """A call of a tool: seen as a span, asked for by a model, or both."""

    __slots__ = ("answer", "asked", "node", "reply")

    def __init__(self, node: Node | None, asked: Asked | None, reply: Node | None) -> None:
        self.node = node
        self.asked = asked
        self.reply = reply
        self.answer: Answered | None = None


def calls_of(run: Run) -> list[Call]:
    """The calls in order: spans by their start, calls without a span behind their reply."""
    waiting = [Call(None, asked, reply) for reply in run.replies for asked in reply.asked()]
    summed = [] if run.replies else [node for node in run.agents if node.asked()]
    waiting += [Call(None, asked, node) for node in summed[:1] for asked in node.asked()]
    by_id: dict[str, list[Call]] = {}
    by_name: dict[str, list[Call]] = {}
    for call in waiting:
        if call.asked is not None:
            by_id.setdefault(call.asked.id or "", []).append(call)
            by_name.setdefault(once.simple_name(call.asked.name), []).append(call)
    seen: list[Call] = []
    for node in run.tools:
        found = _asked_for(node, by_id, by_name.get(once.simple_name(node.tool_name), []))
        if found is None:
            found = Call(node, None, None)
            seen.append(found)
        found.node = node
    kept = _without_handoffs(run, waiting, by_name)
    _answer(kept, summed or run.replies)
    return _ordered(run, [*kept, *seen])


def _without_handoffs(run: Run, waiting: list[Call], by_name: dict[str, list[Call]]) -> list[Call]:
    """The calls but for `transfer_to_refunds` and the like, where a span shows the handoff."""
    gone = set()
    for node in run.nodes:
        if node.operation is Operation.HANDOFF:
            name = once.simple_name(f"transfer_to_{handed_to(node)}")
            found = [call for call in by_name.get(name, ()) if id(call) not in gone]
            if found:
                gone.add(id(found[0]))
                node.swallowed += [found[0].reply] if found[0].reply is not None else []
    return [call for call in waiting if id(call) not in gone]


def handed_to(node: Node) -> str:
    to = node.first(("handoff.to_agent", "gen_ai.handoff.to_agent"))
    return to if isinstance(to, str) else node.span.name.removeprefix("handoff to ")


def _asked_for(node: Node, by_id: dict[str, list[Call]], named: list[Call]) -> Call | None:
    """The request of a model for this call: by its id, else by its name and arguments."""
    key = node.call_id
    for call in by_id.get(key, ()) if key else ():
        if call.node is None:
            return call
    given = node.arguments()
    found: Call | None = None
    for call in named:
        asked = call.asked
        if call.node is not None or asked is None or _is_later(call.reply, node):
            continue
        if key and asked.id and not key.startswith("adk-"):
            continue  # two ids that differ; ADK makes one up where the model gave none
        if given is not None and given == asked.arguments:
            found = call
            break
        found = found or call
    if found is not None:
        named.remove(found)
    return found


def _is_later(reply: Node | None, node: Node) -> bool:
    """Whether the model asked after the call had begun."""
    return (
        reply is not None
        and reply.span.start is not None
        and node.span.start is not None
        and reply.span.start > node.span.start
        and reply.operation is Operation.INFERENCE
    )


def _answer(calls: list[Call], requests: list[Node]) -> None:
    """Give calls whose span has no result the one in a later request.

    The last request mostly has the whole history; the others are read if it does not.
    """
    by_id: dict[str, list[Call]] = {}
    by_name: dict[str, list[Call]] = {}
    waiting = 0
    for call in calls:
        if call.asked is None or (call.node is not None and call.node.has_result()):
            continue
        call.answer = _own_answer(call.asked, call.reply)
        if call.answer is None:
            waiting += 1
            by_id.setdefault(call.asked.id or "", []).append(call)
            by_name.setdefault(call.asked.name, []).append(call)
    for node in (*requests[-1:], *requests[:-1]):
        if not waiting:
            return
        for answer in (answer for said in node.requests() for answer in said.results):
            open_calls = by_id.get(answer.id) if answer.id else by_name.get(answer.name or "")
            while open_calls:
                call = open_calls.pop(0)
                if call.answer is None:
                    call.answer = answer
                    waiting -= 1
                    break


def _own_answer(asked: Asked, reply: Node | None) -> Answered | None:
    """The result of a tool that the provider ran: it is in the reply itself."""
    own = reply.replies() if reply is not None else []
    found = (answer for said in own for answer in said.results)
    return next((answer for answer in found if answer.id and answer.id == asked.id), None)


def _ordered(run: Run, calls: list[Call]) -> list[Call]:
    order = {id(reply): number for number, reply in enumerate(run.replies)}

    def key(item: tuple[int, Call]) -> tuple[int, int, int]:
        number, call = item
        node = call.node or call.reply
        start = (node.span.start or 0) if node is not None else 0
        if call.node is None and call.reply is not None and call.reply.operation is Operation.AGENT:
            start = call.reply.span.end or start
        return start, order.get(id(call.reply), -1), number

    return [call for _, call in sorted(enumerate(calls), key=key)]
