"""A small scripted judge, to try an audit with: no model, no keys, no network.

Like many real judges it overrates politeness: it gives 5 to a refund without an order number.
"""

from typing import Any


def judge(request: Any) -> dict[str, Any]:
    """A score for politeness, from 1 to 5."""
    if "refunded" in request.answer:
        return {"score": 5, "rationale": "The customer gets the refund at once."}
    if "Gladly" in request.answer:
        return {"score": 4, "rationale": "Friendly, and asks for what is needed."}
    return {"score": 1, "rationale": "Nothing in it helps the customer."}
