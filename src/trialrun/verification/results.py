"""The outcome of one check: by its exit status first, then by the result that it printed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from trialrun.measures.patterns import compiled
from trialrun.model.ledger import Counts, Outcome
from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification.done import Done
from trialrun.verification.facts import Why
from trialrun.verification.filters import cut_at, filters_result, is_cut_off, passes_all
from trialrun.verification.outcomes import Printed, cut_short, is_harmless, read_check, read_tests
from trialrun.verification.runners import Runner
from trialrun.verification.shell import Command
from trialrun.verification.tables import pattern

LONGEST_OUTPUT = 200_000
"""Characters of an output that are read: both ends, each half of this."""


class Result(Struct, frozen=True, gc=False):
    """How a check ended, and why that is not known where it is not."""

    outcome: Outcome
    why: Why = Why.NONE
    counts: Counts | None = None
    line: str = ""


class Shown(Struct, frozen=True, gc=False):
    """What a call showed: its output without the lines that its script prints itself."""

    text: str
    failed: bool
    recorded: bool
    checks: int  # how many checks share this output
    sound: bool  # the script could be parsed
    commands: int
    going: bool  # it goes on in the background
    only_git: bool = False  # nothing but git and its hooks may have printed it
    tellers: int = 0  # how many checks there are whose failure is the call's


def both_ends(text: str) -> str:
    """The text, or both of its ends where it is very long."""
    if len(text) <= LONGEST_OUTPUT:
        return text
    half = LONGEST_OUTPUT // 2
    return f"{text[:half]}\n{text[-half:]}"


def result_of(done: Done, command: Command, shown: Shown) -> Result:
    """The outcome of one check of a call."""
    why = _not_to_be_seen(done, command, shown)
    if why is not Why.NONE:
        return Result(Outcome.UNKNOWN, why)
    printed = _printed(done, shown.text, shown.checks == 1)
    if printed is not None and printed.outcome is not Outcome.FAILED:
        printed = None if _may_be_kept_back(printed, done, command, shown) else printed
    if printed is None and cut_short(shown.text[-4_000:]):
        return Result(Outcome.UNKNOWN, Why.KILLED)
    if (done.tolerant or command.altered) and (
        printed is None or printed.outcome is not Outcome.FAILED
    ):
        return Result(Outcome.UNKNOWN, Why.SWITCHED_OFF, printed.counts if printed else None)
    status = _status(command, shown)
    if printed is not None and (
        done.check == "test"
        or status is None
        or done.tolerant  # `--exit-zero`: the status says nothing
        or (printed.outcome is Outcome.NOTHING and status)
    ):
        return _by_print(printed, status)
    alone = command.told_by is None
    if status and alone and done.check == "test" and not _may_have_passed(shown.text):
        status = None
    if status is not None:
        line = printed.line if printed is not None else ""
        line = line if status else line or _last_line(shown.text)
        return Result(Outcome.PASSED if status else Outcome.FAILED, Why.NONE, None, line)
    if done.check in _SILENT_KINDS and _shows_no_error(command, shown):
        return Result(Outcome.PASSED)
    return Result(Outcome.UNKNOWN, Why.AMONG if shown.failed else Why.HIDDEN)


def _not_to_be_seen(done: Done, command: Command, shown: Shown) -> Why:
    """Why nothing that the call shows is the result of the check, if so."""
    if done.dry:
        return Why.DRY
    if not shown.sound:
        return Why.HIDDEN
    if not shown.recorded:
        return Why.NOT_RECORDED
    return Why.BACKGROUND if command.background or shown.going else Why.NONE


def _may_be_kept_back(printed: Printed, done: Done, command: Command, shown: Shown) -> bool:
    """Whether a failure may be among the lines that did not come through.

    `| grep passed` and `| sed s/failed/passed/` show what they like; of `go test ./... | tail` only
    packages without tests may be left, and `| head -3` may cut the line of a package off.
    """
    if filters_result(command, done.name):
        return True
    if printed.outcome is Outcome.NOTHING and command.piped_into:
        return True
    return done.name == "go test" and is_cut_off(command, shown.text)


def _shows_no_error(command: Command, shown: Shown) -> bool:
    """Whether all that was printed is there, and none of it is an error.

    `go build ./... | head` that printed nothing, `nest build | tail -5` with two lines: a compiler
    or linter that fails says so.
    """
    if not passes_all(command) or shown.failed:
        return False
    lines = shown.text.strip().splitlines()
    whole = len(lines) < cut_at(command)
    bad = any(_ERROR.search(line) and not is_harmless(line) for line in lines)
    return not lines or (whole and not bad)


_ERROR = lazy_pattern(r"error|fail|warn|✗|✘|×|\bE\d{3}\b|not found|cannot|usage:", re.IGNORECASE)


# What tests that passed print, if they print anything; of a runner that is not there, or was not
# let, a wrapper's status says nothing: "sh: jest: not found", "operation not permitted".
_WENT_WELL = lazy_pattern(r"\b(?:ok|pass\w*|succe\w+|done|finished)\b|[✓✔✅]", re.IGNORECASE)


def _may_have_passed(text: str) -> bool:
    return not text.strip() or _WENT_WELL.search(text[-10_000:]) is not None


_SILENT_KINDS = frozenset({"build", "lint", "types", "format"})


def _by_print(printed: Printed, status: bool | None) -> Result:
    if printed.outcome is Outcome.UNKNOWN:
        return Result(Outcome.UNKNOWN, Why.HIDDEN)
    if printed.outcome is Outcome.NOTHING:
        return Result(Outcome.NOTHING, Why.NOTHING_RAN, printed.counts, printed.line)
    outcome = printed.outcome
    if outcome is Outcome.PASSED and status is False:
        # The tests pass and the command fails: a coverage limit, or another part of it.
        return Result(Outcome.UNKNOWN, Why.HIDDEN, printed.counts, printed.line)
    return Result(outcome, Why.NONE, printed.counts, printed.line)


def _status(command: Command, shown: Shown) -> bool | None:
    """Whether the check succeeded by the status of its call; None where that cannot be told."""
    if not shown.sound:
        return None
    if command.told_by is not None:
        told = _TOLD.search(shown.text)
        return None if told is None else told.group(1) == "0"
    if command.negated:
        return None
    if not shown.failed:
        return True if command.shown else None
    if command.shown and (shown.commands == 1 or shown.checks == 1 or shown.tellers == 1):
        return False
    return None


# `echo "exit: $?"` prints the status behind some word.
_TOLD = lazy_pattern(
    r"(?:exit|status|code|rc|EXIT)\S*[ =:]*(\d+)\s*$", re.MULTILINE | re.IGNORECASE
)
# Claude Code, Codex (new and older form), Copilot CLI.
_BACKGROUND = pattern("background")


def is_going_on(head: str) -> bool:
    """Whether the tool says that the command goes on in the background."""
    return _BACKGROUND.search(head) is not None


# What task runners write in front of each line: "[test:ci] ok", "@app/core test: 3 passed".
_PREFIX = lazy_pattern(r"^(?:\[[a-z][\w:./-]*\]|@?[\w./-]+ [\w:-]+:) ", re.MULTILINE)


def _printed(done: Done, text: str, alone: bool) -> Printed | None:
    text = both_ends(text)
    if len(_PREFIX.findall(text)) > text.count("\n") // 2:
        text = _PREFIX.sub("", text)
    own = _by_runner(done.runner, text)
    if own is not None:
        return own
    if done.check == "test":
        return read_tests(text)
    if not alone:
        return _by_signature(done.name.partition(" ")[0], text)
    return read_check(text) if done.check != "run" else None


# What these print where nothing is wrong, and where something is: told apart in an output that
# several checks share.
# ESLint prints nothing where nothing is wrong: no pattern of its own, `(?!)`.
_SIGNATURES = {
    name: (lazy_pattern(passed, re.MULTILINE), lazy_pattern(failed, re.MULTILINE))
    for name, passed, failed in (
        ("golangci-lint", r"^0 issues\.?$", r"^[1-9]\d* issues?:"),
        ("ruff", r"^All checks passed!$", r"^Found \d+ errors?\b"),
        ("ty", r"^All checks passed!$", r"^Found \d+ diagnostics?"),
        ("mypy", r"^Success: no issues found.*$", r"^Found \d+ errors? in \d+ files?"),
        ("pyright", r"^0 errors, .*$", r"^[1-9]\d* errors?, "),
        ("prettier", r"All matched files use Prettier code style!", r"Code style issues found"),
        ("tsc", r"^Found 0 errors", r"error TS\d+:"),
        ("eslint", r"(?!)", r"✖ \d+ problems? "),
        ("biome", r"No fixes applied", r"^Found \d+ errors?\."),
    )
}


def _by_signature(name: str, text: str) -> Printed | None:
    if name not in _SIGNATURES:
        return None
    passed, failed = _SIGNATURES[name]
    for outcome, line in ((Outcome.FAILED, failed), (Outcome.PASSED, passed)):
        if (found := line.search(text)) is not None:
            return Printed(outcome, None, found.group().strip())
    return None


def _by_runner(runner: Runner | None, text: str) -> Printed | None:
    """The result by patterns of a spec or a plug-in, each searched for within a limit."""
    if runner is None or not (runner.passed or runner.failed or runner.nothing):
        return None
    for outcome, patterns in (
        (Outcome.FAILED, runner.failed),
        (Outcome.NOTHING, runner.nothing),
        (Outcome.PASSED, runner.passed),
    ):
        for own in patterns:
            place = compiled(own).first(text)
            if place is None:  # the search took too long: nothing can be concluded
                return Printed(Outcome.UNKNOWN)
            if place:
                return Printed(outcome, None, text[slice(*place)].strip()[:200])
    return None


def _last_line(text: str) -> str:
    lines: Sequence[str] = [line for line in text.strip().splitlines()[-5:] if line.strip()]
    return lines[-1].strip()[:200] if lines else ""


# What git prints about a commit or a push by itself; other lines come from a hook.
_GIT_OWN = pattern("git_own")
_HOOK_KINDS = (
    ("lint", lazy_pattern(r"lint|biome|ruff|clippy|credo|rubocop|flake8", re.I)),
    ("types", lazy_pattern(r"type-?check|\btsc\b|mypy|pyright|dialyzer|typescript", re.I)),
    ("build", lazy_pattern(r"\b(?:build|compil\w+)\b", re.I)),
    ("format", lazy_pattern(r"prettier|\bfmt\b|format", re.I)),
)


_HOOK = lazy_pattern(r"\bhusky\b|lefthook|lint-staged|pre-(?:commit|push)\b", re.I)


def hook_output(text: str) -> tuple[str, frozenset[str]]:
    """The lines that a hook of git printed, and the kinds of checks that they show."""
    lines = [line for line in both_ends(text).splitlines() if line.strip()]
    printed = "\n".join(line for line in lines if not _GIT_OWN.match(line))
    kinds = {kind for kind, name in _HOOK_KINDS if name.search(printed)}
    if read_tests(printed) is not None:
        kinds.add("test")
    if not kinds and _HOOK.search(printed):
        kinds.add("hook")
    return printed, frozenset(kinds)
