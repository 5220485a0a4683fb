"""Read logs of Inspect: `.eval` archives and JSON, one trace for each sample and epoch.

Model and tool events tell what was done. Long texts are kept apart as attachments. Model calls of
scorers are recorded among the events, and are marked with the agent `scorer`. The members of recent
archives are compressed with zstd.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem, TraceError, UsageError
from trialrun.importers._lines import MAX_BYTES, TOO_LONG
from trialrun.importers._source import decode_json, zstd
from trialrun.importers._usage import counted
from trialrun.importers._values import name_of, text_of
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import COSTS, EVIDENCE, HANDOFFS, RETRIEVALS

_ZSTD = 93  # the method of zip that Python's own module does not know
_ENCRYPTED = 1  # the flag of a member
_ATTACHMENT = "attachment://"


class InspectLogImporter(Importer):
    """Reads the samples of a log, also of one whose run was stopped."""

    name = "inspect_log"
    title = "logs of Inspect (`.eval` and JSON)"
    suffixes = (".eval", ".json")
    export = "`logs/*.eval` of `inspect eval`"
    carries = EVIDENCE - {COSTS, HANDOFFS, RETRIEVALS}
    example = (
        '{"version": 2, "status": "success", "eval": {"task": "sum", "model": "m"}, "samples": ['
        '{"id": 1, "epoch": 1, "input": "2 + 2?", "messages": [{"role": "user", '
        '"content": "2 + 2?"}, {"role": "assistant", "content": "4"}], "output": {"choices": '
        '[{"message": {"role": "assistant", "content": "4"}}]}, "events": [{"event": "model", '
        '"model": "m", "output": {"usage": {"input_tokens": 3, "output_tokens": 1}, "choices": '
        '[{"message": {"role": "assistant", "content": "4"}}]}}]}]}'
    )

    def recognises(self, source: Source) -> bool:
        if source.start.startswith(b"PK"):
            return _is_log(source)
        return {"version", "eval", "samples"} <= source.keys

    def records(self, source: Source) -> Iterator[Record | Problem]:
        if not source.start.startswith(b"PK"):
            log = source.document
            samples = log["samples"] if isinstance(log["samples"], list) else []
            for sample in samples:
                yield from self._sample(source, sample, log.get("eval"))
            return
        try:
            with zipfile.ZipFile(source.path) as archive:
                yield from self._samples(source, archive)
        except (zipfile.BadZipFile, NotImplementedError, OSError) as error:
            raise TraceError(f"the archive cannot be read: {error}") from None

    def _samples(self, source: Source, archive: zipfile.ZipFile) -> Iterator[Record | Problem]:
        """The samples of an archive; one that cannot be read does not hide the others."""
        task = None
        try:
            task = _task(archive)
        except TraceError as error:
            yield Problem(str(error), file=str(source))
        for member in archive.infolist():
            if member.filename.startswith("samples/"):
                try:
                    yield from self._sample(source, _member(archive, member), task)
                except TraceError as error:
                    yield Problem(str(error), file=str(source))

    def _sample(self, source: Source, sample: Any, task: Any) -> Iterator[Record | Problem]:
        if not isinstance(sample, dict):
            yield Problem("a sample that is not an object", file=str(source))
            return
        task = task if isinstance(task, dict) else {}
        builder = TraceBuilder(self.name)
        _Sample(builder, sample, name_of(task.get("model"))).read()
        builder.fields |= {
            "id": name_of(sample.get("uuid")),
            "framework": "inspect",
            "agent_name": name_of(task.get("model")),
        }
        scores = sample.get("scores")
        yield (
            builder.trace(
                self.carries,
                name=f"{name_of(task.get('task')) or 'task'} {sample.get('id')}",
                epoch=sample.get("epoch"),
                scores=_score_values(scores) if isinstance(scores, dict) else None,
            ),
            [],
        )


def _is_log(source: Source) -> bool:
    try:
        with zipfile.ZipFile(source.path) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError):
        return False
    return bool(names & {"header.json", "_journal/start.json"})


def _task(archive: zipfile.ZipFile) -> Any:
    """The description of the evaluation; a log that was cut off has it only in its journal."""
    for name in ("header.json", "_journal/start.json"):
        if name in archive.namelist():
            found = _member(archive, archive.getinfo(name))
            if isinstance(found, dict):
                return found.get("eval")
    return None


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Any:
    """The value of a member; TraceError with its name if it cannot be read."""
    unpack = _METHODS.get(member.compress_type)
    if unpack is None:
        raise TraceError(f"{member.filename}: compressed in a way that is not read")
    if member.flag_bits & _ENCRYPTED:
        raise TraceError(f"{member.filename}: encrypted")
    try:
        # The size that the archive gives can be wrong: what is unpacked is limited.
        data = unpack(archive, member)
        if len(data) > MAX_BYTES or member.file_size > MAX_BYTES:
            raise TraceError(TOO_LONG)
        return decode_json(data)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, TraceError) as error:
        raise TraceError(f"{member.filename}: {error}") from None


def _inflated(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    with archive.open(member) as stream:
        return stream.read(MAX_BYTES + 1)


def _from_zstd(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    stream = archive.fp
    if stream is None:
        raise UsageError("the archive is closed")
    stream.seek(member.header_offset + 26)
    lengths = stream.read(4)
    name, extra = (int.from_bytes(lengths[at : at + 2], "little") for at in (0, 2))
    stream.seek(member.header_offset + 30 + name + extra)
    packed = io.BytesIO(stream.read(member.compress_size))
    module = zstd()
    try:
        with module.ZstdDecompressor().stream_reader(packed) as reader:
            return bytes(reader.read(MAX_BYTES + 1))
    except module.ZstdError as error:
        raise TraceError(str(error)) from None


# bz2 and lzma are missing: Inspect does not write them, and `zipfile` unpacks them without a limit.
_METHODS = {
    zipfile.ZIP_STORED: _inflated,
    zipfile.ZIP_DEFLATED: _inflated,
    _ZSTD: _from_zstd,
}


class _Sample:
    def __init__(self, builder: TraceBuilder, sample: dict[str, Any], model: str | None) -> None:
        self.builder = builder
        self.sample = sample
        self.model = model
        attachments = sample.get("attachments")
        self.attachments = attachments if isinstance(attachments, dict) else {}
        self.scoring = 0

    def read(self) -> None:
        given = self.sample.get("input")
        self.builder.prompt(self._input(given))
        events = self.sample.get("events")
        events = events if isinstance(events, list) else []
        self._events(events, None)
        if not any(isinstance(event, dict) and event.get("event") == "model" for event in events):
            self._messages()
        self._answer()
        error = self.sample.get("error")
        if isinstance(error, dict):
            self.builder.fields["error"] = name_of(error.get("message"))

    def _input(self, given: Any) -> str:
        if isinstance(given, str):
            return str(self._whole(given))
        messages = given if isinstance(given, list) else []
        asked = [one for one in messages if isinstance(one, dict) and one.get("role") == "user"]
        return "\n".join(self._whole(text_of(one.get("content"))) for one in asked)

    def _whole(self, text: Any) -> Any:
        """The text itself, if it was kept as an attachment."""
        if isinstance(text, str) and text.startswith(_ATTACHMENT):
            return self.attachments.get(text.removeprefix(_ATTACHMENT), text)
        return text

    def _events(self, events: list[Any], parent: str | None) -> None:
        for event in events:
            if not isinstance(event, dict):
                continue
            kind = event.get("event")
            if kind in ("step", "span_begin", "span_end"):
                self._span(event)
            elif kind == "model":
                self._model(event, parent)
            elif kind == "tool":
                self._tool(event, parent)

    def _span(self, event: dict[str, Any]) -> None:
        """Scorers ask models too: what they do is not the agent's work."""
        if event.get("type") in ("scorer", "scorers"):
            begins = event.get("event") == "span_begin" or event.get("action") == "begin"
            self.scoring += 1 if begins else -1
        elif event.get("event") == "span_begin" and self.scoring:
            self.scoring += 1
        elif event.get("event") == "span_end" and self.scoring:
            self.scoring -= 1

    def _model(self, event: dict[str, Any], parent: str | None) -> None:
        output = event.get("output")
        output = output if isinstance(output, dict) else {}
        message = _message(output)
        model = name_of(output.get("model")) or name_of(event.get("model")) or self.model
        usage = output.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        self._think(message.get("content"), event.get("timestamp"))
        reply = self.builder.reply(
            self._whole(text_of(message.get("content"))),
            model=model,
            at=event.get("timestamp"),
            tokens=counted(
                model,
                input=usage.get("input_tokens"),
                output=usage.get("output_tokens"),
                cached=usage.get("input_tokens_cache_read"),
                written=usage.get("input_tokens_cache_write"),
                reasoning=usage.get("reasoning_tokens"),
                cache_inside=_total_is_of_both(usage),
            ),
            ms=_milliseconds(output.get("time")),
            parent=parent,
            agent="scorer" if self.scoring else None,
            is_answer=not self.scoring and parent is None,
        )
        reply.set(error=name_of(event.get("error")))
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) and not self.scoring else ():
            if isinstance(call, dict):
                name, key = name_of(call.get("function")) or "", name_of(call.get("id"))
                self.builder.call(name, call.get("arguments"), key=key, at=event.get("timestamp"))

    def _think(self, content: Any, at: Any) -> None:
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict) and part.get("type") == "reasoning":
                self.builder.think(name_of(self._whole(part.get("reasoning"))), at)

    def _tool(self, event: dict[str, Any], parent: str | None) -> None:
        if self.scoring:
            return
        key = name_of(event.get("id"))
        call = self.builder.find_call(key) if key else None
        if call is None:
            name = name_of(event.get("function")) or ""
            call = self.builder.call(name, event.get("arguments"), key=key, parent=parent)
        error = event.get("error")
        reason = name_of(error.get("message")) if isinstance(error, dict) else None
        result = event.get("result")
        value = self._whole(text_of(result) if isinstance(result, list) else result)
        ended = event.get("completed")
        self.builder.result(call, value, failed=bool(error), error=reason, at=ended)
        nested = event.get("events")
        if isinstance(nested, list):
            self._events(nested, key)

    def _messages(self) -> None:
        """A log without events: calls and results are in the messages."""
        messages = self.sample.get("messages")
        for message in messages if isinstance(messages, list) else ():
            if not isinstance(message, dict):
                continue
            if message.get("role") == "assistant":
                self._model({"output": {"choices": [{"message": message}]}}, None)
            elif message.get("role") == "tool":
                error = message.get("error")
                key, value = name_of(message.get("tool_call_id")), text_of(message.get("content"))
                self.builder.result(key, self._whole(value), failed=bool(error))

    def _answer(self) -> None:
        """What the sample gives as its output; `submit` is a call that holds it."""
        output = self.sample.get("output")
        message = _message(output if isinstance(output, dict) else {})
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict) and call.get("function") == "submit":
                arguments = call.get("arguments")
                if isinstance(arguments, dict) and isinstance(arguments.get("answer"), str):
                    self.builder.say(arguments["answer"])
                    return
        text = self._whole(text_of(message.get("content")))
        if text:
            self.builder.say(text)


def _message(output: dict[str, Any]) -> dict[str, Any]:
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return message if isinstance(message, dict) else {}


def _total_is_of_both(usage: dict[str, Any]) -> bool:
    """Whether the total leaves nothing for cached tokens: they are in the input then.

    Inspect takes them out of the input for most providers, but not for all.
    """
    parts = usage.get("input_tokens"), usage.get("output_tokens")
    known = [part for part in parts if isinstance(part, int)]
    return len(known) == len(parts) and usage.get("total_tokens") == sum(known)


def _score_values(scores: dict[str, Any]) -> dict[str, Any]:
    return {
        str(name): score.get("value") for name, score in scores.items() if isinstance(score, dict)
    }


def _milliseconds(seconds: Any) -> float | None:
    return seconds * 1000 if isinstance(seconds, (int, float)) else None
