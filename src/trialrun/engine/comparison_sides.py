"""Read a recorded run as one side of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trialrun.errors import UsageError
from trialrun.model.asked import Asked
from trialrun.model.comparison import Seen, Side
from trialrun.model.trace import TOOL_CALLS
from trialrun.store.records import Attempt, RunRecord

if TYPE_CHECKING:
    from trialrun.store.store import Store


def run_side(store: Store, reference: str) -> tuple[RunRecord, Side]:
    """The run for a reference, `RUN` or `RUN/AGENT`, and its attempts by case.

    If a run has several agents and the reference names none, each agent is compared with itself:
    the agent's name then becomes part of the suite's name.
    """
    name, _, agent = reference.partition("/")
    record = store.find_run(name)
    planned = list(store.plan(record.id))
    agents = {case.agent for case in planned}
    if agent and agent not in agents:
        known = ", ".join(sorted(filter(None, agents))) or "one without a name"
        raise UsageError(f"run {record.id} has no agent `{agent}`; it has {known}")
    several = len(agents) > 1 and not agent
    keys = {
        case.position: (f"{case.suite}/{case.agent}" if several else case.suite, case.case)
        for case in planned
        if not agent or case.agent == agent
    }
    cases: dict[tuple[str, str], list[Seen]] = {key: [] for key in keys.values()}
    asked = store.asked(record.id)
    for attempt in store.attempts(record.id, list(keys)):
        cases[keys[attempt.position]].append(_seen(attempt, asked.get(attempt.fingerprint)))
    label = f"{record.id}/{agent}" if agent else record.id
    return record, Side(label, cases, record.origin)


def _seen(attempt: Attempt, asked: Asked | None) -> Seen:
    result, trace = attempt.result, attempt.trace
    recorded = trace is not None and TOOL_CALLS in trace.recorded
    return Seen(
        status=result.status,
        answer=None if trace is None else trace.answer_text,
        path=trace.tool_call_sequence if trace is not None and recorded else None,
        cost_usd=result.cost_usd,
        total_tokens=result.total_tokens,
        duration_ms=result.duration_ms,
        metrics={metric.metric_name: metric.value for metric in result.metrics},
        error=result.error,
        fingerprint=attempt.fingerprint,
        asked=asked,
    )
