"""Read transcripts of Cursor's agent: one message a line, calls with arguments, without results."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trialrun.errors import Problem
from trialrun.importers._anthropic_blocks import read_reply
from trialrun.importers._values import as_dict, text_of
from trialrun.importers.base import Importer, Record, Source, TraceBuilder
from trialrun.model.evidence import ANSWER, TOOL_ARGS, TOOL_CALLS

# `<user_query>\nFix it\n</user_query>`: what the user wrote, among what Cursor added.
_QUERY = re.compile(r"<user_query>(.*?)</user_query>", re.DOTALL)


class CursorImporter(Importer):
    """Reads one transcript."""

    name = "cursor"
    title = "transcripts of Cursor's agent"
    suffixes = (".jsonl",)
    export = "`~/.cursor/projects/…/agent-transcripts/….jsonl`, as Cursor writes it"
    carries = frozenset({ANSWER, TOOL_CALLS, TOOL_ARGS})
    one_run_a_file = True
    example = (
        '{"role": "user", "message": {"content": [{"type": "text", '
        '"text": "<user_query>\\n2 + 2?\\n</user_query>"}]}}\n'
        '{"role": "assistant", "message": {"content": [{"type": "tool_use", "name": "add", '
        '"input": {"a": 2, "b": 2}}]}}\n'
        '{"role": "assistant", "message": {"content": [{"type": "text", "text": "4"}]}}\n'
    )

    def recognises(self, source: Source) -> bool:
        first = source.objects[0] if source.objects else {}
        content = as_dict(first.get("message")).get("content")
        return (
            first.get("role") in ("user", "assistant")
            and set(first)
            == {
                "role",
                "message",
            }
            and isinstance(content, list)
        )

    def records(self, source: Source) -> Iterator[Record | Problem]:
        builder = TraceBuilder(self.name)
        builder.fields["framework"] = self.name
        for item in source.values():
            if isinstance(item, Problem):
                yield item
                continue
            line = as_dict(item[1])
            content = as_dict(line.get("message")).get("content")
            if line.get("role") == "assistant":
                read_reply(builder, content)
            elif line.get("role") == "user":
                text = text_of(content)
                builder.prompt("\n".join(_QUERY.findall(text)) or text)
        if not builder.is_empty:
            yield builder.trace(self.carries), []
