"""Spans and log records of OTLP in JSON: resources, scopes, attributes as key and value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.importers._spans.span import Event, Span, as_id, as_kind, as_time

_SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "ilSpans")
_SCOPE = ("scope", "instrumentationLibrary")
_ERRORS = (2, "2", "STATUS_CODE_ERROR", "ERROR", "StatusCode.ERROR", "error")


def listed(value: Any, *keys: str) -> list[dict[str, Any]]:
    """The objects of the first of these lists."""
    if isinstance(value, dict):
        for key in keys:
            found = value.get(key)
            if isinstance(found, list):
                return [item for item in found if isinstance(item, dict)]
    return []


def spans_of(resource_spans: list[dict[str, Any]]) -> Iterator[Span]:
    """The spans of `resourceSpans` (of Tempo: `batches`)."""
    for group in resource_spans:
        resource = _resource(group)
        for part in listed(group, *_SCOPES):
            scope = _scope(part)
            for item in listed(part, "spans"):
                yield span_of(item, scope, resource)


def _resource(group: dict[str, Any]) -> dict[str, Any]:
    resource = group.get("resource")
    return attributes_of(resource.get("attributes")) if isinstance(resource, dict) else {}


def _scope(part: dict[str, Any]) -> str:
    for key in _SCOPE:
        scope = part.get(key)
        if isinstance(scope, dict) and isinstance(scope.get("name"), str):
            return str(scope["name"])
    return ""


def span_of(item: dict[str, Any], scope: str, resource: dict[str, Any]) -> Span:
    """One span, in camel case or snake case."""
    get = item.get
    name, status = get("name"), get("status")
    events = get("events")
    span = Span(
        name=name if isinstance(name, str) else "",
        span_id=as_id(get("spanId") or get("span_id"), 16),
        trace_id=as_id(get("traceId") or get("trace_id"), 32),
        parent_id=as_id(get("parentSpanId") or get("parent_span_id"), 16),
        attributes=attributes_of(get("attributes")),
        scope=scope,
        kind=as_kind(get("kind")),
        start=as_time(get("startTimeUnixNano") or get("start_time_unix_nano")),
        end=as_time(get("endTimeUnixNano") or get("end_time_unix_nano")) or None,
        resource=resource,
    )
    if isinstance(status, dict) and status:
        span.failed = is_error(status.get("code"))
        message = status.get("message")
        span.message = message if isinstance(message, str) else ""
    if isinstance(events, list) and events:
        span.events = [event_of(event) for event in events if isinstance(event, dict)]
    return span


def is_error(code: Any) -> bool:
    """Whether a code of a status is that of an error, in any spelling."""
    return isinstance(code, (int, str)) and code in _ERRORS


def event_of(item: dict[str, Any]) -> Event:
    """One event."""
    name = item.get("name")
    return Event(name if isinstance(name, str) else "", attributes_of(item.get("attributes")))


def attributes_of(items: Any) -> dict[str, Any]:
    """Attributes as a dict: a list of `{"key": …, "value": {"stringValue": …}}`, or a dict."""
    if isinstance(items, dict):
        return items
    found: dict[str, Any] = {}
    if not isinstance(items, list):
        return found
    for item in items:
        try:
            ((kind, value),) = item["value"].items()
            found[item["key"]] = value if kind in _PLAIN else _value(kind, value)
        except (TypeError, KeyError, ValueError, AttributeError):
            continue  # no value, or not an attribute
    return {key: value for key, value in found.items() if type(key) is str}


_PLAIN = frozenset({"stringValue", "boolValue", "string_value", "bool_value"})


def _value(kind: str, value: Any) -> Any:
    if kind in ("intValue", "int_value"):
        return int(value) if isinstance(value, str) else value  # 64 bits are text in JSON
    if kind in ("doubleValue", "double_value"):
        return float(value) if isinstance(value, str) else value
    if kind in ("arrayValue", "array_value"):
        return [any_value(item) for item in value.get("values", ())]
    if kind in ("kvlistValue", "kvlist_value"):
        return attributes_of(value.get("values"))
    return value


def any_value(value: Any) -> Any:
    """The plain value of an `AnyValue`."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((kind, inner),) = value.items()
    try:
        return inner if kind in _PLAIN else _value(kind, inner)
    except (TypeError, ValueError, AttributeError):
        return None


class Log(Event):
    """A log record, with what joins it to a span."""

    trace_id: str = ""
    span_id: str = ""
    session: str = ""


def logs_of(resource_logs: list[dict[str, Any]]) -> Iterator[Log]:
    """The log records of `resourceLogs`."""
    for group in resource_logs:
        resource = _resource(group)
        for part in listed(group, "scopeLogs", "scope_logs", "instrumentationLibraryLogs"):
            for item in listed(part, "logRecords", "log_records", "logs"):
                attributes = attributes_of(item.get("attributes"))
                body = any_value(item.get("body"))
                name = item.get("eventName") or item.get("event_name")
                name = name or attributes.get("event.name") or body
                session = attributes.get("session.id", resource.get("session.id"))
                yield Log(
                    name if isinstance(name, str) else "",
                    attributes,
                    body,
                    as_id(item.get("traceId") or item.get("trace_id"), 32),
                    as_id(item.get("spanId") or item.get("span_id"), 16),
                    session if isinstance(session, str) else "",
                )
