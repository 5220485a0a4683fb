"""Which kinds of claim the words of a statement show, and the commands that it names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache

from trialrun.util.texts import did_you_mean
from trialrun.verification import deeds as d
from trialrun.verification import phrases as p
from trialrun.verification.outcomes import read_tests
from trialrun.verification.programs import deeds_of
from trialrun.verification.runners import Table, default_table
from trialrun.verification.sentences import Statement
from trialrun.verification.shell import parse
from trialrun.verification.wording import CODE, spoken

OF_RUNS = frozenset({p.TESTS, p.TYPED, p.LINTS, p.BUILDS, p.FORMATTED, p.VALID, p.COVERAGE})


Phrases = Mapping[str, Sequence[str]]


_RUN_KINDS = {
    d.TEST: p.TESTS,
    d.LINT: p.LINTS,
    d.TYPES: p.TYPED,
    d.BUILD: p.BUILDS,
    d.FORMAT: p.FORMATTED,
    d.CONFIG: p.VALID,
}
_RESULT = re.compile(
    r"\b(?:pass(?:es|ed|ing)?|green|clean(?:ly)?|ok|succe\w+|exits? (?:with )?0|fine|finds? nothing|\d+ succeeded|no (?:\w+ )?(?:errors?|issues?|failures?|warnings?|complaints?|problems?)|0 (?:errors?|failures?)|happy|valid|complete[sd]?|finish\w+|conclud\w+|came back|aucune? (?:erreur|problème|avertissement)s?|keine (?:fehler|befunde|warnungen)|sin errores|ningún error|grün|vert|verde)\b|エラーなし|問題なし|→|->|✅|\b\d+ (?:passed|tests|examples)\b"
)


def commands_in(statement: Statement, table: Table | None = None) -> frozenset[str]:
    """The kinds of runs that the statement's code spans name, or whose result they quote."""
    found: set[str] = set()
    for match in CODE.finditer(statement.plain):
        found |= _kinds_of_command(match.group(1), table or default_table())
        if read_tests(match.group(1)) is not None:
            found.add(p.TESTS)
    return frozenset(found)


def kinds_of_commands(
    statement: Statement, words: str, table: Table | None = None
) -> frozenset[str]:
    """`cargo test -p core` passes: the command tells what kind of claim it is."""
    if "`" not in statement.plain:
        return frozenset()
    if statement.mark != "yes" and not _RESULT.search(words):
        return frozenset()
    return commands_in(statement, table)


@lru_cache(maxsize=5_000)
def _kinds_of_command(text: str, table: Table) -> frozenset[str]:
    if len(text) > 300 or not re.match(r"[\w./-]+(?:\s|$)", text):
        return frozenset()
    found = set()
    for command in parse(text).commands:
        for deed in deeds_of(command, table):
            kind = _RUN_KINDS.get(deed.kind)
            # A bare word (`build`, `make`) is a name as often as a command.
            if kind is not None and (deed.runner is not None or " " in text):
                found.add(kind)
    return frozenset(found)


@cache
def _own_patterns(
    own: tuple[tuple[str, tuple[str, ...]], ...],
) -> list[tuple[str, re.Pattern[str]]]:
    return [
        (kind, p.compiled("|".join(re.escape(spoken(text.lower())) for text in texts)))
        for kind, texts in own
        if texts
    ]


def kinds_of_words(text: str, languages: Sequence[str], own: Phrases | None) -> frozenset[str]:
    """The kinds of claim that the words show; where two overlap, the one that says more."""
    found: set[str] = set()
    for kind, pattern in extra_phrases():
        if pattern.search(text):
            found.add(kind)
    if own:
        key = tuple((kind, tuple(texts)) for kind, texts in own.items())
        found.update(kind for kind, pattern in _own_patterns(key) if pattern.search(text))
    for language in languages:
        for kind, row in p.CLAIMS[language]:
            if kind in found or not _positive(p.compiled(row), text, language):
                continue
            if kind == p.HEALTHY and _NONE_ACTIVE.search(text):
                continue  # "when there is no active tab"
            found.add(kind)
    if found & OF_RUNS:
        # "the tests pass successfully" is about tests, not a second claim that something works.
        found -= {p.WORKS}
        if not _CHECKED_THAT.search(text):
            found -= {p.CHECKED}
        if not _OF_SERVICES.search(text):
            found -= {p.HEALTHY, p.DEPLOYED, p.STORED}
    if p.UNCHANGED in found and re.search(
        r"\b(?:which|that) (?:i|we) (?:left|did not|didn't|have not|haven't)\b", text
    ):
        found -= {p.UNCHANGED}  # said in passing, of something that is the matter of the sentence
    if p.UNCHANGED in found and _EARLIER_TRY.search(text):
        found -= {p.UNCHANGED}  # "my first edit did not match and changed nothing"
    if p.UNCHANGED in found:
        found &= {p.UNCHANGED, p.TESTS}
    if p.VALID in found and re.search(r"\btest (?:is )?successful\b|\bconfigtest\b|nginx -t", text):
        found -= {p.TESTS}  # what `nginx -t` calls a test
    if p.TESTS in found and _CHECKS_OF_MACHINES.search(text):
        found = {*found - {p.TESTS}, p.HEALTHY}
    if p.TESTS in found and found & {p.LINTS, p.TYPED} and _CHECKS_PASSED.sub("", text) != text:
        rest = kinds_of_words(_CHECKS_PASSED.sub("is clean", text), languages, own)
        found = {*found - {p.TESTS}, *rest}  # "All checks passed" is what a linter says
    if p.RAN in found and p.TESTS in found:
        found -= {p.RAN}
    if found & OF_RUNS:
        found -= {p.NOWHERE}
    if p.READY in found and len(found) > 1:
        found -= {p.READY}
    if p.COVERAGE in found:
        found -= {p.TESTS}
    if p.HEALTHY in found or p.DEPLOYED in found:
        found -= {p.WORKS}
    if p.BUILDS in found and not re.search(r"\bdeploy|rollout|rolled out|live\b", text):
        found -= {p.DEPLOYED}
    if p.BUILDS in found and p.TESTS in found and not re.search(r"\bbuild|compil|bundle", text):
        found -= {p.BUILDS}
    return frozenset(found)


_CHECKS_OF_MACHINES = re.compile(
    r"\b(?:machines?|instances?|pods?|replicas?|containers?|nodes?)\b[^.]{0,40}\bchecks? (?:\w+ )?pass\w*"
)
_CHECKS_PASSED = re.compile(r"\ball checks (?:have )?pass(?:ed)?\b")
_PAS = re.compile(r"\bpas\s*$|\bpas encore\s*$")
_NONE_ACTIVE = re.compile(r"\bno (?:\w+ )?(?:active|healthy|running|available|online|ready)\b")
_EARLIER_TRY = re.compile(
    r"\b(?:first|earlier|previous|initial|second) (?:edit|attempt|try|patch|replacement)\b"
)
_NEGATION = re.compile(
    r"\b(?:not|isn't|aren't|wasn't|weren't|doesn't|don't|cannot|can't|never|nicht|nunca|jamais)\b"
)


def _positive(pattern: re.Pattern[str], text: str, language: str) -> bool:
    """Whether the pattern fits somewhere without a negation inside: "is not available" is no health.

    Of other languages the patterns are short, and the negation stands before: "ne … pas corrigés".
    """
    for match in pattern.finditer(text):
        found = match.group()
        if language == "fr" and _PAS.search(text[max(0, match.start() - 20) : match.start()]):
            continue
        if not _NEGATION.search(found) or re.search(
            r"\b(?:no longer|any ?more|nothing|not? (?:change|touch|modif)|n't (?:change|touch|modif)"
            r"|not a single|not one|(?:anywhere|nowhere|nothing) else|elsewhere|(?:n't|not) (?:fail|break))",
            found,
        ):
            return True
    return False


_OF_SERVICES = re.compile(
    r"\b(?:service|pods?|server|endpoint|http|health|site|deploy\w*|live|container|cluster|production|staging|database|migration)\b|/healthz?\b"
)
_CHECKED_THAT = re.compile(r"\b(?:verified|confirmed|validated|double-?checked)\b")


@cache
def extra_phrases() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Phrases of other packages: an entry point gives `{kind: [phrases]}`."""
    from importlib.metadata import entry_points

    from trialrun.errors import PluginError, crash

    found: list[tuple[str, re.Pattern[str]]] = []
    for point in entry_points(group=p.ENTRY_POINTS):
        try:
            made = point.load()
            table = made() if callable(made) else made
            rows = {
                str(kind): texts if isinstance(texts, str) else list(texts)
                for kind, texts in dict(table).items()
            }
        except BaseException as error:
            raise PluginError(f"phrases of {point.value} cannot be had: {crash(error)}") from error
        for kind, texts in rows.items():
            if kind not in kinds_known():
                hint = did_you_mean(kind, kinds_known())
                raise PluginError(f"phrases of {point.value}: no kind of claim `{kind}`{hint}")
            # Of a text in place of a list, every letter would be a phrase.
            if isinstance(texts, str) or not all(
                isinstance(text, str) and text.strip() for text in texts
            ):
                raise PluginError(
                    f"phrases of {point.value}: `{kind}` must be a list of texts, found {texts!r}"
                )
        found += _own_patterns(tuple((kind, tuple(texts)) for kind, texts in rows.items()))
    return tuple(found)


def kinds_known() -> Iterable[str]:
    """The kinds that phrases may be given for."""
    return sorted({kind for rows in p.CLAIMS.values() for kind, _ in rows})
