"""Similarity of two sequences of calls, and the shortest list of edits between them."""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz.distance import LCSseq, Levenshtein

# rapidfuzz selects the build for this processor on each attribute access: do it once.
_lcs_length = LCSseq.similarity
_edit_distance = Levenshtein.distance


# rapidfuzz compares texts of one character by code and takes "" for the character 0.
_EMPTY = "(empty)\0"


def _named(calls: Sequence[str]) -> Sequence[str]:
    return [call or _EMPTY for call in calls]


def sequence_lcs(predicted: Sequence[str], reference: Sequence[str]) -> float:
    """2·LCS / (|P| + |R|): order counts, insertions cost little. Both empty: 1.0, one: 0.0."""
    if "" in predicted or "" in reference:
        return lcs_of_names(_named(predicted), _named(reference))
    return lcs_of_names(predicted, reference)


def lcs_of_names(predicted: Sequence[str], reference: Sequence[str]) -> float:
    """The same for names that are not empty, as those of tools in a trace."""
    if not predicted or not reference:
        return 0.0 if predicted or reference else 1.0
    return 2 * _lcs_length(predicted, reference) / (len(predicted) + len(reference))


def sequence_edit(predicted: Sequence[str], reference: Sequence[str]) -> float:
    """1 − Levenshtein / max(|P|, |R|). Both empty: 1.0, one: 0.0."""
    if "" in predicted or "" in reference:
        return edit_of_names(_named(predicted), _named(reference))
    return edit_of_names(predicted, reference)


def edit_of_names(predicted: Sequence[str], reference: Sequence[str]) -> float:
    """The same for names that are not empty."""
    if not predicted or not reference:
        return 0.0 if predicted or reference else 1.0
    return 1.0 - _edit_distance(predicted, reference) / max(len(predicted), len(reference))


def edit_script(actual: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """The shortest list of edits that turns the actual calls into the wanted ones.

    Each says what is wrong, counting calls from 1: "call 2: `search` is extra".
    """
    script = []
    for edit in Levenshtein.editops(actual, wanted):
        if edit.tag == "insert":
            script.append(f"before call {edit.src_pos + 1}: `{wanted[edit.dest_pos]}` is missing")
        elif edit.tag == "delete":
            script.append(f"call {edit.src_pos + 1}: `{actual[edit.src_pos]}` is extra")
        else:
            script.append(
                f"call {edit.src_pos + 1}: `{actual[edit.src_pos]}` "
                f"instead of `{wanted[edit.dest_pos]}`"
            )
    return script


def edit_path(actual: Sequence[str], wanted: Sequence[str]) -> list[tuple[str, str]]:
    """The same edits as marked names: `-` is missing, `+` is extra, no mark is as wanted."""
    path: list[tuple[str, str]] = []
    for edit in Levenshtein.opcodes(actual, wanted):
        if edit.tag == "equal":
            path += (("", name) for name in actual[edit.src_start : edit.src_end])
            continue
        path += (("-", name) for name in wanted[edit.dest_start : edit.dest_end])
        path += (("+", name) for name in actual[edit.src_start : edit.src_end])
    return path
