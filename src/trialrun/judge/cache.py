"""Verdicts on disk, found again by what was asked: shared between runs, never by repeats.

A file for each, under the hash of all that the verdict depends on. A verdict that was torn by a
power cut is unreadable, and asked for again.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from trialrun.judge.prompt import PROMPT_VERSION
from trialrun.judge.rubrics import HIGHEST, LOWEST
from trialrun.model.judging import JudgeRequest
from trialrun.model.results import Vote

DEFAULT = Path(".trialrun") / "judge"
VARIABLE = "TRIALRUN_JUDGE_CACHE"


class Stats(Struct, frozen=True):
    """What a cache holds. `saved_usd` is None as soon as the price of one verdict is not known."""

    verdicts: int
    size: int
    saved_usd: float | None


def default_folder() -> Path:
    """Where verdicts are kept: beside the runs, unless the environment says otherwise."""
    return Path(os.environ.get(VARIABLE, "").strip() or DEFAULT)


def key_of(model: str, settings: dict[str, Any], request: JudgeRequest, sample: int) -> str:
    """The hash of what a verdict depends on.

    Not of the threshold: a score is a score, whatever it has to reach.
    """
    rubric = request.rubric
    asked = [
        *(PROMPT_VERSION, model, settings, sample),
        *(rubric.rule, rubric.scale, rubric.few_shot_examples),
        *(request.question, request.answer, request.context),
    ]
    try:
        encoded = msgspec.json.encode(asked, order="sorted")
    except UnicodeEncodeError:  # half a character, which only Python's own strings can hold
        encoded = repr(asked).encode("utf-8", "backslashreplace")
    return sha256(encoded).hexdigest()


class Asking:
    """Somebody asks for a verdict: who wants the same one waits for the lock, and takes the vote.

    Two who ask at once could be told different things, and what is kept of it be either. A failure
    is taken too: else each would wait for all the tries of those before.
    """

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.vote: Vote | None = None


class VerdictCache:
    """A folder of verdicts. Where it cannot be written, judges are asked again; that is all."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = default_folder() if folder is None else folder
        # By event loop too, to which a lock belongs; each is there as long as somebody holds it.
        self._asking: WeakValueDictionary[Any, Asking] = WeakValueDictionary()

    def asking(self, key: str) -> Asking:
        """What all who ask for this verdict at once share."""
        return self._asking.setdefault((asyncio.get_running_loop(), key), Asking())

    def get(self, key: str) -> Vote | None:
        """The verdict, if there is one."""
        try:
            vote = msgspec.json.decode(self._file(key).read_bytes(), type=Vote)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return None
        # A file that was meddled with is no verdict.
        if vote.error is not None or vote.score not in range(LOWEST, HIGHEST + 1):
            return None
        return replace(vote, cached=True)

    def put(self, key: str, vote: Vote) -> None:
        """Keep a verdict."""
        file = self._file(key)
        fresh = file.with_name(f".{file.name}.{os.getpid()}")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._ignored()
            fresh.write_bytes(msgspec.json.encode(vote))
            fresh.replace(file)  # a reader sees all of it or nothing
        except OSError:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)

    def stats(self) -> Stats:
        """How many verdicts there are, and what they cost the first time."""
        size, costs = 0, []
        for file in self._files():
            try:
                text = file.read_bytes()
                vote = msgspec.json.decode(text, type=Vote)
            except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
                continue
            size += len(text)
            costs.append(vote.cost_usd)
        known = [cost for cost in costs if cost is not None]
        return Stats(len(costs), size, sum(known) if len(known) == len(costs) else None)

    def clear(self) -> int:
        """Forget all verdicts; how many there were."""
        count = 0
        for file in self._files():
            with suppress(OSError):
                file.unlink()
                count += 1
        return count

    def _file(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"

    def _files(self) -> Iterator[Path]:
        yield from sorted(self.folder.glob("[0-9a-f][0-9a-f]/*.json"))

    def _ignored(self) -> None:
        """Verdicts quote what agents said: they are not for a repository unless somebody says."""
        note = self.folder / ".gitignore"
        if not note.exists():
            note.write_text("*\n", encoding="utf-8")
