"""From whatever an agent returned to the plain fields of a trace, or to the reason why not."""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any

import msgspec

from trialrun.agents.base import LARGEST_ANSWER, Failure, megabytes

# HTTP statuses, and those that model providers' clients raise, after which asking again may help.
TRANSIENT_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504, 529})

_EXPECTED = "an agent returns text, a Trace, or a dict with `output`"


def from_returned(value: Any) -> dict[str, Any] | Failure:
    """What a Python function returned."""
    if type(value) is str:
        if len(value) > LARGEST_ANSWER:
            return _too_large(len(value))
        return {"output": value}
    if isinstance(value, str):
        return from_returned(str.__str__(value))
    if value is None:
        return Failure(message=f"the agent returned None; {_EXPECTED}")
    if hasattr(value, "to_dict") and type(value).__name__ == "Trace":
        value = value.to_dict()
    if not isinstance(value, dict):
        return Failure(message=f"the agent returned {_kind(value)}; {_EXPECTED}")
    return from_mapping(value, "the agent returned")


def from_mapping(value: dict[str, Any], what: str) -> dict[str, Any] | Failure:
    """A dict with `output`, and whatever else of a trace."""
    if "output" not in value:
        keys = ", ".join(sorted(map(str, value))[:8]) or "no keys"
        return Failure(message=f"{what} a dict without `output` ({keys})")
    output = value["output"]
    if output is not None and not isinstance(output, str):
        return Failure(message=f"{what} an `output` that is {_kind(output)}, not text")
    try:
        plain = msgspec.to_builtins(value, str_keys=True, enc_hook=_refuse)
        size = len(msgspec.json.encode(plain))
    except UnicodeEncodeError:
        size = 0  # half a character somewhere: whoever reads the trace makes it whole
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        return Failure(message=f"{what} a dict that cannot be written as JSON: {error}")
    return _too_large(size) if size > LARGEST_ANSWER else plain


def from_printed(text: str) -> dict[str, Any] | Failure:
    """What a command printed: JSON with `output`, else the text as it is.

    What begins as such JSON and breaks off is no answer: as a text it would hold every word that a
    check looks for.
    """
    if _BEGINS_AS_JSON.match(text) and '"output"' in text:
        try:
            value = json.loads(text, object_pairs_hook=_only_once)
        except (ValueError, RecursionError) as error:
            return Failure(
                message=f"the command printed JSON that cannot be read: {error}; expected one "
                "object with `output` and nothing else on stdout (stderr is free), or plain text"
            )
        if "output" in value:
            return from_mapping(value, "the command printed")
    return {"output": text.removesuffix("\n").removesuffix("\r")}


_BEGINS_AS_JSON = re.compile(r'\s*\{\s*"')


def _only_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key `{twice}` stands there twice")
    return found


def from_exception(error: BaseException) -> Failure:
    """What a Python agent raised. Its own `__str__` or properties may raise too."""
    try:
        said = str(error)
    except Exception:
        said = ""
    name = type(error).__name__
    if isinstance(error, SystemExit):
        name, said = "SystemExit", f"the agent called sys.exit({error.code!r})"
    try:
        transient = is_transient(error)
    except Exception:
        transient = False
    return Failure(
        message=f"{name}: {said}" if said else name,
        transient=transient,
        retry_after=retry_after(error),
    )


def is_transient(error: BaseException) -> bool:
    """Whether an exception of an agent says that something around it failed, not the agent.

    A lost connection, and what the clients of model providers raise for 429 and 5xx.
    """
    if isinstance(error, (ConnectionError, TimeoutError)):
        return True
    status = getattr(error, "status_code", None)
    if status is None:
        status = getattr(getattr(error, "response", None), "status_code", None)
    return type(status) is int and status in TRANSIENT_STATUSES


def retry_after(error: BaseException) -> float | None:
    """What the other side asked for, where the exception carries its reply."""
    try:
        return seconds(error.response.headers.get("retry-after"))  # type: ignore[attr-defined]
    except Exception:
        return None


def seconds(value: str | None) -> float | None:
    """The meaning of a Retry-After header: seconds, or a date."""
    if not value:
        return None
    try:
        number = float(value)
    except ValueError:
        pass
    else:
        return max(0.0, number) if isfinite(number) else None
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _too_large(size: int) -> Failure:
    return Failure(
        message=f"the answer has {megabytes(size)}; at most {megabytes(LARGEST_ANSWER)} are taken"
    )


def _kind(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _refuse(value: Any) -> Any:
    raise TypeError(f"it holds {_kind(value)}")
