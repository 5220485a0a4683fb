"""Whether a sentence states something, reports a failure, or says that something was not done."""

from __future__ import annotations

import re

# A sentence with one of these plans, supposes, advises or asks; it states nothing.
_NOT_STATED = re.compile(
    r"^(?:goal|task|acceptance|requirement|criteri\w+)s?\b.{0,20}:|^(?:step \d+[:.]? *)?(?:check|verify|run|confirm|ensure|fix|make|wait|test (?!pass|\d|suite|results?\b|run|count))\b"
    r"|\b(?:will|'ll|let me|let's|going to|should|would|could|may|might|must|shall|need(?:s|ed)? to"
    r"|want(?:s)? (?:me )?to|plan to|try|tries|ensure|make sure|to (?:verify|check|see|confirm|run|make)"
    r"|if|once|until|unless|when(?:ever)?|(?<!than )(?<!failed )(?<!failing )before|assuming|expect(?:s|ed|ing)?|whether|in order to"
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
    r"(?<!\b0 )(?<!\bno )(?<!\bzero )\b(?:fail(?:s|ed|ing|ures?)?|broken|red|errors? (?:remain|left|in))\b"
    r"|\b(?:pre-?existing|flaky|flake|skipped|except|apart from|known issue|unrelated (?:to|error|fail))\b"
    r"|\btim(?:ed|es) out\b|\bcrash\w*\b",
    re.IGNORECASE,
)
# "No type errors in the changed files", "0 tests failed", "without any failures".
_NO_FAILURE = re.compile(
    r"\b(?:no|zero|0|without(?: any)?|none) (?:[\w-]+ ){0,2}(?:errors?|fail\w*|warnings?|issues?|skipped)\b",
    re.IGNORECASE,
)


_SOME_OF = re.compile(r"\b(\d{1,6}) (?:of|out of) (\d{1,6})\b")


def fails(sentence: str) -> bool:
    """Whether the sentence reports a failure; "21 of 22 tests pass" does."""
    some = _SOME_OF.search(sentence)
    if some is not None and int(some.group(1)) < int(some.group(2)):
        return True
    return _FAILS.search(_NO_FAILURE.sub(" ", sentence)) is not None


# A failure that is left, without a word for the check: "2 failures", "pre-existing", "still red".
LEFT = re.compile(
    r"\b(?:pre-?existing|flaky|flakes?|known (?:issues?|failures?)|unrelated)\b"
    r"|\b(?:remain\w*|still)\b.{0,30}\b(?:fail\w*|broken|red|errors?)\b"
    r"|\b(?:fail\w*|broken|red|errors?)\b.{0,30}\bremain\w*"
    r"|\b(?:[1-9]\d*|one|two|three|four|five|some|several) (?:\w+ ){0,2}(?:fail\w*|errors?)\b",
    re.IGNORECASE,
)
# A failure that was meant to be: "fails on the old code", "fails without the fix", "as expected".
FORMER = re.compile(
    r"\bfail\w* (?:as expected|(?:on|against|before|without) )|\b(?:pre-fix|without the fix|old code)\b",
    re.IGNORECASE,
)
# A sentence that says that something was not done: "I have not run the tests", "untested".
UNDONE = re.compile(
    r"(?:\b(?:not|never|cannot|without|unable|neither|nor)|n't)\b.{0,60}\b(?:re-?run|run|ran|green|test\w*|tried|verif\w+|built"
    r"|build|compil\w+|execut\w+|check\w*|exercis\w+|pushed|committed|deployed|pass\w*|lint\w*)\b"
    r"|\b(?:untested|unverified|unchecked|uncommitted|unpushed)\b"
    r"|\b(?:ran|run|did) (?:no|none|nothing)\b|\bno (?:tests?|builds?|checks?) (?:were |was )?run\b",
    re.IGNORECASE,
)
