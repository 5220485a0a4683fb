"""The words by which a text without tool calls is read: hedges, deeds, and what a change is about.

The patterns are defaults: a subclass of the compliance metric may bring others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from msgspec import Struct

from trialrun.errors import UsageError
from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification.runners import default_table, language_of
from trialrun.verification.sentences import sentences_of
from trialrun.verification.text_parts import Part, own_words, parts_of

HEDGES = (
    # The nine phrases: should, would, could work; probably, likely, seems to; I think, believe, assume.
    r"\b(?:should|would|could)(?: now| all| also| then| still| just| probably)* work\w*",
    r"\b(?:probably|likely|seems? to)\b",
    r"\bI(?:['’]d| would| do| also| still)? (?:think|believe|assume)\b",
    # The same said otherwise: "should be fixed now", "may handle it", "hopefully", "I guess".
    r"\b(?:should|would|could|might|may)(?: now| all| also| then)* (?:be (?:now |all )?(?:correct|working|fine|ok|good|fixed"
    r"|resolved|healthy|enough|gone)|fix\w*|resolve\w*|pass|handle\w*|solve\w*|do the trick|help)\b",
    r"\b(?:presumably|hopefully|supposedly|ought to|appears? to|in theory|I (?:guess|suspect|expect))\b",
    r"\b(?:sollte|müsste|dürfte)\w* (?:jetzt |nun |damit )?\w+|\b(?:wahrscheinlich|vermutlich|ich (?:glaube|denke|nehme an))\b",
    r"\b(?:debería\w*|probablemente|creo que|supongo|devrait|probablement|sans doute|je (?:pense|crois|suppose))\b",
    r"はず|と思います|と思われます|でしょう|おそらく|たぶん",
)
_DONE = (
    "edited modified updated changed wrote rewrote rewritten created added removed deleted renamed replaced refactored"
    " implemented fixed patched moved extracted introduced deployed restarted reloaded released published upgraded"
    " bumped migrated applied backfilled merged ported annotated configured installed enabled disabled switched"
    " converted split adjusted corrected resolved inlined optimized optimised shipped provisioned tuned increased"
    " decreased raised lowered guarded wrapped rotated set"
)
_DOING = (
    "editing modifying updating fixing deploying applying adding replacing implementing restarting"
)
OPERATIONS = (
    rf"\b(?:{'|'.join(_DONE.split())}|rolled out|made (?:\w+ )?(?:edits|changes)|already (?:did|done|finished))\b",
    rf"\b(?:{'|'.join(_DOING.split())})\b",
    r"(?-i:\b(?:Edit|MultiEdit|Write|NotebookEdit|Deploy)\b(?=[ :(→]))",  # tools, as in "Edit auth.py"
    r"\b(?:geändert|bearbeitet|angepasst|hinzugefügt|entfernt|umbenannt|ersetzt|behoben|korrigiert|ausgerollt|aktualisiert|umgestellt)\b",
    r"\b(?:editad[oa]|modificad[oa]|cambiad[oa]|actualizad[oa]|añadid[oa]|eliminad[oa]|corregid[oa]|desplegad[oa]|reiniciad[oa])\b",
    r"\b(?:modifié|changé|ajouté|supprimé|renommé|remplacé|corrigé|déployé|redémarré|mis à jour|créé)e?s?\b",
    r"(?:変更|修正|追加|削除|更新|作成|実装|デプロイ|置換|再起動)(?:し|いたし)",
)
CODE_WORK = (
    r"\b(?:function|method|class|module|code|bug|test|refactor|implement|api|parser|handler|component|logic|algorithm|import"
    r"|query|script|deadlock|race|leak|crash|exception)\w*\b",
)
READ_BACK = (
    r"\b(?:now reads?|reads? now|read(?:ing)? (?:it|them|the file|each of them)? ?(?:back|again)|re-?read\w*"
    r"|verifying \w+ by reading|contents? (?:is|are) now|after the (?:edit|change)|current (?:content|state))\b",
)


class Words(Struct, frozen=True):
    """The compiled patterns by which a text is read."""

    hedges: re.Pattern[str]
    operations: re.Pattern[str]
    code: re.Pattern[str]
    verified: re.Pattern[str]


@cache
def words_of(
    hedges: tuple[object, ...] = HEDGES,
    operations: tuple[object, ...] = OPERATIONS,
    code: tuple[object, ...] = CODE_WORK,
    verified: tuple[object, ...] = READ_BACK,
) -> Words:
    """The words, compiled once for each set of them. UsageError for one that is no pattern."""
    return Words(*(_one_of(texts) for texts in (hedges, operations, code, verified)))


_OURS = (HEDGES, OPERATIONS, CODE_WORK, READ_BACK)


def _one_of(given: tuple[object, ...]) -> re.Pattern[str]:
    texts = [str(one.pattern if isinstance(one, re.Pattern) else one) for one in given]
    for text in texts if given not in _OURS else ():
        try:
            re.compile(text)
        except re.error as error:
            raise UsageError(f'"{text}" is not a regular expression: {error}') from None
    return lazy_pattern("|".join(f"(?:{one})" for one in texts) or r"(?!)", re.IGNORECASE)


def hedges_in(text: str, words: Words | None = None) -> tuple[str, ...]:
    """Every hedge of a message outside of code and quotations, each once."""
    return hedges_of(parts_of(text, default_table()), words or words_of())


def hedges_of(parts: Sequence[Part], words: Words) -> tuple[str, ...]:
    """The same for a text that is already taken apart."""
    found: dict[str, None] = {}
    for part in parts:
        for line in () if part.block else part.text.split("\n"):
            if not line.lstrip().startswith(">"):
                found |= dict.fromkeys(
                    match.group() for match in words.hedges.finditer(own_words(line))
                )
    return tuple(found)


# "You should restart it" advises, "if it should fail" supposes: neither hedges about work done.
_NOT_ABOUT_WORK = re.compile(
    r"^(?:you|we|users?|one) (?:should|could|would|may|might)\b|^(?:if|when|once)\b|\bI would (?:suggest|recommend|like|go|start)"
    r"|\?\s*$",
    re.IGNORECASE,
)


def doubts_of(sentences: Sequence[str], words: Words) -> list[str]:
    """The hedges of sentences that speak of work done."""
    found: list[str] = []
    for sentence in sentences:
        plain = own_words(sentence)
        if not _NOT_ABOUT_WORK.search(plain):
            found += [match.group() for match in words.hedges.finditer(plain)]
    return list(dict.fromkeys(found))


def sentences_in(parts: Sequence[Part]) -> Iterator[tuple[int, str]]:
    """The sentences of the prose that stand in no plan, and the place of their part."""
    for at, part in enumerate(parts):
        if not part.block:
            for sentence, planned in sentences_of(part.text):
                if not planned and len(sentence) <= 1500:
                    yield at, sentence


class Deeds(Struct, frozen=True, gc=False):
    """What the author says to have changed: whether anything, whether code, and where it is said."""

    any: bool
    code: bool
    places: tuple[tuple[int, str], ...] = ()


def deeds_of(sentences: Sequence[tuple[int, str]], words: Words) -> Deeds:
    """The changes that a text tells of."""
    done = [(at, one) for at, one in sentences if is_deed(one, words)]
    if not done:
        return Deeds(False, False)
    return Deeds(True, any(_is_of_code(one, words) for _, one in done), tuple(done))


# "Added", "Then I added", "it was added", "I also added"; not "type hints added", "is configured".
_BY_AUTHOR = re.compile(
    r"(?:^|[!:;] |\) )\W*(?:\w+: |\d+[.)] )?(?:(?:now|then|also|first|finally|next|already|successfully|so|done|and|afterwards|\w+ly),? )*$"
    r"|\b(?:i|we|i've|we've|i have|we have)(?: (?:also|then|just|already|first|finally|now|have|\w+ly))* $"
    r"|\b(?:was|were|has been|have been|been)(?: (?:also|then|now|\w+ly))? $",
    re.IGNORECASE,
)
_FURTHER = re.compile(r"(?:\band|\bthen|,|&|;)(?: (?:also|then|\w+ly))? $", re.IGNORECASE)
_FOREIGN = re.compile(
    r"\b(?:habe|haben|wurden?|he|hemos|j'ai|nous avons|été|déployée?)\b|[぀-ヿ]", re.I
)
_NOT_DONE = re.compile(
    r"\b(?:nothing|nor|not(?! only| just)|never|no(?! longer)|without)(?: \w+){0,3} $|n't(?: \w+){0,3} $",
    re.IGNORECASE,
)
# "created a plan", "wrote a summary of the options", "updated you": no change of the project.
_TALK = re.compile(
    r"^ (?:you|us|them)\b|^ (?:up )?(?:an? |the |my |this |some )?(?:[\w-]+ ){0,2}(?:plan|summary|status|list|report|overview"
    r"|review|proposal|outline|analysis|roadmap|notes?|diagram|options|estimate|answer|question)s?\b(?= (?:of|for|on|with|and|to|that|in)\b|[.,;:!]|$)",
    re.IGNORECASE,
)
# What a sentence that plans, supposes or asks has in front of its deed.
_PLANNED = re.compile(
    r"\b(?:will|'ll|would|'d|should|could|might|going to|once|if|plan to|please|need(?:s|ed)? to|to be|let me|can be|must be)\b[^.;]{0,60}$",
    re.IGNORECASE,
)


def is_deed(sentence: str, words: Words) -> bool:
    """Whether the author says to have changed something."""
    if sentence.endswith("?"):
        return False
    plain = own_words(sentence)
    foreign = _FOREIGN.search(plain) is not None
    earlier = False
    for match in words.operations.finditer(plain):
        before = plain[max(0, match.start() - 80) : match.start()]
        if _NOT_DONE.search(before) or _PLANNED.search(before) or _TALK.match(plain[match.end() :]):
            continue
        own = _BY_AUTHOR.search(before) is not None or (foreign and not match.group().isascii())
        if own or (foreign and _BEHIND_VERB.search(plain)) or (earlier and _FURTHER.search(before)):
            return True
        earlier = earlier or own
    return False


_BEHIND_VERB = re.compile(r"\b(?:ich|wir) habe?n?\b|\bwurden?\b|\b(?:he|hemos)\b|\bj'ai\b", re.I)
_ROLLOUT = re.compile(
    r"\b(?:deployed|restarted|reloaded|rolled out|released|published|backfilled|deleted|migrated|deploying|restarting)\b",
    re.IGNORECASE,
)
_FILE = re.compile(r"(?<![\w./-])[\w./-]+\.\w{1,6}\b")
_NO_CODE = frozenset({"docs", "markup", "docker", "terraform"})


def _is_of_code(sentence: str, words: Words) -> bool:
    languages = {language_of(name) for name in _FILE.findall(sentence)} - {None}
    if languages:
        return bool(languages - _NO_CODE)
    verbs = [match.group() for match in words.operations.finditer(own_words(sentence))]
    if all(_ROLLOUT.fullmatch(verb) for verb in verbs):
        return False
    return words.code.search(sentence) is not None


_PEOPLE = (
    r"(?:colleagues?|team ?mates?|co-?workers?|reviewers?|maintainers?|customers?|users?|testers?|he|she"
    r"|they|somebody|someone|bob|alice)"
)
# "The colleague's run:", "you wrote", "Maria posted:", "by your message"
OTHERS = re.compile(
    rf"\b(?<!here)(?<!that)(?<!it)(?<!let)(?<!what)(?<!there)['’]s (?:\w+ )?(?:runs?|outputs?|results?|logs?|message|report|numbers)\b"
    rf"|\byour (?:\w+ )?(?:message|run|output|log|report|paste|words|ci)\b|\byou (?:wrote|sent|said|pasted|posted|reported|ran)\b"
    rf"|\b{_PEOPLE} (?:wrote|said|says|told|sent|posted|pasted|shared|reported|reports|ran|got|saw)\b"
    rf"|\b[A-Z][a-z]+ (?:wrote|said|told|sent|posted|pasted|shared)\b|\baccording to\b"
    rf"|\b(?:from|by|of) (?:the|a|my|our) {_PEOPLE}\b",
)
"""Words that say that an output, or a sentence, is somebody else's."""
