"""Writes a case for a spec from a recorded trace: its calls, and the facts of its answer."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from trialrun.errors import UsageError
from trialrun.measures.arguments import is_matcher
from trialrun.model.argument_rules import is_free_text
from trialrun.model.evidence import TOOL_ARGS, TOOL_CALLS
from trialrun.model.steps import Step, StepStatus, StepType
from trialrun.model.trace import Trace
from trialrun.redaction import is_masked
from trialrun.spec.case import label
from trialrun.spec.facts import facts_in

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")  # order_id, refund-12
# `json.dumps` makes an encoder for each call that asks for other than the default.
_json = json.JSONEncoder(ensure_ascii=False).encode
_YAML_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


def case_lines(trace: Trace, name: str | None, redact: Callable[[str], str]) -> list[str]:
    """The case as lines of YAML, an item of `queries:` without indent. It passes on the trace.

    Secrets are masked: such an argument may have any value.
    """
    if trace.output is None or trace.error:
        raise UsageError("this trace has no answer: a case made from it could not pass")
    questions = [redact(text) for text in _questions(trace)]
    lines = [f"- name: {_key(name or trace.name or label(questions[0]))}"]
    if len(questions) == 1:
        lines.append(f"  query: {_text(questions[0])}")
    else:
        lines.append("  turns:")
        lines += [f"    - query: {_text(question)}" for question in questions]
    answer = redact(trace.answer_text or "")
    path = list(_path(trace, redact))
    facts = [fact for fact in facts_in(answer) if not is_masked(fact)]
    return [*lines, *path, *_correctness(facts, answer, bool(path))]


def _questions(trace: Trace) -> list[str]:
    later = (step.input or "" for step in trace.steps if step.type is StepType.HUMAN_INPUT)
    return [trace.input, *later]


# The answer


def _correctness(facts: Sequence[str], answer: str, has_path: bool) -> Iterator[str]:
    """The facts as comments to choose from; as checks where the trace has nothing else."""
    if not facts and has_path:
        return
    mark = "  # " if has_path else "  "
    if has_path:
        yield "  # Facts of the answer. Take the `# ` off those that every answer must have,"
        yield "  # and off the two lines above them:"
    yield f"{mark}correctness:"
    if not facts:
        yield f"{mark}  exact_match: {_text(answer)}  # ask for less, if other words will do"
        return
    yield f"{mark}  expected_in_answer:"
    yield from (f"{mark}    - {_text(fact)}" for fact in facts)


# The calls


def _path(trace: Trace, redact: Callable[[str], str]) -> Iterator[str]:
    if TOOL_CALLS not in trace.recorded:
        return
    calls = [call for call in trace.tool_calls if not is_masked(call.tool_name)]
    made = [call for call in calls if not _has_failed(call)]
    left_out = sorted({str(call.tool_name) for call in calls if _has_failed(call)})
    wanted = [call for call in made if call.tool_args is not None and TOOL_ARGS in trace.recorded]
    if not made and not trace.tool_calls:
        yield "  path:"
        yield "    max_tool_calls: {value: 0, severity: fail}"
    elif made:
        yield "  path:"
    if wanted:
        yield "    tool_args:"
        yield "      severity: fail"
        yield "      value:"
        for call in wanted:
            yield from _call(call, redact)
    elif made:
        names = ", ".join(dict.fromkeys(_key(str(call.tool_name)) for call in made))
        yield f"    expected_tools: {{value: [{names}], severity: fail}}"
    if left_out and made:
        yield f"    # left out, because they failed: {_comment(', '.join(left_out))}"


def _has_failed(call: Step) -> bool:
    return call.status is StepStatus.FAILURE or bool(call.error)


def _call(call: Step, redact: Callable[[str], str]) -> Iterator[str]:
    yield f"        - tool: {_key(str(call.tool_name))}"
    if call.tool_args:
        yield "          args:"
    for name, value in (call.tool_args or {}).items():
        together = f"{name}: {value}"  # with a mask, if the value has one
        masked = _masked(together, redact) or (isinstance(value, str) and redact(value) != value)
        wanted, why = _wanted(value, masked)
        comment = f"  # {why}" if why else ""
        yield f"            {_key(name)}: {wanted}{comment}"


def _masked(text: str, redact: Callable[[str], str]) -> bool:
    """Whether the text has a secret in it, masked before or not."""
    return is_masked(text) or redact(text) != text


def _wanted(value: Any, is_secret: bool) -> tuple[str, str]:
    """The value, or a matcher where the same value could not be asked for; and why."""
    if is_secret:
        return "{any: true}", "masked"
    if type(value) is str and len(value) <= _LONGEST_KNOWN:
        return _wanted_text(value)
    return _wanted_value(value)


def _wanted_value(value: Any) -> tuple[str, str]:
    if is_free_text(value):
        return "{any: true}", f"free text: {_comment(_short(value))}"
    if _is_unusual(value):
        return "{any: true}", "a value that a spec cannot state"
    return _yaml(value), ""


# Most texts among the arguments of a tool are one of few: an id, the name of a field.
_LONGEST_KNOWN = 60
_wanted_text = lru_cache(maxsize=2000)(_wanted_value)


def _is_unusual(value: Any) -> bool:
    """Whether somewhere in the value a matcher's name, an unknown type, or NaN would mislead."""
    if isinstance(value, dict):
        return is_matcher(value) or any(map(_is_unusual, (*value.values(), *value)))
    if isinstance(value, list):
        return any(map(_is_unusual, value))
    if isinstance(value, str):
        return is_masked(value)
    if isinstance(value, float):
        return not math.isfinite(value)
    return not (value is None or isinstance(value, (bool, int)))


# YAML: flow style, texts in double quotes


def _yaml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)}: {_yaml(item)}" for k, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_yaml, value)) + "]"
    return _text(value) if isinstance(value, str) else _json(value)


@lru_cache(maxsize=1000)
def _key(name: str) -> str:
    """A name, in quotes only where it needs them."""
    plain = _PLAIN.match(name) and name.lower() not in _YAML_WORDS
    return name if plain else _text(name)


def _text(text: str) -> str:
    """The text in double quotes; what cannot be seen or would mislead a terminal is escaped."""
    quoted = _json(text)
    plain = quoted.isascii() and quoted.isprintable()
    return quoted if plain else "".join(map(_escaped, quoted))


def _escaped(character: str) -> str:
    code = ord(character)
    category = unicodedata.category(character)
    if category == "Cs":
        raise UsageError("half of a surrogate pair is in this trace: YAML has no way to write it")
    if category not in ("Cc", "Cf", "Co", "Cn", "Zl", "Zp"):
        return character
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"


def _comment(text: str) -> str:
    """A text for a comment, on one line."""
    return _text(text)[1:-1]
