"""Match modes: how the calls of a run must relate to the calls of a reference.

Other tools use these four words with other meanings; `docs/checks.md` compares them.
"""

from __future__ import annotations

from collections.abc import Collection

MODES = ("strict", "unordered", "subset", "superset")


def matches(predicted: Collection[str], reference: Collection[str], mode: str) -> bool:
    """strict: P == R · unordered: equal sets · subset: R ⊆ P · superset: P ⊆ R (as sets)."""
    if mode == "strict":
        return list(predicted) == list(reference)
    called, wanted = frozenset(predicted), frozenset(reference)
    if mode == "unordered":
        return called == wanted
    if mode == "subset":
        return wanted <= called
    if mode == "superset":
        return called <= wanted
    raise ValueError(f"mode: expected one of {', '.join(MODES)}, found {mode!r}")
