"""What a text without tool calls shows: commands with their outputs, read as recorded calls are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from trialrun.model.ledger import Counts, Outcome
from trialrun.model.steps import Step
from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification import calls as c
from trialrun.verification.claim_kinds import RUN_KINDS
from trialrun.verification.collected import Collected
from trialrun.verification.commands import done_by
from trialrun.verification.done import ACT, CHECK, INERT, READ, UNKNOWN, Done
from trialrun.verification.facts import Message, Run, Why
from trialrun.verification.outcomes import read_check, read_tests
from trialrun.verification.runners import Table
from trialrun.verification.sentences import sentences_of
from trialrun.verification.shell import Command, parse
from trialrun.verification.shell_actions import run_script
from trialrun.verification.statements import spoken
from trialrun.verification.tables import pattern, words
from trialrun.verification.text_parts import QUOTATION, Part, is_check, own_words, query, shown_in
from trialrun.verification.text_words import OTHERS
from trialrun.verification.wrappers import unwrapped

READ_BACK, PROBE, OUTPUT = "read", "probe", "output"
_PASSED, _FAILED, _UNKNOWN = Outcome.PASSED, Outcome.FAILED, Outcome.UNKNOWN
_NO_RESULT = frozenset({Why.DRY, Why.KILLED, Why.BACKGROUND})


class Piece(Struct, frozen=True, gc=False):
    """One thing that a text shows; `at` is its place among the parts of the text."""

    at: int
    kind: str  # of a run; or read, probe, output
    by: str
    outcome: Outcome
    detail: str = ""
    counts: Counts | None = None
    text: str = ""


class Evidence(Struct, gc=False):
    """The facts and pieces of a text while they are collected."""

    table: Table
    facts: Collected
    pieces: list[Piece] = []


def evidence_of(parts: Sequence[Part], table: Table, read_back: re.Pattern[str]) -> Evidence:
    """Everything that the text shows, in its order."""
    found = Evidence(table, Collected(table, {}, ""))
    waiting = ""  # a command alone in a block: its output may be in the next one, or quoted
    for at, part in enumerate(parts):
        if not part.block:
            waiting = _add_quoted(found, part, at, waiting)
            continue
        if _is_shown_by_nobody(part, table) or _BEFORE.match(part.lead):
            waiting = ""
            continue
        waiting = _add_block(found, part, at, waiting, read_back)
    return found


_BEFORE = lazy_pattern(r"\W*(?:before|prior to|previously|originally)\b", re.IGNORECASE)
_NOT_RUN = pattern("not_run")
_MODAL = lazy_pattern(r"\b(?:should|could|might|may)\b", re.IGNORECASE)
_MADE_UP = pattern("made_up")
_CLAUSE = lazy_pattern(r"[,;—–]|\band\b")
_TAKEN_BACK = pattern("taken_back")


def _is_shown_by_nobody(part: Part, table: Table) -> bool:
    """Whether the text calls the block expected, planned, denied, made up or somebody else's."""
    lead = own_words(part.lead)
    if part.planned or _MADE_UP.search(lead):
        return True
    if lead.rstrip(" *_").endswith(":"):
        clause = _CLAUSE.split(lead)[-1]
        if _NOT_RUN.search(lead) or _MODAL.search(clause) or OTHERS.search(clause):
            return True
    if re.match(r"\W*(?:this|that|these|those|it)\b", part.after, re.IGNORECASE) and (
        _TAKEN_BACK.search(part.after)
    ):
        return True
    denied = spoken(Message(0, "", 1, part.lead), table).admits
    kinds = {kind for one in denied if not one.fails for kind in one.kinds}
    if not denied or any(one.fails for one in denied):
        return False
    shown = {RUN_KINDS.get(kind) for kind in kinds}
    return not kinds or any(one.command and _kind_of(one.command, table) in shown
                            for one in shown_in(part, table))  # fmt: skip


def _kind_of(command: str, table: Table) -> str:
    return next((done.check for done, _ in _programs(command, table) if done.kind == CHECK), "")


def _programs(command: str, table: Table) -> list[tuple[Done, Command]]:
    return [
        (done, inner)
        for one in parse(command).commands
        for inner in unwrapped(one)
        for done in done_by(inner, table)
    ]


def _add_block(
    found: Evidence, part: Part, at: int, waiting: str, read_back: re.Pattern[str]
) -> str:
    """Add what a block shows; a command that has no output yet is handed back."""
    if part.language == QUOTATION:
        _add_output(found, part, at, read_back)
        return waiting
    shown = shown_in(part, found.table)
    outputs = any(one.output.strip() for one in shown)
    for one in shown:
        command = one.command or waiting or _announced(part.lead, found.table)
        if command and outputs:
            add_command(found, command, one.output, at, silent=True)
        elif one.output.strip():
            _add_output(found, part, at, read_back)
    alone = [one.command for one in shown if one.command]
    return "" if outputs or len(alone) != 1 else alone[0]


_SPAN = lazy_pattern(r"`([^`\n]{1,400})`")


def _announced(lead: str, table: Table) -> str:
    """The command that a line announces: "`pytest -q` now:", "pytest -q tests:"."""
    for span in _SPAN.findall(lead):
        if _is_shell(span, table):
            return query(span) or str(span)
    plain = lead.strip().rstrip(":").strip()
    return plain if lead.strip().endswith(":") and is_check(plain, table) else ""


_BUILT_IN = frozenset(words("built in"))


def _is_shell(text: str, table: Table) -> bool:
    """Whether a code span is a command, or a query, that shows something."""
    if query(text):
        return True
    if not re.match(r"[\w./~-]+(?:\s|$)", text) or re.fullmatch(
        r"[\w./-]+\.\w{1,5}(?::\d+)?", text
    ):
        return False
    looks = " " in text
    return any(
        done.kind in (CHECK, ACT)
        or (looks and done.kind in (READ, INERT) and done.name not in _BUILT_IN)
        for done, _ in _programs(text, table)
    )


_SILENT = frozenset(words("silent"))
_ENDED = lazy_pattern(
    r"\bexit(?:ed|s)?(?: with)?(?: code| status)?[:=]? *(\d{1,3})\b", re.IGNORECASE
)


def add_command(found: Evidence, command: str, output: str, at: int, silent: bool = False) -> None:
    """Add one command with its output, read as a recorded call; its exit status is not known."""
    status = _ENDED.findall(output[-300:])
    failed = bool(status) and status[-1] != "0"
    said = bool(output.strip()) or silent
    step = Step.tool_call("shell", {"command": command}, output)
    call = c.Call(step, c.SHELL, "shell", {}, output, "", failed, None, "", "", said)
    script = parse(command)
    told = bool(status)
    plain = [replace(one, shown=one.shown and told) for one in script.commands]
    first = len(found.facts.runs)
    run_script(found.facts, call, replace(script, commands=tuple(plain)))
    runs = found.facts.runs[first:]
    for index, run in enumerate(runs, first):
        found.facts.runs[index] = run = _read_again(run, output)
        found.pieces.append(
            Piece(at, run.kind, run.name, run.outcome, run.line or _first_line(output), run.counts,
                  output)
        )  # fmt: skip
    if not runs and output.strip():
        _add_look(found, command, output, at)


# A finding of a linter: `api/user.go:44:2: ineffectual assignment`.
_PLACE = lazy_pattern(r"^[\w./\\-]+:\d+:\d+:? \S", re.MULTILINE)


_ALL_PASS = lazy_pattern(r"\ball (?:\w+ )?tests pass", re.IGNORECASE)


def _read_again(run: Run, output: str) -> Run:
    """Without an exit status: a finding is a failure, and tests need a word of success."""
    if run.outcome is not _UNKNOWN or not output.strip() or run.tolerant or run.why in _NO_RESULT:
        return run
    printed = read_check(output)
    red = printed is not None and printed.outcome is _FAILED
    if red or (run.kind in ("lint", "types") and _PLACE.search(output)):
        return replace(run, outcome=_FAILED, line=_first_line(output))
    green = printed is not None and printed.outcome is _PASSED
    if run.kind == "test" and not green and not _ALL_PASS.search(output):
        return run
    return replace(run, outcome=_PASSED, line=_first_line(output))


def _add_look(found: Evidence, command: str, output: str, at: int) -> None:
    """A command that is no check: a probe, a read, a query, with what it printed."""
    programs = _programs(command, found.table)
    for done, _ in programs:
        probe = done.kind == ACT and done.act in ("probe", "ci", "forge", "remote")
        look = done.kind in (READ, INERT, UNKNOWN) and done.name not in _SILENT
        if probe or look:
            kind = PROBE if probe else READ_BACK if done.kind == READ else OUTPUT
            found.pieces.append(_seen(at, kind, done.name, output))
            return


_RED_STATUS = pattern("red_status")


def outcome_of(output: str) -> Outcome:
    """The outcome that an output without a known command shows."""
    tests = read_tests(output)
    if tests is not None:
        return tests.outcome
    printed = read_check(output)
    if _RED_STATUS.search(output) or (printed is not None and printed.outcome is _FAILED):
        return _FAILED
    return _PASSED


_RESULT_LEAD = pattern("result_lead")
_LINES_LEAD = pattern("lines_lead")
# Lines of a file with their numbers: `31      value = …`, `14: TIMEOUT = 30`.
_NUMBERED = lazy_pattern(r"\A(?:\s*\d+(?:[:|→]| {2,}|\t).*(?:\n|\Z))+\Z")
# "Let me check the database first:" announces a look, and not that its result follows.
_BEGINS = lazy_pattern(r"\b(?:let me|let's|now \w+ing)\b", re.IGNORECASE)
_SERVICE = lazy_pattern(r"\b(?:status|health\w*|service|response|endpoint|api|deploy\w*)\b", re.I)


def _add_output(found: Evidence, part: Part, at: int, read_back: re.Pattern[str]) -> None:
    """A block without a command: the result of a run, lines of a file, or an answer."""
    text, lead = part.text, part.lead
    if part.language == QUOTATION:
        if _LINES_LEAD.search(lead):
            found.pieces.append(Piece(at, READ_BACK, "quoted lines", _PASSED, _first_line(text)))
        return
    tests = read_tests(text)
    if tests is not None:
        _add_run(found, "test", text, at)
        return
    for kind in _named_kinds(lead, found.table):
        if read_check(text) is not None:
            _add_run(found, kind, text, at)
            return
    if _LINES_LEAD.search(lead) or _NUMBERED.match(text.strip("\n")) or read_back.search(lead):
        found.pieces.append(Piece(at, READ_BACK, "quoted lines", _PASSED, _first_line(text)))
    elif _RESULT_LEAD.search(lead) and not (part.language in _SOURCES or _BEGINS.search(lead)):
        kind = PROBE if _SERVICE.search(lead) else OUTPUT
        found.pieces.append(_seen(at, kind, "quoted output", text))


_SOURCES = frozenset(words("sources"))


def _named_kinds(lead: str, table: Table) -> list[str]:
    """The kinds of checks that a line speaks of."""
    said = spoken(Message(0, "", 1, f"{lead.strip(': ')} passed", last=True), table)
    return [RUN_KINDS[one.kind] for one in said.statements if one.kind in RUN_KINDS]


def _add_run(found: Evidence, kind: str, output: str, at: int) -> None:
    """The result of a check whose command is not shown."""
    printed = read_tests(output) if kind == "test" else read_check(output)
    if printed is None:
        return
    run = Run(
        found.facts.next(), "", kind, kind, kind, "", printed.outcome, counts=printed.counts,
        line=printed.line, text=output,
    )  # fmt: skip
    found.facts.runs.append(run)
    found.pieces.append(Piece(at, kind, kind, run.outcome, run.line, run.counts, output))


def _seen(at: int, kind: str, by: str, output: str) -> Piece:
    return Piece(at, kind, by, outcome_of(output), _first_line(output), None, output)


def _first_line(text: str) -> str:
    return next((line.strip()[:200] for line in text.splitlines() if line.strip()), "")


# What prose quotes: "`pytest -q` says `12 passed`", "Health response: `{…}`", "line 4 is `x = 1`".

_QUOTED = lazy_pattern(r"`([^`\n]{1,400})`|\"([^\"\n]{2,400})\"")
_SAYS = pattern("says")
_OUTPUT_LABEL = pattern("output_label")
_PLACED = pattern("placed")
_PATH = lazy_pattern(r"[\w./-]+(?::\d+(?:-\d+)?)?(?:\(\))?")
_RESULT = pattern("result")
# A result that is named again: "by the run above", "as before".
_AGAIN = lazy_pattern(r"\b(?:above|earlier|previous(?:ly)?|before)\b", re.IGNORECASE)


def _add_quoted(found: Evidence, part: Part, at: int, waiting: str) -> str:
    """Add what the sentences of a prose part quote."""
    for sentence, planned in sentences_of(_flat(part.text)):
        plain = own_words(sentence)
        if planned or len(sentence) > 1500 or sentence.endswith("?") or OTHERS.search(plain):
            continue
        if _NOT_RUN.search(plain) or _MADE_UP.search(plain) or _AGAIN.search(plain):
            continue
        used = _add_named(found, sentence, at)
        for quote in _QUOTED.finditer(sentence):
            text = quote.group(1) or quote.group(2)
            before = sentence[: quote.start()].rstrip("*_ ")
            if text in used or not _OUTPUT_LABEL.search(before + " "):
                continue
            if waiting:
                add_command(found, waiting, text, at)
                waiting = ""
            else:
                _add_labelled(found, before, text, at)
        for first, second in _PLACED.findall(sentence):
            if not _PATH.fullmatch(first or second):
                found.pieces.append(Piece(at, READ_BACK, "quoted line", _PASSED, first or second))
    return waiting


def _flat(text: str) -> str:
    """Arrows and dashes end no sentence, and a row of a table is one: "`make` — Finished"."""
    lines = [
        " -> ".join(cell.strip() for cell in line.strip().strip("|").split("|"))
        if line.count("|") > 1
        else line
        for line in text.split("\n")
    ]
    return re.sub(r" [—–→] ", " -> ", "\n".join(lines))


def _add_labelled(found: Evidence, label: str, text: str, at: int) -> None:
    tests = read_tests(text)
    if tests is not None:
        _add_run(found, "test", text, at)
        return
    kind = PROBE if _SERVICE.search(label) else OUTPUT
    found.pieces.append(_seen(at, kind, "quoted output", text))


def _add_named(found: Evidence, sentence: str, at: int) -> set[str]:
    """The commands that a sentence names with their results; the quotations that are these."""
    used: set[str] = set()
    commands = list(_commands_in(sentence, found.table))
    for index, (command, end) in enumerate(commands):
        until = sentence.find(commands[index + 1][0], end) if index + 1 < len(commands) else None
        rest = sentence[end:until]
        says = _SAYS.search(rest)
        if says is None:
            continue
        told = rest[says.start() :]
        quotes = [one or two for one, two in _QUOTED.findall(told)]
        output = "\n".join(quotes) if quotes else told.lstrip(":(→-=>, ")
        used |= {command, *quotes}
        if quotes or _RESULT.search(told):
            add_command(found, query(command) or command, output.strip(" .)"), at)
    return used


_WORDS_BEFORE = lazy_pattern(r"(?:^|[.;,:(]|\band\b|\$)\s*((?:[\w./:@=-]+ ){0,8}[\w./:@=-]+) $")


def _commands_in(sentence: str, table: Table) -> Iterator[tuple[str, int]]:
    """The commands that a sentence names, and where each ends: in code spans, or plain."""
    found = False
    for span in _SPAN.finditer(sentence):
        if _is_shell(span.group(1), table):
            found = True
            yield span.group(1), span.end()
    for says in _SAYS.finditer(sentence) if not found else ():
        before = _WORDS_BEFORE.search(sentence, max(0, says.start() - 200), says.start())
        if before is None:
            continue
        words = before.group(1).split()
        for start in range(len(words)):
            command = " ".join(words[start:])
            if words[start] in ("curl", "wget") or is_check(command, table):
                yield command, says.start()
                break
