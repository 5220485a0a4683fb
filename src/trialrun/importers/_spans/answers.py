"""What a run was asked and what it answered, as the spans around its calls say it."""

from __future__ import annotations

import ast
import re
from typing import Any

from trialrun.importers._builder import TraceBuilder
from trialrun.importers._spans import messages
from trialrun.importers._spans.dialects import Operation
from trialrun.importers._spans.messages import ASSISTANT, USER, Said
from trialrun.importers._spans.node import Node
from trialrun.importers._spans.run import Run
from trialrun.importers._spans.span import decoded, nested
from trialrun.model.steps import StepStatus
from trialrun.model.trace import TraceStatus

_QUESTIONS = (
    "prompt",
    "question",
    "query",
    "task",
    "input",
    "message",
    "user_prompt",
    "user_input",
)
_ANSWERS = ("raw", "output", "answer", "result", "final_output", "response", "text", "content")


def as_text(value: Any, keys: tuple[str, ...] = _QUESTIONS) -> str | None:
    """The text of a value: itself, or what is under a usual key."""
    value = decoded(value)
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, dict):
        for key in keys:
            if isinstance(value.get(key), str) and value[key].strip():
                return str(value[key]).strip()
    return None


def _users(said: list[Said]) -> list[str]:
    return [one.text.strip() for one in said if one.role == USER and one.text.strip()]


def _tops(run: Run) -> list[Node]:
    """Spans outside of every call: agents, and roots that say what was asked.

    A call of a tool without an agent around it has arguments and a result: no question, no answer.
    """
    found = [node for node in run.nodes if node.parent is None or node.operation is Operation.AGENT]
    found = [node for node in found if node.operation is not Operation.TOOL]
    return [node for node in found if run.call_around(node) is None]


def question(run: Run) -> str | None:
    """What the agent was asked: the last message of the user in the first request.

    Messages before it are the history of earlier runs.
    """
    tops = [node for node in _tops(run) if node.operation is not Operation.INFERENCE]
    if run.replies:  # an agent of Pydantic AI has the whole history: the first request is shorter
        tops = [node for node in tops if node.row.name != "pydantic-ai"]
    for node in tops:
        for name in node.row.request:
            found = _asked_in(node.attributes.get(name))
            if found:
                return found
    events = [node for node in tops if node.operation is Operation.AGENT]
    for node in (*events, *_first_reply(run)):
        users = _users(node.requests())
        if users:
            return users[-1]
    return None


def _asked_in(value: Any) -> str | None:
    """The question in what a span says that it was given: messages, or a text under some key."""
    if value in (None, "", "{}"):
        return None
    plain = decoded(value)
    users = [] if isinstance(plain, str) else _users(messages.read(plain, USER))
    if users:
        return users[-1]
    return None if isinstance(plain, list) else as_text(plain)


def _first_reply(run: Run) -> list[Node]:
    found = [node for node in run.replies if run.call_around(node) is None]
    return found[:1]


def prompts(run: Run) -> dict[int, list[str]]:
    """Further prompts of the user, by the model call before which they were given.

    A message of the user begins a turn where it follows an answer that this trace has, and the
    agent was called once more. Inside one call of an agent it is a remark of the framework.
    """
    given: dict[int, list[str]] = {}
    before: Node | None = None
    for node in run.replies:
        if run.call_around(node) is not None:
            continue
        if before is not None and not before.awaits_results() and _may_begin(run, before, node):
            said = node.requests()
            text = messages.last_text(before.replies())
            place = max(
                (n for n, one in enumerate(said) if text and one.text.strip() == text), default=None
            )
            if place is not None:
                given[id(node)] = _users(said[place + 1 :])
        before = node
    return given


def _may_begin(run: Run, before: Node, node: Node) -> bool:
    first, second = run.agent_of(before), run.agent_of(node)
    return first is not second or (first is None and second is None)


def finish(run: Run, builder: TraceBuilder) -> None:
    """The answer: what the agent says it answered, else the last text of a model."""
    found = _final(run)
    if found is not None:
        builder.say(found)
        last = builder.drafts[-1].fields if builder.drafts else {}
        if found == last.get("tool_args"):
            last["status"] = StepStatus.SUCCESS  # a call whose arguments are the answer
    elif not _ends_in_text(run):
        builder.say(None)
        builder.ends_in = "call" if run.replies or run.tools else None
    status, error = _status_of(run)
    if status is not TraceStatus.SUCCESS:
        builder.fields |= {"status": status, "error": error}


def _ends_in_text(run: Run) -> bool:
    """Whether the last reply outside of calls is an answer, and not a request for a call."""
    last = next((node for node in reversed(run.replies) if run.call_around(node) is None), None)
    return last is not None and not last.awaits_results()


def _final(run: Run) -> Any:
    last = [node for node in reversed(run.replies) if run.call_around(node) is None]
    said = messages.last_text(last[0].replies()) if last else None
    tops = _tops(run)
    for node in tops:
        if node.operation is Operation.INFERENCE or _is_followed(node, tops):
            continue
        value = node.first(node.row.reply)
        found = _answer_in(value, structured=node.row.name == "pydantic-ai")
        if found is not None:
            # An object of the framework as text, often cut off: the model's own text is the answer.
            return said if said and _is_object(found) and _ends_in_text(run) else found
        text = messages.last_text(node.replies()) if value is None or last == [] else None
        if text:
            return text
    return None


def _is_followed(node: Node, tops: list[Node]) -> bool:
    """Whether another agent worked after it, to which it handed over: the answer is that one's."""
    end = node.span.end
    return end is not None and any(
        one.operation is Operation.AGENT and one.span.start is not None and one.span.start >= end
        for one in tops
    )


def _answer_in(value: Any, structured: bool) -> Any:
    """The answer in what a span says that it returned."""
    plain = decoded(value)
    if isinstance(plain, str):
        return as_text(_python(plain), _ANSWERS) or None
    if structured and isinstance(plain, (dict, list)) and not _are_messages(plain):
        return plain
    said = messages.read(plain, ASSISTANT)
    if said:
        return messages.last_text(said)
    return as_text(plain, _ANSWERS)


def _are_messages(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, dict) and ("role" in item or "event.name" in item) for item in value
    )


# `StopEvent(result=AgentOutput(response=…`: how Python prints an object.
_OBJECT = re.compile(r"[A-Z]\w*\(\w+=")


def _is_object(value: Any) -> bool:
    return isinstance(value, str) and _OBJECT.match(value) is not None


def _python(text: str) -> Any:
    """A dict that was written as Python writes it: `{'role': 'assistant', 'text': "…"}`."""
    if text.startswith("{'") and len(text) < 1_000_000:
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return text
        return value if isinstance(value, dict) else text
    return text


# Usage of agents


def has_sum(node: Node) -> bool:
    """Whether the span of an agent has usage: the sum of its calls."""
    if node.own_tokens() is not None:
        return True
    return any(key.startswith("gen_ai.aggregated_usage.") for key in node.attributes)


def summed_usage(agents: list[Node]) -> Node | None:
    """The agent whose usage is taken where no model call has a span: the outermost."""
    return next((node for node in agents if node.own_tokens() is not None), None)


def documents(node: Node) -> Any:
    """What a retrieval found."""
    listed = nested(node.attributes, "retrieval.documents.")
    if listed:
        return [item.get("document", item) if isinstance(item, dict) else item for item in listed]
    value = node.first(("gen_ai.retrieval.documents", "output.value", *node.row.reply))
    return decoded(value)


# Outcomes of calls


def call_failed(run: Run, node: Node) -> bool:
    """Whether a span of the call failed; Claude Code says it only in the execution inside."""
    return _failed_span(run, node) is not None


def call_error(run: Run, node: Node) -> str | None:
    """What went wrong."""
    failed = _failed_span(run, node)
    if failed is None:
        return None
    error = failed.attributes.get("error", failed.attributes.get("exception.message"))
    return failed.span.message or (error if isinstance(error, str) else None)


def _failed_span(run: Run, node: Node) -> Node | None:
    for one in (node, *node.swallowed):
        if one.span.failed or one.attributes.get("success") in (False, "false"):
            return one
    if node.row.name == "claude-code":
        inside = run.children(node)
        return next((one for one in inside if one.span.failed or _unsuccessful(one)), None)
    return None


def _unsuccessful(node: Node) -> bool:
    return node.attributes.get("success") in (False, "false")


def _status_of(run: Run) -> tuple[TraceStatus, str | None]:
    """How the run ended, by the spans at its top."""
    for node in run.nodes:
        is_top = node.parent is None or node.operation is Operation.AGENT
        if is_top and node.span.failed and run.call_around(node) is None:
            return TraceStatus.ERROR, node.span.message or f"{node.span.name} failed"
    return TraceStatus.SUCCESS, None
