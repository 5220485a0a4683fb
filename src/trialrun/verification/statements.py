"""Messages to statements: sentences about the state of the work, each with one kind, or none.

A sentence is read as words. Words that name a check ("tests", "lint", a runner's name, a command in
backticks) are its subjects, words such as "pass" and "clean" its predicates. A sentence that plans,
asks, supposes, advises, denies or quotes states nothing about the work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification.claim_kinds import Kind
from trialrun.verification.facts import Message
from trialrun.verification.runners import Table, language_of
from trialrun.verification.sentences import (
    CONTRAST,
    LEFT,
    OTHER,
    clauses_of,
    fails,
    is_advice,
    is_plan,
    is_undone,
    prose_of,
    sentences_of,
)
from trialrun.verification.subjects import (
    MARKS,
    OF_ALL,
    POSITIVE,
    TOKEN,
    Subject,
    is_part_of,
    nearest,
    predicate_at,
    subject_of,
)
from trialrun.verification.tables import pattern, words

LONGEST_MESSAGE = 200_000
"""Characters of a message that are read; of a longer one, its end."""

MOST_STATEMENTS = 2_000


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
    runner: str = ""  # the runner of a command that it names, as the table calls it
    single: bool = False  # it speaks of one test by its name: "Test 4.2 passes"
    admits: bool = False  # the sentence reports a failure or something not done: no rule fires
    clean: bool = True  # the clause that it stands in does not
    red: bool = False  # it says that the check failed
    mild: bool = False  # it says so, or that something is repaired
    bare: bool = False  # it names no check: "All green."


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
    readable: bool = True


def spoken(
    message: Message, table: Table, phrases: Mapping[str, Sequence[str]] | None = None
) -> Spoken:
    """The statements of one message; `phrases` of a spec make further sentences statements."""
    text = message.text[-LONGEST_MESSAGE:]
    prose = prose_of(text)
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
    return Spoken(message, tuple(statements), count, tuple(admits), _is_readable(prose))


def _admission(sentence: str, table: Table) -> Admission | None:
    undone = is_undone(sentence)
    if not undone and (not fails(sentence) or is_plan(sentence)):
        return None
    tokens = TOKEN.findall(sentence)
    found = [subject_of(token, token.lower(), table) for token in tokens[:60]]
    kinds = frozenset(one[0] for one in found if one is not None)
    if undone and not is_undone(OTHER.sub(" ", sentence)):
        kinds = frozenset({Kind.COMMIT})  # "the work is not committed" is about no check
    if _TEST_NAME.search(sentence):
        kinds |= {Kind.TESTS}
    # "a cancelled review failed silently" is about the program, "two failures remain" about checks.
    if not undone and not kinds and not LEFT.search(sentence):
        return None
    return Admission(sentence, not undone, kinds)


# `test_timeout` fails, TestParse still fails, `cart.spec.ts` failed
_TEST_NAME = lazy_pattern(
    r"(?:\btest_\w+|\bTest[A-Z]\w*|[._-](?:test|spec)\.\w+|_test)\b\W*(?:\w+ ){0,2}fail"
)


def _is_readable(prose: str) -> bool:
    """Whether the message is in an alphabet that the rules read."""
    letters = [char for char in prose[:4000] if char.isalpha()]
    return not letters or sum(char.isascii() for char in letters) >= 0.7 * len(letters)


def _statements(sentence: str, message: Message, table: Table) -> Iterator[Statement]:
    """The statements of one sentence."""
    if is_advice(sentence):
        return
    admits = bool(fails(sentence) or is_undone(sentence))
    found: list[Statement] = []
    if len(sentence) <= 1500:
        if _BARE.fullmatch(sentence):
            one = _plain_statement(sentence, Kind.CHECKS, message, (), admits)
            found = [replace(one, bare=True)]
        elif not is_plan(sentence):
            found = list(_check_statements(sentence, message, table, admits))
            if found and not admits:
                found = _by_clause(found, sentence, message, table)
            found = found or list(_deed_statements(sentence, message, admits))
        found = found or list(_check_statements(sentence, message, table, True, _MILD))
    if not found and message.last and _is_sentence(sentence):
        found = [_plain_statement(sentence, Kind.OTHER, message, (), admits)]
    yield from found


def _by_clause(
    found: list[Statement], sentence: str, message: Message, table: Table
) -> list[Statement]:
    """The same statements, each of its own clause, and what the other clauses say.

    Or "it is on staging, and the tests pass" would be verified as a whole by a run of tests.
    """
    parts = clauses_of(sentence)
    if len(parts) < 2 or CONTRAST.search(sentence):
        return found
    several: list[Statement] = []
    checks = set()
    for part in parts:
        own = list(_check_statements(part, message, table, False))
        checks |= {(one.kind, one.names) for one in own}
        own = own or list(_deed_statements(part, message, False))
        if not own and message.last and _is_sentence(part):
            own = [_plain_statement(part, Kind.OTHER, message, (), False)]
        several += own
    return several if checks == {(one.kind, one.names) for one in found} else found


def _is_sentence(text: str) -> bool:
    """Whether it is long enough to say something; some languages put no spaces between words."""
    return len(text.split()) >= 3 or (not text.isascii() and len(text) >= 8)


def _by_phrases(
    sentence: str, message: Message, phrases: Mapping[str, Sequence[str]] | None
) -> list[Statement]:
    lowered = sentence.lower()
    admits = bool(fails(sentence) or is_undone(sentence))
    return [
        _plain_statement(sentence, Kind(kind), message, (), admits)
        for kind, texts in (phrases or {}).items()
        if any(text.lower() in lowered for text in texts)
    ]


# What was just run: "All green.", "Everything passes now", "Green across the board!"
_BARE = lazy_pattern(
    r"(?:(?:all|everything(?: is)?|still|now) )*(?:green|pass(?:es|ing|ed)?)"
    r"(?: (?:now|again|across the board))*\W*",
    re.IGNORECASE,
)
_FAILED = frozenset(words("failed"))
_MILD = frozenset({*_FAILED, *words("repaired")})
_TYPE_CHECK = lazy_pattern(r"\btype[- ]check(?:ing|er|s)?\b", re.IGNORECASE)


def _check_statements(
    sentence: str,
    message: Message,
    table: Table,
    admits: bool,
    predicates: frozenset[str] = POSITIVE,
) -> Iterator[Statement]:
    tokens = TOKEN.findall(_TYPE_CHECK.sub("typecheck", sentence))
    lowered = [token.lower() for token in tokens]
    subjects: list[Subject] = []
    start = depth = 0
    for index, word in enumerate(lowered):
        depth += (word == "(") - (word == ")")
        subject = subject_of(tokens[index], word, table)
        if word == "test" and any(one.name for one in subjects):
            continue  # "`nginx -t`: test is successful"
        if subject is not None and not (depth > 0 and is_part_of(subjects)):
            subjects.append(Subject(subject[0], index, *subject[1:]))
        said = word in predicates
        if predicates is POSITIVE:
            said, behind = predicate_at(tokens, lowered, index, table, not subjects)
            subjects += behind
        if not said:
            continue
        for one in nearest(subjects, start, index, 3 if word in MARKS else 9):
            yield _about_check(one, sentence, message, lowered, start, index, admits)
        if subjects:
            start = index + 1
            subjects = []


# "Test 4.2 now passes", "the `test_vat` test passes".
_ONE_TEST = lazy_pattern(
    r"\btests? (?:#?\d+(?:\.\d+)+|#?\d+ ?[-–] ?#?\d+|#\d+|`[^`]+`)|`[^`\s]+` test\b", re.IGNORECASE
)
_ALL = lazy_pattern(r"\b(?:all|full|entire|whole|complete|every)\b", re.IGNORECASE)
_COUNT = pattern("count")


def _about_check(
    subject: Subject,
    sentence: str,
    message: Message,
    lowered: Sequence[str],
    start: int,
    end: int,
    admits: bool,
) -> Statement:
    near = lowered[start : end + 3]
    part = _part_of(near, max(0, subject.place - start))
    one_test = _ONE_TEST.search(sentence) if subject.kind is Kind.TESTS else None
    count = None
    if subject.kind is Kind.TESTS:
        found = _COUNT.search(sentence)
        if found is not None:
            count = int((found.group(2) or found.group(1)).replace(",", ""))
    return Statement(
        clean=not admits or _is_clean(sentence, lowered[end]),
        red=lowered[end] in _FAILED,
        mild=lowered[end] in _MILD,
        text=sentence[:500],
        kind=subject.kind,
        at=message.at,
        turn=message.turn,
        last=message.last,
        all=bool(_ALL.search(" ".join(near))),
        count=count,
        names=(subject.name,) if subject.name else (),
        runner=subject.runner,
        qualified=bool(part) or one_test is not None or " but " in sentence,
        single=one_test is not None,
        part=part,
        admits=admits,
    )


def _is_clean(sentence: str, word: str) -> bool:
    """Whether the clause with that word is no report of a failure: "7 of 8 done, lint clean"."""
    clauses = [one for one in _CLAUSE.split(sentence) if word in one.lower()]
    return word in _MILD or not any(fails(one) or is_undone(one) for one in clauses)


_CLAUSE = lazy_pattern(r"[,;()—–]\s|\s[(—–]|\bbut\b")


def _part_of(given: Sequence[str], place: int) -> tuple[str, ...]:
    """The words in front of the subject that speak of some of them: "the new tests"."""
    part: list[str] = []
    for word in reversed(given[max(0, place - 4) : place]):
        word = word.strip("`")
        if not word[:1].isalpha() or word in OF_ALL or word in POSITIVE:
            break
        part.append(word)
    return tuple(reversed(part))


_DEEDS = (
    (Kind.PUSH, pattern("push")),
    (Kind.COMMIT, pattern("commit")),
    (Kind.PULL_REQUEST, pattern("pull_request")),
    (Kind.DEPLOY, pattern("deploy")),
    (Kind.NOTHING_CHANGED, pattern("nothing_changed")),
)
_CHANGED = pattern("changed")
_EFFECT = pattern("effect")
_FILE = pattern("file")
# A commit: `3396fbe`, "as 3396fbe".
_HASH = lazy_pattern(r"`([0-9a-f]{7,40})`|\b(?:as|commit) ([0-9a-f]{7,40})\b")

_BRANCH = lazy_pattern(r"`(?:origin/)?([\w./-]*[g-z_/-][\w./-]*)`")  # `origin/main`, not a commit


def _deed_statements(sentence: str, message: Message, admits: bool) -> Iterator[Statement]:
    denied = re.match(r"no\b|not\b", sentence, re.IGNORECASE) is not None
    for kind, said in _DEEDS:
        if said.search(sentence) and (not denied or kind is Kind.NOTHING_CHANGED):
            names = tuple(one or two for one, two in _HASH.findall(sentence))
            names += tuple(_BRANCH.findall(sentence)) if kind is Kind.PUSH else ()
            yield _plain_statement(sentence, kind, message, names, admits)
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
        sentence[:500], kind, message.at, message.turn, message.last, names=names, admits=admits,
        clean=not admits,
    )  # fmt: skip
