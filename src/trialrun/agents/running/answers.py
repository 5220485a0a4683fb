"""Convert whatever an agent returned to plain fields of a trace, or to a failure."""

from __future__ import annotations

from typing import Any

from trialrun.agents.base import LARGEST_ANSWER, MOST_STEPS, Failure, megabytes
from trialrun.agents.running.embedded_json import why_not_plain
from trialrun.util.plain import convert, kind_of, located
from trialrun.util.retries import TRANSIENT_STATUSES, seconds

_EXPECTED = "an agent returns text, a Trace, or a dict with `output`"


_LINES = """these lines would do:
    answer = result.text  # wherever it has its answer
    steps = [{"type": "tool_call", "tool_name": call.name} for call in result.calls]
    return {"output": answer, "steps": steps}"""
_VALUES = (int, float, complex, bytes, bytearray)
_LISTS = (list, tuple, set, frozenset)


def from_returned(value: Any, question: str | None = None) -> dict[str, Any] | Failure:
    """The answer in the return value of a Python function.

    `question` is what it was asked: a framework's messages may begin with earlier turns.
    """
    if type(value) is str:
        if len(value) > LARGEST_ANSWER:
            return _too_large(len(value))
        return _from_text(value)
    if isinstance(value, str):
        return from_returned(str.__str__(value), question)
    if value is None:
        return Failure(message=f"the agent returned None; {_EXPECTED}")
    if hasattr(value, "to_dict") and type(value).__name__ == "Trace":
        try:
            value = value.to_dict()
        except (TypeError, ValueError, RecursionError) as error:
            where = located(value, error)
            return Failure(
                message=f"the agent returned a Trace that cannot be written as JSON: {where}"
            )
    elif not isinstance(value, dict) or "output" not in value or value.get("object") == "response":
        value = _of_a_framework(value, question)
    if isinstance(value, Failure):
        return value
    if not isinstance(value, dict):
        return _not_understood(value)
    return _from_dict(value)


def _of_a_framework(value: Any, question: str | None) -> Any:
    """The fields of the trace in messages or in a framework's result; else the value as it is."""
    if isinstance(value, (int, float, bytes)):
        return value
    from trialrun.capture.results import trace_of

    try:
        trace = trace_of(value, question)
        return value if trace is None else {"output": None, **trace.to_dict()}
    except Exception as error:  # the object's own methods, or a shape that misleads
        why = f"{type(error).__name__}: {error}"
        return Failure(message=f"the agent returned {kind_of(value)} that cannot be read: {why}")


def _from_dict(value: dict[str, Any]) -> dict[str, Any] | Failure:
    found = from_mapping(value, "the agent returned")
    if isinstance(found, Failure) and "output" not in value and reported_error(value) is None:
        return Failure(message=f"{found.message}; {_LINES}")
    return found


def _not_understood(value: Any) -> Failure:
    said = f"the agent returned {_kind(value)}; {_EXPECTED}"
    if isinstance(value, _VALUES) or (isinstance(value, _LISTS) and not value):
        return Failure(message=said)
    name = "such a list" if isinstance(value, _LISTS) else f"`{_full_name(value)}`"
    return Failure(message=f"{said}, or what docs/frameworks.md lists; for {name} {_LINES}")


def _kind(value: Any) -> str:
    """The type of a value; of a list that of its items, too: `a list of openai.Stream`."""
    if not isinstance(value, _LISTS):
        return kind_of(value)
    if not value:
        return f"an empty {type(value).__name__}"
    names = sorted({_full_name(item) for item in value})
    return f"{kind_of(value)} of {', '.join(names[:3])}"


def _full_name(value: Any) -> str:
    kind = type(value)
    is_builtin = kind.__module__ == "builtins"
    return kind.__qualname__ if is_builtin else f"{kind.__module__}.{kind.__qualname__}"


def _from_text(text: str) -> dict[str, Any] | Failure:
    """The text as the answer, unless it is a dict with `output` that was made a text."""
    mixed = why_not_plain(text, True) if text[:100].lstrip().startswith(("{", "[")) else None
    if mixed is None:
        return {"output": text}
    return Failure(
        message=f"the agent returned a text that holds {mixed}; return the dict itself, or "
        '{"output": text} if this text is the answer'
    )


def from_mapping(value: dict[str, Any], what: str) -> dict[str, Any] | Failure:
    """The answer in a dict with `output` and any other fields of a trace."""
    if "output" not in value:
        reported = reported_error(value)
        if reported is not None:
            return reported
        keys = ", ".join(sorted(map(str, value))[:8]) or "no keys"
        return Failure(message=f"{what} a dict without `output` ({keys})")
    steps = value.get("steps")
    if isinstance(steps, (list, tuple)) and len(steps) > MOST_STEPS:
        return Failure(
            message=f"the answer has {len(steps):,} steps; at most {MOST_STEPS:,} are accepted"
        )
    try:
        plain, size = convert(value)
    except TypeError as error:
        return Failure(message=f"{what} a dict that cannot be written as JSON: {error}")
    return _too_large(size) if size > LARGEST_ANSWER else plain


def reported_error(value: dict[str, Any]) -> Failure | None:
    """The failure of an agent that sent `{"error": …}`; None if there is no error in it."""
    error = value.get("error")
    if not error:
        return None
    said = error if isinstance(error, str) else repr(value)[:300]
    return Failure(message=f"the agent reported an error: {said}")


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
        crashed=True,
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
