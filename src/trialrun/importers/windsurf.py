"""Read transcripts of Windsurf: one step a line, its values under the name of its type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trialrun.errors import Problem
from trialrun.importers._values import as_dict, name_of
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import ANSWER, TOOL_ARGS, TOOL_CALLS, TOOL_RESULTS
from trialrun.model.trace import StepStatus

# What a step brought; all its other values are arguments.
_RESULTS = frozenset(
    {
        "acknowledgement_type",
        "content",
        "exit_code",
        "original_content",
        "output",
        "total_results",
        "user_rejected",
    }
)


class WindsurfImporter(Importer):
    """Reads one transcript."""

    name = "windsurf"
    title = "transcripts of Windsurf"
    suffixes = (".jsonl",)
    export = "`~/.windsurf/transcripts/….jsonl`, as Windsurf writes it"
    carries = frozenset({ANSWER, TOOL_CALLS, TOOL_ARGS, TOOL_RESULTS})
    one_run_a_file = True
    example = (
        '{"type": "user_input", "status": "done", "user_input": {"user_response": "2 + 2?"}}\n'
        '{"type": "run_command", "status": "done", "run_command": {"command": "expr 2 + 2", '
        '"cwd": "/app", "exit_code": 0, "output": "4"}}\n'
        '{"type": "planner_response", "status": "done", "planner_response": {"response": "4"}}\n'
    )

    def recognises(self, source: Source) -> bool:
        first = source.objects[0] if source.objects else {}
        kind = first.get("type")
        return (
            isinstance(kind, str)
            and isinstance(first.get("status"), str)
            and isinstance(first.get(kind), dict)
        )

    def records(self, source: Source) -> Iterator[Record | Problem]:
        builder = TraceBuilder(self.name)
        builder.fields["framework"] = self.name
        for item in source.values():
            if isinstance(item, Problem):
                yield item
            else:
                _step(builder, as_dict(item[1]))
        if not builder.is_empty:
            yield builder.trace(self.carries), []


def _step(builder: TraceBuilder, step: dict[str, Any]) -> None:
    kind = name_of(step.get("type"))
    if kind is None:
        return
    values = as_dict(step.get(kind))
    if kind == "user_input":
        builder.prompt(name_of(values.get("user_response")) or "")
    elif kind == "planner_response":
        builder.reply(name_of(values.get("response")))
    else:
        arguments = {key: value for key, value in values.items() if key not in _RESULTS}
        draft = builder.call(kind, arguments, alone=True)
        draft.note(cwd=name_of(values.get("cwd")))
        brought = {key: value for key, value in values.items() if key in _RESULTS}
        text = values.get("output", values.get("content"))
        failed = step.get("status") == "error" or values.get("user_rejected") is True
        if not brought and step.get("status") in ("done", "error"):
            draft.set(status=StepStatus.FAILURE if failed else StepStatus.SUCCESS)
        elif step.get("status") in ("done", "error"):
            builder.result(
                draft,
                brought if text is None else text,
                failed=failed,
                exit_code=None if failed else values.get("exit_code"),
            )
