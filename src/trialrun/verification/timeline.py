"""The facts of one session, put together from its steps: calls, prompts and messages in order."""

from __future__ import annotations

from trialrun.model.steps import Step, StepType
from trialrun.model.trace import TOOL_ARGS, TOOL_CALLS, TOOL_RESULTS, Trace
from trialrun.verification.actions import add_call
from trialrun.verification.calls import SHELL, call_of
from trialrun.verification.collected import collect
from trialrun.verification.facts import Facts, Message
from trialrun.verification.runners import Table

NEEDED = frozenset({TOOL_CALLS, TOOL_ARGS, TOOL_RESULTS})
"""What must be recorded of the calls for a verdict on them."""


def facts_of(trace: Trace, table: Table, own: dict[str, str]) -> Facts:
    """Everything that was recognised in the session."""
    facts = collect(trace, table, own)
    cwd = facts.root
    messages: list[Message] = []
    texts: list[str] = []
    scripts: list[tuple[int, str]] = []
    prompts = [(0, trace.input)] if isinstance(trace.input, str) else []
    turn = 1
    parents = {step.id: step for step in trace.steps}
    for step in trace.steps:
        if step.type is StepType.TOOL_CALL:
            call = call_of(step, own, cwd)
            texts += (call.text, *(one for one in call.arguments.values() if isinstance(one, str)))
            add_call(facts, call)
            if call.kind == SHELL:
                scripts.append((facts.next(), str(call.arguments)))
        elif step.type is StepType.HUMAN_INPUT:
            turn += 1
            prompts.append((facts.at, str(step.output or step.input or "")))
        elif step.type is StepType.LLM_CALL and step.output and _speaks(step, parents):
            messages.append(Message(facts.next(), step.id, turn, step.output))
    answer = trace.answer_text or ""
    if answer.strip():
        while messages and messages[-1].turn == turn and _is_part(messages[-1].text, answer):
            messages.pop()
        messages.append(Message(facts.next(), "", turn, answer, last=True))
    return facts.facts(
        messages,
        texts,
        # "unfinished": interrupted, or ended by an error, and not taken up again.
        finished=not {"ends_in", "unfinished"} & trace.metadata.keys(),
        results_recorded=trace.recorded >= NEEDED,
        prompts=tuple(prompts),
        scripts=tuple(scripts),
    )


def _speaks(step: Step, parents: dict[str, Step]) -> bool:
    """Whether a model call is one of the main agent: a subagent speaks to its caller."""
    metadata = step.metadata
    if metadata.get("agent") or metadata.get("subagent"):
        return False
    parent = parents.get(step.parent_id or "")
    return parent is None or parent.type is not StepType.TOOL_CALL


def _is_part(text: str, answer: str) -> bool:
    return text.strip() in answer or answer.strip() in text
