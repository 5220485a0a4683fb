"""What stands behind a run in a pipe, and whether a failure would have come through it.

`go test ./... | grep ok` prints the packages that passed, whatever the others did. A filter is asked
about the line that was read: would the same line, of a run that failed, have been printed too?
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from trialrun.verification.programs.making import plain_words

_SEARCHERS = frozenset("grep egrep fgrep rg ag ack ripgrep zgrep ugrep".split())
_SEARCH_VALUES = frozenset("-f -A -B -C -m --max-count --context --color -d".split())
_FAILURES = ("FAILED tests/a.py::test_a", "FAIL\tpkg/a\t0.1s", "1 failed", "error: x", "not ok 1")
_FEWEST_LINES = 5
"""So few lines are the beginning of a report and never its end."""

_SED_DROPS = re.compile(r"^/(.+)/[iI]?d$")
_SED_KEEPS = re.compile(r"^/(.+)/[iI]?p$")
_SED_LINES = re.compile(r"^\d+(?:,\d+)?[pq]$|^\d+q$")
_SIGNS = re.compile(r"\[[^\]]*\]|\\.|[.*+?{}^$]")
_AWK = re.compile(r"^\s*(!?)\s*/(.+)/\s*(?:\{.*\})?\s*$", re.DOTALL)


def hides_failures(filters: Sequence[Sequence[str]], line: str, output: str) -> bool:
    """Whether one of the filters would have kept back the sign of a failed test."""
    before = ""
    for words in filters:
        name = words[0].rpartition("/")[2] if words else ""
        if not (name == "head" and before == "tail") and _hides(name, words, line, output):
            return True
        before = name
    return False


def _hides(name: str, words: Sequence[str], line: str, output: str) -> bool:
    if name in _SEARCHERS:
        return _search_hides(name, words, line)
    if name == "head":
        most = _lines_wanted(words)
        return most <= _FEWEST_LINES or len(output.strip().splitlines()) >= most
    if name in ("sed", "gsed"):
        for script in plain_words(words[1:], frozenset()):
            dropped, kept = _SED_DROPS.match(script), _SED_KEEPS.match(script)
            if dropped:
                return _drops(dropped.group(1), line, False)
            if kept and "-n" in words:
                return _keeps_back(kept.group(1), line, False)
            if _SED_LINES.match(script):
                return True
    if name in ("awk", "gawk", "mawk"):
        for script in plain_words(words[1:], frozenset({"-F", "-v"})):
            found = _AWK.match(script)
            if found:
                decide = _drops if found.group(1) else _keeps_back
                return decide(found.group(2), line, False)
    return False


def _search_hides(name: str, words: Sequence[str], line: str) -> bool:
    patterns = [words[i + 1] for i, word in enumerate(words[:-1]) if word in ("-e", "--regexp")]
    if not patterns:
        patterns = plain_words(words[1:], _SEARCH_VALUES)[:1]
    bundles = "".join(word[1:] for word in words[1:] if re.fullmatch(r"-[A-Za-z]+", word))
    pattern = "|".join(patterns)
    if "F" in bundles or name == "fgrep":
        pattern = re.escape(pattern)
    inverted = "v" in bundles or "--invert-match" in words
    ignore_case = "i" in bundles or "--ignore-case" in words
    return (_drops if inverted else _keeps_back)(pattern, line, ignore_case)


def _lines_wanted(words: Sequence[str]) -> int:
    found = re.search(r"(?:-n ?|--lines[= ]|-)(\d{1,9})", " ".join(words[1:]))
    return int(found.group(1)) if found else 10


def _matches(pattern: str, line: str, ignore_case: bool) -> bool:
    plain = pattern.replace("\\|", "|").replace("\\(", "(").replace("\\)", ")")[:300]
    # Only words and alternatives are of interest; a pattern of somebody else's is never run.
    if ignore_case:
        plain, line = plain.lower(), line.lower()
    for part in re.split(r"[|()]", plain):
        words = [word for word in _SIGNS.split(part) if word.strip()]
        begins = words and (not part.startswith("^") or line.startswith(words[0]))
        if begins and all(word in line for word in words):
            return True
    return False


def _counterparts(line: str) -> list[str]:
    """How the line would read if a test had failed."""
    if re.match(r"ok\s", line):
        return ["FAIL\tpkg/a\t0.1s", "--- FAIL: TestA (0.00s)"]
    bad = re.sub(r"\bok\b", "FAILED", line)
    bad = re.sub(r"\b0 (failed|failures?|errors?)", r"1 \1", bad)
    if bad == line:
        bad = re.sub(r"(\d+ (?:passed|passing))", r"1 failed, \1", line, count=1)
    return [bad]


def _keeps_back(pattern: str, line: str, ignore_case: bool) -> bool:
    return not any(_matches(pattern, bad, ignore_case) for bad in _counterparts(line))


def _drops(pattern: str, line: str, ignore_case: bool) -> bool:
    bad = (*_counterparts(line), *_FAILURES)
    return any(_matches(pattern, one, ignore_case) for one in bad)
