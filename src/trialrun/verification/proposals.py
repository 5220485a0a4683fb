"""A text that proposes something: its steps are imperatives and noun phrases, and claim nothing.

Read one by one, "a unique index on that key" and "step 3 is the risky one" describe things that
exist. The opening of the text tells that they are still to be made.
"""

from __future__ import annotations

import re

from trialrun.verification import phrases as p
from trialrun.verification.claims import Said
from trialrun.verification.wording import names_in

_LONGEST_OPENING = 600
_WORD = r"(?:plan|proposal|proposed|suggestion|draft|outline|roadmap|vorschlag|propuesta|proposition|案)"
_OPENS = re.compile(
    rf"^\W*(?:the |a |my |here(?:'s| is) (?:the |a |my )?)?(?:\w+ )?{_WORD}\b(?! (?:was|is done|is in place|executed|complete|completed|done|finished|carried out|worked|went|succeeded)\b)"
    r"|\b(?:i|we)(?:'d| would) (?!say\b|note\b|add that\b|not\b|been\b|have\b|already\b|\w+ed\b)\w+"
    r"|\bbefore (?:i|we) (?:touch|change|start|begin|do|edit|run|write|make|move|go)\b"
    r"|\b(?:i|we) (?:propose|suggest|recommend)\b|\bmy (?:plan|proposal|suggestion)\b"
    r"|\b(?:ich|wir) würden?\b|\bje (?:propose|ferais)\b|\bpropongo\b",
    re.IGNORECASE,
)
_REPORT = re.compile(
    r"^\W*(?:done|finished|i(?:'ve| have)? (?!would|propose|suggest|recommend|have not|haven't)\w+ed|\w{3,}ed)\b(?! (?:plan|steps|order|approach)\b)",
    re.IGNORECASE,
)


def proposes(text: str) -> bool:
    """Whether the text opens with a plan, and not with a report of what was done."""
    opening = text.strip()[:_LONGEST_OPENING].split("\n\n", 1)[0]
    opening = re.split(r"\n\s*(?:[-*•]|\d{1,3}[.)])\s", opening, maxsplit=1)[0]
    return bool(_OPENS.search(opening.replace("’", "'"))) and not _REPORT.match(opening)


# What was done already is no part of the plan, wherever it stands.
REPORTS = re.compile(
    r"\balready\b|\b(?:i|we)(?:'ve| have) (?!to\b|in mind\b)\w+"
    r"|\b(?:i|we)(?: also| then| just)? (?:\w{3,}ed|ran|wrote|rewrote|made|did|put|built|set|took)\b"
    r"|\b(?:was|were|been)\b|^\W*(?:done|finished)\b",
    re.IGNORECASE,
)
_NOT_YET = re.compile(
    r"^\W*(?:nothing|none|no \w+)\b.*\b(?:has|have|is|was|were)\b|\bnot (?:yet|so far)\b",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:is|are|has|have|does|now|currently|today|lives?|keeps?|stores?|returns?|contains?|reads?|calls?|uses|used|comes?|sits?|pass(?:es|ed)?|works|green|fails?)\b",
    re.IGNORECASE,
)
_SUPPOSES = re.compile(
    r"\b(?:would|could|should|might|may|will|if|once|until|unless|'d|'ll)\b|'(?:d|ll)\b",
    re.IGNORECASE,
)


def claims_nothing(said: Said) -> bool:
    """Whether a statement of a proposal is a part of it: a step, a condition, an opinion."""
    if _NOT_YET.search(said.plain):
        return True
    if REPORTS.search(said.plain):
        return False
    if _SUPPOSES.search(said.sentence or said.plain):
        return True
    if not _STATES.search(said.plain):
        # "All services migrated" has no verb of its own either, and is no step.
        return said.kinds == {p.CONTENT} or not re.search(r"\w{3,}ed\b", said.plain)
    # "Step 3 is the risky one" weighs the plan; "`auth.py` keeps sessions in memory" is a fact.
    return said.kinds == {p.CONTENT} and not any(names_in(said.plain))
