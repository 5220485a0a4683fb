"""Read the answer in a text that an agent sent: the stdout of a command, the body of a reply.

The text is either exactly one JSON document, or plain text without the JSON of an answer. A text
that holds both is an error: taken as plain text, the arguments and results of tools, or the text of
an error, would be part of the answer, and checks would find their words there.
"""

from __future__ import annotations

import json
import re
from typing import Any

from trialrun.agents.base import Failure
from trialrun.agents.running.answers import from_mapping, reported_error
from trialrun.agents.running.embedded_json import why_not_plain
from trialrun.errors import TraceError
from trialrun.util import strict_json
from trialrun.util.texts import excerpt

BOM = "\ufeff"
"""Windows programs write it before UTF-8; it belongs to the encoding, not to the answer."""

_BEGINS_AS_JSON = re.compile(r'\s*\{\s*"')  # {"output": …
_NOT_JSON = object()


def from_printed(text: str) -> dict[str, Any] | Failure:
    """The answer in the stdout of a command: JSON with `output`, else the text as it is.

    A stream of events, or a document, in a format that an importer knows is a trace.
    """
    text = text.lstrip(BOM)
    if not text.strip():
        return Failure(
            message='the command printed nothing; an answer that is empty is {"output": ""}'
        )
    try:
        value = _decoded(text)
    except (ValueError, RecursionError) as error:
        unread = f"the command printed JSON that cannot be read: {error}; {_REMEDY}"
        return _recorded(text) or Failure(message=unread)
    recorded = _recorded(text) if _may_be_recording(value) else None
    if recorded is not None:
        return recorded
    if isinstance(value, dict):
        found = from_mapping(value, "the command printed")
        if isinstance(found, Failure) and not _is_answer(value):
            found.message += f"; {_STRUCTURED}"
        return found
    if isinstance(value, list):
        return Failure(message=f"the command printed a JSON list; {_STRUCTURED}")
    mixed = why_not_plain(text) or _stream(text)
    if mixed is not None:
        return Failure(message=f"stdout holds {mixed}; {_REMEDY}")
    return {"output": text.removesuffix("\n").removesuffix("\r")}


def _may_be_recording(value: Any) -> bool:
    """Whether it is a stream of several lines, or an object that is not an answer."""
    return value is _NOT_JSON or (isinstance(value, dict) and "output" not in value)


def _recorded(text: str) -> dict[str, Any] | Failure | None:
    """The trace in a text that an importer recognises; None if none does."""
    if not text.lstrip().startswith(("{", "[", "data:", "event:")):
        return None
    from trialrun.capture.printed import trace_of_printed

    try:
        trace = trace_of_printed(text.encode(errors="replace"))
    except TraceError as error:
        return Failure(message=f"stdout holds a recording that cannot be read: {error}")
    return None if trace is None else {"output": None, **trace.to_dict()}


_REMEDY = (
    "print one JSON object with `output` and nothing else to stdout, and logs to stderr; "
    'a text that is the answer as it is: {"output": "the text"}'
)


_STRUCTURED = 'if that is the answer itself, print {"output": …} with it'


def _stream(text: str) -> str | None:
    """Whether the text is a stream of events, one JSON object a line: none of them is the answer.

    Taken as plain text, words in the result of a tool would be part of the answer.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or not all(line.lstrip().startswith("{") for line in lines):
        return None
    try:
        events = [strict_json.decode(line) for line in lines]
    except (ValueError, RecursionError):
        return None
    return f"a stream of {len(events)} JSON objects, one a line, which is not known"


def from_body(text: str, is_json: bool, path: str | None) -> dict[str, Any] | Failure:
    """The answer in the body of a reply. `path` says where it is in the JSON."""
    text = text.lstrip(BOM)
    begin = text[:2000].lstrip().lower()
    if not begin:
        return Failure(
            message='the reply has no text in it; an answer that is empty is {"output": ""}'
        )
    if begin.startswith(_HTML) or (begin.startswith(("<?xml", "<!--")) and "<html" in begin):
        return Failure(message=f"the reply is an HTML page, not an answer: {excerpt(text[:2000])}")
    needs_json = is_json or path is not None
    try:
        value = strict_json.decode(text) if needs_json else _decoded(text)
    except (ValueError, RecursionError) as error:
        said = excerpt(text[:2000])
        return Failure(message=f"the reply is not JSON: {error}; it says {said}")
    if needs_json or isinstance(value, (dict, list)):
        return _from_json(value, text, path)
    mixed = why_not_plain(text)
    if mixed is not None:
        return Failure(
            message=f"the reply holds {mixed}; expected one JSON object with `output`, or plain "
            "text"
        )
    return {"output": text}


_HTML = ("<!doctype html", "<html", "<head", "<body")


def _from_json(value: Any, text: str, path: str | None) -> dict[str, Any] | Failure:
    if path is not None:
        reported = reported_error(value) if isinstance(value, dict) else None
        return reported or answer_at(value, path)
    if isinstance(value, str):
        mixed = why_not_plain(text)
        if mixed is not None:
            return Failure(message=f"the reply is a JSON text that holds {mixed}")
        return {"output": value}
    if not isinstance(value, dict):
        return Failure(
            message=f"the reply is {excerpt(text[:2000])}, expected an object with `output`"
        )
    found = from_mapping(value, "the address answered")
    if isinstance(found, Failure) and not _is_answer(value):
        found.message += "; set `answer:` to the path of the answer"
    return found


def _is_answer(value: dict[str, Any]) -> bool:
    return "output" in value or bool(value.get("error"))


def _decoded(text: str) -> Any:
    """The JSON document that the text is; `_NOT_JSON` if it is plain text.

    Raises ValueError for an object that is cut off or has `output` and a mistake: a part of it
    would be taken for the answer. JSON that is followed by a text is a text.
    """
    try:
        return strict_json.decode(text)
    except strict_json.NotStrict:
        if '"output"' in text:
            raise
    except json.JSONDecodeError as error:
        if _BEGINS_AS_JSON.match(text) and (
            '"output"' in text or error.pos >= len(text.rstrip()) or "ntermin" in error.msg
        ):
            raise
    return _NOT_JSON


def answer_at(value: Any, path: str) -> dict[str, Any] | Failure:
    """The answer at a path such as `choices.0.message.content`."""
    found = value
    for part in path.split("."):
        if isinstance(found, dict) and part in found:
            found = found[part]
        elif (
            isinstance(found, list)
            and part.lstrip("-").isdecimal()
            and _has_index(found, int(part))
        ):
            found = found[int(part)]
        else:
            there = ", ".join(list(found)[:8]) if isinstance(found, dict) else type(found).__name__
            return Failure(message=f"the reply has no `{path}`: `{part}` is not in {there}")
    if found is None:
        return Failure(message=f"`{path}` of the reply is null: there is no answer")
    return {"output": found}


def _has_index(items: list[Any], index: int) -> bool:
    return -len(items) <= index < len(items)
