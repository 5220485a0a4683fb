"""Ask a judge about a rubric and an answer: one model, or the majority of several."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec
from msgspec.structs import replace

from trialrun.errors import UsageError
from trialrun.judge.audits import why_not_audited
from trialrun.judge.cache import VerdictCache, key_of
from trialrun.judge.function import FunctionJudge
from trialrun.judge.model_channel import ModelChannel, OneJudge, RateLimits
from trialrun.judge.models import ModelJudge
from trialrun.judge.prompt import PROMPT_VERSION
from trialrun.judge.providers import is_elsewhere
from trialrun.measures.scores import minimum_score
from trialrun.model.case import JudgeSettings, Rubric
from trialrun.model.judging import JudgeRequest
from trialrun.model.results import Verdict, Vote


class Judge:
    """The judge of a `judge:` block.

    Used within `async with`, since connections belong to an event loop. It may be entered several
    times at once, in several loops too; the last exit from a loop closes its connections.
    """

    def __init__(
        self,
        settings: JudgeSettings | str | Callable[..., Any],
        *,
        cache: VerdictCache | None = None,
        redactor: Callable[[Any], Any] | None = None,
        rate_limits: dict[tuple[str, str | None], RateLimits] | None = None,
        audit: Path | str | None = None,
    ) -> None:
        """`redactor` masks secrets that a rationale quotes before it is cached.

        Judges with the same `rate_limits` share the limits of the models that they have in common.
        `audit` is the file with the audit that `require_audit` demands.
        """
        self.function: FunctionJudge | None = None
        if isinstance(settings, str):
            settings = JudgeSettings(model=settings)
        elif not isinstance(settings, JudgeSettings):
            self.function = FunctionJudge(settings, _name_of(settings))
            settings = JudgeSettings()
        _validate(settings)
        self.settings = settings
        self.cache = cache
        self._redactor = redactor
        self._audit = None if audit is None else Path(audit)
        self._rate_limits = {} if rate_limits is None else rate_limits
        self._channels: dict[asyncio.AbstractEventLoop, dict[str, ModelChannel]] = {}
        self._entered: Counter[asyncio.AbstractEventLoop] = Counter()

    def _own_models(self) -> list[str]:
        """The models of the block."""
        settings = self.settings
        return list(settings.models or ([settings.model] if settings.model else []))

    def shown(self) -> str:
        """The name of the judge for people."""
        if self.function is not None:
            return self.function.name
        times = f" × {self.settings.samples}" if self.settings.samples > 1 else ""
        return " + ".join(self._own_models() or ["no model"]) + times

    def identity(self) -> str:
        """Everything that its verdicts depend on, except the question."""
        if self.function is not None:
            return self.function.name
        settings = self.settings
        asked = (ModelJudge(model, settings).address() for model in self._own_models())
        places = {place for place in asked if place}
        at = f" at {', '.join(sorted(places))}" if places else ""
        how = f"temperature {settings.temperature:g}, prompt {PROMPT_VERSION}"
        if settings.output != "tool":
            how += f", as {settings.output}"
        return f"{self.shown()}{at}, {how}"

    def address_of(self, model: str) -> str | None:
        """The address of a model of the block or of a rubric; None for the provider's default."""
        return ModelJudge(model, self._settings_for(model)).address()

    def models_for(self, rubric: Rubric) -> list[str]:
        """The models to ask about the rubric: its own model, else those of the block."""
        if rubric.model is not None:
            return [rubric.model]
        if self.function is not None:
            return [self.function.name]
        return self._own_models()

    def why_not(self, rubric: Rubric) -> str | None:
        """Why the judge may not judge by this rubric; None if it may."""
        if not self.settings.require_audit:
            return None
        # The audit of an ensemble says nothing about one member, which may be the most lenient.
        if rubric.model is not None and [rubric.model] != self._own_models():
            return f"the judge of this rubric, {rubric.model}, is not audited"
        return self._refusal

    @cached_property
    def _refusal(self) -> str | None:
        """Why its audit does not allow verdicts; read once each time that the judge is entered."""
        return why_not_audited(self._audit, self.identity())

    async def prepare(self, rubrics: Iterable[Rubric]) -> None:
        """Check all models of the rubrics, so that a missing one is reported before any call."""
        for rubric in rubrics:
            for model in self.models_for(rubric):
                self._channel(model).judge.check()

    async def verdict(self, request: JudgeRequest, *, fresh: bool = False) -> Verdict:
        """The verdict; with `fresh`, without the cache.

        A judge that fails gives a vote with an error, never a verdict.
        """
        seats: list[tuple[str, int]] = []
        taken: Counter[str] = Counter()
        for model in self.models_for(request.rubric):
            for _ in range(self.settings.samples):
                seats.append((model, taken[model]))  # a model that is named twice votes twice
                taken[model] += 1
        votes = await asyncio.gather(
            *(self._vote(model, request, sample, fresh) for model, sample in seats)
        )
        return settled(request.rubric, votes)

    async def _vote(self, model: str, request: JudgeRequest, sample: int, fresh: bool) -> Vote:
        channel = self._channel(model)
        if self.cache is None or fresh or isinstance(channel.judge, FunctionJudge):
            return await channel.vote(request)
        key = key_of(model, self._cache_settings(channel.judge), request, sample)
        pending = self.cache.pending(key)
        async with pending.lock:
            vote = pending.vote or self.cache.get(key)
            if vote is None or vote.model != model:
                vote = await channel.vote(request)
                pending.vote = replace(vote, cached=True)
                if vote.score is not None:
                    self.cache.put(key, self._masked(vote))
            return vote

    def without_cache(self) -> Judge:
        """The same judge with the same channels but without a cache, for repeats of an answer."""
        other = copy(self)
        other.cache = None
        return other

    def _cache_settings(self, judge: OneJudge) -> dict[str, Any]:
        """The settings that a single verdict depends on."""
        return {
            "base_url": judge.address(),
            "temperature": self.settings.temperature,
            "output": self.settings.output,
        }

    def _settings_for(self, model: str) -> JudgeSettings:
        """The settings for one of its models.

        A rubric may name a model of another provider, which is not at the block's address.
        """
        if self.settings.base_url is None or not is_elsewhere(model, self._own_models()):
            return self.settings
        return replace(self.settings, base_url=None)

    def _masked(self, vote: Vote) -> Vote:
        if self._redactor is None:
            return vote
        return replace(vote, rationale=self._redactor(vote.rationale))

    def _channel(self, model: str) -> ModelChannel:
        """The channel to a model in the running event loop."""
        channels = self._channels.setdefault(asyncio.get_running_loop(), {})
        if model not in channels:
            judge: OneJudge = ModelJudge(model, self._settings_for(model))
            if self.function is not None and model == self.function.name:
                judge = self.function
            limits = self._rate_limits.setdefault(
                (model, judge.address()), RateLimits(self.settings)
            )
            channels[model] = ModelChannel(judge, self.settings, limits)
        return channels[model]

    async def __aenter__(self) -> Judge:
        self._entered[asyncio.get_running_loop()] += 1
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        loop = asyncio.get_running_loop()
        self._entered[loop] -= 1
        if self._entered[loop] == 0:
            del self._entered[loop]
            self.__dict__.pop("_refusal", None)
            for channel in self._channels.pop(loop, {}).values():
                await channel.judge.close()


def _validate(settings: JudgeSettings) -> None:
    """Apply the rules of the spec to settings made in code: `samples` must be at least 1."""
    try:
        msgspec.convert(msgspec.to_builtins(settings), JudgeSettings)
    except msgspec.ValidationError as error:
        raise UsageError(f"JudgeSettings: {error}") from None
    if settings.model is not None and settings.models is not None:
        raise UsageError("JudgeSettings: give either `model` or `models`, not both")


def _name_of(function: Any) -> str:
    module = getattr(function, "__module__", type(function).__module__)
    return f"{module}:{getattr(function, '__qualname__', type(function).__qualname__)}"


def settled(rubric: Rubric, votes: Sequence[Vote]) -> Verdict:
    """The majority verdict: more than half of all votes that were asked for must agree.

    A judge that failed has no vote but still counts: two of three can decide, one of three cannot.
    """
    minimum = minimum_score(rubric.threshold)
    scores = [vote.score for vote in votes if vote.score is not None]
    passes = sum(score >= minimum for score in scores)
    passed: bool | None = None
    if 2 * passes > len(votes):
        passed = True
    elif 2 * (len(scores) - passes) > len(votes):
        passed = False
    return Verdict(
        rule=rubric.rule,
        minimum=minimum,
        passed=passed,
        score=sum(scores) / len(scores) if scores else None,
        prompt_version=PROMPT_VERSION,
        votes=list(votes),
    )
