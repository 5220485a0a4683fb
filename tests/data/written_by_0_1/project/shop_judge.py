"""A judge that likes answers with a number in them."""

from __future__ import annotations


def judge(request):
    """5 of 5 with a digit in the answer, else 2 of 5."""
    good = any(letter.isdigit() for letter in request.answer)
    return {"score": 5 if good else 2, "rationale": "a number" if good else "no number"}
