"""Values of any shape as text: what a tool was given or gave back may be anything."""

from __future__ import annotations

import json
from typing import Any


def safe_text(value: Any) -> str:
    """The value as JSON, or as Python shows it; nothing where neither can be had.

    Keys that are no strings, numbers of thousands of digits and lists within lists without end
    are a tool's own affair, and none of them may end an audit.
    """
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return repr(value)
    except (TypeError, ValueError, RecursionError):
        return ""
