"""A judge: from a rubric and an answer to a verdict, by one model or by the majority of several."""

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
from trialrun.judge.model_channel import Line, OneJudge, Pace
from trialrun.judge.models import ModelJudge
from trialrun.judge.prompt import PROMPT_VERSION
from trialrun.judge.providers import is_elsewhere
from trialrun.judge.rubrics import minimum_score
from trialrun.model.case import JudgeSettings, Rubric
from trialrun.model.judging import JudgeRequest
from trialrun.model.results import Verdict, Vote


class Judge:
    """What a `judge:` block stands for.

    Used within `async with`: connections belong to an event loop. It may be entered several times
    at once, in several loops too; the last one out of a loop closes its connections.
    """

    def __init__(
        self,
        settings: JudgeSettings | str | Callable[..., Any],
        *,
        cache: VerdictCache | None = None,
        redactor: Callable[[Any], Any] | None = None,
        paces: dict[tuple[str, str | None], Pace] | None = None,
        audit: Path | str | None = None,
    ) -> None:
        """`redactor` masks what a rationale may quote before it is kept in the cache.

        Judges that are given the same `paces` share the limits of the models that they share.
        `audit` is the file with the audit that `require_audit` asks for.
        """
        self.function: FunctionJudge | None = None
        if isinstance(settings, str):
            settings = JudgeSettings(model=settings)
        elif not isinstance(settings, JudgeSettings):
            self.function = FunctionJudge(settings, _name_of(settings))
            settings = JudgeSettings()
        _require_sound(settings)
        self.settings = settings
        self.cache = cache
        self._redactor = redactor
        self._audit = None if audit is None else Path(audit)
        self._paces = {} if paces is None else paces
        self._lines: dict[asyncio.AbstractEventLoop, dict[str, Line]] = {}
        self._entered: Counter[asyncio.AbstractEventLoop] = Counter()

    def _own_models(self) -> list[str]:
        """Those of the block."""
        settings = self.settings
        return list(settings.models or ([settings.model] if settings.model else []))

    def shown(self) -> str:
        """Who judges, for a person."""
        if self.function is not None:
            return self.function.name
        times = f" × {self.settings.samples}" if self.settings.samples > 1 else ""
        return " + ".join(self._own_models() or ["no model"]) + times

    def identity(self) -> str:
        """All that its verdicts depend on, beside what it is asked."""
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
        """Where one of its models, or of its rubrics', is asked; None is the provider's own."""
        return ModelJudge(model, self._settings_for(model)).address()

    def models_for(self, rubric: Rubric) -> list[str]:
        """Who is asked about the rubric: its own model, else those of the block."""
        if rubric.model is not None:
            return [rubric.model]
        if self.function is not None:
            return [self.function.name]
        return self._own_models()

    def why_not(self, rubric: Rubric) -> str | None:
        """Why it may not judge by this rubric, if it may not."""
        if not self.settings.require_audit:
            return None
        # One of an ensemble that was audited together may be its most lenient member.
        if rubric.model is not None and [rubric.model] != self._own_models():
            return f"the judge of this rubric, {rubric.model}, is not audited"
        return self._refusal

    @cached_property
    def _refusal(self) -> str | None:
        """What its audit says against it; looked at once each time that it is entered."""
        return why_not_audited(self._audit, self.identity())

    async def prepare(self, rubrics: Iterable[Rubric]) -> None:
        """Look at all their models: what is missing is said before anything is asked."""
        for rubric in rubrics:
            for model in self.models_for(rubric):
                self._line(model).judge.check()

    async def verdict(self, request: JudgeRequest, *, fresh: bool = False) -> Verdict:
        """What the judges say; with `fresh`, not what is kept of what they said.

        Their failures end in votes with an error, never in a verdict.
        """
        seats: list[tuple[str, int]] = []
        taken: Counter[str] = Counter()
        for model in self.models_for(request.rubric):
            for _ in range(self.settings.samples):
                seats.append((model, taken[model]))  # a model named twice has two verdicts
                taken[model] += 1
        votes = await asyncio.gather(
            *(self._vote(model, request, sample, fresh) for model, sample in seats)
        )
        return settled(request.rubric, votes)

    async def _vote(self, model: str, request: JudgeRequest, sample: int, fresh: bool) -> Vote:
        line = self._line(model)
        if self.cache is None or fresh or isinstance(line.judge, FunctionJudge):
            return await line.vote(request)
        key = key_of(model, self._deciding(line.judge), request, sample)
        asking = self.cache.asking(key)
        async with asking.lock:
            vote = asking.vote or self.cache.get(key)
            if vote is None or vote.model != model:
                vote = await line.vote(request)
                asking.vote = replace(vote, cached=True)
                if vote.score is not None:
                    self.cache.put(key, self._masked(vote))
            return vote

    def past_cache(self) -> Judge:
        """The same judge, by the same lines, without what is kept: for repeats of an answer."""
        other = copy(self)
        other.cache = None
        return other

    def _deciding(self, judge: OneJudge) -> dict[str, Any]:
        """The settings that a single verdict depends on."""
        return {
            "base_url": judge.address(),
            "temperature": self.settings.temperature,
            "output": self.settings.output,
        }

    def _settings_for(self, model: str) -> JudgeSettings:
        """The block, for one of its models.

        A rubric may name the model of another provider: the block's address is not that one's.
        """
        if self.settings.base_url is None or not is_elsewhere(model, self._own_models()):
            return self.settings
        return replace(self.settings, base_url=None)

    def _masked(self, vote: Vote) -> Vote:
        if self._redactor is None:
            return vote
        return replace(vote, rationale=self._redactor(vote.rationale))

    def _line(self, model: str) -> Line:
        """The line to a model, in the loop that is running."""
        lines = self._lines.setdefault(asyncio.get_running_loop(), {})
        if model not in lines:
            judge: OneJudge = ModelJudge(model, self._settings_for(model))
            if self.function is not None and model == self.function.name:
                judge = self.function
            pace = self._paces.setdefault((model, judge.address()), Pace(self.settings))
            lines[model] = Line(judge, self.settings, pace)
        return lines[model]

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
            for line in self._lines.pop(loop, {}).values():
                await line.judge.close()


def _require_sound(settings: JudgeSettings) -> None:
    """What a spec is held to holds in code too: no samples at all would be a verdict of nobody."""
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
    """The verdict of all votes: more than half of those that were asked must say the same.

    A judge that failed has no vote, and its seat stays empty: two of three may still decide, one
    of three may not.
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
