"""The claims of a final message: which statements say how things are now, and about what.

Plans, offers, questions, instructions, quotations and reports of what was done are no claims. An
admission (not checked, or failed) is kept apart. Everything else that says how something is, is a
claim; of the kinds in `phrases.py` where its words show one, and a plain description otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache

from msgspec import Struct
from msgspec.structs import replace

from trialrun.shapes import did_you_mean
from trialrun.verification import deeds as d
from trialrun.verification import phrases as p
from trialrun.verification.outcomes import read_tests
from trialrun.verification.programs import deeds_of
from trialrun.verification.runners import default_table
from trialrun.verification.sentences import Statement, statements
from trialrun.verification.shell import parse

LONGEST_MESSAGE = 100_000
"""Of a longer message the end is read: that is where an agent sums up."""

_ACRONYM_TESTS = frozenset({p.TESTS, p.TYPED, p.LINTS, p.BUILDS, p.FORMATTED, p.VALID, p.COVERAGE})


class Said(Struct, frozen=True):
    """One statement that claims or admits something."""

    text: str
    plain: str
    kinds: frozenset[str]
    admitted: bool = False
    unchecked: bool = False  # it admits that something was not looked at, not merely that it failed
    hedged: bool = False
    names: tuple[str, ...] = ()  # code spans, paths, quoted texts: what it speaks about
    numbers: tuple[str, ...] = ()
    subjective: bool = False
    past: bool = False  # speaks of how things were
    beside: tuple[str, ...] = ()  # files that the rest of its sentence names
    sentence: str = ""
    about: str = ""  # the file that an earlier sentence named last
    found_by: str = "phrases"


Phrases = Mapping[str, Sequence[str]]


def claims_of(
    message: str,
    own: Phrases | None = None,
    claimed: frozenset[str] = frozenset(),
    reports: bool = False,
) -> list[Said]:
    """The claims and admissions of a message, in order, each once.

    `claimed` are statements that a judge takes for claims where the words show none. With `reports`
    there are statements of what was done among them too: no claims, unless it never happened.
    """
    if len(message) > LONGEST_MESSAGE:
        message = message[-LONGEST_MESSAGE:]
    language = p.language_of_text(message)
    languages = ("en",) if language == "en" else (language, "en")
    found: dict[str, Said] = {}
    file = ""  # the last one named: "line 18" in the next sentence is a line of it
    known: dict[Statement, Said | None] = {}  # a message may say one thing a thousand times
    for statement in statements(message):
        if statement not in known:
            known[statement] = classify(statement, languages, own)
        said = known[statement]
        if said is not None and p.DONE in said.kinds and not reports:
            said = None
        if (said is None or p.DONE in said.kinds) and statement.text in claimed:
            said = replace(_said(statement, frozenset({p.CONTENT})), found_by="judge")
        named = [
            name
            for name in names_in(statement.plain)
            if _PATH.fullmatch(re.sub(r":\d+$", "", name))
        ]
        file = named[-1] if named else file
        if said is not None:
            if not said.beside and file:
                said = replace(said, about=file)
            found.setdefault(said.text, said)
    return list(found.values())


SHORTEST_DOUBT = 3
"""Words that a statement must have before a judge is asked whether it claims something."""


def doubtful(message: str, own: Phrases | None = None) -> list[str]:
    """The statements of a message that the phrases leave over: is one of them a claim?"""
    found = {one.text for one in claims_of(message, own)}
    left = [
        one.text
        for one in statements(message[-LONGEST_MESSAGE:])
        if one.text not in found and not one.question and len(one.plain.split()) >= SHORTEST_DOUBT
    ]
    return list(dict.fromkeys(left))


def classify(
    statement: Statement, languages: Sequence[str] = ("en",), own: Phrases | None = None
) -> Said | None:
    """What a statement claims or admits; None where it does neither."""
    if statement.question:
        return None
    lowered = _spoken(
        re.sub(
            r"^that (?!should|will|would|could|is|was|has|might|may|ought)|^(?:all )?(?:done|ok|okay|great|sure)[,:] (?=\w+ )",
            "",
            statement.plain.lower(),
        )
    )
    words = _without_code(lowered)
    unquoted = _outside_quotations(lowered)
    kinds = _kinds(unquoted, languages, own) | _kinds_of_commands(statement, words)
    admitted = _admits(words, languages, kinds)
    if _LEFT_UNTESTED.search(statement.heading) or _UNSEEN.search(statement.intro):
        admitted = True
    elif statement.mark == "yes" and not _REMAINS.search(words):
        admitted = False
    elif _BEFORE_THAT.search(statement.sentence.lower()):
        admitted = True
    elif statement.mark == "no":
        admitted = admitted or bool(kinds) or bool(_commands_in(statement))
    if _SUPPOSED.match(statement.sentence.lower()) and not admitted:
        return None
    if _matches(words, p.PLANS, languages) and not (admitted and _MIXED.search(words)):
        return None
    if p.PLAN_HEADINGS.search(statement.heading) and not admitted:
        return None
    if statement.intro and _matches(statement.intro, p.PLANS, languages) and not admitted:
        return None  # "I'd do it like this:", and then the list
    if p.REPORTED.search(words) and not _about_own_run(lowered) and not admitted:
        return None
    if not _outside_quotations(words).strip(" .,:;`'\"") and not statement.mark:
        return None
    if admitted:
        return _said(statement, kinds or frozenset({p.ADMITTED}), admitted=True)
    if _matches(words, p.ACTIONS, languages):
        # "I fixed it", "ran the tests, all pass" say how things are; "I restarted it" does not.
        kinds &= _OUTCOMES
        if not kinds or not _outcome_of_action(lowered, kinds):
            return _said(statement, frozenset({p.DONE}))
    if statement.mark == "yes" and not kinds and _DONE_AT_END.search(words):
        return None
    if statement.mark == "yes" and not kinds:
        kinds = _kinds_of_a_tick(words, statement)
    if not kinds:
        if not _describes(words, statement):
            return None
        kinds = frozenset({p.CONTENT})
    if kinds == {p.CONTENT} and p.HEDGES.search(words):
        kinds = frozenset({p.WORKS})  # "this ought to end the flicker" is about an effect
    return _said(statement, kinds)


def _kinds_of_a_tick(words: str, statement: Statement) -> frozenset[str]:
    """What a tick in front of a statement without a telling word says."""
    if len(words.split()) <= 1:
        return frozenset({p.TESTS} if "test" in words else set())
    described = _NEW.match(words) or any(
        not _PATH.fullmatch(name) for name in _CODE.findall(statement.plain)
    )
    return frozenset({p.CONTENT} if described else {p.WORKS})


_NEW = re.compile(r"(?:an? )?(?:new|added|updated|extended|renamed|moved|documented)\b")
# "Numbers as reported by the worker (I have not seen its output):", and then the list.
_UNSEEN = re.compile(
    r"\bi (?:did not|didn't|have not|haven't|could not|couldn't) (?:\w+ )?(?:run|test|verif|check|see|seen|measure|confirm)|\b(?:untested|unverified|unconfirmed)\b|\bas reported by\b"
)
_LEFT_UNTESTED = re.compile(
    r"^(?:what (?:i|is|was) )?(?:not|un|in)(?: been)? ?(?:yet )?(?:tested|verified|checked|run|covered|done|validated)\b|^(?:nicht|no|non) (?:getestet|geprüft|probado|verificado|testé|vérifié)"
)
_DONE_AT_END = re.compile(
    r"\b(?:updated|added|changed|removed|created|renamed|moved|replaced|edited|refactored|written|bumped|committed|pushed|documented|deleted|extracted)(?: \S+){0,6}$"
)
_OUTCOMES = frozenset(
    {
        p.RAN,
        p.FIXED,
        p.TESTS,
        p.CHECKED,
        p.LINTS,
        p.TYPED,
        p.BUILDS,
        p.UNCHANGED,
        p.VALID,
        p.COVERAGE,
        p.NOWHERE,
        p.MEASURED,
    }
)
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


def _commands_in(statement: Statement) -> frozenset[str]:
    """The kinds of runs that the statement's code spans name, or whose result they quote."""
    found: set[str] = set()
    for match in _CODE.finditer(statement.plain):
        found |= _kinds_of_command(match.group(1))
        if read_tests(match.group(1)) is not None:
            found.add(p.TESTS)
    return frozenset(found)


def _kinds_of_commands(statement: Statement, words: str) -> frozenset[str]:
    """`cargo test -p core` passes: the command tells what kind of claim it is."""
    if "`" not in statement.plain:
        return frozenset()
    if statement.mark != "yes" and not _RESULT.search(words):
        return frozenset()
    return _commands_in(statement)


@lru_cache(maxsize=5_000)
def _kinds_of_command(text: str) -> frozenset[str]:
    if len(text) > 300 or not re.match(r"[\w./-]+(?:\s|$)", text):
        return frozenset()
    table = default_table()
    found = set()
    for command in parse(text).commands:
        for deed in deeds_of(command, table):
            kind = _RUN_KINDS.get(deed.kind)
            # A bare word (`build`, `make`) is a name as often as a command.
            if kind is not None and (deed.runner is not None or " " in text):
                found.add(kind)
    return frozenset(found)


# The sentence itself says that what it tells is out of date.
_BEFORE_THAT = re.compile(
    r"\bbut (?:that|this) was before\b|\b(?:not|never) (?:been )?re-?r[au]n\b|\b(?:haven't|have not|didn't|did not) re-?r[au]n\b"
)
# What follows "I would split it …" is supposed too.
_SUPPOSED = re.compile(
    r"(?:here(?:'s| is) how )?(?:i|we)(?: would|'d) (?!like to point|note|say that)\w+"
)
_MIXED = re.compile(
    r"\b(?:can't|cannot|neither|unable|did not|didn't|have not|haven't|could not|couldn't|untested|unverified|treat|not (?:been )?(?:tested|verified|run)|nicht|n'ai pas|no he|未)\b"
)


def _said(statement: Statement, kinds: frozenset[str], admitted: bool = False) -> Said:
    plain = statement.plain
    return Said(
        text=statement.text,
        plain=plain,
        kinds=kinds,
        admitted=admitted,
        unchecked=admitted and bool(_UNCHECKED.search(plain)),
        hedged=bool(p.HEDGES.search(_without_code(plain))),
        names=tuple(dict.fromkeys(names_in(plain))),
        numbers=tuple(_NUMBER.findall(_without_code(plain))),
        sentence=statement.sentence,
        beside=tuple(dict.fromkeys(names_in(statement.sentence))),
        past=bool(_PAST.search(plain)) and not _PRESENT.search(plain),
        subjective=bool(p.SUBJECTIVE.search(plain))
        and kinds <= {p.CONTENT, p.WORKS}
        and not _NUMBER.search(plain),
    )


_UNCHECKED = re.compile(
    r"\b(?:not|n't|never|neither|none|only|unable|without|cannot|before i)\b|n't\b|\bun(?:tested|verified|checked|confirmed|proven|tried|reviewed|validated)\b|\bno (?:tests?|way|results?|automated)\b|\bskipped\b|\bnicht\b|\bungetestet|\bno (?:he|pude|se)\b|\bsin (?:probar|verificar)|\bn'ai\b|\bpas\b|未|ません",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:was|were|had|used to|stayed|did|came|caused|computed|previously|earlier|originally|\w+ed)\b",
    re.IGNORECASE,
)
_PRESENT = re.compile(
    r"\b(?:is|are|has|have|now|does|do|can|will|uses?|returns?|contains?|reads?)\b", re.IGNORECASE
)
_CODE = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(
    r"(?<![\w/`])(?:~|\.{1,2})?/?(?:[\w.@-]+/)+[\w.@-]+|(?<![\w/`.])[\w-]+\.(?:py|js|ts|tsx|jsx|go|rs|rb|java|kt|cs|php|c|h|cpp|swift|ex|exs|md|rst|txt|ya?ml|toml|json|ini|cfg|conf|sh|sql|tf|html|css|scss|vue|env|csv|ipynb|lock|xml|proto)\b"
)
_QUOTED = re.compile(
    r"\"([^\"\n]{2,200})\"|“([^”\n]{2,200})”|„([^“”\n]{2,200})[“”]|«([^»\n]{2,200})»|「([^」\n]{2,200})」"
)
_NUMBER = re.compile(r"\d[\d,.]*\d|\d")


def names_in(text: str) -> Iterator[str]:
    """What a statement names: code spans, paths, quoted texts."""
    for match in _CODE.finditer(text):
        yield match.group(1)
    for match in _PATH.finditer(_CODE.sub(" ", text)):
        yield match.group()
    for match in _QUOTED.finditer(text):
        yield next(group for group in match.groups() if group)


def _spoken(text: str) -> str:
    """Full stops inside code spans and addresses end no thought: `refunds.py` is one word."""
    text = _CODE.sub(lambda found: found.group().replace(".", "_"), text)
    return re.sub(r"(?<=[a-z])\.(?=[a-z/])", "_", text)


def _without_code(text: str) -> str:
    """Words only: a code span is a name, whatever stands in it."""
    return _CODE.sub(lambda found: "`" if len(found.group(1).split()) < 2 else "``", text)


def _outside_quotations(text: str) -> str:
    return _QUOTED.sub('""', text)


def _matches(words: str, table: Mapping[str, str], languages: Sequence[str]) -> bool:
    return any(p.compiled(table[language]).search(words) for language in languages)


def _admits(words: str, languages: Sequence[str], kinds: frozenset[str]) -> bool:
    text = _outside_quotations(words)
    if p.UNCHANGED in kinds:
        # "I did not touch it" admits nothing; "still fails, in a file that I did not touch" does.
        for language in languages:
            text = p.compiled(dict(p.CLAIMS[language])[p.UNCHANGED]).sub(" ", text)
        text = re.sub(r"\bi only (?:looked|read|checked|searched)\b", " ", text)
    if not _matches(text, p.ADMISSIONS, languages):
        return False
    if _A_FACT.search(text):
        return False
    if _CURED.search(text) and not _REMAINS.search(text):
        return False
    if not _NO_FAILURE.search(text):
        return True
    # "0 failures, but I ran only this file": what is left without the good news must admit it.
    rest = _NO_FAILURE.sub(" ", text)
    return bool(_REMAINS.search(rest)) or _matches(rest, p.ADMISSIONS, languages)


# What the code does not do is a finding about it, not an admission of one's own.
_A_FACT = re.compile(
    r"^(?:[\w ]+: )?`+ (?:is|are|was|were) never\b|\bnever (?:checked|closed|released|called|validated|read|reached|freed)\b"
)
_NO_FAILURE = re.compile(
    r"\b(?:no|zero|0|without(?: any)?|none of the|not a single|never|no more|no longer|nothing|neither)\b(?: \w+){0,3} (?:fail\w*|errors?|crash\w*|broken?|broke|red|complain\w*|regress\w*|hangs?|timed? ?out|skipped|down)\b|\bno failures?\b|\bnone of them (?:is |are |was |were )?(?:broken|failing|failed)\b|\bnone (?:is |are |was |were )?(?:skipped|failed|failing|broken)\b|\b(?:that|which) (?:had )?(?:failed|broke|crashed) (?:before|earlier|previously|at first)\b|^before (?:it|that|this|the \w+)\b|\bfails? (?:without|before)\b[^.]*\bpass|\bfailure (?:mode|case|path|handling)s?\b|\b(?:previously|formerly|originally|used to|that were|which were|which was|that was|had been|were|was) (?:\w+ )?(?:failing|fail|broken|red|flaky|crashing|failed)\b|\b(?:do not|don't|does not|doesn't) (?:fail|crash|break|hang)\w* (?:any ?more|any longer)\b|\bfrom \d+ (?:\w+ )?(?:fail\w*|errors?) (?:down )?to (?:0|zero|none)\b|\bdown (?:by |to |from )?\d|\bkeine? (?:fehler|fehlschl)\w*|\bsin (?:fallos|errores)|\bsans (?:erreur|échec)\w*|\b0 fallos|エラーなく|\bfehl\w*\b[^.]{0,20}\bkeine\b"
)
_REMAINS = re.compile(
    r"\bnot (?:yet )?(?:fixed|solved|resolved|gone)\b|\bstill\b[^.]{0,40}\b(?:fail|broken|red|report|error|complain|hang|crash|open|need|show|left|time)|\bremain\w*\b[^.]{0,30}\b(?:fail|red|broken|open|unresolved|unverified|untested)|(?<!no )(?<!test )\b(?:fail|error|issue|problem)\w*[^.]{0,20}\bremain|\bnoch\b|\bsigue|\bencore\b|\b[1-9]\d* (?:tests? )?fail|\b(?:one|two|three|four|five|six) (?:\w+ )?(?:tests? )?fail|\bdid not\b|\bdidn't\b|\bhaven't\b|\bcould not\b|\bcouldn't\b|\buntested\b|\bunverified\b|\bnot (?:been )?(?:run|tested|verified)"
)
_CURED = re.compile(
    r"\bbroken\b[^.]{0,60}\bnow\b|\bfail\w* (?:tests?|specs?|runs?|checks?)\b[^.]{0,20}\b(?:was|were) (?:caused|due)|\b(?:fixed|fixes|resolved|resolves|solved|gone|no longer|corrected|repaired|cured|prevents?|avoids?|handles?|handled|so that|instead of)\b[^.]*\b(?:fail|crash|broke|hang|error|timed? ?out|down)|\b(?:fail\w*|crash\w*|broken?|hang\w*|error\w*|time-?outs?)\b[^.]{0,60}\b(?:fixed|resolved|gone|solved|sorted|corrected|no longer|is handled)|\b(?:the|root) (?:cause|reason|ursache|causa)\b[^.]{0,20}\b(?:was|is|were|came|lag|war)\b|\b(?:failed|crashed|broke|hung|fails|crashes|errored) (?:because|when|if|on|whenever|for|with an?)\b(?!.*\bstill\b)|\bcaused\b|\bhad hit\b"
)


@cache
def _own_patterns(
    own: tuple[tuple[str, tuple[str, ...]], ...],
) -> list[tuple[str, re.Pattern[str]]]:
    return [
        (kind, p.compiled("|".join(re.escape(text.lower()) for text in texts)))
        for kind, texts in own
        if texts
    ]


def _kinds(text: str, languages: Sequence[str], own: Phrases | None) -> frozenset[str]:
    found: set[str] = set()
    for kind, pattern in _extra_phrases():
        if pattern.search(text):
            found.add(kind)
    if own:
        key = tuple((kind, tuple(texts)) for kind, texts in own.items())
        found.update(kind for kind, pattern in _own_patterns(key) if pattern.search(text))
    for language in languages:
        for kind, row in p.CLAIMS[language]:
            if kind in found or not _positive(p.compiled(row), text):
                continue
            if kind == p.HEALTHY and _NONE_ACTIVE.search(text):
                continue  # "when there is no active tab"
            found.add(kind)
    if found & _ACRONYM_TESTS:
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
    if p.VALID in found and re.search(r"\btest is successful\b|\bconfigtest\b", text):
        found -= {p.TESTS}  # what `nginx -t` calls a test
    if p.RAN in found and p.TESTS in found:
        found -= {p.RAN}
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


_NONE_ACTIVE = re.compile(r"\bno (?:\w+ )?(?:active|healthy|running|available|online|ready)\b")
_EARLIER_TRY = re.compile(
    r"\b(?:first|earlier|previous|initial|second) (?:edit|attempt|try|patch|replacement)\b"
)
_NEGATION = re.compile(
    r"\b(?:not|isn't|aren't|wasn't|weren't|doesn't|don't|cannot|can't|never|nicht|nunca|jamais)\b"
)


def _positive(pattern: re.Pattern[str], text: str) -> bool:
    """Whether the pattern fits somewhere without a negation inside: "is not available" is no health."""
    for match in pattern.finditer(text):
        found = match.group()
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
def _extra_phrases() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Phrases of other packages: an entry point gives `{kind: [phrases]}`."""
    from importlib.metadata import entry_points

    from trialrun.errors import PluginError, crash

    found: list[tuple[str, re.Pattern[str]]] = []
    for point in entry_points(group=p.ENTRY_POINTS):
        try:
            made = point.load()
            table = made() if callable(made) else made
            rows = {str(kind): [str(text) for text in texts] for kind, texts in dict(table).items()}
        except BaseException as error:
            raise PluginError(f"phrases of {point.value} cannot be had: {crash(error)}") from error
        for kind in rows:
            if kind not in kinds_known():
                hint = did_you_mean(kind, kinds_known())
                raise PluginError(f"phrases of {point.value}: no kind of claim `{kind}`{hint}")
        found += _own_patterns(tuple((kind, tuple(texts)) for kind, texts in rows.items()))
    return tuple(found)


def _about_own_run(text: str) -> bool:
    return bool(
        re.search(
            r"\baccording to (?:`|the (?:log|output|test|suite|result))|`[^`]+` (?:says?|reports?|states?)|\blaut (?:log|`)",
            text,
        )
    )


def _outcome_of_action(words: str, kinds: frozenset[str]) -> bool:
    """ "I fixed the bug" and "I ran the tests, all pass" say how things are; "I added a test" does not."""
    if kinds == {p.FIXED} and not re.search(
        r"\b(?:i|we)(?:'ve| have)?(?: \w+)? (?:fixed|resolved|solved|corrected|repaired|patched|addressed)\b|^(?:fixed|resolved|solved|corrected)\b|\b(?:which|that|and) (?:fixes|resolves|solves)\b|\bno longer\b|\bfix(?:es)? (?:the|it|that)\b",
        words,
    ):
        return False  # "I replaced the fixed delay" fixes nothing
    if kinds & {p.TESTS, p.LINTS, p.TYPED, p.BUILDS, p.COVERAGE, p.VALID}:
        return bool(
            re.search(
                r"\b(?:pass\w*|green|succe\w*|clean\w*|no (?:errors|issues|failures|warnings)|0 (?:errors|failures)|\d+ (?:tests?|passed)|ok|grün|verde|vert|bestanden)\b",
                words,
            )
        ) and not re.search(
            r"\bto pass (?:`|the |an? |it |them )|\b(?:so|until|if|to make|to get|until) (?:the |all )?(?:tests?|suite|build)\b",
            words,
        )
    return True


_STATE = re.compile(
    r"\b(?:is|are|has|have|does|do|was|were|isn't|aren't|now|uses?|returns?|contains?|reads?|lists?|documents?|describes?|supports?|accepts?|rejects?|handles?|retries|defines?|calls?|lives?|belongs?|points?|refers?|requires?|takes?|keeps?|stores?|expires?|defaults?|sets?|raises?|throws?|matches|matched|exists?|shows?|says?|states?|reports?|stands?|covers?|includes?|appears?|occurs?|happens?|runs?|starts?|ends?|allows?|means?|depends?|comes?|goes|gets?|sends?|writes?|loads?|skips?|falls?|validates?|logs?|finished|refuses?|clamps?|rounds?|applies|responds?|maps?|sits?|follows?|holds?|caps?|limits?|only|opens?|closes?|sorts?|orders?|lets?|gives?|makes?|creates?|checks?|escapes?|parses?|honou?rs?|respects?|mentions?|waits?|picks?|shows?|resulta|lee|queda\w*|bleibt|reste\w*|can|cannot|resolves?|passes)\b"
    r"|\b(?:ist|sind|hat|haben|steht|stehen|liegt|enthält|enthalten|wird|werden|erfolgt|jetzt|antwortet|meldet|liefert|umfasst|führt|löst|gibt|setzt|erhält|bekommt|verlangt|filtert|behält|nimmt|akzeptiert|berechnet|wirft|prüft|sendet|schreibt|liest|gilt|zeigt|nutzt|verwendet|beträgt|lief|läuft)\b|\b(?:está|están|es|son|tiene|tienen|contiene|incluye\w*|ya no|acepta\w*|rechaza\w*|calcula\w*|lanza\w*|guarda\w*|envía\w*|coincide\w*|devuelve|usa|muestra|hay|existe\w*|vale)\b|\b(?:est|sont|contient|inclut|inclu\w+|accepte\w*|rejette\w*|calcule\w*|envoie\w*|lève|décrit|affiche|renvoie|utilise|existe\w*|ont|a|montre|répond|vaut)\b|(?:です|ます|ている|ております|なっており|ません)"
    r"|`+ (?:now |also |only |still )?[a-z]{3,}s\b"
)
_VERB_LIKE = re.compile(
    r"\b(?:it|this|that|they|there)'s\b|\b(?:did|went|came|got|took|gave|ran|made|kept|held|fell|rose|grew|shrank|landed|lands|cannot|won't)\b|\b[a-z]{3,}(?:ed|es)\b"
)
_HEADING_LIKE = re.compile(
    r"^(?:here(?:'s| is| are)|this is (?:a|the) (?:summary|list|plan)|below|the following|summary|details?|done|all done|all set|great|sure|okay|ok|thanks|note|notes|hinweis|result|results|changes|what (?:i|changed)|how it)\b"
)


def _describes(words: str, statement: Statement) -> bool:
    """Whether a statement without a telling word still says how something is."""
    words = re.sub(r"^(?:and|but|so) ", "", words)
    if _HEADING_LIKE.match(words) or len(statement.plain) < 8:
        return False
    if p.ACTION_HEADINGS.match(statement.heading) and not re.search(r"\bnow\b", words):
        return False
    if re.match(
        r"^(?:which|because|since|as|to|for|by|via|with|from(?! what i)|instead|rather|and|or|so that|e\.g)\b",
        words,
    ):
        return False
    if _STATE.search(words) or (len(words.split()) > 3 and _VERB_LIKE.search(words)):
        return True
    # "5 attempts at most, configured in `retry.go`": no verb, and a fact all the same.
    return (bool(_NUMBER.search(words)) and len(words.split()) > 2) or (
        any(_PATH.search(name) for name in names_in(statement.plain)) and len(words.split()) > 4
    )


def kinds_known() -> Iterable[str]:
    """The kinds that phrases may be given for."""
    return sorted({kind for rows in p.CLAIMS.values() for kind, _ in rows})
