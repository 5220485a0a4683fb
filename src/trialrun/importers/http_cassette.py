"""HTTP cassettes (vcrpy, and its relatives) of calls to model APIs.

One interaction is one HTTP call, not a run. The calls of a cassette are put together to one trace;
calls to other services are left out, and the report says so.
"""

from __future__ import annotations

import base64
import gzip
import re
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

from trialrun.errors import Problem, TraceError
from trialrun.importers._lines import MAX_BYTES
from trialrun.importers._source import NotJson, decode_json
from trialrun.importers._streams import bodies, event_in
from trialrun.importers._threads import Threads
from trialrun.importers._values import dicts_in, moment
from trialrun.importers._wire import CARRIES, is_body, messages_in
from trialrun.importers._yaml import read_yaml
from trialrun.importers.base import NO_DOCUMENT, Importer, Record, Source, TraceBuilder

# The first lines of a cassette: `interactions:`, then `- request:` or `- recorded_at: …`.
_YAML = re.compile(rb"^(?:version: 1\s+)?interactions:\s*\n(?:\s*-|\s+\S)", re.MULTILINE)
_TEXTS = {"string", "base64_string", "text"}
_GZIP = b"\x1f\x8b"


class HttpCassetteImporter(Importer):
    """Reads the model calls of one cassette as one run."""

    name = "http_cassette"
    title = "HTTP cassettes (vcrpy) of OpenAI and Anthropic calls"
    suffixes = (".yaml", ".yml", ".json")
    export = "`pytest --record-mode=once` with pytest-recording or vcrpy"
    carries = CARRIES
    example = (
        "interactions:\n- request:\n    method: POST\n"
        "    uri: https://api.openai.com/v1/chat/completions\n"
        '    body: \'{"model": "m", "messages": [{"role": "user", "content": "2 + 2?"}]}\'\n'
        "  response:\n    status: {code: 200, message: OK}\n    body:\n"
        '      string: \'{"id": "c", "object": "chat.completion", "model": "m", "choices": '
        '[{"message": {"role": "assistant", "content": "4"}}], "usage": {"prompt_tokens": 9, '
        '"completion_tokens": 1, "total_tokens": 10}}\'\nversion: 1\n'
    )

    def recognises(self, source: Source) -> bool:
        document = source.document
        if isinstance(document, NotJson):
            return _YAML.search(source.start[:4096]) is not None
        interactions = dicts_in(document.get("interactions")) if isinstance(document, dict) else []
        return bool(interactions) and "request" in interactions[0]

    def records(self, source: Source) -> Iterator[Record | Problem]:
        try:
            has_json = source.document is not NO_DOCUMENT
            document = source.document if has_json else read_yaml(source.content())
        except TraceError as error:
            yield Problem(str(error), file=str(source))
            return
        given = document.get("interactions") if isinstance(document, dict) else None
        builder = TraceBuilder(self.name)
        threads = Threads(builder)
        for interaction in dicts_in(given):
            _add(threads, interaction)
        threads.finish()
        if builder.is_empty:
            what = "the cassette has no call to a model API that is read (OpenAI, Anthropic)"
            yield Problem(what, file=str(source))
        else:
            yield threads.conversation.trace(self.carries), []


def _add(threads: Threads, interaction: dict[str, Any]) -> None:
    request, response = interaction.get("request"), interaction.get("response")
    if not isinstance(request, dict) or not isinstance(response, dict):
        threads.builder.dropped("interaction without a request and a response")
        return
    host = _host(request.get("uri", request.get("url")))
    asked = next(iter(_bodies(request)), None)
    if not isinstance(asked, dict) or messages_in(asked) is None:
        threads.builder.dropped(f"call to {host}")
        return
    status = _status(response)
    found = [body for body in _bodies(response) if is_body(body)]
    if status is not None and status >= 400:
        threads.builder.dropped(f"failed call to {host} (HTTP {status})")
        return
    if not found:  # embeddings, a count of tokens
        threads.builder.dropped(f"call to {host} without a reply of a model")
    at = moment(interaction.get("recorded_at"))
    for body in found:
        threads.add(asked, body, **({} if at is None else {"at": at}))


def _host(uri: Any) -> str:
    try:
        return urlsplit(str(uri)).hostname or "an unknown host"
    except ValueError:
        return "an unknown host"


def _status(response: dict[str, Any]) -> int | None:
    status = response.get("status", response.get("status_code"))
    code = status.get("code") if isinstance(status, dict) else status
    return code if type(code) is int else None


def _bodies(message: dict[str, Any]) -> list[Any]:
    """The decoded body of a request or response; several where a stream had several responses."""
    if message.get("parsed_body") is not None:
        return [message["parsed_body"]]
    body = message.get("body", message.get("content"))
    if isinstance(body, dict) and not _TEXTS & set(body):
        return [body]
    data = _plain(body)
    if data is None:
        return []
    try:
        return [decode_json(data)]
    except TraceError:
        events = (event for line in data.split(b"\n") if (event := event_in(line)) is not None)
        return list(bodies(events))


def _plain(body: Any) -> bytes | None:
    """The bytes of a body: text, base64 or bytes, decompressed; None if it cannot be read."""
    if isinstance(body, dict) and isinstance(body.get("base64_string"), str):
        try:
            body = base64.b64decode(body["base64_string"])
        except ValueError:
            return None
    elif isinstance(body, dict):
        body = body.get("string", body.get("text"))
    data = body.encode() if isinstance(body, str) else body
    if not isinstance(data, bytes) or not data.startswith(_GZIP):
        return data if isinstance(data, bytes) else None
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as stream:
            return bytes(stream.read(MAX_BYTES))
    except (OSError, EOFError, zlib.error):
        return None
