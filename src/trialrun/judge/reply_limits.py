"""Check replies before a client sees them: limited size, unambiguous JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from trialrun.util import strict_json

if TYPE_CHECKING:
    import httpx2

LARGEST_REPLY = 4 * 1024 * 1024
"""In bytes. A verdict has some hundreds; a reply of megabytes is a fault and costs memory."""


class UnusableReply(Exception):
    """A reply that the client must not see."""


def unusable_reply_in(error: BaseException | None) -> UnusableReply | None:
    """The error raised here, if a client has wrapped it in its own error."""
    while error is not None and not isinstance(error, UnusableReply):
        error = error.__cause__ or error.__context__
    return error


async def check_reply(response: httpx2.Response) -> None:
    """Read the reply first, within limits, and reject JSON that is ambiguous.

    A client would silently take the last of two scores.
    """
    if response.headers.get("content-encoding", "identity") != "identity":
        raise UnusableReply("the reply is compressed, which was not requested")
    response.stream = _bounded(response.stream)
    content = await response.aread()
    try:
        _require_one_reply(strict_json.decode(content))
    except strict_json.NotStrict as error:
        raise UnusableReply(f"the reply cannot be trusted: {error}") from None
    except (ValueError, RecursionError):
        return  # not JSON: the client reports it


def _require_one_reply(body: Any) -> None:
    """Reject several replies in one: a client would take the first."""
    choices = body.get("choices") if isinstance(body, dict) else None
    if not isinstance(choices, list):
        return
    if len(choices) > 1:
        raise UnusableReply(f"the judge gave {len(choices)} replies at once")
    message = choices[0].get("message") if choices and isinstance(choices[0], dict) else None
    if isinstance(message, dict) and message.get("function_call") and message.get("tool_calls"):
        raise UnusableReply("the judge gave two verdicts at once")


def _bounded(stream: Any) -> Any:
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            received = 0
            async for chunk in stream:
                received += len(chunk)
                if received > LARGEST_REPLY:
                    raise UnusableReply(f"the reply has more than {LARGEST_REPLY >> 20} MB")
                yield chunk

        async def aclose(self) -> None:
            await stream.aclose()

    return Bounded()
