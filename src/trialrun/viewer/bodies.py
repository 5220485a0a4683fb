"""Reads the form of a request: bounded in memory, however it is compressed or cut."""

from __future__ import annotations

import zlib
from urllib.parse import parse_qs

from starlette.requests import Request

from trialrun.viewer.guard import Refused

LONGEST_BODY = 1024 * 1024
"""Bytes of a body after inflation; a label has some hundred."""

_MOST_FIELDS = 50
_GZIP = 16 + zlib.MAX_WBITS
_WINDOWS = {"gzip": _GZIP, "x-gzip": _GZIP, "deflate": zlib.MAX_WBITS}


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form, the last of each name; Refused if it is too long or cannot be read."""
    body = await _body(request)
    try:
        fields = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise Refused(400, "the body of this request is not a form") from None
    return {name: values[-1] for name, values in fields.items()}


async def _body(request: Request) -> bytes:
    declared = request.headers.get("content-length", "0")
    if not declared.isdecimal() or int(declared) > LONGEST_BODY:
        raise Refused(413, "the body of this request is too long")
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding != "identity" and coding not in _WINDOWS:
        raise Refused(415, "the body of this request is compressed in an unknown way")
    inflating = zlib.decompressobj(_WINDOWS[coding]) if coding in _WINDOWS else None
    body = bytearray()
    async for chunk in request.stream():
        if inflating is None:
            body += chunk
        else:
            try:
                body += inflating.decompress(chunk, LONGEST_BODY + 1 - len(body))
            except zlib.error:
                raise Refused(400, "the body of this request is damaged") from None
        if len(body) > LONGEST_BODY:
            raise Refused(413, "the body of this request is too long")
    if inflating is not None and not inflating.eof:
        raise Refused(400, "the body of this request is cut off")
    return bytes(body)
