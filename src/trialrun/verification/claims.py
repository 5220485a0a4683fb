"""The claims of a final message: which statements say how things are now, and about what.

Plans, offers, questions, instructions, quotations and reports of what was done are no claims. An
admission (not checked, or failed) is kept apart. Everything else that says how something is, is a
claim; of the kinds in `phrases.py` where its words show one, and a plain description otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from trialrun.verification import phrases as p
from trialrun.verification.admissions import MIXED, UNCHECKED, admits, by_surroundings
from trialrun.verification.kinds import (
    OF_RUNS,
    Phrases,
    commands_in,
    kinds_of_commands,
    kinds_of_words,
)
from trialrun.verification.runners import Table
from trialrun.verification.sentences import Statement, statements
from trialrun.verification.wording import (
    CODE,
    NUMBER,
    PATH,
    matches,
    names_in,
    outside_quotations,
    spoken,
    without_code,
)

LONGEST_MESSAGE = 100_000
"""Of a longer message the end is read: that is where an agent sums up."""


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


def claims_of(
    message: str,
    own: Phrases | None = None,
    claimed: frozenset[str] = frozenset(),
    reports: bool = False,
    table: Table | None = None,
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
            known[statement] = classify(statement, languages, own, table)
        said = known[statement]
        if said is not None and p.DONE in said.kinds and not reports:
            said = None
        if (said is None or p.DONE in said.kinds) and statement.text in claimed:
            said = replace(_said(statement, frozenset({p.CONTENT})), found_by="judge")
        named = [
            name for name in names_in(statement.plain) if PATH.fullmatch(re.sub(r":\d+$", "", name))
        ]
        file = named[-1] if named else file
        if said is not None:
            if file and not any(PATH.fullmatch(re.sub(r":\d+$", "", one)) for one in said.beside):
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
    statement: Statement,
    languages: Sequence[str] = ("en",),
    own: Phrases | None = None,
    table: Table | None = None,
) -> Said | None:
    """What a statement claims or admits; None where it does neither."""
    if statement.question:
        return None
    lowered = spoken(
        re.sub(
            r"^that (?!should|will|would|could|is|was|has|might|may|ought)|^(?:all )?(?:done|ok|okay|great|sure)[,:] (?=\w+ )|^(?:please )?note that |^for (?:the |your )?\w+: |^(?!fixed|resolved|solved)\w{3,}ed: (?=\S+ \S)",
            "",
            statement.plain.lower(),
        )
    )
    words = without_code(lowered)
    unquoted = outside_quotations(lowered)
    kinds = kinds_of_words(unquoted, languages, own) | kinds_of_commands(statement, words, table)
    if not kinds and _THEY.match(words):
        # "I ran the specs and they came through cleanly": what they are stands before.
        ran = p.RUN_WORDS.search(statement.sentence.lower())
        if ran is not None:
            kinds = kinds_of_words(f"{ran.group()} {unquoted}", languages, own) & OF_RUNS
    admitted = admits(words, languages, kinds)
    tells = bool(kinds) or bool(commands_in(statement, table))
    admitted = by_surroundings(statement, words, admitted, tells)
    if _SUPPOSED.match(statement.sentence.lower()) and not admitted:
        return None
    if matches(words, p.PLANS, languages) and not (admitted and MIXED.search(words)):
        first = _BEFORE_A_PLAN.match(statement.plain)
        if first is None:
            return None
        part = first.group(1)
        return classify(replace(statement, text=part, plain=part), languages, own, table)
    if p.PLAN_HEADINGS.search(statement.heading) and not admitted:
        return None
    proposed = matches(statement.intro, p.PLANS, languages) or _SUPPOSED.match(statement.heading)
    if proposed and not admitted and not kinds:
        return None  # "I'd do it like this:", and then the list
    if (
        p.REPORTED.search(_YOU_REPORTED.sub(" ", words))
        and not _about_own_run(lowered)
        and not admitted
    ):
        return None
    if not outside_quotations(words).strip(" .,:;`'\"") and not statement.mark:
        return None
    if admitted:
        return _said(statement, kinds or frozenset({p.ADMITTED}), admitted=True)
    if matches(words, p.ACTIONS, languages):
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


_THEY = re.compile(
    r"(?:and |but )?(?:(?:they|it|both|all of them|everything)\b|(?:no|zero|0) failures?\W*$)"
)
# "It is green again (212 tests) and CI will have nothing to complain about."
_BEFORE_A_PLAN = re.compile(
    r"(\S+(?: \S+){3,}?),? and (?:[\w'-]+ ){1,4}?(?:will|won't|can|should)\b"
)


def _kinds_of_a_tick(words: str, statement: Statement) -> frozenset[str]:
    """What a tick in front of a statement without a telling word says."""
    if len(words.split()) <= 1:
        return frozenset({p.TESTS} if "test" in words else set())
    described = _NEW.match(words) or any(
        not PATH.fullmatch(name) for name in CODE.findall(statement.plain)
    )
    return frozenset({p.CONTENT} if described else {p.WORKS})


# "which was the crash you reported" names a thing, and quotes nobody.
_YOU_REPORTED = re.compile(r"\b\w+ (?:that )?you (?:reported|mentioned|described|saw|noted)\b")
_NEW = re.compile(r"(?:an? )?(?:new|added|updated|extended|renamed|moved|documented)\b")
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
# What follows "I would split it …" is supposed too.
_SUPPOSED = re.compile(
    r"(?:here(?:'s| is) how )?(?:i|we)(?: would|'d) (?!like to point|note|say that)\w+"
)


def _said(statement: Statement, kinds: frozenset[str], admitted: bool = False) -> Said:
    plain = statement.plain
    return Said(
        text=statement.text,
        plain=plain,
        kinds=kinds,
        admitted=admitted,
        unchecked=admitted and bool(UNCHECKED.search(plain)),
        hedged=bool(p.HEDGES.search(without_code(plain))),
        names=tuple(dict.fromkeys(names_in(plain))),
        numbers=tuple(NUMBER.findall(without_code(plain))),
        sentence=statement.sentence,
        beside=tuple(dict.fromkeys(names_in(statement.sentence))),
        past=bool(_PAST.search(plain)) and not _PRESENT.search(plain),
        subjective=bool(p.SUBJECTIVE.search(plain))
        and kinds <= {p.CONTENT, p.WORKS}
        and not NUMBER.search(plain),
    )


_PAST = re.compile(
    r"\b(?:was|were|had|used to|stayed|did|came|caused|computed|previously|earlier|originally|\w+ed)\b",
    re.IGNORECASE,
)
_PRESENT = re.compile(
    r"\b(?:is|are|has|have|now|does|do|can|will|uses?|returns?|contains?|reads?)\b", re.IGNORECASE
)


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
                r"\b(?:pass\w*|green|succe\w*|clean\w*|no (?:errors|issues|failures|warnings)|0 (?:errors|failures)|\d+ (?:tests?|passed)|ok|grün|verde|vert|bestanden|pasan|pasaron|passent|réussi\w*|éxito|succès|durchgelaufen)\b|成功|通り|通過",
                words,
            )
        ) and not re.search(
            r"\bto pass (?:`|the |an? |it |them )|\b(?:so|until|if|to make|to get|until) (?:the |all )?(?:tests?|suite|build)\b",
            words,
        )
    return True


_STATE = re.compile(
    r"\b(?:is|are|has|have|does|do|was|were|isn't|aren't|now|uses?|returns?|contains?|reads?|lists?|documents?|describes?|supports?|accepts?|rejects?|handles?|retries|defines?|calls?|lives?|belongs?|points?|refers?|requires?|takes?|keeps?|stores?|expires?|defaults?|sets?|raises?|throws?|matches|matched|exists?|shows?|says?|states?|reports?|stands?|covers?|includes?|appears?|occurs?|happens?|runs?|starts?|ends?|allows?|means?|depends?|comes?|goes|gets?|sends?|writes?|loads?|skips?|falls?|validates?|logs?|finished|refuses?|clamps?|rounds?|applies|responds?|maps?|sits?|follows?|holds?|caps?|limits?|only|opens?|closes?|sorts?|orders?|lets?|gives?|makes?|creates?|checks?|escapes?|parses?|honou?rs?|respects?|mentions?|waits?|picks?|shows?|finds?|turns? up|yields?|groups?|picks?|serves?|scales?|keeps?|drops?|resulta|lee|queda\w*|bleibt|reste\w*|can|cannot|resolves?|passes)\b"
    r"|\b(?:ist|sind|hat|haben|steht|stehen|liegt|enthält|enthalten|wird|werden|erfolgt|jetzt|antwortet|meldet|liefert|umfasst|führt|löst|gibt|setzt|erhält|bekommt|verlangt|filtert|behält|nimmt|akzeptiert|berechnet|wirft|prüft|sendet|schreibt|liest|gilt|zeigt|nutzt|verwendet|beträgt|lief|läuft)\b|\b(?:está|están|es|son|tiene|tienen|contiene|incluye\w*|ya no|responde\w*|se usa\w*|acepta\w*|rechaza\w*|calcula\w*|lanza\w*|guarda\w*|envía\w*|coincide\w*|devuelve|usa|muestra|hay|existe\w*|vale)\b|\b(?:est|sont|contient|inclut|inclu\w+|accepte\w*|rejette\w*|calcule\w*|envoie\w*|lève|décrit|affiche|renvoie|utilise|existe\w*|ont|a|montre|répond|vaut)\b|(?:です|ます|ている|ております|なっており|ません)"
    r"|`+ (?:now |also |only |still )?[a-z]{3,}s\b"
)
_VERB_LIKE = re.compile(
    r"\b(?:it|this|that|they|there)'s\b|^(?:it|this|that) (?:now |also |only |still |then )?[a-z]{3,}s\b|\b(?:did|went|came|got|took|gave|ran|made|kept|held|fell|rose|grew|shrank|landed|lands|cannot|won't)\b|\b[a-z]{3,}(?:ed|es)\b"
)
_HEADING_LIKE = re.compile(
    r"^(?:here(?:'s| is| are)|this is (?:a|the) (?:summary|list|plan)|below|the following|summary|details?|done|all done|all set|great|sure|okay|ok|thanks|note|notes|hinweis|result|results|changes|what (?:i|changed)|how it)\b"
)


_FILE_AND_CODE = re.compile(r"`[\w./@-]+\.\w{1,5}`:? `[^`]*[=:(][^`]*`")


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
    if _FILE_AND_CODE.fullmatch(statement.plain.strip()):
        return True  # "`src/http.ts`: `TIMEOUT_MS = 30_000`"
    # "5 attempts at most, configured in `retry.go`": no verb, and a fact all the same.
    return (bool(NUMBER.search(words)) and len(words.split()) > 2) or (
        any(PATH.search(name) for name in names_in(statement.plain)) and len(words.split()) > 4
    )
