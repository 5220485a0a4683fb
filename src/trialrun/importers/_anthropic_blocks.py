"""Reads messages whose content is a list of blocks, as Anthropic's API writes them."""

from __future__ import annotations

from typing import Any

from trialrun.importers._values import dicts_in, name_of, text_of
from trialrun.importers.base import TraceBuilder


def read_reply(builder: TraceBuilder, content: Any, at: Any = None) -> None:
    """A reply of the model: its text, its thoughts, and the calls that it asks for."""
    blocks = dicts_in(content)
    texts = [block["text"] for block in blocks if _is_text(block)]
    builder.reply(content if isinstance(content, str) else "\n".join(texts), at=at)
    for block in blocks:
        if block.get("type") == "thinking":
            builder.think(name_of(block.get("thinking")), at)
        elif block.get("type") == "tool_use":
            name, key = name_of(block.get("name")), name_of(block.get("id"))
            builder.call(name or "", block.get("input"), key=key, at=at)


def read_results(builder: TraceBuilder, content: Any, at: Any = None) -> bool:
    """The results in a message of the user; False if it has none."""
    results = [block for block in dicts_in(content) if block.get("type") == "tool_result"]
    for block in results:
        value, key = block.get("content"), name_of(block.get("tool_use_id"))
        text = value if isinstance(value, str) else text_of(value)
        builder.result(key, text, failed=block.get("is_error") is True, at=at)
    return bool(results)


def _is_text(block: dict[str, Any]) -> bool:
    return block.get("type") == "text" and isinstance(block.get("text"), str)
