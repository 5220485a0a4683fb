"""Builds the steps of a trace from the model calls and tool calls of a run."""

from __future__ import annotations

from typing import Any

from trialrun.importers._builder import TraceBuilder
from trialrun.importers._spans import answers
from trialrun.importers._spans.calls import Call, calls_of, handed_to
from trialrun.importers._spans.dialects import Operation
from trialrun.importers._spans.node import Node
from trialrun.importers._spans.run import Run
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
from trialrun.model.trace import Trace


def build(run: Run, builder: TraceBuilder) -> Trace:
    """The trace of the run."""
    names = {node.agent_name for node in run.agents}
    calls = calls_of(run)
    _begin(run, builder)
    summed = None if run.replies else answers.summed_usage(run.agents)
    prompts = answers.prompts(run)
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
            for text in prompts.get(id(step), ()):
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
        builder.dropped("tool span that is not a call")
    structure = sum(
        node.operation is Operation.STRUCTURE and bool(node.span.span_id) for node in run.nodes
    )
    for _ in range(structure):
        builder.dropped("span that is structure")
    if run.replies and any(answers.has_sum(node) for node in run.agents):
        builder.repeated("usage of an agent: the sum of its calls")
    builder.input = answers.question(run)
    starts = [node.span.start for node in run.nodes if node.span.start]
    first = min(starts, default=None)
    ends = [node.span.end for node in run.nodes if node.span.end and node.span.end >= (first or 0)]
    service = next((name for node in run.nodes if (name := _service(node.span))), None)
    if service is not None:
        builder.facts["service"] = service
    tops = [node for node in run.agents if run.call_around(node) is None]
    named = (node for node in tops if node.first(node.row.agent) is not None)
    top = next(named, tops[0] if tops else None)
    builder.fields |= {
        "id": run.nodes[0].span.trace_id or None,
        "started_at": _time(first),
        "completed_at": _time(max(ends, default=None)),
        "agent_name": top.agent_name if top is not None else None,
    }


def _service(span: Span) -> str | None:
    """The service that the run is part of, which `match: {service: …}` selects by."""
    name = span.resource.get("service.name")
    return name if isinstance(name, str) and not name.startswith("unknown_service") else None


def _time(value: int | None) -> Any:
    return moment(value)


def _ms(span: Span) -> float | None:
    if span.start is None or span.end is None or span.end < span.start:
        return None
    return (span.end - span.start) / 1e6


def _key(node: Node) -> str:
    return f"span {id(node)}"


def _agent(run: Run, node: Node | None, names: set[str | None]) -> str | None:
    agent = run.agent_of(node) if node is not None and len(names) > 1 else None
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
    left_out = node is not None and _left_out(run, node)
    if left_out and not arguments:
        arguments = None
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
        agent=_agent(run, node or call.reply, names),
        alone=True,
    )
    value, failed = node.result() if node is not None else (None, False)
    if left_out and value == {}:
        value = None
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


def _left_out(run: Run, node: Node) -> bool:
    """Google ADK writes `{}` for arguments and results where its settings leave content out."""
    return node.row.name == "adk" and not any(reply.replies() for reply in run.replies)


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
    builder.handoff(handed_to(node), _time(node.span.start), parent)


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
    answered = [node for node in run.replies if not node.span.failed]
    shows_calls = (
        all(node.replies() for node in answered)
        if answered
        else any(node.asked() for node in run.agents)
    )
    if not run.tools and not calls and not shows_calls:
        carried -= {TOOL_CALLS, TOOL_ARGS, TOOL_RESULTS, HANDOFFS, RETRIEVALS}
    return frozenset(carried)
