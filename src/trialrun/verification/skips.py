"""Whether an edit tells a test not to run."""

from __future__ import annotations

import re

from trialrun.verification.deeds import Deed
from trialrun.verification.marks import Marked
from trialrun.verification.runners import language_of

# A line that a patch takes out begins with a minus.
_SKIP = Marked(
    (
        "skip",
        "Skip",
        "xfail",
        "gnore",
        "isabled",
        "todo(",
        "xit(",
        "xtest(",
        "xdescribe(",
        "expectedF",
    ),
    r"^(?!-).*?(?:pytest\.mark\.(?:skip\b|skipif\(True|xfail)|pytest\.skip\(|@(?:unittest\.)?(?:skip\b|expectedFailure)"
    r"|\.skipTest\(|\b(?:it|test|describe)\.(?:skip\(|todo\()|\bxit\(|\bxdescribe\(|\bxtest\(|@Ignore\b|@Disabled\b|#\[ignore\]"
    r"|\bt\.Skip(?:f|Now)?\(|\[Ignore\])",
)


def skips_a_test(deed: Deed, target: str) -> bool:
    """Whether an edit puts in more skips than it takes out; what a script would do is not known."""
    if language_of(target) in ("docs", "markup"):
        return False
    if deed.command is not None:
        exchanged = [
            found.group(2, 3) for word in deed.command.words if (found := _SED.match(word))
        ]
    else:
        new = deed.new if deed.new is not None else deed.content
        exchanged = [(deed.old or "", new or "")]
    for old, new in exchanged:
        skips = len(_SKIP.findall(new))
        if skips and skips > len(_SKIP.findall(old)):
            return True
    return False


_SED = re.compile(r"(?:\d+|/[^/]*/)?s([/|#,@!])(.*?)\1(.*?)\1", re.DOTALL)  # s/this/that/
