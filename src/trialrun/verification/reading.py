"""How a deed ended: by exit code or status first, then by what was printed."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

from msgspec import Struct

from trialrun.measures.patterns import compiled
from trialrun.model.ledger import Counts, Outcome
from trialrun.model.trace import Step, StepStatus
from trialrun.verification import deeds as d
from trialrun.verification.answers import read_probe
from trialrun.verification.deeds import Deed
from trialrun.verification.filters import hides_failures
from trialrun.verification.marks import Marked
from trialrun.verification.outcomes import Printed, cut_short, read_check, read_tests
from trialrun.verification.readable import readable
from trialrun.verification.runners import Runner
from trialrun.verification.values import safe_text

_PASSED, _FAILED = Outcome.PASSED, Outcome.FAILED
_NOTHING, _UNKNOWN = Outcome.NOTHING, Outcome.UNKNOWN

_OUTPUT_KEYS = (
    "output",
    "stdout",
    "stderr",
    "content",
    "text",
    "result",
    "message",
    "aggregated_output",
    "formatted_output",
    "data",
)
_CODE_KEYS = (
    "exit_code",
    "exitCode",
    "exitcode",
    "returncode",
    "return_code",
    "code",
    "status_code",
)
_OF_A_CALL = frozenset(
    {"output", "stdout", "metadata", "exit_code", "exitCode", "exitcode", "returncode"}
)
_EXIT = Marked(
    ("exit", "return code", "returned code"),
    r"(?:^|\n|\[|\()\s*(?:command )?(?:exit(?:ed)?(?: with)?(?: (?:code|status))?|return code|returned code|<?exit_code|process exited with code)\s*[:=>]?\s*(-?\d{1,3})\b",
    re.IGNORECASE,
)


_NUMBER = re.compile(r"-?\d{1,3}")


class Result(Struct, frozen=True, gc=False):
    """What came back from a call."""

    text: str
    exit_code: int | None = None
    failed: bool = False  # the tool says so
    recorded: bool = True
    echoes: frozenset[str] = frozenset()  # lines left out of the text: the script printed them


def result_of(step: Step) -> Result:
    """The text that the call returned, and its exit code, in whatever shape it came."""
    value = step.tool_result
    failed = step.status is StepStatus.FAILURE or step.error is not None
    if isinstance(value, str) and value[:1] == "{" and len(value) < 5_000_000:
        try:
            decoded = json.loads(value)
        except (ValueError, RecursionError):
            decoded = None
        if isinstance(decoded, dict) and _OF_A_CALL & set(decoded):
            value = decoded
    code = None
    if isinstance(value, dict):
        code = _code(value)
        nested = value.get("metadata")
        if code is None and isinstance(nested, dict):
            code = _code(nested)
        if any(value.get(key) is True for key in ("is_error", "isError", "interrupted")):
            failed = True
    text = readable(_as_text(value, 0))
    if step.error and step.error not in text:
        text = readable(f"{text}\n{step.error}" if text else step.error)
    if code is None:
        code = _told_code(text)
    return Result(text, code, failed, recorded=value is not None)


def _told_code(text: str) -> int | None:
    """The exit code in the words of the tool, before or behind what the command printed."""
    found = _EXIT.findall(text if len(text) <= 600 else f"{text[:300]}\n{text[-300:]}")
    return int(found[-1]) if found else None


def _code(value: dict[str, Any]) -> int | None:
    for key in _CODE_KEYS:
        found = value.get(key)
        if type(found) is int:
            return found
        if isinstance(found, str) and _NUMBER.fullmatch(found.strip()):
            return int(found)
    return None


def _as_text(value: Any, depth: int) -> str:
    if isinstance(value, str):
        return value
    if value is None or depth > 5:
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, dict):
        parts = [_as_text(value[key], depth + 1) for key in _OUTPUT_KEYS if key in value]
        parts = [part for part in parts if part]
        if parts:
            return "\n".join(parts)
    if isinstance(value, list):
        return "\n".join(_as_text(one, depth + 1) for one in value[:10_000])
    return safe_text(value)


class Ended(Struct, frozen=True, gc=False):
    """The outcome of a deed and what it was read from."""

    outcome: Outcome
    counts: Counts | None = None
    detail: str = ""


def succeeded(deed: Deed, result: Result, followed: bool) -> bool:
    """Whether a change took place: an edit that failed changed nothing.

    Where a chain broke, what stands before its last command may well have been done: better to ask
    for a look at something that may have changed than to miss it.
    """
    told = deed.report.changed(result.text) if deed.report is not None else None
    if told is not None:
        return told
    if result.failed or (result.exit_code is not None and result.exit_code != 0):
        return deed.command is not None and (followed or not deed.command.shown)
    if deed.kind == d.SERVICE and deed.by in _REQUESTS:
        answer = read_probe(result.text)
        if answer is not None and answer.outcome is _FAILED:
            return False  # the other machine has refused
    if deed.by == "patch" and _PATCH_REFUSED.search(result.text):
        return False
    if deed.command is None:
        return not _EDIT_REFUSED.search(result.text[:400])
    return True


_REQUESTS = frozenset({"curl", "wget", "httpie"})
_PATCH_REFUSED = re.compile(
    r"patch does not apply|patch failed|hunks? FAILED|error: corrupt patch|Only garbage was found",
    re.IGNORECASE,
)
_EDIT_REFUSED = Marked(
    (
        "error",
        "failed",
        "could not",
        "no match",
        "not found",
        "not exist",
        "no change",
        "did not match",
        "has not been",
        "permission denied",
        "not applied",
        "rejected by",
        "want to proceed",
    ),
    r"^(?:<tool_use_error>|error\b|failed\b|could not|no match|string to replace not found|file (?:has not been read|not found|does not exist))|no changes? (?:made|were made)|did not match|has not been (?:read|updated|modified)|permission denied|not found in file|was not applied|patch failed|rejected by (?:the )?user|doesn't want to proceed",
    re.IGNORECASE,
)


def ended(deed: Deed, result: Result, sound: bool, alone: bool) -> Ended:
    """How the deed ended. `alone`: nothing else in the call could have failed in its place."""
    if deed.kind in d.LOOKS:
        return _look(deed, result)
    if not result.recorded and not result.failed and result.exit_code is None:
        return Ended(_UNKNOWN, detail="its result was not recorded")
    if not sound:
        return Ended(_UNKNOWN, detail="the command does not parse")
    command = deed.command
    if command is not None and command.background:
        return Ended(_UNKNOWN, detail="left in the background")
    if _only_lists(deed):
        return Ended(_NOTHING, detail="it only lists, or tells about itself")
    printed = _printed(deed, result.text)
    if deed.endless and (printed is None or printed.outcome is _UNKNOWN):
        return Ended(_UNKNOWN, detail="a watch that never ends")
    if cut_short(result.text) and (printed is None or printed.outcome is not _FAILED):
        if deed.kind == d.PROBE:
            return Ended(_FAILED, detail=_last_line(result.text))
        return Ended(_UNKNOWN, detail="it was stopped before its end")
    code = result.exit_code
    told = (
        _told_status(command.told_by, result.text)
        if command is not None and command.told_by
        else None
    )
    if told is not None:
        return _by_code(told, printed, result)
    if code in (124, 137, 143) and deed.kind != d.PROBE:
        return Ended(_UNKNOWN, detail="it was stopped before its end")
    if command is not None and command.echoed and not command.shown:
        lines = {*result.echoes, *(line.strip() for line in result.text.splitlines())}
        if command.echoed in lines and (printed is None or printed.outcome is not _NOTHING):
            # Which is printed where this one has succeeded; a complaint is another one's.
            told_well = printed if printed is not None and printed.outcome is _PASSED else None
            return Ended(_PASSED, told_well.counts if told_well else None, command.echoed)
    shown = command is None or command.shown
    broke = result.failed or (code is not None and code != 0)
    if command is not None and command.negated:
        shown = False
    return _weighed(deed, printed, shown, broke, alone, result)


_ABOUT_ITSELF = frozenset({"--version", "--help"})
_LISTS = frozenset(
    "--collect-only --co --list --listTests --list-tests --dry-run --no-run -list --fixtures --markers"
    " -DskipTests -DskipTests=true -Dmaven.test.skip=true --just-print --recon".split()
)


_LISTS_BUILDS = frozenset("-list -showBuildSettings -showsdks -showdestinations --dry-run".split())


def _only_lists(deed: Deed) -> bool:
    """Whether the command runs nothing: `--version`, `--collect-only`, `make -n`, `-x test`."""
    words = deed.command.words if deed.command is not None else ()
    if not _ABOUT_ITSELF.isdisjoint(words[1:]) or words[1:] == ("-V",):
        return True
    if deed.kind == d.BUILD and not _LISTS_BUILDS.isdisjoint(words[1:]):
        return True
    if deed.kind != d.TEST:
        return False
    if "-x" in words and ("-x", "test") in pairwise(words):
        return True
    alone = {"make": "-n", "ctest": "-N"}.get(words[0]) if words else None
    return alone in words or not _LISTS.isdisjoint(words[1:])


def _told_status(template: str, text: str) -> int | None:
    """The number that stands in the output where the script echoed the status."""
    before = re.sub(r"\$\{?PIPESTATUS\[0\]\}?|\$\?", "\0", template).partition("\0")[0]
    pattern = (
        rf"{re.escape(before.strip())}\s*(\d{{1,3}})"
        if before.strip()
        else r"(?m)^\s*(\d{1,3})\s*$"
    )
    found = re.findall(pattern, text)
    return int(found[-1]) if found else None


def _by_code(code: int, printed: Printed | None, result: Result) -> Ended:
    counts = printed.counts if printed is not None else None
    if printed is not None and (
        printed.outcome is _NOTHING or (printed.outcome is _FAILED and code == 0)
    ):
        return Ended(printed.outcome, counts, printed.line)
    if code in (124, 137, 143):
        return Ended(_UNKNOWN, detail="it was stopped before its end")
    line = printed.line if printed is not None else f"exit status {code}"
    return Ended(_PASSED if code == 0 else _FAILED, counts, line)


def _weighed(
    deed: Deed, printed: Printed | None, shown: bool, broke: bool, alone: bool, result: Result
) -> Ended:
    told = Ended(printed.outcome, printed.counts, printed.line) if printed else None
    if told is not None and told.outcome is _NOTHING:
        return told
    if (
        told is not None
        and told.outcome is _PASSED
        and deed.kind == d.TEST
        and not shown
        and deed.command is not None
        and hides_failures(deed.command.piped_into, told.detail, result.text)
    ):
        return Ended(_UNKNOWN, detail="its output went through a filter that hides failures")
    if broke and deed.kind not in (d.PROBE, d.QUERY) and _NOT_STARTED.search(result.text):
        return Ended(_UNKNOWN, detail=_last_line(result.text))
    if broke:
        if told is not None and (told.outcome is _FAILED or (not shown or not alone)):
            return told
        if deed.kind == d.QUERY and not alone:
            return Ended(_UNKNOWN, detail=_last_line(result.text))
        if shown and alone:
            counts = told.counts if told else None
            return Ended(_FAILED, counts, _failing_line(result.text))
        if shown and _NOT_STARTED.search(result.text):
            return Ended(_UNKNOWN, detail=_last_line(result.text))
        return Ended(_UNKNOWN, detail="another command of the same call may be the one that failed")
    if told is not None and told.outcome is _FAILED:
        if shown and not alone and deed.kind != d.TEST:
            # The call went well, and with it this command; the complaint is another one's.
            return Ended(_PASSED)
        return told
    if shown and told is None and deed.kind == d.TEST and not _quietly_passed(result):
        return Ended(_UNKNOWN, detail=_last_line(result.text) or "it printed no result")
    if told is not None and not alone and deed.kind != d.TEST and read_tests(told.detail):
        told = Ended(told.outcome)  # the tests of another command: "ruff: 22 passed" would be odd
    if shown:
        return told or Ended(_PASSED, detail=_last_line(result.text) if alone else "")
    if told is not None:
        return told
    if deed.kind in (d.PROBE, d.QUERY) and result.text.strip():
        return Ended(_PASSED, detail=_last_line(result.text))
    if deed.kind == d.RUN and alone and _cut_to_size(deed) and result.text.strip():
        # What a program printed is there to see, though its status is not.
        return Ended(_PASSED, detail=_last_line(result.text))
    return Ended(_UNKNOWN, detail="its exit status is hidden and it printed no result")


def _cut_to_size(deed: Deed) -> bool:
    """Whether its output went through nothing but `head`, `tail` and the like."""
    piped = deed.command.piped_into if deed.command is not None else ()
    return bool(piped) and all(
        bool(words) and words[0] in ("head", "tail", "tee", "cat", "jq", "sort", "less")
        for words in piped
    )


_GOES_WELL = re.compile(
    r"\b(?:ok|pass(?:ed|es)?|success\w*|done|green|all good|0 failures)\b|✓|✔|✅", re.IGNORECASE
)


def _quietly_passed(result: Result) -> bool:
    """Tests that went well and print something say so: "success" may be the tool's word only."""
    if result.exit_code == 0:
        return True
    text = result.text.strip()
    if not text:
        return True  # its output went elsewhere; its status did not
    return bool(_GOES_WELL.search(text)) and not _NOT_STARTED.search(text)


_NOT_STARTED = Marked(
    (
        "not found",
        "No such file",
        "not recognized",
        "No module named",
        "ermission denied",
        "not permitted",
        "denied this command",
        "want to proceed",
        "running in background",
        "Cannot ",
        "Connection refused",
        "password is required",
        "no test specified",
        "issing script",
        "NO_SCRIPT",
        "find a script",
    ),
    r"command not found|No such file or directory|not recognized|: not found|No module named|[Pp]ermission denied|not permitted"
    r"|denied this command|doesn't want to proceed|running in background|Cannot connect to|Connection refused|password is required|no test specified"
    r"|[Mm]issing script:|Preset \S+ not found|Cannot find module '[^./]|ERR_PNPM_NO_SCRIPT|find a script named",
)


def _look(deed: Deed, result: Result) -> Ended:
    if (
        deed.kind == d.SEARCH
        and result.exit_code in (None, 1)
        and _NO_HITS.match(result.text.strip())
    ):
        return Ended(_PASSED, detail="found nothing")  # which is what grep's status 1 says
    if result.failed and deed.command is None:
        missing = _is_missing(result.text)
        return Ended(_UNKNOWN, detail="no such file" if missing else _last_line(result.text))
    if not result.recorded:
        return Ended(_UNKNOWN, detail="its result was not recorded")
    if (
        deed.kind == d.READ
        and (result.failed or len(result.text) < 300)
        and _is_missing(result.text)
    ):
        return Ended(_UNKNOWN, detail="no such file")
    if result.failed and re.search(
        r"No such file|cannot (?:open|access)|not found|Permission denied", result.text
    ):
        return Ended(_UNKNOWN, detail=_last_line(result.text))
    if deed.by == "python" and result.failed and _CRASH.search(result.text):
        return Ended(_UNKNOWN, detail=_last_line(result.text))
    if deed.kind in (d.READ, d.DIFF) and not result.text.strip():
        return Ended(_UNKNOWN, detail="it showed nothing")
    return Ended(_PASSED, detail="")


_NO_HITS = re.compile(
    r"(?:exit (?:code|status):? ?1|\(no output\)|no matches found\.?|command exited with code 1)?$",
    re.IGNORECASE,
)
_MISSING = ("enoent", "no such file", "does not exist", "file not found", "cannot open")


def _is_missing(text: str) -> bool:
    start = text[:300].lower()
    return any(words in start for words in _MISSING)


def _printed(deed: Deed, text: str) -> Printed | None:
    runner = deed.runner
    if isinstance(runner, Runner):
        for patterns, outcome in (
            (runner.failed, _FAILED),
            (runner.nothing, _NOTHING),
            (runner.passed, _PASSED),
        ):
            for pattern in patterns:
                found = compiled(pattern).first(text)
                if found is None:
                    return Printed(_UNKNOWN, None, f"the search for {pattern} took too long")
                if found:
                    return Printed(outcome, None, text[slice(*found)].strip()[:200])
    if deed.kind == d.TEST:
        found_tests = read_tests(text)
        if found_tests is not None:
            return found_tests
        # `make check` and its kin may be anything: read what they say of themselves.
        return _only_failures(read_check(text))
    if deed.kind == d.PROBE:
        return read_probe(text)
    if deed.kind == d.QUERY:
        refused = _QUERY_FAILED.search(text)
        return Printed(_FAILED, None, refused.group().strip()[:200]) if refused else None
    if deed.kind in (d.LINT, d.TYPES, d.BUILD, d.FORMAT, d.CONFIG):
        return read_check(text)
    if deed.kind == d.RUN:
        return _only_failures(read_check(text)) if _CRASH.search(text) else None
    return None


_QUERY_FAILED = re.compile(
    r"^(?:psql: )?(?:ERROR|FATAL)\b.*|(?:column|relation|table) \S+ does not exist|no such (?:table|column)\S*.*|syntax error at.*|\(isError\)",
    re.MULTILINE | re.IGNORECASE,
)
_CRASH = Marked(
    ("Traceback", "rror", "xception", "panicked at", "fatal: ", "command not found"),
    r"^Traceback \(most recent call last\)|^(?:\w+\.)*\w*(?:Error|Exception): |panicked at|^fatal: |command not found",
    re.MULTILINE,
)


def _only_failures(printed: Printed | None) -> Printed | None:
    return printed if printed is not None and printed.outcome in (_FAILED, _NOTHING) else None


def _last_line(text: str) -> str:
    lines = [line for line in text[-2000:].splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else ""


def _failing_line(text: str) -> str:
    found = read_check(text)
    return found.line if found is not None and found.outcome is _FAILED else _last_line(text)
