"""Builds a trace from what a recording says, in the order of the recording.

Importers of messages and sessions tell it what they read: prompts, replies of models, calls,
results. It joins results to calls, counts repeated replies and calls once, splits turns, and finds
out which kinds of evidence the recording has. The fidelity report has what was left out or joined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

from trialrun.errors import TraceError
from trialrun.importers._values import amount, as_arguments, moment
from trialrun.model.evidence import EVIDENCE
from trialrun.model.fidelity import IMPORTED
from trialrun.model.trace import (
    ANSWER,
    ANSWERED,
    COSTS,
    LLM_CALLS,
    TIMINGS,
    TOKENS,
    TOOL_ARGS,
    TOOL_CALLS,
    TOOL_RESULTS,
    Step,
    StepStatus,
    StepType,
    TokenUsage,
    Trace,
    TraceStatus,
)

UNKNOWN_MODEL = "unknown"


class Draft:
    """A step that is not complete yet: its result or its text may follow."""

    __slots__ = ("fields", "key", "parts")

    def __init__(self, kind: StepType, key: str | None, **fields: Any) -> None:
        self.key = key
        self.fields: dict[str, Any] = {"type": kind, **fields}
        self.parts: list[str] = []  # the texts of a reply

    @property
    def text(self) -> str:
        """The text of a reply, whole, even where its parts are far apart."""
        return "\n".join(self.parts)

    def note(self, **values: Any) -> None:
        """Add to the metadata of the step; None is left out."""
        for name, value in values.items():
            if value is not None:
                self.fields.setdefault("metadata", {})[name] = value

    def set(self, **values: Any) -> None:
        """Set fields of the step; None is left out."""
        for name, value in values.items():
            if value is not None:
                self.fields[name] = value


class TraceBuilder:
    """One run of an agent, as a recording tells it."""

    def __init__(self, format: str) -> None:
        self.format = format
        self.facts: dict[str, Any] = {}  # further metadata of the trace
        self.fields: dict[str, Any] = {}  # further fields of the trace: id, name, agent_name …
        self.drafts: list[Draft] = []
        self.input: str | None = None
        self.ends_in: str | None = None  # prompt, message, call or result
        self._answer: Draft | str | None = None
        self._earlier: Any = None  # the answer of the turn before
        self._reply: Draft | None = None  # the latest reply: it asked for the calls that follow
        self._replies: dict[str, Draft] = {}
        self._calls: dict[str, Draft] = {}
        self._repeated: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()

    # What happened

    def prompt(self, text: str, at: Any = None) -> None:
        """A message of the user: the first is the input, each further one begins a turn."""
        text = text.strip()
        if not text:
            return
        self._reply = None
        self.ends_in = "prompt"
        if self.input is None:
            self.input = text
            self.fields.setdefault("started_at", moment(at))
        else:
            draft = self._add(StepType.HUMAN_INPUT, None, at, input=text)
            if self.facts.pop("interrupted", None) is not None:
                self._answer = None  # it was the answer of an earlier turn
            self.facts.pop("unfinished", None)  # the run went on
            draft.note(**{ANSWERED: self.answer})
            self._earlier = self._earlier if self.answer is None else self.answer
        self._answer = None  # a greeting is not an answer

    def reply(
        self,
        text: str | None = None,
        *,
        model: str | None = None,
        key: str | None = None,
        at: Any = None,
        tokens: TokenUsage | None = None,
        cost: Any = None,
        ms: Any = None,
        parent: str | None = None,
        agent: str | None = None,
        is_answer: bool = True,
    ) -> Draft:
        """A reply of a model. A `key` that was seen before continues that reply.

        `parent` is the key of the call that started the agent (a subagent), `agent` its name. Text
        of a subagent is not an answer (`is_answer`).
        """
        draft = self._replies.get(key) if key else None
        if draft is None:
            draft = self._add(StepType.LLM_CALL, key, at, parent_key=parent)
            if key:
                self._replies[key] = draft
        if text and text.strip():
            draft.parts.append(text)
            if is_answer:
                self.facts.pop("interrupted", None)
                self._answer = draft
                self.ends_in = "message"
        draft.set(model=model, tokens=tokens, cost_usd=amount(cost), duration_ms=amount(ms))
        draft.note(agent=agent)
        self._reply = draft
        return draft

    def think(self, text: str | None, at: Any = None, parent: str | None = None) -> None:
        """Reasoning that the recording shows."""
        if text and text.strip():
            self._add(StepType.REASONING, None, at, reasoning_text=text, parent_key=parent)

    def call(
        self,
        name: str,
        arguments: Any = None,
        *,
        key: str | None = None,
        at: Any = None,
        parent: str | None = None,
        agent: str | None = None,
        alone: bool = False,
    ) -> Draft:
        """A call of a tool. Arguments of None were not recorded; JSON text is decoded.

        It belongs to the latest reply unless it is `alone`: calls of one reply are parallel. A
        `key` that was seen before is the same call once more, unless that one has ended and was
        another: in published recordings ids may be masked, all alike.
        """
        given = as_arguments(arguments)
        known = self._calls.get(key) if key else None
        if known is not None and not _is_another(known, name, given):
            self.repeated("tool call")
            known.set(tool_args=given)
            return known
        draft = self._add(StepType.TOOL_CALL, key, at, tool_name=name or "unnamed")
        draft.set(tool_args=given)
        draft.fields["status"] = StepStatus.PENDING
        if parent is not None:
            draft.fields["parent_key"] = parent
        elif self._reply is not None and not alone:
            draft.fields["parent_draft"] = self._reply
        draft.note(agent=agent)
        if key:
            self._calls[key] = draft
        self.ends_in = "call"
        return draft

    def result(
        self,
        key: str | Draft | None,
        value: Any,
        *,
        failed: bool = False,
        error: str | None = None,
        exit_code: Any = None,
        at: Any = None,
        ms: Any = None,
    ) -> bool:
        """The result of a call; False if there is none. An exit code decides its outcome."""
        draft = key if isinstance(key, Draft) else self._calls.get(key or "")
        if draft is None:
            self.dropped("result without a call")
            return False
        if type(exit_code) is int:
            failed = exit_code != 0
            draft.note(exit_code=exit_code)
        draft.fields["tool_result"] = "" if value is None else value
        draft.fields["status"] = (
            StepStatus.FAILURE if failed or error is not None else StepStatus.SUCCESS
        )
        began, ended = draft.fields.get("timestamp"), moment(at)
        if amount(ms) is None and began is not None and ended is not None and ended >= began:
            ms = (ended - began).total_seconds() * 1000
        draft.set(error=error, duration_ms=amount(ms))
        self.ends_in = "result"
        return True

    def handoff(self, to: str, at: Any = None, parent: str | None = None) -> None:
        """The work was handed to another agent."""
        self._add(StepType.HANDOFF, None, at, handoff_to=to, parent_key=parent)

    def retrieval(self, query: str, results: Any = None, at: Any = None, **fields: Any) -> Draft:
        """A document search that is not a call of a tool."""
        return self._add(StepType.RETRIEVAL, None, at, input=query, tool_result=results, **fields)

    def say(self, text: Any) -> None:
        """The answer of the agent, where it is not the text of a reply."""
        self._answer = text
        self.ends_in = "message"

    def cut_off(self, why: str) -> None:
        """The recording says that the run did not come to an end: it has no answer."""
        self.facts["unfinished"] = why

    def interrupted(self, why: str) -> None:
        """The user stopped the last turn: where it has no text, the answer before it counts."""
        if self.answer is None and self._earlier is not None:
            self._answer = self._earlier
            self.facts["interrupted"] = why
        else:
            self.cut_off(why)

    def repeated(self, what: str) -> None:
        """Something was recorded more than once and counts once."""
        self._repeated[what] += 1

    def dropped(self, what: str) -> None:
        """Something in the recording is not part of the trace."""
        self._dropped[what] += 1

    # What was found

    @property
    def answer(self) -> Any:
        """The last text of the agent in this turn, or what `say` was given."""
        return self._answer.text if isinstance(self._answer, Draft) else self._answer

    def waiting_call(self, name: str) -> Draft | None:
        """The first call of this tool without a result, for recordings without ids."""
        for draft in self.drafts:
            if draft.fields.get("tool_name") == name and "tool_result" not in draft.fields:
                return draft
        return None

    def name_call(self, draft: Draft, key: str) -> None:
        """Give a call that was recorded without a key the key that its result has."""
        draft.key = key
        self._calls[key] = draft

    def find_call(self, key: str) -> Draft | None:
        """The call with this key."""
        return self._calls.get(key)

    def find_reply(self, key: str) -> Draft | None:
        """The reply with this key."""
        return self._replies.get(key)

    def rename_reply(self, draft: Draft, key: str | None) -> None:
        """Give a reply its key, where the recording tells it later."""
        if key is not None:
            draft.key = key
            self._replies[key] = draft

    @property
    def is_empty(self) -> bool:
        """Whether nothing was recorded."""
        return self.input is None and not self.drafts

    def trace(
        self, carries: Collection[str] = EVIDENCE, *, name: str | None = None, **facts: Any
    ) -> Trace:
        """The trace. `carries`: the kinds of evidence that the format records at all."""
        steps, problems = self._steps()
        self.facts |= {key: value for key, value in facts.items() if value is not None}
        trace = Trace(
            input=self.input or "",
            output=None if "unfinished" in self.facts else self.answer,
            steps=steps,
            **{"name": name, **{k: v for k, v in self.fields.items() if v is not None}},
        )
        trace.recorded = self._evidence(trace, carries)
        for problem in problems:
            self.dropped(problem)
        trace.metadata = {**self.facts, **self._report(trace)}
        if "unfinished" in self.facts and trace.status is TraceStatus.SUCCESS:
            trace.status = TraceStatus.FAILURE
        return trace

    # Details

    def _add(self, kind: StepType, key: str | None, at: Any, **fields: Any) -> Draft:
        draft = Draft(kind, key, **fields)
        draft.set(timestamp=moment(at))
        self.drafts.append(draft)
        return draft

    def _steps(self) -> tuple[list[Step], list[str]]:
        """The steps, and what could not be read as one."""
        ids = {id(draft): f"s{number}" for number, draft in enumerate(self.drafts, 1)}
        steps, problems = [], []
        for draft in self.drafts:
            fields = dict(draft.fields)
            parent_key, parent = fields.pop("parent_key", None), fields.pop("parent_draft", None)
            if parent_key is not None:
                parent = self._calls.get(parent_key) or self._replies.get(parent_key)
            fields["id"] = ids[id(draft)]
            fields["parent_id"] = ids.get(id(parent))
            if fields["type"] is StepType.LLM_CALL:
                fields["output"] = draft.text or None
                fields.setdefault("model", UNKNOWN_MODEL)
            try:
                steps.append(Step(**fields))
            except TraceError as error:
                problems.append(str(error))
        return steps, problems

    def _evidence(self, trace: Trace, carries: Collection[str]) -> frozenset[str]:
        """What this recording has of what its format can have."""
        kinds = set(carries) & set(EVIDENCE)
        calls, replies = trace.tool_calls, trace.llm_calls
        has = {
            ANSWER: trace.output is not None,
            TOOL_CALLS: TOOL_CALLS in kinds or bool(calls),
            TOOL_ARGS: not calls or any(call.tool_args is not None for call in calls),
            TOOL_RESULTS: not calls or any(call.tool_result is not None for call in calls),
            LLM_CALLS: bool(replies),
            TOKENS: any(reply.tokens is not None for reply in replies) and trace.summed_tokens != 0,
            COSTS: any(reply.cost_usd is not None for reply in replies),
            TIMINGS: trace.measured_ms() is not None,
        }
        return frozenset(kind for kind in kinds if has.get(kind, True))

    def _report(self, trace: Trace) -> dict[str, Any]:
        report: dict[str, Any] = {"format": self.format}
        absent = sorted(EVIDENCE - trace.recorded)
        if absent:
            report["absent"] = absent
        if self._repeated:
            report["repeated"] = dict(self._repeated)
        if self._dropped:
            report["dropped"] = dict(self._dropped)
        ends = {} if self.ends_in in (None, "message") else {"ends_in": self.ends_in}
        return {**ends, IMPORTED: report}


def _is_another(known: Draft, name: str, arguments: Any) -> bool:
    """Whether a call that has ended is another one than this, which has its key."""
    fields = known.fields
    before = fields.get("tool_args")
    differs = None not in (before, arguments) and before != arguments
    return fields.get("status") is not StepStatus.PENDING and (
        differs or fields["tool_name"] != (name or "unnamed")
    )
