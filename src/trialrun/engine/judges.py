"""Make the judges of a run: one per `judge:` block, shared by all its cases."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from trialrun.checks.base import JudgedCheck
from trialrun.errors import PluginError
from trialrun.model.case import EvalCase, JudgeSettings, LazyCases, Rubric, Suite
from trialrun.registry import import_object
from trialrun.spec.case import plan_of

if TYPE_CHECKING:
    from trialrun.judge import Judge
    from trialrun.judge.model_channel import RateLimits

_CASES_INSPECTED = 200
"""How many cases of a table are inspected for the models that their rubrics name."""

_PROVIDERS = ("openai", "anthropic", "google", "groq", "mistral", "ollama", "azure", "bedrock")

Item = TypeVar("Item")
Done = TypeVar("Done")


class Judges:
    """Entered once per run. Raises PluginError before the first case if something is missing."""

    def __init__(
        self,
        suites: Sequence[Suite],
        *,
        cached: bool = True,
        redactor: Callable[[Any], Any] | None = None,
    ) -> None:
        # Imported here: `score` asks whether there are rubrics, and most specs have none.
        from trialrun.judge.cache import VerdictCache

        self._suites = suites
        self._redactor = redactor
        self._cache = VerdictCache() if cached else None
        self._by_block: dict[bytes, Judge] = {}
        self._rate_limits: dict[
            tuple[str, str | None], RateLimits
        ] = {}  # shared: several blocks may name the same model
        self._by_suite = {suite.name: self._judge(suite) for suite in suites}

    def of(self, suite: Suite) -> Judge:
        """The judge for the rubrics of this suite."""
        return self._by_suite[suite.name]

    def _judge(self, suite: Suite) -> Judge:
        from trialrun.judge import Judge

        block = suite.judge if suite.judge is not None else JudgeSettings()
        folder = str(Path(suite.file).parent) if suite.file else None
        # The audit file is beside the spec: suites of two folders share no judge that needs it.
        by_folder = not isinstance(block, JudgeSettings) or block.require_audit
        named = id(block) if callable(block) else block
        key = msgspec.json.encode([named, folder if by_folder else None])
        if key not in self._by_block:
            judge: JudgeSettings | Callable[..., Any]
            judge = _function(block, folder) if isinstance(block, str) else block
            self._by_block[key] = Judge(
                judge,
                cache=self._cache,
                redactor=self._redactor,
                rate_limits=self._rate_limits,
                audit=audit_file(suite),
            )
        return self._by_block[key]

    @property
    def concurrency(self) -> int:
        """How many answers can usefully be judged at the same time."""
        return max(judge.settings.max_concurrency for judge in self._by_block.values())

    async def __aenter__(self) -> Judges:
        async with AsyncExitStack() as stack:
            for judge in self._by_block.values():
                await stack.enter_async_context(judge)
            for suite in self._suites:
                await self.of(suite).prepare(rubrics_of(suite))
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *problem: object) -> None:
        await self._stack.aclose()


async def map_concurrently(
    items: Sequence[Item], work: Callable[[Item], Awaitable[Done]], concurrency: int
) -> list[Done]:
    """The results of `work` for all items, in order, at most `concurrency` at the same time."""
    import asyncio

    done: dict[int, Done] = {}
    numbered = iter(enumerate(items))

    async def slot() -> None:
        for number, item in numbered:
            done[number] = await work(item)

    async with asyncio.TaskGroup() as group:
        for _ in range(min(concurrency, len(items))):
            group.create_task(slot())
    return [done[number] for number in range(len(items))]


def _function(reference: str, folder: str | None) -> Callable[..., Any]:
    module, _, _ = reference.partition(":")
    try:
        found: Callable[..., Any] = import_object(reference, folder)
    except PluginError as error:
        if module in _PROVIDERS:
            raise PluginError(
                f"judge: `{reference}` is a model; write judge: {{model: '{reference}'}}"
            ) from None
        raise PluginError(f"judge: {error}") from None
    return found


def rubrics_of(suite: Suite) -> Iterator[Rubric]:
    """The rubrics of the suite's cases."""
    cases = suite.cases
    if isinstance(cases, LazyCases):
        cases = cases[:_CASES_INSPECTED]
    for case in cases:
        for part in (case, *case.turns):
            yield from rubrics_of_case(part)


def rubrics_of_case(case: EvalCase) -> Iterator[Rubric]:
    """The rubrics of one case, without its turns."""
    for check in plan_of(case).judges:
        if isinstance(check, JudgedCheck):
            yield from check.rubrics_asked()


AUDIT_FILE = "judge-audit.json"
"""The file beside the spec, meant to be committed, in which `require_audit` looks."""


def audit_file(suite: Suite) -> Path:
    """The path of the audit of the suite's judge."""
    return (Path(suite.file).parent if suite.file else Path()) / AUDIT_FILE
