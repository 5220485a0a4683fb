"""Convert whatever an agent returned to plain fields of a trace, or to a failure."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from trialrun.agents.base import LARGEST_ANSWER, Failure, megabytes
from trialrun.util import strict_json
from trialrun.util.retries import TRANSIENT_STATUSES, seconds

_EXPECTED = "an agent returns text, a Trace, or a dict with `output`"


def from_returned(value: Any) -> dict[str, Any] | Failure:
    """The answer in the return value of a Python function."""
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
    """The answer in a dict with `output` and any other fields of a trace."""
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
        size = 0  # a lone surrogate: the reader of the trace replaces it
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        return Failure(message=f"{what} a dict that cannot be written as JSON: {error}")
    return _too_large(size) if size > LARGEST_ANSWER else plain


def from_printed(text: str) -> dict[str, Any] | Failure:
    """The answer in the output of a command: JSON with `output`, else the text as it is.

    Such JSON that is cut off is a failure: taken as text, it would contain words that checks look
    for.
    """
    if _BEGINS_AS_JSON.match(text) and '"output"' in text:
        try:
            value = strict_json.decode(text)
        except (ValueError, RecursionError) as error:
            return Failure(
                message=f"the command printed JSON that cannot be read: {error}; expected one "
                "object with `output` and nothing else on stdout (stderr is free), or plain text"
            )
        if "output" in value:
            return from_mapping(value, "the command printed")
    elif _BEGINS_AS_JSON.match(text) and '"error"' in text:
        reported = _reported_error(text)
        if reported is not None:
            return Failure(message=f"the command reported an error: {reported}")
    if not text.strip():
        return Failure(
            message='the command printed nothing; an answer that is empty is {"output": ""}'
        )
    return {"output": text.removesuffix("\n").removesuffix("\r")}


def _reported_error(text: str) -> str | None:
    """The text of `{"error": …}`; None for other JSON, which is an ordinary answer."""
    try:
        value = strict_json.decode(text)
    except (ValueError, RecursionError):
        return None
    error = value.get("error")
    return None if not error else error if isinstance(error, str) else repr(error)[:300]


_BEGINS_AS_JSON = re.compile(r'\s*\{\s*"')  # {"output": …


def from_exception(error: BaseException) -> Failure:
    """The failure for an exception of a Python agent, whose `__str__` may raise too."""
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
    """Whether an exception says that the infrastructure failed, not the agent.

    That is a lost connection, and what clients of model providers raise for 429 and 5xx.
    """
    if isinstance(error, (ConnectionError, TimeoutError)):
        return True
    status = getattr(error, "status_code", None)
    if status is None:
        status = getattr(getattr(error, "response", None), "status_code", None)
    return type(status) is int and status in TRANSIENT_STATUSES


def retry_after(error: BaseException) -> float | None:
    """The server's Retry-After, if the exception carries the response."""
    try:
        return seconds(error.response.headers.get("retry-after"))  # type: ignore[attr-defined]
    except Exception:
        return None


def _too_large(size: int) -> Failure:
    most = megabytes(LARGEST_ANSWER)
    return Failure(message=f"the answer has {megabytes(size)}; at most {most} are accepted")


def _kind(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _refuse(value: Any) -> Any:
    raise TypeError(f"it holds {_kind(value)}")
