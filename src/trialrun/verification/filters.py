"""What the pipe behind a check lets through: `| tail -3`, `| grep -E "^(ok|FAIL)"`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trialrun.errors import TrialrunError
from trialrun.measures.patterns import compiled
from trialrun.verification.shell import Command

_KEEPS_ALL = frozenset({"tee", "cat", "less", "more", "ts", "nl", "head", "tail"})
_GREPS = frozenset({"grep", "egrep", "rg", "ag"})
_LINE_FILTERS = _GREPS | {"sed", "awk", "Select-String", "cut"}
_RED_LINES = {
    "go test": "FAIL\tacme/tax\t0.3s",
    "pytest": "=== 1 failed, 2 passed in 0.1s ===",
    "unittest": "FAILED (failures=1)",
    "cargo test": "test result: FAILED. 2 passed; 1 failed; 0 ignored",
    "jest": "Tests:       1 failed, 2 passed, 3 total",
    "vitest": "      Tests  1 failed | 2 passed (3)",
    "mix test": "3 tests, 1 failure",
    "rspec": "3 examples, 1 failure",
    "maven": "[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0",
    "tsc": "src/a.ts(3,1): error TS2304: Cannot find name 'x'.",
    "mypy": "Found 1 error in 1 file (checked 3 source files)",
    "ruff": "Found 1 error.",
}
"""The line in which a red run says so, by the name of the program."""
_OTHER_NUMBERS = str.maketrans("0123", "7894")


def passes_all(command: Command) -> bool:
    """Whether what the program printed would be seen, at least in part."""
    return all(words[0].rpartition("/")[2] in _KEEPS_ALL for words in command.piped_into)


def filters_result(command: Command, name: str) -> bool:
    """Whether the line of a failure may have been kept back, or rewritten, on the way."""
    return any(
        words[0].rpartition("/")[2] in _LINE_FILTERS
        and not _drops_noise(words)
        and not _keeps_red(words, name)
        for words in command.piped_into
    )


def _drops_noise(words: Sequence[str]) -> bool:
    """`grep -v deprecated` keeps every line of a result; `grep -v FAIL` does not."""
    dropped = any(re.fullmatch(r"-[a-zA-Z]*v[a-zA-Z]*|--invert-match", word) for word in words)
    return dropped and not re.search(r"fail|error|✗|not ok|\^ok", " ".join(words), re.IGNORECASE)


def _keeps_red(words: Sequence[str], name: str) -> bool:
    """Whether a search lets the line of a failure through: `| grep -E "passed|failed"`."""
    red = _RED_LINES.get(name)
    program = words[0].rpartition("/")[2]
    plain = [word for word in words[1:] if not word.startswith("-")]
    options = "".join(word for word in words[1:] if re.fullmatch(r"-[a-zA-Z]+", word))
    if red is None or program not in _GREPS or len(plain) != 1 or set(options) & set("vcqlmf"):
        return False
    text = plain[0]
    if program == "grep" and not set(options) & set("EP"):
        text = re.sub(r"\\([|()+?])", r"\1", text)  # basic: `passed\|failed`
    try:
        search = compiled(f"(?i:{text})" if "i" in options else text).search
        # `grep "2 passed"` lets through what it looks for, and no other number.
        return bool(search(red)) and bool(search(red.translate(_OTHER_NUMBERS)))
    except (re.error, TrialrunError):
        return False


def cut_at(command: Command) -> int:
    """The lines that `head -20` or `tail -5` let through."""
    limits = [
        int(found.group(1))
        for words in command.piped_into
        if words[0].rpartition("/")[2] in ("head", "tail")
        for found in [re.search(r"-n? ?(\d+)", " ".join(words[1:3]) or "-10")]
        if found is not None
    ]
    return min(limits, default=10_000)


def is_cut_off(command: Command, text: str) -> bool:
    """Whether `| head -3` may have cut lines off: each package has one of its own."""
    return text.strip().count("\n") + 1 >= cut_at(command)
