"""Cache verdicts on disk, shared between runs but not used for repeats.

One file per verdict, named by the hash of everything that the verdict depends on. A file that was
damaged by a power cut is ignored, and the judge is asked again.
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
from trialrun.measures.scores import HIGHEST, LOWEST
from trialrun.model.judging import JudgeRequest
from trialrun.model.results import Vote

DEFAULT = Path(".trialrun") / "judge"
VARIABLE = "TRIALRUN_JUDGE_CACHE"


class Stats(Struct, frozen=True):
    """The size of a cache. `saved_usd` is None if the cost of any verdict is unknown."""

    verdicts: int
    size: int
    saved_usd: float | None


def default_folder() -> Path:
    """The folder of the cache: beside the runs, or as set in the environment."""
    return Path(os.environ.get(VARIABLE, "").strip() or DEFAULT)


def key_of(model: str, settings: dict[str, Any], request: JudgeRequest, sample: int) -> str:
    """The hash of what a verdict depends on.

    The threshold is not part of it: the score is the same whatever it has to reach.
    """
    rubric = request.rubric
    asked = [
        *(PROMPT_VERSION, model, settings, sample),
        *(rubric.rule, rubric.scale, rubric.few_shot_examples),
        *(request.question, request.answer, request.context),
    ]
    try:
        encoded = msgspec.json.encode(asked, order="sorted")
    except UnicodeEncodeError:  # a lone surrogate, which only Python strings can hold
        encoded = repr(asked).encode("utf-8", "backslashreplace")
    return sha256(encoded).hexdigest()


class PendingVerdict:
    """A verdict that is being asked for: others who want it wait for the lock and take the vote.

    Two concurrent calls could give different verdicts, of which the cache would keep either. A
    failure is shared too: otherwise each waiter would repeat all the retries.
    """

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.vote: Vote | None = None


class VerdictCache:
    """A folder of verdicts. If it cannot be written, nothing is cached and that is not an error."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = default_folder() if folder is None else folder
        # Also by event loop, to which a lock belongs; an entry lives as long as a caller holds it.
        self._pending: WeakValueDictionary[Any, PendingVerdict] = WeakValueDictionary()

    def pending(self, key: str) -> PendingVerdict:
        """The pending verdict that concurrent callers with this key share."""
        return self._pending.setdefault((asyncio.get_running_loop(), key), PendingVerdict())

    def get(self, key: str) -> Vote | None:
        """The cached vote, if there is one."""
        try:
            vote = msgspec.json.decode(self._file(key).read_bytes(), type=Vote)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return None
        # Ignore a file that was tampered with.
        if vote.error is not None or vote.score not in range(LOWEST, HIGHEST + 1):
            return None
        return replace(vote, cached=True)

    def put(self, key: str, vote: Vote) -> None:
        """Store a vote."""
        file = self._file(key)
        fresh = file.with_name(f".{file.name}.{os.getpid()}")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._write_gitignore()
            fresh.write_bytes(msgspec.json.encode(vote))
            fresh.replace(file)  # atomic: a reader sees all of it or nothing
        except OSError:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)

    def stats(self) -> Stats:
        """The number of verdicts, their size, and what they cost when they were made."""
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
        """Delete all verdicts; how many there were."""
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

    def _write_gitignore(self) -> None:
        """Keep verdicts, which quote what agents said, out of the repository by default."""
        note = self.folder / ".gitignore"
        if not note.exists():
            note.write_text("*\n", encoding="utf-8")
