"""The agent of a small shop: what it answers depends on the question and on files beside it."""

from __future__ import annotations

import time
from pathlib import Path

HERE = Path(__file__).parent


def answer(question: str) -> dict:
    """Answer with the tool calls and model calls that a real agent would have made."""
    with (HERE / "asked.txt").open("a") as file:
        file.write(question + "\n")
    if question == "crash":
        raise RuntimeError("the order service is down")
    if question == "wait":
        while (HERE / "wait").exists():
            time.sleep(0.05)
    said = {
        "refund": "You have 30 days.",
        "hours": "We open at ten.",
        "delivery": "It takes 2 days.",
        "wait": "Done.",
        "coin": "heads" if _times(question) > 1 else "tails",
    }.get(question, "It is in C:\\temp, 50% of it \N{GRINNING FACE}")
    return {
        "output": said,
        "duration_ms": 20,
        "steps": [
            {
                "type": "tool_call",
                "tool_name": "search",
                "tool_args": {"q": question, "limit": float("inf"), "half": "\ud83d"},
                "tool_result": ["30 days", None],
                "duration_ms": 5,
            },
            {
                "type": "llm_call",
                "model": "shop-model",
                "output": said,
                "tokens": {"prompt_tokens": 100, "completion_tokens": 20},
                "cost_usd": 0.25,
                "duration_ms": 10,
            },
        ],
    }


def large(question: str) -> dict:
    """The same answers at twice the price."""
    found = answer(question)
    found["steps"][1]["cost_usd"] = 0.5
    return found


def _times(question: str) -> int:
    return (HERE / "asked.txt").read_text().splitlines().count(question)
