"""The checks that a sentence names: by a noun, a runner's name, or a command in backticks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification.claim_kinds import BY_RUN, Kind
from trialrun.verification.commands import done_by
from trialrun.verification.done import CHECK
from trialrun.verification.runners import Table
from trialrun.verification.shell import parse
from trialrun.verification.tables import group, words
from trialrun.verification.wrappers import unwrapped

TOKEN = lazy_pattern(r"`[^`\n]+`|\d[\d,]*(?:/\d[\d,]*)?|[A-Za-z][\w'+#-]*|[✅✓✔✗❌:,;()]")
_SUBJECTS = {word: Kind(kind) for kind, several in group("subject").items() for word in several}
POSITIVE = frozenset(words("positive"))
MARKS = frozenset("✅✓✔")
NONE = frozenset({"no", "zero", "0", "without"})
_PROBLEMS = frozenset(words("problems"))
OF_ALL = frozenset(words("of all"))
_ORDINARY = frozenset(words("ordinary"))


class Subject(Struct, gc=False):
    kind: Kind
    place: int
    name: str = ""
    runner: str = ""


PASSES = frozenset({"pass", "passes", "passed", "green", "clean"})


def commands_behind(tokens: Sequence[str], index: int, table: Table) -> Iterator[Subject]:
    """The commands of "validation passed with `pnpm compile` and `pnpm test`"."""
    for place in range(index + 1, min(index + 12, len(tokens))):
        if tokens[place].lower() in POSITIVE:
            return
        found = _command(tokens[place].strip("`"), table) if tokens[place][0] == "`" else None
        if found is not None:
            yield Subject(found[0], index, *found[1:])


def predicate_at(
    tokens: Sequence[str], lowered: Sequence[str], index: int, table: Table, alone: bool
) -> tuple[bool, list[Subject]]:
    """Whether a check is said to be good at that word, and the subjects that stand behind it.

    `alone`: no subject stands before it.
    """
    word = lowered[index]
    if word in _VERBS and index < _NEAR_START and not _PURPOSE & set(lowered[:index]):
        return True, [Subject(_VERBS[word], index)]
    if is_done_with(lowered, index):
        behind = list(commands_behind(tokens, index, table))
        return bool(behind), behind
    if word in NONE and problem_near(lowered, index):
        return True, subjects_behind(tokens, lowered, index, table)
    behind = list(commands_behind(tokens, index, table)) if alone and word in PASSES else []
    return word in POSITIVE, behind


def is_done_with(lowered: Sequence[str], index: int) -> bool:
    """Whether it says by which commands something was checked: "verified with `pnpm test`"."""
    behind = [word for word in lowered[index + 1 : index + 3] if word != "locally"]
    return lowered[index] in _CHECKED and behind[:1] != [] and behind[0] in _BY


_CHECKED = frozenset({"verified", "validated", "checked", "tested", "confirmed"})
_BY = frozenset({"with", "by", "via", "using", "through"})
# Subject and predicate in one: "the code compiles now"; not "quote it, so that the line compiles".
_VERBS = {"compiles": Kind.BUILD, "typechecks": Kind.TYPES, "type-checks": Kind.TYPES}
_NEAR_START = 7
_PURPOSE = frozenset({"so", "that", "which", "what", "how", "whatever"})


def is_part_of(subjects: Sequence[Subject]) -> bool:
    """Whether it is an item of one that stands before: "the lint suite (shellcheck)"."""
    return any(not one.name for one in subjects)


def nearest(subjects: Sequence[Subject], start: int, end: int, reach: int) -> list[Subject]:
    """The subjects that belong to the predicate at `end`: each kind once, none too far away."""
    kept: dict[Kind, Subject] = {}
    for one in subjects:
        near = 2 if one.kind is Kind.CI else reach
        if start <= one.place and end - one.place <= near:
            kept[one.kind] = one if one.kind not in kept or one.name else kept[one.kind]
    if len(kept) > 1:
        kept.pop(Kind.CHECKS, None)  # "Verification: `pytest` passed" is about pytest
    return list(kept.values())


def problem_near(lowered: Sequence[str], index: int) -> bool:
    return any(word in _PROBLEMS for word in lowered[index + 1 : index + 4])


def subjects_behind(
    tokens: Sequence[str], lowered: Sequence[str], index: int, table: Table
) -> list[Subject]:
    """`zero credo issues`, `no type errors`: the subject stands behind the number."""
    found = []
    for place in range(index + 1, min(index + 4, len(lowered))):
        if lowered[place] in _PROBLEMS:
            break
        subject = subject_of(tokens[place], lowered[place], table)
        if lowered[place] == "type":
            subject = (Kind.TYPES, "", "")
        if subject is not None:
            found.append(Subject(subject[0], index, *subject[1:]))
    return found


def subject_of(token: str, word: str, table: Table) -> tuple[Kind, str, str] | None:
    """The check that a word names: by a noun, a runner's name, or a command in backticks."""
    if token.startswith("`"):
        return _command(token.strip("`"), table) or subject_of(
            word.strip("`"), word.strip("`"), table
        )
    if word in _SUBJECTS:
        return _SUBJECTS[word], "", ""
    rows = table.rows.get(word)
    if rows and len(word) > 3 and word not in _ORDINARY:
        runner = rows[-1][1]
        # `cargo` alone may test, build or format.
        if runner.kind in BY_RUN and len({one.kind for _, one in rows}) == 1:
            return BY_RUN[runner.kind], runner.name, runner.name
    return None


def _command(text: str, table: Table) -> tuple[Kind, str, str] | None:
    if " " not in text and ("." in text or text.startswith("/")):
        return None
    for command in parse(text).commands[:1]:
        for inner in unwrapped(command):
            for done in done_by(inner, table):
                if done.kind == CHECK:
                    kind = BY_RUN.get(done.check, Kind.COMMAND)
                    return kind, text if " " in text else done.name, done.name
    # A command of which only its status can be known: `mise run render`.
    return (Kind.COMMAND, text, "") if _LIKE_A_COMMAND.match(text) else None


# `mise run render:schema`, `./gen.sh --all`; not `Not Found`, `n > 0` or `GET /users`.
_LIKE_A_COMMAND = lazy_pattern(r"(?:\./)?[a-z][\w./-]* [\w./-]")
