"""Builds the steps of one run from the spans of one trace."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from trialrun.importers._builder import TraceBuilder
from trialrun.importers._spans import answers, once
from trialrun.importers._spans.dialects import Operation
from trialrun.importers._spans.messages import Answered, Asked
from trialrun.importers._spans.node import Node
from trialrun.importers._spans.span import Span, decoded
from trialrun.importers._values import moment
from trialrun.model.evidence import (
    COSTS,
    EVIDENCE,
    HANDOFFS,
    LLM_CALLS,
    REASONING,
    RETRIEVALS,
    TOKENS,
    TOOL_ARGS,
    TOOL_CALLS,
    TOOL_RESULTS,
)
from trialrun.model.steps import StepStatus, StepType
from trialrun.model.trace import Trace, TraceStatus


class Call:
    """A call of a tool: seen as a span, asked for by a model, or both."""

    __slots__ = ("answer", "asked", "node", "reply")

    def __init__(self, node: Node | None, asked: Asked | None, reply: Node | None) -> None:
        self.node = node
        self.asked = asked
        self.reply = reply
        self.answer: Answered | None = None


class Run:
    """One run: its spans as a tree, the model calls and tool calls of it."""

    def __init__(self, spans: list[Span]) -> None:
        numbered = sorted(enumerate(spans), key=lambda item: (item[1].start or 0, item[0]))
        self.nodes = [Node(span) for _, span in numbered]
        by_id = {node.span.span_id: node for node in self.nodes if node.span.span_id}
        for node in self.nodes:
            parent = by_id.get(node.span.parent_id)
            node.parent = parent if parent is not node else None
        answers.join_phases(self.nodes)
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
            if owner is not None and owner.operation is Operation.TOOL:
                if owner is not self.owner.get(id(node)):
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
            if len(around) == 1 and node not in once.above(around[0]):
                if around[0] not in once.above(node):
                    node.parent = around[0]
        if node.operation is Operation.TOOL:
            tools.append(node)


def _calls(run: Run) -> list[Call]:
    """The calls in order: spans by their start, calls without a span behind their reply."""
    waiting = [Call(None, asked, reply) for reply in run.replies for asked in reply.asked()]
    summed = [] if run.replies else [node for node in run.agents if node.asked()]
    waiting += [Call(None, asked, node) for node in summed[:1] for asked in node.asked()]
    _answer(run, waiting, summed)
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
    return _ordered(run, [*_without_handoffs(run, waiting, by_name), *seen])


def _without_handoffs(run: Run, waiting: list[Call], by_name: dict[str, list[Call]]) -> list[Call]:
    """The calls but for `transfer_to_refunds` and the like, where a span shows the handoff."""
    gone = set()
    for node in run.nodes:
        if node.operation is Operation.HANDOFF:
            name = once.simple_name(f"transfer_to_{_handed_to(node)}")
            found = [call for call in by_name.get(name, ()) if id(call) not in gone]
            if found:
                gone.add(id(found[0]))
                node.swallowed += [found[0].reply] if found[0].reply is not None else []
    return [call for call in waiting if id(call) not in gone]


def _handed_to(node: Node) -> str:
    to = node.first(("handoff.to_agent",))
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


def _answer(run: Run, calls: list[Call], summed: list[Node]) -> None:
    """Give the calls the results that stand in later requests.

    The last request mostly has the whole history; the others are read if it does not.
    """
    spans = {node.call_id for node in run.tools if node.has_result()}
    spans.discard(None)
    open_calls = [call for call in calls if call.asked and call.asked.id not in spans]
    for call in calls:  # a tool that the provider ran has its result in the reply
        if call.reply is not None:
            _settle([call], [a for said in call.reply.replies() for a in said.results])
    requests = summed or run.replies
    for node in (*requests[-1:], *requests[:-1]):
        open_calls = [call for call in open_calls if call.answer is None]
        if not open_calls:
            return
        found = [answer for said in node.requests() for answer in said.results]
        _settle(open_calls, found)


def _settle(calls: list[Call], found: list[Answered]) -> None:
    by_id = {answer.id: answer for answer in found if answer.id}
    by_name: dict[str, list[Answered]] = {}
    for answer in found:
        if not answer.id and answer.name:
            by_name.setdefault(answer.name, []).append(answer)
    for call in calls:
        if call.answer is not None or call.asked is None:
            continue
        call.answer = by_id.get(call.asked.id or "")
        named = by_name.get(call.asked.name)
        if call.answer is None and named:
            call.answer = named.pop(0)


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


# From the run to the builder


def build(run: Run, builder: TraceBuilder) -> Trace:
    """The trace of the run."""
    names = {node.agent_name for node in run.agents}
    calls = _calls(run)
    _begin(run, builder)
    summed = None if run.replies else answers.summed_usage(run.agents)
    told = answers.prompts(run)
    steps: list[tuple[int, int, int, Any]] = []
    for number, reply in enumerate(run.replies):
        steps.append((reply.span.start or 0, 0, number, reply))
    for number, call in enumerate(calls):
        node = call.node or call.reply
        start = (node.span.start or 0) if node is not None else 0
        steps.append((start, 1, number, call))
    for number, node in enumerate(run.nodes):
        if node.operation in _OTHERS:
            steps.append((node.span.start or 0, 2, number, node))
    steps.sort(key=lambda step: step[:3])
    for *_, step in steps:
        if isinstance(step, Call):
            _add_call(run, builder, step, names)
        elif step.operation is Operation.INFERENCE:
            for text in told.get(id(step), ()):
                builder.prompt(text, _time(step.span.start))
            _add_reply(run, builder, step, names)
        else:
            _OTHERS[step.operation](run, builder, step)
    if summed is not None:
        _add_sum(builder, summed)
    answers.finish(run, builder)
    return builder.trace(_carries(run, builder, calls, summed is not None), name=_case_name(run))


def _begin(run: Run, builder: TraceBuilder) -> None:
    for _ in range(run.repeated_replies):
        builder.repeated("model call")
    for _ in range(run.repeated_calls):
        builder.repeated("tool call")
    for _ in range(run.no_calls):
        builder.dropped("tool span that is no call")
    structure = sum(
        node.operation is Operation.STRUCTURE and bool(node.span.span_id) for node in run.nodes
    )
    for _ in range(structure):
        builder.dropped("span that is structure")
    if run.replies and any(answers.has_sum(node) for node in run.agents):
        builder.repeated("usage of an agent: the sum of its calls")
    builder.input = answers.question(run)
    starts = [node.span.start for node in run.nodes if node.span.start]
    ends = [node.span.end for node in run.nodes if node.span.end]
    tops = [node for node in run.agents if run.call_around(node) is None]
    named = (node for node in tops if node.first(node.row.agent) is not None)
    top = next(named, tops[0] if tops else None)
    builder.fields |= {
        "id": run.nodes[0].span.trace_id or None,
        "started_at": _time(min(starts, default=None)),
        "completed_at": _time(max(ends, default=None)),
        "agent_name": top.agent_name if top is not None else None,
    }


def _time(value: int | None) -> Any:
    return moment(value)


def _ms(span: Span) -> float | None:
    if span.start is None or span.end is None or span.end < span.start:
        return None
    return (span.end - span.start) / 1e6


def _key(node: Node) -> str:
    return f"span {id(node)}"


def _agent(run: Run, node: Node, names: set[str | None]) -> str | None:
    agent = run.agent_of(node) if len(names) > 1 else None
    return agent.agent_name if agent is not None else None


def _add_reply(run: Run, builder: TraceBuilder, node: Node, names: set[str | None]) -> None:
    around = run.call_around(node)
    parent = _key(around) if around is not None else None
    for said in node.replies():
        for thought in said.thoughts:
            builder.think(thought, _time(node.span.start), parent)
    text = "\n".join(said.text for said in node.replies() if said.texts)
    draft = builder.reply(
        text,
        model=node.model,
        key=_key(node),
        at=_time(node.span.start),
        tokens=node.tokens,
        cost=node.cost,
        ms=_ms(node.span),
        parent=parent,
        agent=_agent(run, node, names),
        is_answer=around is None,
    )
    if node.span.failed:
        draft.fields["status"] = StepStatus.FAILURE
        draft.set(error=node.span.message or None)


def _add_call(run: Run, builder: TraceBuilder, call: Call, names: set[str | None]) -> None:
    node, asked = call.node, call.asked
    arguments = node.arguments() if node is not None else None
    if asked is not None and asked.arguments is not None:
        # What the model asked for has the names of arguments; a span may have only their text.
        arguments = asked.arguments
    name = node.tool_name if node is not None else ""
    parent = _parent(run, call)
    draft = builder.call(
        name or (asked.name if asked is not None else ""),
        arguments,
        key=_key(node) if node is not None else f"asked {id(call)}",
        at=_time(node.span.start) if node is not None else None,
        parent=_key(parent) if parent is not None else None,
        agent=_agent(run, node or call.reply, names) if node or call.reply else None,
        alone=True,
    )
    value, failed = node.result() if node is not None else (None, False)
    if value is None and call.answer is not None:
        value, failed = call.answer.value, call.answer.failed
        value = "" if value is None else value
    failed = failed or (node is not None and answers.call_failed(run, node))
    if node is not None:
        message = answers.call_error(run, node) if failed else None
        if value is not None:
            builder.result(
                draft, value, failed=failed, exit_code=_exit_code(value), ms=_ms(node.span)
            )
        else:
            draft.set(duration_ms=_ms(node.span))
            ended = StepStatus.FAILURE if failed else StepStatus.SUCCESS
            draft.fields["status"] = ended if node.span.end is not None else StepStatus.PENDING
            builder.ends_in = "result"
        draft.set(error=message)
    elif value is not None:
        builder.result(draft, value, failed=failed, exit_code=_exit_code(value))


def _exit_code(value: Any) -> Any:
    """The exit code of a command, where the result has one by its name."""
    value = decoded(value)
    if not isinstance(value, dict):
        return None
    return next(
        (value[key] for key in ("exit_code", "exitCode", "returncode") if key in value), None
    )


def _parent(run: Run, call: Call) -> Node | None:
    """The reply that asked for the call, else the last one before it in the same conversation."""
    if call.reply is not None and call.reply.operation is Operation.INFERENCE:
        return call.reply
    node = call.node
    if node is None:
        return None
    return run.reply_before(node) or run.call_around(node)


def _add_sum(builder: TraceBuilder, node: Node) -> None:
    """The usage of an agent without spans of its model calls, as one step."""
    draft = builder.reply(
        None, model=node.model, at=_time(node.span.start), tokens=node.tokens, cost=node.cost
    )
    draft.note(sum_of_calls=True)


def _retrieval(run: Run, builder: TraceBuilder, node: Node) -> None:
    query = node.first(("gen_ai.retrieval.query.text", "input.value", *node.row.request))
    text = answers.as_text(query)
    documents = answers.documents(node)
    draft = builder.retrieval(text or node.span.name, documents, _time(node.span.start))
    draft.set(duration_ms=_ms(node.span))


def _handoff(run: Run, builder: TraceBuilder, node: Node) -> None:
    reply = node.swallowed[0] if node.swallowed else run.reply_before(node)
    parent = _key(reply) if reply is not None else None
    builder.handoff(_handed_to(node), _time(node.span.start), parent)


def _guardrail(run: Run, builder: TraceBuilder, node: Node) -> None:
    draft = builder.retrieval("", None, _time(node.span.start))
    draft.fields |= {"type": StepType.GUARDRAIL, "input": None, "tool_name": node.span.name}
    if node.span.failed:
        draft.fields["status"] = StepStatus.FAILURE


_OTHERS = {
    Operation.RETRIEVAL: _retrieval,
    Operation.HANDOFF: _handoff,
    Operation.GUARDRAIL: _guardrail,
}


def _case_name(run: Run) -> str | None:
    """The case that the run belongs to, where the root or the resource names one."""
    for node in run.nodes:
        if node.parent is None:
            for source in (node.attributes, node.span.resource):
                name = source.get("test.case.name")
                if isinstance(name, str) and name:
                    return name
    return None


def _carries(run: Run, builder: TraceBuilder, calls: list[Call], has_sum: bool) -> frozenset[str]:
    """What these spans can say: content may be turned off, model calls may have no spans."""
    carried = set(EVIDENCE)
    if not any(draft.fields["type"] is StepType.REASONING for draft in builder.drafts):
        carried.discard(REASONING)
    if not run.replies:
        carried.discard(LLM_CALLS)
        if not has_sum:
            carried -= {TOKENS, COSTS}
    shows_calls = any(node.has_content() for node in run.replies) or (
        not run.replies and any(node.asked() for node in run.agents)
    )
    if not run.tools and not calls and not shows_calls:
        carried -= {TOOL_CALLS, TOOL_ARGS, TOOL_RESULTS, HANDOFFS, RETRIEVALS}
    return frozenset(carried)


def status_of(run: Run) -> tuple[TraceStatus, str | None]:
    """How the run ended, by the spans at its top."""
    for node in run.nodes:
        is_top = node.parent is None or node.operation is Operation.AGENT
        if is_top and node.span.failed and run.call_around(node) is None:
            return TraceStatus.ERROR, node.span.message or f"{node.span.name} failed"
    return TraceStatus.SUCCESS, None
