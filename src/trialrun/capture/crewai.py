"""Results of CrewAI's crews and agents, understood by their shape."""

from __future__ import annotations

from typing import Any

from trialrun.capture.plain_objects import plain
from trialrun.importers._messages import Conversation, role_of
from trialrun.importers._usage import count, counted
from trialrun.importers._values import dicts_in, name_of, text_of
from trialrun.importers._wire import CARRIES
from trialrun.importers.base import TraceBuilder
from trialrun.model.evidence import COSTS, LLM_CALLS, TOKENS, TOOL_ARGS, TOOL_CALLS, TOOL_RESULTS
from trialrun.model.steps import StepStatus, StepType
from trialrun.model.trace import TokenUsage, Trace

_CREW = ("raw", "tasks_output", "token_usage")
_AGENT = ("raw", "agent_role", "messages", "usage_metrics")
_CALLS = frozenset({TOOL_CALLS, TOOL_ARGS, TOOL_RESULTS})
_MODEL = frozenset({LLM_CALLS, TOKENS, COSTS})
# Models that cannot call tools write `Action: price` and get `Observation: 2` in the same text.
_AS_TEXT = ("\nAction:", "\nObservation:")
# The tools by which one agent has another work, of whose messages nothing is shown.
_DELEGATION = ("delegateworkto", "askquestionto")


def is_crew_result(value: Any) -> bool:
    """Whether it has what a `CrewOutput` or a `LiteAgentOutput` has."""
    if isinstance(value, (type, dict)):
        return False
    return any(all(hasattr(value, name) for name in names) for names in (_CREW, _AGENT))


def crew_trace(result: Any) -> Trace:
    """The trace: the messages of every task, whose prompts the framework made."""
    builder = TraceBuilder("crewai")
    conversation = Conversation(builder)
    tasks = getattr(result, "tasks_output", None) or [result]
    for number, task in enumerate(tasks):
        agent = name_of(getattr(task, "agent", None)) or name_of(getattr(task, "agent_role", None))
        for message in dicts_in(plain(getattr(task, "messages", None))):
            _add(conversation, _with_own_keys(message, number), agent)
        _fail(builder, dicts_in(plain(getattr(task, "tool_failures", None))))
    conversation.finish()
    _count(conversation, getattr(result, "token_usage", None) or result.usage_metrics)
    for name in ("pydantic", "json_dict", "raw"):
        answer = getattr(result, name, None)
        if answer is not None:
            builder.say(plain(answer))
            break
    return conversation.trace(CARRIES)


def _with_own_keys(message: dict[str, Any], number: int) -> dict[str, Any]:
    """The message with keys of calls that no other task has: some models count from 0."""
    found = {**message}
    if isinstance(found.get("tool_call_id"), str):
        found["tool_call_id"] = f"{number} {found['tool_call_id']}"
    calls = dicts_in(found.get("tool_calls"))
    if calls:
        found["tool_calls"] = [{**call, "id": f"{number} {call.get('id')}"} for call in calls]
    return found


def _add(conversation: Conversation, message: dict[str, Any], agent: str | None) -> None:
    role = role_of(message)
    if role == "tool":
        conversation.add(message)
    if role != "assistant":
        return
    conversation.reply_message(message, agent=agent)
    text = text_of(message.get("content"))
    names = [draft.fields.get("tool_name", "") for draft in conversation.builder.drafts]
    delegated = any(_plain_name(name).startswith(_DELEGATION) for name in names)
    if delegated or any(mark in text for mark in _AS_TEXT):
        conversation.lost |= _CALLS


def _plain_name(name: str) -> str:
    return "".join(sign for sign in name.lower() if sign.isalnum())


def _fail(builder: TraceBuilder, failures: list[dict[str, Any]]) -> None:
    """Mark the calls that failed: their results are the text that the model was given."""
    for failure in failures:
        why = failure.get("failure")
        message = name_of(why.get("message")) if isinstance(why, dict) else None
        for draft in builder.drafts:
            same = draft.fields.get("tool_args") == failure.get("tool_args")
            if (
                draft.fields["type"] is StepType.TOOL_CALL
                and draft.fields.get("tool_name") == failure.get("tool_name")
                and same
                and draft.fields.get("status") is not StepStatus.FAILURE
            ):
                draft.set(status=StepStatus.FAILURE, error=message)
                break


def _count(conversation: Conversation, given: Any) -> None:
    """The usage is a sum: it is put on the last model call, where it is the sum of these calls.

    A crew that is used again goes on counting; managers and conversions ask a model in secret.
    """
    usage = plain(given)
    drafts = conversation.builder.drafts
    replies = [draft for draft in drafts if draft.fields["type"] is StepType.LLM_CALL]
    usage = usage if isinstance(usage, dict) else {}
    tokens = counted(
        None,
        input=usage.get("prompt_tokens"),
        output=usage.get("completion_tokens"),
        cached=usage.get("cached_prompt_tokens"),
        written=usage.get("cache_creation_tokens"),
        reasoning=usage.get("reasoning_tokens"),
    )
    if not replies or count(usage.get("successful_requests")) != len(replies):
        conversation.lost |= _MODEL
        return
    if tokens is not None and tokens.total_tokens:
        for reply in replies[:-1]:
            reply.set(tokens=TokenUsage(0, 0, 0))
        replies[-1].set(tokens=tokens)
        replies[-1].note(sum_of_calls=True)
