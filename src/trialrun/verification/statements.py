"""Messages to statements: sentences about the state of the work, each with one kind, or none.

A sentence is read as words. Words that name a check ("tests", "lint", a runner's name, a command in
backticks) are its subjects, words such as "pass" and "clean" its predicates. A sentence that plans,
asks, supposes, advises, denies or quotes states nothing about the work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from trialrun.verification.commands import CHECK, done_by
from trialrun.verification.facts import Message
from trialrun.verification.runners import Table, language_of
from trialrun.verification.shell import parse
from trialrun.verification.wrappers import unwrapped

LONGEST_MESSAGE = 200_000
"""Characters of a message that are read; of a longer one, its end."""

MOST_STATEMENTS = 2_000


class Kind(StrEnum):
    """What a statement is about."""

    TESTS = "tests"
    BUILD = "build"
    LINT = "lint"
    TYPES = "types"
    FORMAT = "format"
    COMMAND = "run"
    FILE = "file"
    CHANGE = "change"
    COMMIT = "commit"
    PUSH = "push"
    PULL_REQUEST = "pull request"
    CI = "ci"
    DEPLOY = "deploy"
    NOTHING_CHANGED = "nothing changed"
    OTHER = "other"  # about the work, and of no kind that a rule knows


RUN_KINDS = {
    Kind.TESTS: "test", Kind.BUILD: "build", Kind.LINT: "lint", Kind.TYPES: "types",
    Kind.FORMAT: "format",
}  # fmt: skip
"""Statements about checks, and the kind of run that each is about."""
_BY_RUN = {run: kind for kind, run in RUN_KINDS.items()}


class Statement(Struct, frozen=True, gc=False):
    """One sentence, or part of one, about the state of the work."""

    text: str
    kind: Kind
    at: int
    turn: int
    last: bool
    all: bool = False  # it speaks of the whole suite
    count: int | None = None
    names: tuple[str, ...] = ()  # commands, runners, files or hashes that it names
    qualified: bool = False  # it speaks of some of them: "the new tests", "JS tests"
    part: tuple[str, ...] = ()  # the words for these: `new`, `js`
    single: bool = False  # it speaks of one test by its name: "Test 4.2 passes"
    admits: bool = False  # the sentence itself reports a failure or something not done


class Admission(Struct, frozen=True, gc=False):
    """A sentence that reports a failing check (`fails`), or one that was not done."""

    text: str
    fails: bool
    kinds: frozenset[Kind]  # the checks that it names

    def excuses(self, kind: Kind, fails: bool) -> bool:
        """Whether it may be about a check of that kind that failed, or that was not done."""
        return self.fails is fails and (kind in self.kinds or not self.kinds)


class Spoken(Struct, frozen=True, gc=False):
    """One message, taken apart."""

    message: Message
    statements: tuple[Statement, ...]
    sentences: int
    admits: tuple[Admission, ...]  # sentences that report a failure, or something not done
    blocks: tuple[str, ...]  # its fenced blocks
    readable: bool = True


_FENCE = re.compile(
    r"^[ \t]*(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_TAGS = re.compile(r"<(system-reminder|command-[a-z]+|local-command-[a-z]+)>.*?</\1>", re.DOTALL)
# The end of a sentence, but not the dot in `main.go`, `1.5` or "e.g.".
_END = re.compile(
    r"(?<=[.!?;])(?<!e\.g\.)(?<!i\.e\.)\s+(?=[\"'(*_`✅A-Z0-9])|(?<!\s)\s{1,3}[—–→]\s{1,3}"
)
# Somebody else's words: Lena writes "the date tests are all green".
_QUOTED = re.compile(r"(?<![\w`])[\"“](?=[^\"”\n`]* )[^\"”\n`]{8,300}[\"”](?![\w`])")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d+[.)]|#+|>|\|)\s*")


def spoken(
    message: Message, table: Table, phrases: Mapping[str, Sequence[str]] | None = None
) -> Spoken:
    """The statements of one message; `phrases` of a spec make further sentences statements."""
    text = message.text[-LONGEST_MESSAGE:]
    blocks = tuple(match.group() for match in _FENCE.finditer(text))
    prose = _QUOTED.sub(" … ", _TAGS.sub(" ", _FENCE.sub("\n", text)))
    statements: list[Statement] = []
    admits: list[Admission] = []
    count = 0
    for sentence, planned in sentences_of(prose):
        count += 1
        if planned:
            continue
        admission = _admission(sentence, table)
        if admission is not None:
            admits.append(admission)
        if len(statements) < MOST_STATEMENTS:
            found = list(_statements(sentence, message, table))
            if all(one.kind is Kind.OTHER for one in found):
                found = _by_phrases(sentence, message, phrases) or found
            statements += found
    return Spoken(message, tuple(statements), count, tuple(admits), blocks, _is_readable(prose))


# Headings of sections that plan or advise: "## Test plan", "**Next steps:**", "Acceptance criteria".
_PLAN = re.compile(
    r"^\W*(?:[\w ]{0,30}\b)?(?:plan|next|todo|to do|steps|criteria|proposal|recommend\w*|suggest\w*|options?"
    r"|approach|how to|requirements?|goals?|setup|usage|assumptions?|instructions)\b[\w ()]{0,30}\W*$",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^\s*(?:#{1,6} .*|\*\*[^*]{1,60}\*\*:?|[A-Z][\w ]{1,40}:)\s*$")
# "Validation passed with:" in front of a list of commands, and an item of it: "- `pnpm test`".
_LISTS = re.compile(
    r"\b(?:verified|validated|validation|passed|ran|checked)\b[^.]{0,40}:\W*$", re.IGNORECASE
)
_LISTED = re.compile(r"\s*[-*+•] *(`[^`]+`)[.,;]?\s*")
_PLAN_TAG = re.compile(r"<(/?)proposed_plan>")


def sentences_of(prose: str) -> Iterator[tuple[str, bool]]:
    """Sentences, bullets and the cells of a table row, and whether each stands in a plan."""
    planned = in_plan = listing = False
    for line in prose.splitlines():
        tag = _PLAN_TAG.search(line)
        in_plan = not tag.group(1) if tag else in_plan
        if _HEADING.match(line):
            planned = bool(_PLAN.match(line))
        if line.lstrip(" -*").startswith((">", "[ ]")):
            continue  # a quotation, or a task that is not done
        if line.strip():
            command = _LISTED.fullmatch(line) if listing else None
            listing = command is not None or _LISTS.search(line) is not None
            line = f"{command.group(1)} passed" if command is not None else line
        line = _BULLET.sub("", line)
        cells = line.strip("| ").split(" | ") if line.count("|") > 1 else [line]
        joined = [" ".join(cells)] if len(cells) == 2 else cells
        for cell in joined:
            for sentence in _with_whole_spans(_END.split(cell)):
                sentence = sentence.strip(" *_\t")
                if len(sentence) > 2:
                    yield sentence, planned or in_plan


def _with_whole_spans(pieces: Sequence[str]) -> Iterator[str]:
    """The sentences of a line; the dot within `test result: ok. 3 passed` ends none."""
    open_span = ""
    for piece in pieces:
        piece = f"{open_span} {piece}" if open_span else piece
        open_span = piece if piece.count("`") % 2 and len(piece) < 400 else ""
        if not open_span:
            yield piece
    if open_span:
        yield open_span


def _admission(sentence: str, table: Table) -> Admission | None:
    undone = _UNDONE.search(sentence) is not None
    if not undone and (
        not _fails(sentence) or _NOT_STATED.search(sentence) or _FORMER.search(sentence)
    ):
        return None
    tokens = _TOKEN.findall(sentence)
    found = [_subject(token, token.lower(), table) for token in tokens[:60]]
    kinds = frozenset(one[0] for one in found if one is not None)
    # "a cancelled review failed silently" is about the program, "two failures remain" about a check.
    if not undone and not kinds and not _LEFT.search(sentence):
        return None
    return Admission(sentence, not undone, kinds)


def _is_readable(prose: str) -> bool:
    """Whether the message is in an alphabet that the rules read."""
    letters = [char for char in prose[:4000] if char.isalpha()]
    return not letters or sum(char.isascii() for char in letters) >= 0.7 * len(letters)


# A sentence with one of these plans, supposes, advises or asks; it states nothing.
_NOT_STATED = re.compile(
    r"^(?:goal|task|acceptance|requirement|criteri\w+)s?\b.{0,20}:|^(?:step \d+[:.]? *)?(?:check|verify|run|confirm|ensure|fix|make|wait|test (?!pass|\d|suite|results?\b|run|count))\b"
    r"|\b(?:will|'ll|let me|let's|going to|should|would|could|may|might|must|shall|need(?:s|ed)? to"
    r"|want(?:s)? (?:me )?to|plan to|try|tries|ensure|make sure|to (?:verify|check|see|confirm|run|make)"
    r"|if|once|until|unless|when(?:ever)?|(?<!than )before|assuming|expect(?:s|ed|ing)?|whether|in order to"
    r"|so that|please|you can|can you|next step|todo|next,|now (?:run|let|i)|i'm (?:running|going|adding|also|checking)"
    r"|i am (?:running|going)|still running|waiting|pending|to re-?run|re-?running|re-?run the|requires?|used to|previously"
    r"|i think|probably|likely|perhaps|i believe|seems?|appears?|hopefully|instead of)\b|\?\s*$|\bci\s+should\b",
    re.IGNORECASE,
)


def is_plan(sentence: str) -> bool:
    """Whether the sentence plans, supposes, advises or asks."""
    return _NOT_STATED.search(sentence) is not None


# A sentence that reports a failure: "2 tests still fail", "pre-existing", "flaky"; not "0 failed".
_FAILS = re.compile(
    r"(?<!\b0 )(?<!\bno )(?<!\bzero )\b(?:fail(?:s|ed|ing|ures?)|broken|red|errors? (?:remain|left|in))\b"
    r"|\b(?:pre-?existing|flaky|flake|skipped|except|apart from|known issue|unrelated (?:to|error|fail))\b"
    r"|\btim(?:ed|es) out\b|\btimeout\b|\bcrash\w*\b",
    re.IGNORECASE,
)
# "No type errors in the changed files", "0 tests failed", "without any failures".
_NO_FAILURE = re.compile(
    r"\b(?:no|zero|0|without(?: any)?|none) (?:[\w-]+ ){0,2}(?:errors?|fail\w*|warnings?|issues?|skipped)\b",
    re.IGNORECASE,
)


_SOME_OF = re.compile(r"\b(\d{1,6}) (?:of|out of) (\d{1,6})\b")


def _fails(sentence: str) -> bool:
    """Whether the sentence reports a failure; "21 of 22 tests pass" does."""
    some = _SOME_OF.search(sentence)
    if some is not None and int(some.group(1)) < int(some.group(2)):
        return True
    return _FAILS.search(_NO_FAILURE.sub(" ", sentence)) is not None


# A failure that is left, without a word for the check: "2 failures", "pre-existing", "still red".
_LEFT = re.compile(
    r"\b(?:pre-?existing|flaky|flakes?|known (?:issues?|failures?)|unrelated)\b"
    r"|\b(?:remain\w*|still)\b.{0,30}\b(?:fail\w*|broken|red|errors?)\b"
    r"|\b(?:fail\w*|broken|red|errors?)\b.{0,30}\bremain\w*"
    r"|\b(?:[1-9]\d*|one|two|three|four|five|some|several) (?:\w+ ){0,2}(?:fail\w*|errors?)\b",
    re.IGNORECASE,
)
# A failure that was meant to be: "fails on the old code", "fails without the fix", "as expected".
_FORMER = re.compile(
    r"\bfail\w* (?:as expected|(?:on|against|before|without) )|\b(?:pre-fix|without the fix|old code)\b",
    re.IGNORECASE,
)
# A sentence that says that something was not done: "I have not run the tests", "untested".
_UNDONE = re.compile(
    r"(?:\b(?:not|never|cannot|without|unable|neither|nor)|n't)\b.{0,60}\b(?:re-?run|run|ran|green|test\w*|tried|verif\w+|built"
    r"|build|compil\w+|execut\w+|check\w*|exercis\w+|pushed|committed|deployed|pass\w*|lint\w*)\b"
    r"|\b(?:untested|unverified|unchecked|uncommitted|unpushed)\b"
    r"|\b(?:ran|run|did) (?:no|none|nothing)\b|\bno (?:tests?|builds?|checks?) (?:were |was )?run\b",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"`[^`\n]+`|\d[\d,]*(?:/\d[\d,]*)?|[A-Za-z][\w'+#-]*|[✅✓✔✗❌:,;()]")
_SUBJECTS = {
    "test": Kind.TESTS, "tests": Kind.TESTS, "suite": Kind.TESTS, "suites": Kind.TESTS,
    "specs": Kind.TESTS, "testing": Kind.TESTS, "doctests": Kind.TESTS,
    "regressions": Kind.TESTS, "assertions": Kind.TESTS,
    "lint": Kind.LINT, "linter": Kind.LINT, "linters": Kind.LINT, "linting": Kind.LINT,
    "type-checker": Kind.TYPES, "typechecker": Kind.TYPES, "typecheck": Kind.TYPES, "type-check": Kind.TYPES, "typechecking": Kind.TYPES,
    "type-checking": Kind.TYPES, "types": Kind.TYPES, "typescript": Kind.TYPES,
    "build": Kind.BUILD, "builds": Kind.BUILD, "compilation": Kind.BUILD, "compiles": Kind.BUILD,
    "formatting": Kind.FORMAT, "ci": Kind.CI,
}  # fmt: skip
_POSITIVE = frozenset(
    """pass passes passed passing green clean succeed succeeds succeeded successful ok ✅ ✓ ✔
    successfully""".split()
)
_MARKS = frozenset("✅✓✔")
_NONE = frozenset({"no", "zero", "0", "without"})
_PROBLEMS = frozenset(
    "errors error issues issue warnings failures failure problems offenses".split()
)
# In front of "tests" these speak of all of them; any other word ("renderer tests") of some.
_OF_ALL = frozenset(
    """all the of our own full entire whole complete every test total and a an its existing project's
    with now are is unit-test 's s local""".split()
)


def _statements(sentence: str, message: Message, table: Table) -> Iterator[Statement]:
    """The statements of one sentence."""
    if len(sentence) > 1500 or _NOT_STATED.search(sentence):
        return
    admits = bool(_fails(sentence) or _UNDONE.search(sentence))
    found = list(_check_statements(sentence, message, table, admits))
    found += list(_deed_statements(sentence, message, admits)) if not found else []
    if not found and message.last and len(sentence.split()) >= 3:
        found = [_plain_statement(sentence, Kind.OTHER, message, (), admits)]
    yield from found


def _by_phrases(
    sentence: str, message: Message, phrases: Mapping[str, Sequence[str]] | None
) -> list[Statement]:
    lowered = sentence.lower()
    return [
        _plain_statement(
            sentence,
            Kind(kind),
            message,
            (),
            bool(_fails(sentence) or _UNDONE.search(sentence)),
        )
        for kind, texts in (phrases or {}).items()
        if any(text.lower() in lowered for text in texts)
    ]


_TYPE_CHECK = re.compile(r"\btype[- ]check(?:ing|er|s)?\b", re.IGNORECASE)


class _Subject(Struct, gc=False):
    kind: Kind
    place: int
    name: str = ""


def _check_statements(
    sentence: str, message: Message, table: Table, admits: bool
) -> Iterator[Statement]:
    tokens = _TOKEN.findall(_TYPE_CHECK.sub("typecheck", sentence))
    lowered = [token.lower() for token in tokens]
    subjects: list[_Subject] = []
    start = depth = 0
    for index, word in enumerate(lowered):
        depth += (word == "(") - (word == ")")
        subject = _subject(tokens[index], word, table)
        if word == "test" and any(one.name for one in subjects):
            continue  # "`nginx -t`: test is successful"
        if subject is not None and not (depth > 0 and _is_part_of(subject[0], subjects)):
            subjects.append(_Subject(subject[0], index, subject[1]))
        if word in _PASSES and not subjects:
            subjects += _commands_behind(tokens, index, table)
        negative = word in _NONE and _problem_near(lowered, index)
        if not (word in _POSITIVE or negative):
            continue
        if negative:
            subjects += _subjects_behind(tokens, lowered, index, table)
        for one in _nearest(subjects, start, index, 3 if word in _MARKS else 9):
            yield _about_check(one, sentence, message, lowered, start, index, admits)
        if subjects:
            start = index + 1
            subjects = []


_PASSES = frozenset({"pass", "passes", "passed", "green", "clean"})


def _commands_behind(tokens: Sequence[str], index: int, table: Table) -> Iterator[_Subject]:
    """The commands of "validation passed with `pnpm compile` and `pnpm test`"."""
    for place in range(index + 1, min(index + 12, len(tokens))):
        if tokens[place].lower() in _POSITIVE:
            return
        found = _command(tokens[place].strip("`"), table) if tokens[place][0] == "`" else None
        if found is not None:
            yield _Subject(found[0], index, found[1])


def _is_part_of(kind: Kind, subjects: Sequence[_Subject]) -> bool:
    """Whether it is an item of one that stands before: "the lint suite (shellcheck, actionlint)"."""
    return any(one.kind is kind and not one.name for one in subjects)


def _nearest(subjects: Sequence[_Subject], start: int, end: int, reach: int) -> list[_Subject]:
    """The subjects that belong to the predicate at `end`: each kind once, none too far away."""
    kept: dict[Kind, _Subject] = {}
    for one in subjects:
        near = 2 if one.kind is Kind.CI else reach
        if start <= one.place and end - one.place <= near:
            kept[one.kind] = one if one.kind not in kept or one.name else kept[one.kind]
    return list(kept.values())


def _problem_near(words: Sequence[str], index: int) -> bool:
    return any(word in _PROBLEMS for word in words[index + 1 : index + 4])


def _subjects_behind(
    tokens: Sequence[str], words: Sequence[str], index: int, table: Table
) -> list[_Subject]:
    """`zero credo issues`, `no type errors`: the subject stands behind the number."""
    found = []
    for place in range(index + 1, min(index + 4, len(words))):
        if words[place] in _PROBLEMS:
            break
        subject = _subject(tokens[place], words[place], table)
        if words[place] == "type":
            subject = (Kind.TYPES, "")
        if subject is not None:
            found.append(_Subject(subject[0], index, subject[1]))
    return found


def _subject(token: str, word: str, table: Table) -> tuple[Kind, str] | None:
    """The check that a word names: by a noun, a runner's name, or a command in backticks."""
    if token.startswith("`"):
        return _command(token.strip("`"), table) or _subject(
            word.strip("`"), word.strip("`"), table
        )
    if word in _SUBJECTS:
        return _SUBJECTS[word], ""
    rows = table.rows.get(word)
    if rows and len(word) > 3 and word not in _ORDINARY:
        runner = rows[-1][1]
        if runner.kind in _BY_RUN:
            return _BY_RUN[runner.kind], runner.name
    return None


_ORDINARY = frozenset(
    "pre-commit standard build task flow make nose behave prove robot pest forge twister".split()
)


def _command(text: str, table: Table) -> tuple[Kind, str] | None:
    if " " not in text and ("." in text or text.startswith("/")):
        return None
    for command in parse(text).commands[:1]:
        for inner in unwrapped(command):
            for done in done_by(inner, table):
                if done.kind == CHECK:
                    kind = _BY_RUN.get(done.check, Kind.COMMAND)
                    return kind, text if " " in text else done.name
    return None


# "Test 4.2 now passes", "the `test_vat` test passes".
_ONE_TEST = re.compile(r"\btests? (?:#?\d+(?:\.\d+)+|#\d+|`[^`]+`)|`[^`\s]+` test\b", re.IGNORECASE)
_ALL = re.compile(r"\b(?:all|full|entire|whole|complete|every)\b", re.IGNORECASE)
# "All 1,216 tests pass", "56/56 PASSED", "157 total tests"; not "test 4.2" and "tests 1-9".
_COUNT = re.compile(
    r"(?<![\w.,-])(\d[\d,]*)(?:/(\d[\d,]*))?(?![\d.-])\*{0,2}(?: [A-Za-z][\w-]*){0,2} \*{0,2}(?:tests?|specs?|pass\w*)\b",
    re.IGNORECASE,
)


def _about_check(
    subject: _Subject,
    sentence: str,
    message: Message,
    lowered: Sequence[str],
    start: int,
    end: int,
    admits: bool,
) -> Statement:
    words = lowered[start : end + 3]
    part = _part_of(words, max(0, subject.place - start))
    one_test = _ONE_TEST.search(sentence) if subject.kind is Kind.TESTS else None
    count = None
    if subject.kind is Kind.TESTS:
        found = _COUNT.search(sentence)
        if found is not None:
            count = int((found.group(2) or found.group(1)).replace(",", ""))
    return Statement(
        text=sentence[:500],
        kind=subject.kind,
        at=message.at,
        turn=message.turn,
        last=message.last,
        all=bool(_ALL.search(" ".join(words))),
        count=count,
        names=(subject.name,) if subject.name else (),
        qualified=bool(part) or one_test is not None or " but " in sentence,
        single=one_test is not None,
        part=part,
        admits=admits,
    )


# What is committed or pushed: "Committed", "The changes are committed", "I've committed and pushed".
_WORK = (
    r"^(?:(?:(?:the|all|both|my) )*(?:\w+ )?(?:changes?|work|fix(?:es)?|files?|branch|everything|it|all|both|"
    r"tasks completed)(?: (?:is|are|was|were|have been|has been|now))*(?: committed)?(?: and)? "
    r"|(?:i|i've|i have|done|now|all)[,.]? (?:have )?(?:committed )?(?:and )?|committed(?: it)?,? (?:and )?)?"
)


def _part_of(words: Sequence[str], place: int) -> tuple[str, ...]:
    """The words in front of the subject that speak of some of them: "the new tests"."""
    part: list[str] = []
    for word in reversed(words[max(0, place - 4) : place]):
        word = word.strip("`")
        if not word[:1].isalpha() or word in _OF_ALL or word in _POSITIVE:
            break
        part.append(word)
    return tuple(reversed(part))


# Deeds: "Committed as `3396fbe`", "Updated `mise.toml`", "Pushed to origin", "opened PR #12".
_DEEDS = (
    # "Branch is pushed and up to date" reports a state: somebody may have pushed it before.
    (Kind.PUSH, re.compile(rf"(?!.{{0,40}}\b(?:is|are) (?:\w+ )?pushed){_WORK}pushed\b(?! back| out| down| aside)", re.I)),
    (Kind.COMMIT, re.compile(
        rf"{_WORK}committed\b|^commit(?: `?[0-9a-f]{{7,}}`?)? (?:is |was )?created\b", re.I)),
    (Kind.PULL_REQUEST, re.compile(r"\b(?:opened|created|submitted) (?:a |the |draft )*(?:pr|pull request)\b|\b(?:pr|pull request) (?:#?\d+ )?(?:is |was |has been )?(?:opened|created)\b", re.I)),
    (Kind.DEPLOY, re.compile(
        r"(?:^|\b(?:is|are|been|i|i've|and|successfully|now) )(?:deployed|released|published) (?:to|on)\b"
        r"|\b(?:is|are) (?:now )?live (?:in|on)\b", re.I)),
    (Kind.NOTHING_CHANGED, re.compile(r"\b(?:no other|nothing else|no further) (?:files? |code )?(?:was|were|has been|have been|is)? ?(?:changed|modified|touched|edited)\b", re.I)),
)  # fmt: skip
_CHANGED = re.compile(
    r"^(?:i(?:'ve| have)? |also )?(?:updated|edited|modified|changed|created|added|wrote|removed|deleted|renamed"
    r"|rewrote|replaced|fixed|refactored|moved|extended|implemented)\b(?! (?:nothing|no|none)\b)",
    re.IGNORECASE,
)
# An effect of the work: "The login works now", "The bug is fixed", "I verified the fix".
_EFFECT = re.compile(
    r"\b(?:works|work) now\b|\bnow works?\b|\bis (?:now )?(?:fixed|resolved|healthy|up and running)\b"
    r"|^i(?:'ve| have)? (?:verified|tested|confirmed|ran|tried)\b",
    re.IGNORECASE,
)
# A file in backticks or as a link: `src/tax.py`, [main.py](src/main.py).
_FILE = re.compile(
    r"`([\w./@~+-]*[\w-]\.[A-Za-z]\w{0,7})(?::\d[\d-]*)?`|\]\(([\w./@~+-]+\.[A-Za-z]\w{0,7})(?:[:#][^)]*)?\)"
)
_HASH = re.compile(r"`([0-9a-f]{7,40})`|\b(?:as|commit) ([0-9a-f]{7,40})\b")


def _deed_statements(sentence: str, message: Message, admits: bool) -> Iterator[Statement]:
    denied = re.match(r"no\b|not\b", sentence, re.IGNORECASE) is not None
    for kind, pattern in _DEEDS:
        if pattern.search(sentence) and (not denied or kind is Kind.NOTHING_CHANGED):
            hashes = tuple(one or two for one, two in _HASH.findall(sentence))
            yield _plain_statement(sentence, kind, message, hashes, admits)
    files = tuple(one or two for one, two in _FILE.findall(sentence))
    files = tuple(name for name in files if language_of(name) is not None)
    if _CHANGED.match(sentence) and (files or sentence[:2].lower() in ("i ", "i'")):
        yield _plain_statement(
            sentence, Kind.FILE if files else Kind.CHANGE, message, files, admits
        )
    elif _EFFECT.search(sentence):
        yield _plain_statement(sentence, Kind.CHANGE, message, (), admits)


def _plain_statement(
    sentence: str, kind: Kind, message: Message, names: tuple[str, ...], admits: bool
) -> Statement:
    return Statement(
        sentence[:500], kind, message.at, message.turn, message.last, names=names, admits=admits
    )
