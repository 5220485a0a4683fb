"""Read rollouts of Codex CLI, which it writes for each session: one JSON object a line.

`response_item` is what went to and from the model; `event_msg` is what was shown, and repeats much
of it. Prompts and tokens are read from the events, all else from the items. The usage in
`token_count` is a sum over the session and is written again unchanged: each new sum is one model
call. Old rollouts have bare items without `payload`, times and tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers._builder import Draft
from trialrun.importers._shell_text import codex_outcome
from trialrun.importers._usage import counted
from trialrun.importers._values import as_arguments, as_dict, moment, name_of, text_of
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import COSTS, EVIDENCE, HANDOFFS, RETRIEVALS
from trialrun.model.trace import StepStatus

_LINES = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})
_BARE_ITEMS = frozenset({"message", "reasoning", "function_call", "local_shell_call"})
# Codex itself writes these messages of the user, in front of the prompt or after an interruption.
_INJECTED = ("<", "# AGENTS.md instructions")
_IDE_PROMPT = "## My request for Codex:"
_COUNTS = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
_ALL_COUNTS = (*_COUNTS, "reasoning_output_tokens", "total_tokens")


class CodexImporter(Importer):
    """Reads one session from a rollout file."""

    name = "codex"
    title = "rollouts of Codex CLI, Codex Desktop and the Codex extension, old and new"
    suffixes = (".jsonl",)
    export = "`~/.codex/sessions/YEAR/MONTH/DAY/rollout-….jsonl`, as Codex writes it"
    carries = EVIDENCE - {COSTS, HANDOFFS, RETRIEVALS}
    one_run_a_file = True
    example = (
        '{"timestamp": "2026-01-02T03:04:05Z", "type": "session_meta", "payload": {"id": "s", '
        '"timestamp": "2026-01-02T03:04:05Z", "cwd": "/app", "cli_version": "0.125.0"}}\n'
        '{"timestamp": "2026-01-02T03:04:05Z", "type": "turn_context", "payload": {"model": "m"}}\n'
        '{"timestamp": "2026-01-02T03:04:05Z", "type": "event_msg", '
        '"payload": {"type": "user_message", "message": "2 + 2?"}}\n'
        '{"timestamp": "2026-01-02T03:04:06Z", "type": "response_item", "payload": {"type": '
        '"function_call", "name": "exec_command", "call_id": "c", '
        '"arguments": "{\\"cmd\\": \\"expr 2 + 2\\"}"}}\n'
        '{"timestamp": "2026-01-02T03:04:07Z", "type": "response_item", "payload": {"type": '
        '"function_call_output", "call_id": "c", '
        '"output": "Process exited with code 0\\nOutput:\\n4"}}\n'
        '{"timestamp": "2026-01-02T03:04:08Z", "type": "response_item", "payload": {"type": '
        '"message", "role": "assistant", "content": [{"type": "output_text", "text": "4"}]}}\n'
        '{"timestamp": "2026-01-02T03:04:08Z", "type": "event_msg", "payload": {"type": '
        '"token_count", "info": {"total_token_usage": {"input_tokens": 9, "output_tokens": 1, '
        '"total_tokens": 10}, "last_token_usage": {"input_tokens": 9, "output_tokens": 1, '
        '"total_tokens": 10}}}}\n'
    )

    def recognises(self, source: Source) -> bool:
        objects = source.objects
        if not objects:
            return False
        first = objects[0]
        if str(first.get("type")) in _LINES and isinstance(first.get("payload"), dict):
            return True
        is_header = "id" in first and "timestamp" in first and "instructions" in first
        has_items = any(
            value.get("record_type") == "state" or str(value.get("type")) in _BARE_ITEMS
            for value in objects[1:3]
        )
        return is_header and "type" not in first and has_items

    def records(self, source: Source) -> Iterator[Record | Problem]:
        rollout = _Rollout(counts_tokens=_counts_tokens(source))
        for item in source.values():
            if isinstance(item, Problem):
                yield item
            elif isinstance(item[1], dict):
                rollout.line(item[1])
        rollout.end()
        if not rollout.builder.is_empty:
            yield rollout.builder.trace(self.carries), []


def _counts_tokens(source: Source) -> bool:
    """Whether the file has usage at all, found without decoding it.

    In a text inside JSON the quotes are escaped, so this is never the output of a command.
    """
    for _, line in source.lines():
        if not isinstance(line, Problem) and (
            b'"total_token_usage"' in line or b'"token_usage_record"' in line
        ):
            return True
    return False


class _Rollout:
    """What has been read so far."""

    def __init__(self, counts_tokens: bool) -> None:
        self.builder = TraceBuilder("codex")
        self.builder.fields["framework"] = "codex"
        self.counts_tokens = counts_tokens
        self.model: str | None = None
        self.cwd: str | None = None
        self.own: dict[str, Any] | None = None  # the first session_meta
        self.copied = False  # inside the history of the session that this one was forked from
        self.reply: Draft | None = None  # the model call that is not complete
        self.replies = 0
        self.usage_first: bool | None = None  # whether usage comes before what it is for
        self.had_output = False
        self.total: dict[str, int] = {}
        self.has_records = False
        self.has_prompts = False  # whether events tell prompts from what Codex has added
        self.candidates: list[tuple[str, Any]] = []
        self.exits: dict[str, int] = {}
        self.failed: set[str] = set()
        self.last: Any = None

    def line(self, line: dict[str, Any]) -> None:
        """Read one line."""
        kind, payload, at = line.get("type"), line.get("payload"), line.get("timestamp")
        if not isinstance(payload, dict):
            self._bare(line)
            return
        self.last = at or self.last
        if self.copied and not self._ends_copy(kind, payload, at):
            self.builder.dropped("line of the session that this one was forked from")
            if payload.get("type") == "token_count":
                self.total = _total(payload) or self.total
            return
        handler = _HANDLERS.get(kind) if isinstance(kind, str) else None
        if handler is not None:
            handler(self, payload, at)

    def _bare(self, line: dict[str, Any]) -> None:
        """A line of an old rollout: an item, or the header."""
        if "type" in line:
            self._item(line, line.get("timestamp"))
        elif self.own is None and "id" in line:
            self._meta(line, line.get("timestamp"))

    def _meta(self, payload: dict[str, Any], at: Any) -> None:
        if self.own is not None:
            # A fork writes the history of the other session again, after that session's header.
            self.copied = "forked_from_id" in self.own and payload.get("id") != self.own.get("id")
            return
        self.own = {**payload, "written": at}
        self.cwd = name_of(payload.get("cwd")) or self.cwd
        self.builder.fields["id"] = name_of(payload.get("id"))
        names = {"cwd": "cwd", "cli_version": "codex", "parent_thread_id": "parent_session"}
        for key, name in names.items():
            if name_of(payload.get(key)):
                self.builder.facts[name] = payload[key]
        self.builder.fields["agent_name"] = _agent_name(payload.get("source"))

    def _ends_copy(self, kind: Any, payload: dict[str, Any], at: Any) -> bool:
        """Whether the copied history ends here: the first turn of this session begins."""
        own = self.own or {}
        created, written, now = moment(own.get("timestamp")), moment(own.get("written")), moment(at)
        started = moment(payload.get("started_at")) if kind == "event_msg" else None
        if created is not None and started is not None:
            self.copied = started < created.replace(microsecond=0)
        elif written is not None and now is not None:
            self.copied = (now - written).total_seconds() < 2
        return not self.copied

    def _context(self, payload: dict[str, Any], at: Any) -> None:
        self.model = name_of(payload.get("model")) or self.model
        self.cwd = name_of(payload.get("cwd")) or self.cwd

    # What went to and from the model

    def _item(self, item: dict[str, Any], at: Any) -> None:
        kind = item.get("type")
        if not isinstance(kind, str):
            return
        if kind == "message":
            self._message(item, at)
        elif kind == "agent_message":
            self._task(item, at)
        elif kind == "reasoning":
            self._opened(at)
            text = text_of(item.get("summary")) or text_of(item.get("content"))
            self.builder.think(text, at)
        elif kind.endswith("_output"):
            self._output(item, at)
        elif kind.endswith("_call"):
            self._call(item, kind, at)

    def _message(self, item: dict[str, Any], at: Any) -> None:
        text = text_of(item.get("content"))
        if item.get("role") == "assistant":
            self.builder.facts.pop("unfinished", None)  # an error that was overcome
            self._opened(at)
            self._continue(text)
        elif item.get("role") == "user":
            self.candidates.append((text, at))

    def _task(self, item: dict[str, Any], at: Any) -> None:
        """A message of another agent: the task of a subagent, if it is not encrypted."""
        head, _, task = text_of(item.get("content")).partition("Payload:\n")
        if "NEW_TASK" in head and task.strip():
            self.builder.prompt(task, at)

    def _call(self, item: dict[str, Any], kind: str, at: Any) -> None:
        self._opened(at)
        given = [item.get(key) for key in ("arguments", "input", "action")]
        arguments = as_arguments(next((value for value in given if value is not None), None))
        key = name_of(item.get("call_id")) or name_of(item.get("id"))
        draft = self.builder.call(name_of(item.get("name")) or kind, arguments, key=key, at=at)
        folder = [(arguments or {}).get(name) for name in ("workdir", "working_directory")]
        draft.note(
            cwd=next(filter(name_of, folder), None) or self.cwd,
            namespace=name_of(item.get("namespace")),
        )
        if kind == "web_search_call" and item.get("status") == "completed":
            draft.set(status=StepStatus.SUCCESS)  # its result goes to the model unseen

    def _output(self, item: dict[str, Any], at: Any) -> None:
        self.had_output = True
        key = name_of(item.get("call_id"))
        value, code, failed = codex_outcome(item.get("output", item.get("tools")))
        code = self.exits.get(key or "") if code is None else code
        failed = failed or key in self.failed
        self.builder.result(key, value, failed=failed, exit_code=code, at=at)

    # Model calls

    def _opened(self, at: Any) -> None:
        """The model call that an item belongs to has begun."""
        self._take_candidates()
        if not self.counts_tokens and self.had_output:
            self.reply = None  # without usage, the results end a call
        self.had_output = False
        if self.reply is None:
            self.replies += 1
            key = f"reply {self.replies}"
            self.reply = self.builder.reply(key=key, model=self.model, at=at)

    def _continue(self, text: str) -> None:
        self.builder.reply(text, key=f"reply {self.replies}")

    def _usage(self, usage: dict[str, Any], at: Any) -> None:
        if self.usage_first is None:
            self.usage_first = self.reply is None
        if self.usage_first:
            self.reply = None
        self._opened(at)
        assert self.reply is not None
        self.reply.set(
            tokens=counted(
                self.model,
                input=usage.get("input_tokens"),
                output=usage.get("output_tokens"),
                cached=usage.get("cached_input_tokens"),
                written=usage.get("cache_write_input_tokens"),
                reasoning=usage.get("reasoning_output_tokens"),
            )
        )
        if not self.usage_first:
            self.reply = None

    def _record(self, payload: dict[str, Any], at: Any) -> None:
        usage = payload.get("usage")
        if isinstance(usage, dict):
            self.has_records = True
            self._usage(usage, at)

    def _token_count(self, payload: dict[str, Any], at: Any) -> None:
        total = _total(payload)
        if self.has_records or total is None or total == self.total:
            return
        before, self.total = self.total, total
        last = as_dict(payload.get("info")).get("last_token_usage")
        # The sum also has what an interrupted call used. It is not taken where the file begins
        # in the middle of a session, or where it was set back.
        if before and all(total[key] >= before.get(key, 0) for key in _ALL_COUNTS):
            self._usage({key: total[key] - before.get(key, 0) for key in _ALL_COUNTS}, at)
        else:
            self._usage(last if isinstance(last, dict) else total, at)

    def _end_turn(self) -> None:
        """A reply whose usage never came was interrupted: its text and calls are kept."""
        if self.counts_tokens and self.reply is not None and "tokens" not in self.reply.fields:
            self.builder.drafts = [one for one in self.builder.drafts if one is not self.reply]
            self.builder.dropped("model call that was interrupted, without usage")
        self.reply = None

    # What was shown

    def _event(self, payload: dict[str, Any], at: Any) -> None:
        handler = _EVENTS.get(str(payload.get("type")))
        if handler is not None:
            handler(self, payload, at)

    def _user_message(self, payload: dict[str, Any], at: Any) -> None:
        if payload.get("kind", "plain") == "plain":  # else Codex has added it
            self._shown_prompt(name_of(payload.get("message")) or "", at)

    def _shown_prompt(self, text: str, at: Any) -> None:
        self.has_prompts = True
        self.builder.prompt(_request(text), at)

    def _take_candidates(self) -> None:
        """Without events, a message of the user is a prompt if Codex has not written it."""
        if not self.has_prompts:
            for text, at in self.candidates:
                if not text.lstrip().startswith(_INJECTED):
                    self.builder.prompt(_request(text), at)
        self.candidates.clear()

    def _item_completed(self, payload: dict[str, Any], at: Any) -> None:
        item = payload.get("item")
        if not isinstance(item, dict):
            return
        if item.get("type") == "UserMessage":
            self._shown_prompt(text_of(item.get("content")), at)
        elif item.get("type") in ("CommandExecution", "FileChange", "McpToolCall"):
            self._ended({**item, "call_id": item.get("id")}, at)

    def _ended(self, payload: dict[str, Any], at: Any) -> None:
        """The end of a command, patch or MCP call, before or after its output is returned.

        A command in the background ends later, and its output has no exit code.
        """
        key, code = name_of(payload.get("call_id")), payload.get("exit_code")
        draft = self.builder.find_call(key or "")
        if draft is None or key is None:
            self.builder.dropped("call inside a script")
            return
        if type(code) is int:
            self.exits[key] = code
        failed = payload.get("success") is False or self.exits.get(key, 0) != 0
        if failed and "exit_code" not in draft.fields.get("metadata", {}):
            self.failed.add(key)
            draft.note(exit_code=self.exits.get(key))
            draft.set(status=StepStatus.FAILURE)

    def _task_complete(self, payload: dict[str, Any], at: Any) -> None:
        self._end_turn()

    def _turn_aborted(self, payload: dict[str, Any], at: Any) -> None:
        self._end_turn()
        self.builder.interrupted(f"the turn was {name_of(payload.get('reason')) or 'aborted'}")

    def _error(self, payload: dict[str, Any], at: Any) -> None:
        self.builder.cut_off(f"error: {name_of(payload.get('message')) or 'not named'}")

    def end(self) -> None:
        """The file ends here."""
        self._take_candidates()
        self._end_turn()
        self.builder.fields["completed_at"] = moment(self.last)


def _request(text: str) -> str:
    """What the user wrote, without the files and selections that an editor puts in front."""
    request = text.rpartition(_IDE_PROMPT)[2]
    return request if text.lstrip().startswith("# ") and request.strip() else text


def _total(payload: dict[str, Any]) -> dict[str, int] | None:
    """The cumulative usage of a `token_count`; None if it has none."""
    total = as_dict(payload.get("info")).get("total_token_usage")
    if not isinstance(total, dict):
        return None
    given = {key: total.get(key, 0) for key in _ALL_COUNTS}
    return given if all(type(value) is int for value in given.values()) else None


def _agent_name(source: Any) -> str | None:
    """The name of a subagent, from where its session was started."""
    started = source.get("subagent") if isinstance(source, dict) else None
    if isinstance(started, dict):
        spawned = started.get("thread_spawn", started)
        if isinstance(spawned, dict):
            names = ("agent_path", "agent_nickname", "agent_role", "other")
            return next(
                (name_of(spawned[name]) for name in names if name_of(spawned.get(name))), None
            )
    return name_of(started)


_Handler = Callable[[_Rollout, dict[str, Any], Any], None]

_HANDLERS: dict[str, _Handler] = {
    "session_meta": _Rollout._meta,
    "turn_context": _Rollout._context,
    "response_item": _Rollout._item,
    "event_msg": _Rollout._event,
    "token_usage_record": _Rollout._record,
}
_EVENTS: dict[str, _Handler] = {
    "user_message": _Rollout._user_message,
    "token_count": _Rollout._token_count,
    "item_completed": _Rollout._item_completed,
    "exec_command_end": _Rollout._ended,
    "patch_apply_end": _Rollout._ended,
    "mcp_tool_call_end": _Rollout._ended,
    "task_complete": _Rollout._task_complete,
    "turn_aborted": _Rollout._turn_aborted,
    "error": _Rollout._error,
}
