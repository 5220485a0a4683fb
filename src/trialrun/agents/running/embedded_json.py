"""Find the JSON of an answer, or of an error, inside a text that is taken for plain text."""

from __future__ import annotations

import re

from trialrun.util.texts import excerpt

_ANSWER_KEY = re.compile(
    # "output": … or 'output': … or \"output\": … or "output"=> …
    r"""["']\\*(?:output|tool_name|tool_args|tool_result|tool_calls)\\*["']\s*(?::|=>)"""
    # { output: … as JavaScript's console.log prints it, {output=… as Java, {:output=>… as Ruby
    r"""|\{\s*:?output\s*(?::|=)"""
    # Result(output=… as Python prints an object, map[output:… as Go, at the beginning of a line
    r"""|^[ \t]*\w+[(\[]output\s*[:=]"""
    # {"role": "assistant" … : the messages of a conversation
    r"""|["']\\*role\\*["']\s*:\s*\\*["'](?:assistant|system|tool)\\*["']""",
    re.MULTILINE,
)
_WORDS = ("output", "error", "tool_", "role")
_ERROR_KEY = re.compile(r"""["']\\*error\\*["']\s*(?::|=>)""")  # "error": …
_HEAD = re.compile(r"\s*(?:data:|\Z|[\[({`])")  # the beginning of a line of JSON: data: {, [{
_TAIL = re.compile(r"[}\]][\s)`;,]*\Z")  # the end of a line that ends with an object: }]);


def why_not_plain(text: str, is_json: bool = False) -> str | None:
    """What makes the text more than plain text; None if nothing does.

    `is_json`: the whole text is JSON of another form, in which a field `error` is nothing special.
    """
    if not any(word in text for word in _WORDS):  # most texts, many times as fast
        return None
    found = _ANSWER_KEY.search(text) or (None if is_json else _error_object(text))
    if found is None:
        return None
    line = text.count("\n", 0, found.end()) + 1
    return (
        "the JSON of an answer and something else, or in another form "
        f"(line {line}: {excerpt(found[0].strip(), 40)})"
    )


def _error_object(text: str) -> re.Match[str] | None:
    """An object with `error` at the head or tail of a line: in the middle, prose may name it.

    Only the first of each line is looked at, so that the search is linear.
    """
    position = 0
    while (found := _ERROR_KEY.search(text, position)) is not None:
        begin = text.rfind("\n", position, found.start()) + 1 or position
        end = text.find("\n", found.end())
        end = len(text) if end < 0 else end
        before, after = text[begin : found.start()], text[found.end() : end]
        if _HEAD.match(before[:100]) or _TAIL.search(after[-100:]):
            return found
        position = end
    return None
