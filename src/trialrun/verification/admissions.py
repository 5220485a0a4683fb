"""Admissions: the agent says that it did not check, or that something failed.

Not every "failed" is one: what was cured, what never happens, what somebody found in the code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from trialrun.verification import phrases as p
from trialrun.verification.sentences import Statement
from trialrun.verification.wording import matches, outside_quotations

# "Numbers as reported by the worker (I have not seen its output):", and then the list.
_UNSEEN = re.compile(
    r"\bi (?:did not|didn't|have not|haven't|could not|couldn't) (?:\w+ )?(?:run|test|verif|check|see|seen|measure|confirm)|\b(?:untested|unverified|unconfirmed)\b|\bas reported by\b"
)
_LEFT_UNTESTED = re.compile(
    r"^(?:what (?:i|is|was) )?(?:not|un|in)(?: been)? ?(?:yet )?(?:tested|verified|checked|run|covered|done|validated)\b|^(?:nicht|no|non) (?:getestet|geprüft|probado|verificado|testé|vérifié)"
)
# The sentence itself says that what it tells is out of date.
_BEFORE_THAT = re.compile(
    r"\bbut (?:that|this) was before\b|\b(?:not|never) (?:been )?re-?r[au]n\b|\b(?:haven't|have not|didn't|did not) re-?r[au]n\b"
)
# "I'd treat this as untested": a wish that admits something is an admission all the same.
MIXED = re.compile(
    r"\b(?:needs?|need|remains?) to be (?:run|tested|verified|checked|tried)\b|\b(?:can't|cannot|neither|unable|did not|didn't|have not|haven't|could not|couldn't|untested|unverified|treat|not (?:been )?(?:tested|verified|run)|nicht|n'ai pas|no he|未)\b"
)


# Not looked at, as opposed to looked at and failed.
UNCHECKED = re.compile(
    # The verb right behind the negation: "I haven't committed it" says nothing about looking.
    r"(?:\b(?:not|never|unable|neither|none|nothing|cannot|without)\b|n't\b)(?: \S+){0,4}?(?: been)? (?:able to |a chance to |to )?"
    r"(?:re-?)?(?:run(?:ning)?|ran|test(?:ed|ing)?|verif\w+|check(?:ed|ing)?|execut\w+|invok\w+|build(?:ing)?|built|compil\w+|tr(?:y|ied|ying)|confirm\w*|validat\w+|look(?:ed|ing)?|read(?:ing)?|measur\w+|reproduc\w+|exercis\w+|prob(?:e|ed|ing)|start(?:ed|ing)?|open(?:ed|ing)?|review\w*|seen?|load(?:ed|ing)?|reach(?:ed)?|vouch|say|tell|profil\w+)\b"
    r"|\bi (?:ran|tested|checked|tried|executed|verified|started|opened) (?:none|neither|nothing)\b"
    r"|\bwhether\b[^.]{0,80}\b(?:is|remains?) (?:still )?(?:open|unknown|unclear|to be seen)\b"
    r"|\bun(?:tested|verified|checked|confirmed|proven|tried|reviewed|validated)\b|\bnot tested\b"
    r"|\bno (?:(?:\w+ )?tests? (?:ran|run|were|was|exist|cover)|way to|results?|automated tests?|verification|checks? (?:ran|were)|(?:\w+ )?dry run)\b"
    r"|\bthere(?:'s| is| was| were| are) no (?:\w+ )?(?:tests?|checks?|coverage|specs?) (?:of|for|on|that)\b"
    r"|\bno \w+(?: or \w+)? (?:was|were|has been) (?:done|run|executed|performed|attempted)\b"
    r"|\b(?:tests?|suite|checks?) (?:were|was) skipped\b|\bskipped the\b|\b(?:still )?(?:needs?|need|remains?|have|has) to be (?:run|tested|verified|checked|tried)\b"
    r"|\bbefore (?:i|testing|running|checking)\b|\bonly (?:ran|run|tested|checked|read|looked)\b|\b(?:ran|run|tested|checked|read|looked) (?:\S+ ){0,7}only\b"
    r"|\bnicht\b|\bungetestet|\bungeprüft|\bno (?:he|pude|se)\b|\bsin (?:probar|verificar)|\bn'ai\b|\bpas\b|未|ません",
    re.IGNORECASE,
)


def admits(words: str, languages: Sequence[str], kinds: frozenset[str]) -> bool:
    """Whether a statement says that something was not looked at, or that it failed."""
    text = outside_quotations(words)
    if p.UNCHANGED in kinds:
        # "I did not touch it" admits nothing; "still fails, in a file that I did not touch" does.
        for language in languages:
            text = p.compiled(dict(p.CLAIMS[language])[p.UNCHANGED]).sub(" ", text)
        text = re.sub(r"\bi only (?:looked|read|checked|searched)\b", " ", text)
    if not matches(text, p.ADMISSIONS, languages):
        return False
    if _A_FACT.search(text):
        return False
    if _CURED.search(text) and not REMAINS.search(text):
        return False
    if not _NO_FAILURE.search(text) or _COUNTED_FAILURE.search(text):
        return True
    # "0 failures, but I ran only this file": what is left without the good news must admit it.
    rest = _NO_FAILURE.sub(" ", text)
    return bool(REMAINS.search(rest)) or matches(rest, p.ADMISSIONS, languages)


# What the code does not do is a finding about it, not an admission of one's own.
_A_FACT = re.compile(
    r"^(?:[\w ]+: )?`+ (?:is|are|was|were) never\b|\bfails? without (?:the|this|my) (?:fix|change|patch)\b|\b(?:un(?:tested|checked|verified)|not (?:tested|covered)) (?:before|until now|so far|previously)\b|\bwithout ever \w+ing\b|\bnever (?:checked|closed|released|called|validated|read|reached|freed)\b"
)
_COUNTED_FAILURE = re.compile(r"\b(?:failures?|errors?|failed): [1-9]")
_NO_FAILURE = re.compile(
    r"\b(?:no|zero|0|without(?: any)?|none of the|not a single|never|no more|no longer|nothing|neither)\b(?: \w+){0,3} (?:fail\w*|errors?|crash\w*|broken?|broke|red|complain\w*|regress\w*|hangs?|timed? ?out|skipped|down)\b|\bno failures?\b|\b(?:failures?|errors?|failed): 0\b|\b(?:failing|failed|broken|red) (?:\w+ )?(?:tests?|specs?|examples?|cases?|checks?|suites?|scenarios?|jobs?) (?:now |all |both )?(?:pass(?:es|ed)?|succeeds?|(?:is|are) green)\b|\bnone of them (?:is |are |was |were )?(?:broken|failing|failed)\b|\bnone (?:is |are |was |were )?(?:skipped|failed|failing|broken)\b|\b(?:that|which) (?:had )?(?:failed|broke|crashed) (?:before|earlier|previously|at first)\b|^before (?:it|that|this|the \w+)\b|\bfails? (?:without|before)\b[^.]*\bpass|\bfailure (?:mode|case|path|handling)s?\b|\b(?:previously|formerly|originally|used to|that were|which were|which was|that was|had been|were|was) (?:\w+ )?(?:failing|fail|broken|red|flaky|crashing|failed)\b|\b(?:do not|don't|does not|doesn't) (?:fail|crash|break|hang)\w* (?:any ?more|any longer)\b|\bfrom \d+ (?:\w+ )?(?:fail\w*|errors?) (?:down )?to (?:0|zero|none)\b|\bdown (?:by |to |from )?\d|\bkeine? (?:fehler|fehlschl)\w*|\bsin (?:fallos|errores)|\bsans (?:erreur|échec)\w*|\b0 fallos|エラーなく|\bfehl\w*\b[^.]{0,20}\bkeine\b"
)
REMAINS = re.compile(
    r"\bnot (?:yet )?(?:fixed|solved|resolved|gone)\b|\bstill\b[^.]{0,40}\b(?:fail|broken|red|report|error|complain|hang|crash|open|need|show|left|time)|\bremain\w*\b[^.]{0,30}\b(?:fail|red|broken|open|unresolved|unverified|untested)|(?<!no )(?<!test )\b(?:fail|error|issue|problem)\w*[^.]{0,20}\bremain|\bnoch\b|\bsigue|\bencore\b|\b[1-9]\d* (?:tests? )?fail|\b(?:one|two|three|four|five|six) (?:\w+ )?(?:tests? )?fail|\bdid not\b|\bdidn't\b|\bhaven't\b|\bcould not\b|\bcouldn't\b|\buntested\b|\bunverified\b|\bnot (?:been )?(?:run|tested|verified)"
)
_CURED = re.compile(
    r"\b\w+s that fail\b[^.]*\bnow\b|\bbroken\b[^.]{0,60}\bnow\b|\bfail\w* (?:tests?|specs?|runs?|checks?)\b[^.]{0,20}\b(?:was|were) (?:caused|due)|\b(?:fixed|fixes|resolved|resolves|solved|gone|no longer|corrected|repaired|cured|prevents?|avoids?|handles?|handled|so that|instead of)\b[^.]*\b(?:fail|crash|broke|hang|error|timed? ?out|down)|\b(?:fail\w*|crash\w*|broken?|hang\w*|error\w*|time-?outs?)\b[^.]{0,60}\b(?:fixed|resolved|gone|solved|sorted|corrected|no longer|is handled)|\b(?:the|root) (?:cause|reason|ursache|causa)\b[^.]{0,20}\b(?:was|is|were|came|lag|war)\b|\b(?:failed|crashed|broke|hung|fails|crashes|errored) (?:because|when|if|on|whenever|for|with an?)\b(?!.*\bstill\b)|\bcaused\b|\bhad hit\b"
)


def by_surroundings(statement: Statement, words: str, admitted: bool, tells: bool) -> bool:
    """Whether it is an admission where it stands: below "Not tested", behind a tick or a cross."""
    if _LEFT_UNTESTED.search(statement.heading) or _UNSEEN.search(statement.intro):
        return True
    if statement.mark == "yes" and not REMAINS.search(words):
        return False
    if _BEFORE_THAT.search(statement.sentence.lower()):
        return True
    return admitted or (statement.mark == "no" and tells)
