"""Makes what a report is made of fit to be shared, before any report sees it.

What was asked, answered, given to tools and returned by them is left out, and so is every text that
may quote it. Kept are verdicts, names (of cases, checks, tools, agents and models), steps and
figures. A text is kept only where it is known to hold nothing else, so that a plug-in, or a model
that words a reason in its own way, cannot give away what it saw.
"""

from trialrun.engine.sharing.audits import shared_audit
from trialrun.engine.sharing.comparisons import shared_comparison
from trialrun.engine.sharing.runs import shared_result, shared_run
from trialrun.engine.sharing.sessions import shared_verification
from trialrun.engine.sharing.traces import shared_trace

__all__ = [
    "shared_audit",
    "shared_comparison",
    "shared_result",
    "shared_run",
    "shared_trace",
    "shared_verification",
]
