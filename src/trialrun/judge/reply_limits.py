"""Replies as they come over the wire, before a client sees them: bounded, and of one meaning."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from trialrun.util import strict_json

if TYPE_CHECKING:
    import httpx2

LARGEST_REPLY = 4 * 1024 * 1024
"""Bytes. A verdict has some hundreds; a reply of megabytes is a fault, and would cost memory."""


class Unusable(Exception):
    """A reply that no client should see."""


def cause(error: BaseException | None) -> Unusable | None:
    """What we said about a reply, where a client has wrapped it in an error of its own."""
    while error is not None and not isinstance(error, Unusable):
        error = error.__cause__ or error.__context__
    return error


async def inspect(response: httpx2.Response) -> None:
    """Read every reply ourselves first: within limits, and as JSON that has one meaning only.

    A client takes the last of two scores without a word.
    """
    if response.headers.get("content-encoding", "identity") != "identity":
        raise Unusable("the reply is compressed, which was not asked for")
    response.stream = _bounded(response.stream)
    content = await response.aread()
    try:
        _require_one_reply(strict_json.decode(content))
    except strict_json.NotStrict as error:
        raise Unusable(f"the reply cannot be trusted: {error}") from None
    except (ValueError, RecursionError):
        return  # no JSON at all: the client says so


def _require_one_reply(body: Any) -> None:
    """A server may send several replies in one: a client would take the first."""
    choices = body.get("choices") if isinstance(body, dict) else None
    if not isinstance(choices, list):
        return
    if len(choices) > 1:
        raise Unusable(f"the judge gave {len(choices)} replies at once")
    message = choices[0].get("message") if choices and isinstance(choices[0], dict) else None
    if isinstance(message, dict) and message.get("function_call") and message.get("tool_calls"):
        raise Unusable("the judge gave two verdicts at once")


def _bounded(stream: Any) -> Any:
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            received = 0
            async for chunk in stream:
                received += len(chunk)
                if received > LARGEST_REPLY:
                    raise Unusable(f"the reply has more than {LARGEST_REPLY >> 20} MB")
                yield chunk

        async def aclose(self) -> None:
            await stream.aclose()

    return Bounded()
