"""A small scripted support agent, to try trialrun with: no model, no keys, no network.

It returns what a real agent would: its answer, and the steps that led to it. Like a real one it
does not always do the same: every second time it refunds without asking for the order number.
"""

import asyncio
from itertools import count
from typing import Any

_asked = count(1)


async def answer(question: str) -> dict[str, Any]:
    """The answer to a customer, with the steps that led to it."""
    await asyncio.sleep(0.2)
    if "install" in question:
        found = [{"source": "install.md", "text": "Run: pip install support-cli"}]
        return _reply(
            "Run `pip install support-cli`.", _tool("search_docs", found, query="install")
        )
    if "return" in question:
        searches = [
            _tool("search_docs", ["returns.md"], query=text) for text in ("shoes", "return")
        ]
        return _reply("You have 30 days to return them.", *searches)
    if "money back" in question:
        customer = _tool("find_customer", {"id": 7}, text=question)
        if next(_asked) % 2:
            return _reply("Gladly. What is your order number?", customer)
        refund = _tool("issue_refund", {"ok": True}, customer=7)
        return _reply("Your last order has been refunded.", customer, refund)
    if "cancel" in question:
        cancelled = _tool("cancel_order", {"ok": True}, order=1182, reason="asked")
        return _reply("Order 1182 is cancelled.", cancelled)
    raise RuntimeError("the delivery service did not answer")


def _tool(name: str, result: Any, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_call", "tool_name": name, "tool_args": arguments, "tool_result": result}


def _reply(text: str, *tools: dict[str, Any]) -> dict[str, Any]:
    tokens = {"prompt_tokens": 600 + 250 * len(tools), "completion_tokens": len(text)}
    model = {"type": "llm_call", "model": "gpt-4.1-mini", "output": text, "tokens": tokens}
    return {"output": text, "steps": [*tools, model]}
