"""`json_schema`: the answer is JSON that conforms to a schema."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

from trialrun.checks._schema_keywords import require_known_keywords
from trialrun.checks.base import ANSWER, Check, check, fails, is_unknown, passes
from trialrun.model.results import CheckResult
from trialrun.model.trace import Trace
from trialrun.redaction import is_masked
from trialrun.util import strict_json
from trialrun.util.texts import excerpt


@check(layer="correctness", needs={ANSWER}, order=60)
class JsonSchema(Check):
    """Passes when the answer is one JSON document and conforms to the schema.

    A single ```json fence around it is removed. The draft is the one named in `$schema`, else
    2020-12. `format` (`email`, `date-time`, …) must hold in every draft; a keyword or format that
    is close to a known one is an error of the spec. A `$ref` cannot point outside the schema:
    nothing is fetched and no file is opened.
    """

    schema: dict[str, Any] | bool

    formula: ClassVar = "valid(json(answer), schema)"
    when_passed: ClassVar = "the answer conforms to the schema"
    examples: ClassVar = (
        passes({"required": ["status"]}, answer='{"status": "ok"}'),
        passes({"type": "object"}, answer='```json\n{"status": "ok"}\n```'),
        fails({"required": ["status"]}, answer='{"state": "ok"}', because='"status"'),
        fails({"type": "object"}, answer="It is ok.", because="not JSON"),
        is_unknown({"type": "object"}, answer='{"key": "[redacted]"}', because="redacted"),
    )

    def validate(self) -> None:
        self._validator  # noqa: B018 - building it is the validation

    @cached_property
    def _validator(self) -> Any:
        return _build(self.schema)

    def judge(self, trace: Trace, baseline: Trace | None) -> CheckResult:
        if is_masked(trace.output):
            # A mask may hide the end of a string, a name, or a bracket: no outcome is certain.
            return self.redacted("the answer")
        document = trace.output
        if document is None or isinstance(document, str):
            try:
                document = strict_json.decode_quickly(_unfenced(document or ""))
            except ValueError as error:
                said = excerpt(trace.output or "")
                return self.failed(f"the answer is not JSON ({error}): {said}")
            except RecursionError:
                return self.unknown("the answer is JSON that is nested too deeply to be read")
        problems = []
        for found in self._validator.iter_errors(document):
            place = "/".join(str(part) for part in found.instance_path)
            message = str(found.message)
            if message.startswith("Error executing regex"):
                return self.unknown(f"a pattern of the schema cannot be decided: {message}")
            problems.append(f"{place}: {message}" if place else message)
            if len(problems) > 3:
                problems[3:] = ["and more"]
                break
        if problems:
            return self.failed("; ".join(problems), {"problems": problems})
        return self.pass_result


def _unfenced(answer: str) -> str:
    """The answer without a ```json fence around it, which many models write."""
    text = answer.strip()
    first, line_break, rest = text.partition("\n")
    language = first.removeprefix("```").strip()
    opened = line_break and first.startswith("```") and language in ("", "json", "JSON")
    return rest.removesuffix("```") if opened and rest.endswith("```") else answer


def _refuse(reference: str) -> Any:
    raise ValueError(f"$ref {reference} points outside the schema; nothing is fetched")


def _refuse_outer_references(schema: Any) -> None:
    """Refuse `$recursiveRef` and `$dynamicRef` to other documents: the validator does not."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            for key in ("$recursiveRef", "$dynamicRef"):
                target = part.get(key)
                if isinstance(target, str) and not target.startswith("#"):
                    raise ValueError(
                        f"{key} {target} points outside the schema; nothing is fetched"
                    )
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)


def _build(schema: dict[str, Any] | bool) -> Any:
    import jsonschema_rs

    _refuse_outer_references(schema)
    try:
        kind = jsonschema_rs.validator_cls_for(schema)
        # 2019-09 and later only note formats; an author who writes one means it.
        built = kind(schema, retriever=_refuse, validate_formats=True)
    except jsonschema_rs.ValidationError as error:
        place = "/".join(str(part) for part in error.instance_path)
        raise ValueError(
            f"not a JSON schema: {place + ': ' if place else ''}{error.message}"
        ) from None
    except (jsonschema_rs.ReferencingError, ValueError, TypeError) as error:
        raise ValueError(f"not a usable JSON schema: {error}") from None
    except RecursionError:
        raise ValueError("the JSON schema is nested too deeply") from None
    require_known_keywords(schema)
    return built
