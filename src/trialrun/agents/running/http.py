"""An agent at an HTTP address: send the question, find the answer in the reply."""

from __future__ import annotations

import asyncio
import os
import re
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from trialrun.agents._placeholders import fill, fill_text
from trialrun.agents.base import (
    LARGE_REPLY,
    LARGEST_ANSWER,
    Failure,
    Question,
    Reply,
    megabytes,
    timed_out,
)
from trialrun.agents.running.reply_details import from_api, with_details
from trialrun.agents.running.reply_text import from_body
from trialrun.agents.url import VARIABLE, Api, UrlSettings
from trialrun.errors import PluginError
from trialrun.util.retries import TRANSIENT_STATUSES, seconds
from trialrun.util.texts import excerpt

if TYPE_CHECKING:
    import httpx2

_UNSENDABLE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")  # a line break, a null byte


_WITH_ANSWER = (200, 201, 203)
"""Statuses of a whole answer: 202 has none yet, 204 and 205 have none, 206 is a part of one."""


class HttpAgent:
    """Asks an HTTP address. Keys in headers are read from the environment when the run starts."""

    def __init__(self, settings: UrlSettings) -> None:
        self.settings = settings
        self.url = settings.url + _END_OF.get(settings.api or "", "") * _is_base(settings)
        self._client: httpx2.AsyncClient | None = None

    async def start(self, takes_turns: bool) -> None:
        """Read the keys, so that a missing one is reported before the first case runs."""
        import httpx2

        headers = {name: expand_variables(value) for name, value in self.settings.headers.items()}
        for name, value in headers.items():
            if _UNSENDABLE.search(value):  # when sent, it would look like an unreachable server
                raise PluginError(
                    f"the header {name} for {self.url} cannot be sent: its value has a line break "
                    "or another control character in it"
                )
        try:
            self._client = httpx2.AsyncClient(
                headers=headers,
                timeout=None,  # the time limit of the case applies
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100),
            )
        except (TypeError, ValueError) as error:  # a header that cannot be sent
            raise PluginError(f"the headers for {self.url} cannot be sent: {error}") from None

    async def ask(self, question: Question, limit: float) -> Reply:
        """Send the question; the reply, or the reason why there is none."""
        began = time.perf_counter()
        try:
            async with asyncio.timeout(limit):
                found = await self._ask(question)
        except TimeoutError:
            found = timed_out(limit)
        reply = Reply(duration_ms=(time.perf_counter() - began) * 1000)
        if isinstance(found, Failure):
            reply.failure = found
        else:
            reply.answer = found
        return reply

    async def _ask(self, question: Question) -> dict[str, Any] | Failure:
        import httpx2

        assert self._client is not None
        values = question.plain()
        body = _body(self.settings, values)
        url = fill_text(self.url, values, lambda text: quote(text, safe=""))
        sent: Any = {} if self.settings.method == "GET" else {"json": body}
        try:
            request = self._client.build_request(self.settings.method, url, **sent)
        except (TypeError, ValueError, httpx2.InvalidURL) as error:
            return Failure(message=f"the question cannot be sent to {url}: {error}")
        try:
            response = await self._client.send(request, stream=True)
            try:
                content = await _content(response)
            finally:
                await response.aclose()
        except httpx2.HTTPError as error:
            said = str(error) or type(error).__name__
            return Failure(message=f"{url} cannot be reached: {said}", transient=True)
        if content is None:
            return Failure(message=f"the reply has more than {megabytes(LARGEST_ANSWER)}")
        if response.status_code not in _WITH_ANSWER:
            return _refusal(response, content)
        if not content:
            return Failure(
                message=f"the address answered {response.status_code} without a body; an answer "
                'that is empty is {"output": ""}'
            )
        if len(content) < LARGE_REPLY:
            return self._answer(response, content)
        return await asyncio.to_thread(self._answer, response, content)

    def _answer(self, response: httpx2.Response, content: bytes) -> dict[str, Any] | Failure:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        is_json = kind.endswith(("/json", "+json"))
        if not is_json and kind not in ("text/plain", "") and not self._is_read_as_json():
            return Failure(message=f"the reply is {kind}, expected JSON or plain text")
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            return Failure(message=f"the reply is not UTF-8: {error.reason} at {error.start}")
        return self._fields(text, is_json)

    def _fields(self, text: str, is_json: bool) -> dict[str, Any] | Failure:
        """The answer, and what the reply says about tokens and calls."""
        settings = self.settings
        if settings.api is not None and settings.answer is None:
            return from_api(text)
        found = from_body(text, is_json, settings.answer)
        if isinstance(found, Failure) or (settings.usage is None and settings.tool_calls is None):
            return found
        return with_details(found, text, settings.usage, settings.tool_calls)

    def _is_read_as_json(self) -> bool:
        return self.settings.answer is not None or self.settings.api is not None

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()


_END_OF = {Api.OPENAI.value: "/chat/completions", Api.RESPONSES.value: "/responses"}


def _is_base(settings: UrlSettings) -> bool:
    """Whether the address is what clients call the base: `http://127.0.0.1:8000/v1`."""
    return settings.api is not None and settings.url.endswith("/v1")


def _body(settings: UrlSettings, values: dict[str, Any]) -> Any:
    """The body: the question by default; an API's own, with what `body:` adds to it."""
    given = None if settings.body is None else fill(settings.body, values)
    if settings.api is None:
        return values if given is None else given
    messages = [*values["history"], {"role": "user", "content": values["input"]}]
    own = {"input" if settings.api == Api.RESPONSES else "messages": messages}
    return {**own, **given} if isinstance(given, dict) else own


def expand_variables(text: str) -> str:
    """The text with `${NAME}` replaced by environment variables; a missing one is an error."""

    def value(match: re.Match[str]) -> str:
        found = os.environ.get(match[1])
        if found is None:
            raise PluginError(f"the environment variable {match[1]} is not set; a header needs it")
        return found

    return VARIABLE.sub(value, text)


async def _content(response: httpx2.Response) -> bytes | None:
    """The body, decompressed within limits; None if it is too large."""
    content = bytearray()
    async for chunk in response.aiter_bytes():
        content += chunk
        if len(content) > LARGEST_ANSWER:
            return None
    return bytes(content)


def _refusal(response: httpx2.Response, content: bytes) -> Failure:
    said = excerpt(content[:2000].decode("utf-8", "replace"), 300) if content else ""
    return Failure(
        message=f"the address answered {response.status_code}" + (f": {said}" if said else ""),
        transient=response.status_code in TRANSIENT_STATUSES,
        retry_after=seconds(response.headers.get("retry-after")),
    )
