"""A scripted agent that gives refunds, to try baselines with: no model, no keys, no network."""

from typing import Any
from uuid import uuid4

PERCENT = 100  # of the price that is paid back


def answer(question: str) -> dict[str, Any]:
    """Look the order up, pay the money back, say so."""
    number = "".join(character for character in question if character.isdigit())
    order = _tool("lookup_order", {"price": 20}, order=number, request=uuid4().hex)
    amount = order["tool_result"]["price"] * PERCENT // 100
    note = f"The customer asked for order {number}."
    refund = _tool("issue_refund", {"ok": True}, order=number, amount=amount, note=note)
    text = f"The refund for order {number} is on its way."
    return {"output": text, "steps": [_model(), order, _model(), refund, _model()]}


def _tool(name: str, result: Any, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_call", "tool_name": name, "tool_args": arguments, "tool_result": result}


def _model() -> dict[str, Any]:
    tokens = {"prompt_tokens": 400, "completion_tokens": 30}
    return {"type": "llm_call", "model": "gpt-4.1-mini", "tokens": tokens}
