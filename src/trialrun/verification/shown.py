"""What a text shows, as against what it says: commands with their results, quoted lines, outputs.

All that a final message alone can offer as evidence. Code without a command or a result shows
nothing; neither does a command that somebody is told to run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from trialrun.model.ledger import Counts, Outcome
from trialrun.verification import deeds as d
from trialrun.verification.answers import read_probe
from trialrun.verification.blocks import NO_COMMAND, PROMPT, PROSE, parts_of
from trialrun.verification.deeds import Deed
from trialrun.verification.outcomes import read_check, read_tests
from trialrun.verification.phrases import REPORTED
from trialrun.verification.programs import deeds_of
from trialrun.verification.readable import readable
from trialrun.verification.reading import Result, ended
from trialrun.verification.runners import Table, default_table
from trialrun.verification.shell import parse
from trialrun.verification.wording import CODE, names_in

QUOTE = "quote"
DIFF = "diff"


class Shown(Struct, frozen=True):
    """One piece of evidence that stands in the text itself."""

    kind: str  # of the deed, or a quotation of a file
    by: str
    outcome: Outcome
    counts: Counts | None = None
    detail: str = ""
    counted: tuple[int, ...] = ()  # how many rows or lines a query or `wc` found
    breadth: int = 1  # of how many places it may speak: one for a single address
    output: str = ""  # the beginning of what was printed


_NUMBERED = re.compile(r"^\s*\d{1,5}\s*[:|→│\t]|^\s{2,}\d{1,5}\s{2,}\S|^\S+:\d+[:-]")
_LINE_CITED = re.compile(
    r"\b(?:lines?|zeilen?|l[ií]neas?|lignes?|l\.)\s*\d+|\d+\s*行目|[\w./-]+\.\w{1,12}:\d+|\bL\d+\b",
    re.IGNORECASE,
)
READ_BACK = r"\b(?:now reads?|reads? now|read(?:ing)? (?:it|them|the file|each of them)? ?back|re-?read|contents? (?:is|are) now|after the (?:edit|change)|verified by reading|cat\b|grep\b|current (?:content|state)|shows?|says|lautet|es ahora|est maintenant|dit)\b|になって"
"""Words that go before something which was read back."""

_SAYS = re.compile(
    r"\b(?:print(?:s|ed)?|return(?:s|ed)?|exit(?:s|ed)?|give?s?|gave|show(?:s|ed)?|report(?:s|ed)?|says?|said|answer(?:s|ed)?|output(?:s|ted)?|respond(?:s|ed)?|came back|result(?:s|ed)?|finish(?:es|ed)?|complete[sd]?|succeed(?:s|ed)|pass(?:es|ed)|fail(?:s|ed)|stops?|meldet|liefert|devuelve|affiche|renvoie)\b|→|->|=>|:\s|✅|❌",
    re.IGNORECASE,
)
_RESULT = re.compile(
    r"\b\d[\d,]* (?:tests? |specs? |examples?,? |checks? )?(?:passed|passing|pass\b|failed|failing|failures?|succeeded|errors?|warnings?|ok\b|tests?\b|examples?\b|rows?\b|files?\b|issues?\b)|\bexit(?:ed|s)?(?: with)?(?: code| status)?:? ?\d+|\b(?:http(?:/\d(?:\.\d)?)? ?)?[2345]\d\d\b(?: ok| created| bad gateway| not found)?|\bsucceeded \d+|\b\d+(?:\.\d+)? ?%|no (?:issues|errors|offenses|problems|warnings|output)|nothing|success|all checks passed|healthy|active|\bok\b|build success\w*",
    re.IGNORECASE,
)
_PLAIN_COMMAND = re.compile(
    r"(?<![\w`-])(pytest|npm (?:run )?test|npx \w+|yarn test|pnpm test|jest|vitest|mocha|go test|cargo (?:test|build|clippy)|mvn \w+|gradle \w+|\./gradlew \S+|dotnet test|bundle exec rspec|rspec|phpunit|ctest|make \w+|tox|nox|mypy|ruff(?: check)?|flake8|eslint|tsc|pyright|black --check|coverage (?:run|report)|curl|wget|kubectl \w+ ?\w*|docker ps|systemctl (?:status|is-active)|terraform \w+|nginx -t|npm run \w+|mix test|swift test|deno test|bun test|pylint|golangci-lint|clippy|rubocop)(?![\w-])",
    re.IGNORECASE,
)
_INTENDED = re.compile(
    r"\b(?:will|would|should|could|can|please|to confirm|to verify|to check|let me|going to|plan|next|you may|you might|is the command|run it with|ask|expected (?:output|result))\b|\b(?:did not|didn't|haven't|have not|not|never|couldn't|could not|without|unable)\b[^.]{0,30}\b(?:run|ran|execut|test|check)",
    re.IGNORECASE,
)


def shown_in(
    text: str, table: Table | None = None, read_back: re.Pattern[str] | None = None
) -> list[Shown]:
    """All that the text shows, in order."""
    table = table or default_table()
    read_back = read_back or _read_back()
    found: list[Shown] = []
    waiting: str | None = None  # a command that was named just before a block
    prose: list[str] = []
    for part in parts_of(text):
        if part.kind == PROSE:
            found += _in_prose(part.lines, table)
            prose = part.lines
            waiting = _last_command(part.lines, table)
            continue
        before = next((line for line in reversed(prose) if line.strip()), "")
        made, waiting = _in_block(part.info, part.lines, before, waiting, table, read_back)
        found += _out_of_date(made) if _tells_of_before(before) else made
    return _without_calls(text, found)


@cache
def _read_back() -> re.Pattern[str]:
    return re.compile(READ_BACK, re.IGNORECASE)


_CALLS = re.compile(r"^[^\S\n]*tool calls?:\s*(.+)$", re.IGNORECASE | re.MULTILINE)
_RUNS = re.compile(r"bash|shell|terminal|exec|run|command|pytest|test", re.IGNORECASE)


def _without_calls(text: str, found: list[Shown]) -> list[Shown]:
    """A text that lists its tool calls, and lists none that runs anything, has run nothing."""
    listed = _CALLS.findall(text)
    if not listed or any(_RUNS.search(re.sub(r"\([^)]*\)", "", line)) for line in listed):
        return found
    return [one for one in found if one.kind in (QUOTE, DIFF)]


_CODE_LANGUAGES = frozenset(
    "python py js javascript ts typescript tsx jsx go rust rs java kotlin c cpp csharp cs ruby rb php swift sql html css scss vue elixir scala".split()
)


def _in_block(
    info: str,
    lines: list[str],
    before: str,
    waiting: str | None,
    table: Table,
    read_back: re.Pattern[str],
) -> tuple[list[Shown], str | None]:
    if info == "diff" or (lines and lines[0].startswith(("diff --git", "--- a/", "@@ "))):
        return [Shown(DIFF, "diff", Outcome.PASSED, detail=_first(lines))], None
    if info == "sql" and _ASKS.match(_first(lines)):
        return [], " ".join(lines)  # a query alone: its rows may follow in a block of their own
    if _first(lines).startswith("#!"):
        return [], None  # a script: what it would print has not been printed
    pairs = list(_sessions(lines))
    if pairs:
        return [one for command, output in pairs for one in _ran(command, output, table)], None
    output = "\n".join(lines)
    if waiting is not None and info not in _CODE_LANGUAGES and output.strip():
        made = _ran(waiting, output, table)
        if made:
            return made, None
    if info not in _CODE_LANGUAGES and lines and _BEGINS_COMMAND.match(lines[0]):
        deeds = _deeds(lines[0], table) if len(lines[0]) < 300 else []
        trials = [
            deed
            for deed in deeds
            if deed.kind in d.TRIALS | {d.PROBE, d.QUERY}
            and (deed.runner is not None or deed.kind != d.RUN)
        ]
        if trials:
            if any(line.strip() for line in lines[1:]):
                return _ran(lines[0], "\n".join(lines[1:]), table), None
            return [], lines[0]  # a command alone: its output may follow in a block of its own
    if info not in _CODE_LANGUAGES:
        told = read_tests(readable(output))
        if told is not None:
            return [Shown(d.TEST, "output", told.outcome, told.counts, told.line)], None
        checked = read_check(readable(output))
        if (
            checked is not None
            and checked.outcome is not Outcome.NOTHING
            and not _NUMBERED.match(lines[0] if lines else "")
        ):
            kind = d.LINT if re.search(r"issues|checks passed|error TS|problems", output) else d.RUN
            return [Shown(kind, "output", checked.outcome, None, checked.line)], None
        if re.search(r"^HTTP/\d", output, re.MULTILINE):
            probed = read_probe(output)
            if probed is not None:
                return [Shown(d.PROBE, "output", probed.outcome, None, probed.line)], None
    numbered = sum(bool(_NUMBERED.match(line)) for line in lines if line.strip())
    if numbered and numbered * 2 >= sum(bool(line.strip()) for line in lines):
        return [Shown(QUOTE, "lines", Outcome.PASSED, detail=_first(lines))], None
    if (
        output.strip()
        and (
            read_back.search(before) or (_LINE_CITED.search(before) and info not in _CODE_LANGUAGES)
        )
        and not _INTENDED.search(before)
    ):
        return [Shown(QUOTE, "snippet", Outcome.PASSED, detail=_first(lines))], None
    return [], None


# "✓ parse.test.js (9 tests)" is output, though a shell would find commands in it.
_BEGINS_COMMAND = re.compile(r"\s*[\w./~(]")


def _first(lines: Sequence[str]) -> str:
    return next((line.strip()[:120] for line in lines if line.strip()), "")


# "> bash: pytest -q": some agents name the tool behind the prompt.
_TOOL_NAMED = re.compile(r"^(?:bash|shell|terminal|sh|exec|run):\s+", re.IGNORECASE)


def _sessions(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Commands behind a prompt, each with what stands below it."""
    command: str | None = None
    output: list[str] = []
    for line in lines:
        prompt = PROMPT.match(line)
        if prompt:
            if command is not None:
                yield command, "\n".join(output)
            command, output = _TOOL_NAMED.sub("", line[prompt.end() :].strip()), []
        elif command is not None and not NO_COMMAND.match(line):
            output.append(line)
    if command is not None:
        yield command, "\n".join(output)


def _deeds(command: str, table: Table) -> list[Deed]:
    return [deed for one in parse(command).commands for deed in deeds_of(one, table)]


def _ran(command: str, output: str, table: Table) -> list[Shown]:
    """What a command with its output shows; one that printed nothing shows little by itself."""
    text = readable(output)
    found = _queried(command, text) if _SQL.match(command) else _tried(command, text, table)
    counted = _counts_of(command, text)
    breadth = _breadth(command, text)
    return [
        replace(one, counted=counted, breadth=breadth, output=text[:_MOST_OUTPUT]) for one in found
    ]


_MOST_OUTPUT = 2_000
# Behind the prompt of a database there is no program for a shell to name.
_SQL = re.compile(
    r"(?:select|with|show|explain|describe|table|update|insert|delete|alter|create|drop)\s.*",
    re.IGNORECASE,
)
_ASKS = re.compile(r"(?:select|with|show|explain|describe|table)\b", re.IGNORECASE)


def _queried(command: str, text: str) -> list[Shown]:
    if not text.strip() or not _ASKS.match(command):
        return []
    wrong = re.search(r"^\s*error\b.*", text, re.IGNORECASE | re.MULTILINE)
    if wrong:
        return [Shown(d.QUERY, "query", Outcome.FAILED, detail=wrong.group().strip()[:120])]
    return [Shown(d.QUERY, "query", Outcome.PASSED, detail=_first(text.splitlines()))]


def _tried(command: str, text: str, table: Table) -> list[Shown]:
    script = parse(command)
    deeds = [deed for one in script.commands for deed in deeds_of(one, table)]
    result = Result(text, _exit_code(text))
    found = []
    for deed in deeds:
        if deed.kind in d.CHANGES:
            continue
        if deed.kind in d.LOOKS:
            if text.strip():
                found.append(
                    Shown(QUOTE, deed.by, Outcome.PASSED, detail=_first(text.splitlines()))
                )
            continue
        if not text.strip() and deed.kind not in (d.LINT, d.TYPES, d.BUILD, d.FORMAT, d.CONFIG):
            continue
        made = ended(deed, result, script.sound, alone=len(deeds) == 1)
        finding = _FINDING.search(text) if deed.kind in (d.LINT, d.TYPES) else None
        if finding and result.exit_code is None:
            # Without an exit status a finding that stands there is all that tells of failure.
            made = replace(made, outcome=Outcome.FAILED, detail=finding.group().strip()[:120])
        if made.outcome is not Outcome.UNKNOWN:
            found.append(Shown(deed.kind, deed.by, made.outcome, made.counts, made.detail))
        elif deed.kind == d.RUN and deed.runner is None:
            # Behind a pipe nobody knows how it ended; what it printed stands there all the same.
            found.append(Shown(QUOTE, deed.by, Outcome.PASSED, detail=_first(text.splitlines())))
    if not deeds and text.strip():
        found.append(
            Shown(d.RUN, command.split(" ")[0], Outcome.PASSED, detail=_first(text.splitlines()))
        )
    return found


_FINDING = re.compile(
    r"^[\w./@-]+\.\w{1,10}:\d+(?::\d+)?:(?! *(?:warning|note|info|hint)\b).*", re.MULTILINE
)
_COUNTS = re.compile(r"\bcount\s*\(|\bwc\b", re.IGNORECASE)
_COUNT_LINE = re.compile(r"^[\s|]*(\d[\d,_]*)(?![\w.-])")


def _counts_of(command: str, text: str) -> tuple[int, ...]:
    """The numbers that a count printed, one for each line that begins with one."""
    if not _COUNTS.search(command):
        return ()
    found = []
    for line in text.splitlines()[:20]:
        number = _COUNT_LINE.match(line)
        if number and not line.rstrip().endswith(" total"):
            found.append(int(re.sub(r"\D", "", number.group(1))[:18]))
    return tuple(found)


_ADDRESS = re.compile(r"\bhttps?://[^\s/$'\"]+|\b(?:ssh|nc|dig)\s+[\w.@-]+", re.IGNORECASE)


def _breadth(command: str, text: str) -> int:
    """A request to one address tells of one place, however long the answer."""
    if _ADDRESS.search(command) and "$" not in command and "{" not in command:
        return len(set(_ADDRESS.findall(command)))
    return sum(bool(line.strip()) for line in text.splitlines())


# "Before the fix:" above a block, or "`mypy` before:" in a line: how things were.
_EARLIER = re.compile(
    r"(?<!as )(?<!than )(?<!like )\b(?:before|beforehand|previously|vorher|antes|avant)\**"
    r"(?: (?:the|my|this|that|any) (?:change|fix|edit|patch|commit|rewrite|migration|upgrade)s?)?"
    r"\s*(?:[:,(`]\**|$)|^\W*before (?:the|my|this|that|any) (?:change|fix|edit|patch|commit)\b",
    re.IGNORECASE,
)
_LATER = re.compile(
    r"\b(?:now|after|afterwards|since|jetzt|nachher|ahora|después|maintenant|après)\b",
    re.IGNORECASE,
)


def _tells_of_before(words: str) -> bool:
    """Whether words announce how things were, with no "now" behind: "before: 18,204. Now:"."""
    told = list(_EARLIER.finditer(words))
    return bool(told) and not _LATER.search(words, told[-1].end())


def _out_of_date(made: Sequence[Shown]) -> list[Shown]:
    """From before the change: neither for what is claimed now nor against it."""
    return [replace(one, outcome=Outcome.UNKNOWN, detail="from before the change") for one in made]


_EXIT = re.compile(
    r"(?:^|\n)\s*(?:exit(?:ed)?(?: with)?(?: code| status)?:?\s*)(\d{1,3})\b", re.IGNORECASE
)


def _exit_code(text: str) -> int | None:
    found = _EXIT.findall(text)
    return int(found[-1]) if found else None


def _last_command(lines: Sequence[str], table: Table) -> str | None:
    """The command that the last line of a paragraph names: "I ran `pytest -q`:"."""
    last = next((line for line in reversed(lines) if line.strip()), "")
    if len(last) > _LONGEST_SENTENCE or _INTENDED.search(last):
        return None
    spans: list[str] = CODE.findall(last)
    tells_of_run = _RAN.search(CODE.sub("`", last))
    for span in reversed(spans):
        # "I changed `proxy.toml`:" names a file, though a shell would run it.
        if is_command(span, table) or (tells_of_run and " " in span):
            return span
    return _command_with_colon(last, table)


_RAN = re.compile(
    r"\b(?:r[au]n|running|executed|output|prints?|printed|gives?|gave|shows?|says|asked|lief|ausgabe)\b",
    re.IGNORECASE,
)


def _command_with_colon(line: str, table: Table) -> str | None:
    """The command that a line consists of, which ends in a colon: "cargo test -p parser:"."""
    command = line.strip().removesuffix(":").strip("*_ ")
    if not line.rstrip(" *_").endswith(":") or len(command) > _LONGEST_COMMAND:
        return None
    if any(deed.kind in _RESULTS and deed.runner is not None for deed in _deeds(command, table)):
        return command
    return None


_LONGEST_COMMAND = 200
_LONGEST_SENTENCE = 3_000
_RESULTS = d.TRIALS | {d.PROBE, d.QUERY}
_SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n(?=\s*(?:[-*•|]|\d+[.)]))|\n{2,}")


_QUERIED = re.compile(
    r"`(select\b[^`]+)`\s*(?:→|->|=>|returns?|gives?|:)\s*`?(\d[\d,]*)", re.IGNORECASE
)


def _in_prose(lines: Sequence[str], table: Table) -> Iterator[Shown]:
    yield from _unfenced(lines, table)
    for query in _QUERIED.finditer("\n".join(lines)):
        yield Shown(d.QUERY, "query", Outcome.PASSED, detail=query.group(2))
    text = "\n".join(line for line in lines if not _is_others_quotation(line))
    for sentence in _SENTENCE.split(text):
        if not sentence.strip() or len(sentence) > _LONGEST_SENTENCE:
            continue
        yield from _in_sentence(sentence, table)
    quoted = [line for line in lines if line.strip().startswith(">")]
    if quoted and (
        (_LINE_CITED.search("\n".join(lines)) and any("`" in line for line in quoted))
        or _announces_line(lines)
    ):
        yield Shown(QUOTE, "line", Outcome.PASSED, detail=quoted[0].strip(" >")[:120])


def _announces_line(lines: Sequence[str]) -> bool:
    """Whether a quotation follows words that name a line of a file: "`app.properties:8` is now:"."""
    above = ""
    for line in lines:
        if _is_others_quotation(line):
            return (
                above.endswith(":")
                and bool(_LINE_CITED.search(above))
                and not REPORTED.search(above)
                and not _INTENDED.search(above)
            )
        above = line.strip() or above
    return False


_MOST_COMMANDS = 10
"""In one paragraph: each is read with all that stands below it, so that a page of them costs much."""


def _unfenced(lines: Sequence[str], table: Table) -> Iterator[Shown]:
    """A command on a line of its own with its output right below it, though in no fence."""
    read = 0  # commands of this paragraph
    for number, line in enumerate(lines[:-1]):
        words = line.strip().split()
        if not words:
            read = 0
        if not words or len(line) > 200 or line.rstrip().endswith((".", ":")):
            continue
        if read < _MOST_COMMANDS and (words[0] in table.rows or words[0] in _STARTERS):
            read += 1
            below = []
            for other in lines[number + 1 :]:
                if not other.strip():
                    break
                below.append(other)
            if below:
                ran = _ran(line.strip(), "\n".join(below), table)
                yield from (one for one in ran if one.kind in d.TRIALS | {d.PROBE})


_STARTERS = frozenset({"npx", "uv", "poetry", "bundle", "python", "npm"})


def _is_others_quotation(line: str) -> bool:
    return line.lstrip().startswith(">")


def _in_sentence(sentence: str, table: Table) -> Iterator[Shown]:
    if _INTENDED.search(CODE.sub("`", sentence)):
        return
    unquoted = re.sub(r"[\"“„«][^\"”“»\n]{0,300}[\"”“»]", '""', sentence)
    spans = CODE.findall(sentence)
    yield from _commands_in(unquoted, spans, table)
    cited = _LINE_CITED.search(sentence)
    if cited is not None:
        others = [
            span
            for span in spans
            if not re.fullmatch(r"[\w./@~-]+(?::\d+(?:-\d+)?)?", span)
            or not re.search(r"\.\w{1,12}(?::\d+)?$", span)
        ]
        quoted = [name for name in names_in(sentence) if name not in spans and len(name) > 3]
        told = read_tests((others or quoted)[0]) if others or quoted else None
        if (others or quoted) and (told is None or told.outcome is not Outcome.NOTHING):
            yield Shown(QUOTE, "line", Outcome.PASSED, detail=(others or quoted)[0][:120])


_NEAR = 80
_STARTS_SOMETHING = re.compile(r"\./|(?:python3?|node|bash|sh|go run|cargo run|java|ruby|php) \S")


def is_command(span: str, table: Table) -> bool:
    """Whether a code span is a command that looks at something or tries it out."""
    return any(_is_command(deed, span) for deed in _deeds(span, table))


def _is_command(deed: Deed, span: str) -> bool:
    """Whether a code span is a command; `31 passed` would be one to a shell too."""
    if deed.kind == d.RUN and deed.runner is None:
        return bool(_STARTS_SOMETHING.match(span))
    if deed.kind in d.LOOKS:
        return bool(deed.paths) and " " in span
    return deed.kind in d.TRIALS | {d.PROBE, d.QUERY} and (deed.runner is not None or " " in span)


def _commands_in(sentence: str, spans: Sequence[str], table: Table) -> Iterator[Shown]:
    """`pytest -q` gave 12 passed; ran npm test: 24 passing; `nginx -t` says `syntax is ok`."""
    commands = {span for span in spans if is_command(span, table)}
    quoted, sentence = _quoted_results(sentence, commands, table)
    yield from quoted
    plain = sentence
    named: list[str] = []
    for span in CODE.findall(sentence):
        if span in commands:
            named.append(span)
            plain = plain.replace(f"`{span}`", " ")
    bare = sentence.replace("`", " ")
    named += [
        match.group(1)
        for match in _PLAIN_COMMAND.finditer(CODE.sub(" ", sentence))
        # In plain prose, only a result right behind the name is its own.
        if not named and _RESULT.search(bare[bare.find(match.group(1)) :][:_NEAR])
    ]
    if not named:
        return
    rest = plain
    for command in named:
        rest = rest.replace(command, " ")
    rest = re.sub(r"`", " ", rest)
    is_row = sentence.lstrip().startswith("|")
    if not _RESULT.search(rest) or not (is_row or _SAYS.search(rest + " ")):
        return
    for command in dict.fromkeys(named):
        text = re.sub(r"[|*_]", " ", rest).strip()
        for deed in _deeds(command, table)[:1]:
            if deed.kind in d.LOOKS:
                yield Shown(QUOTE, deed.by, Outcome.PASSED, detail=text[:120])
            elif deed.kind not in d.CHANGES:
                yield _told(deed, text)
        if command.lower().startswith("coverage") and re.search(r"\d+ ?%", text):
            yield Shown(d.TEST, "coverage", Outcome.PASSED, detail=text[:120])


def _quoted_results(sentence: str, commands: set[str], table: Table) -> tuple[list[Shown], str]:
    """What commands in code show whose results stand in code behind them, and the rest of the sentence."""
    found: list[Shown] = []
    rest: list[str] = []
    places = [one for one in CODE.finditer(sentence) if one.group(1) in commands]
    start = 0
    ends = [place.start() for place in places[1:]] + [len(sentence)]
    for place, end in zip(places, ends, strict=False):
        behind = sentence[place.end() : end]
        earlier = _tells_of_before(sentence[start : place.start()])
        made = _with_result(place.group(1), behind, earlier, table)
        rest.append(sentence[start : place.start()] if made else sentence[start:end])
        found += made
        start = end
    return found, "".join([*rest, sentence[start:]])


def _with_result(command: str, behind: str, earlier: bool, table: Table) -> list[Shown]:
    results = list(CODE.finditer(behind))
    if not results:
        return []
    between = behind[: results[0].start()]
    said = _SAYS.search(between + " ")
    if not said and "(" not in between:
        return []
    # Of "`14 errors` before, now `0 errors`" only the later counts.
    later = _LATER.search(behind, results[0].end())
    last = [one for one in results if later and one.start() > later.start()]
    kinds = d.OBSERVATIONS | {QUOTE} if said else d.TRIALS | {d.PROBE}
    made = _quoted(command, last, kinds, table)
    if made:
        return made
    earlier = earlier or _tells_of_before(between)
    earlier = earlier or bool(_BEFORE_BEHIND.match(behind, results[0].end()))
    made = _quoted(command, results, kinds, table)
    return _out_of_date(made) if earlier else made


_BEFORE_BEHIND = re.compile(r"\W{0,3}(?:before|beforehand|previously)\b", re.IGNORECASE)


def _quoted(
    command: str, results: Sequence[re.Match[str]], kinds: frozenset[str], table: Table
) -> list[Shown]:
    """What the results show; in "`cat a.py` (`b.py`)" the second span is none, for it says nothing."""
    if not results:
        return []
    output = "\n".join(one.group(1) for one in results)
    return [one for one in _ran(command, output, table) if one.kind in kinds]


_BAD = re.compile(
    r"\b[1-9]\d* (?:\w+ ){0,2}?(?:failed|failing|failures?|errors?)\b|\bfail(?:s|ed|ing)?\b|\b[45]\d\d\b|exit(?:ed|s)?(?: with)?(?: code| status)?:? ?[1-9]|❌",
    re.IGNORECASE,
)


def _told(deed: Deed, text: str) -> Shown:
    told = read_tests(text) if deed.kind == d.TEST else None
    if told is not None and told.outcome is Outcome.NOTHING:
        return Shown(deed.kind, deed.by, told.outcome, told.counts, told.line)
    cleaned = re.sub(
        r"\b(?:0|no|zero) (?:\w+ )?(?:failed|failing|failures?|errors?|issues?)\b"
        r"|\b(?:failed|failing|failures?|errors?):? 0\b",
        " ",
        text,
        flags=re.IGNORECASE,
    )
    bad = _BAD.search(cleaned)
    if bad:
        return Shown(deed.kind, deed.by, Outcome.FAILED, told.counts if told else None, bad.group())
    return Shown(deed.kind, deed.by, Outcome.PASSED, told.counts if told else None, text[:120])
