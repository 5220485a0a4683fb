"""What is scored, written beside its parts: parts of another job are never mixed in.

`job.json` has the plan of the chunks and a digest of the spec and the options, so that parts can be
resumed, and merged where the traces are not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from trialrun import __version__
from trialrun.engine.bulk.chunks import ChunkPlan, roots_of
from trialrun.engine.bulk.folder import PartsFolder
from trialrun.engine.bulk.part import Summary
from trialrun.engine.bulk.work import Scorer
from trialrun.engine.plan import Planned, fingerprint
from trialrun.errors import TraceError, TrialrunError, UsageError
from trialrun.util.files import reason, replace_file

FILE = "job.json"


class Job(Struct, frozen=True):
    """A scoring of these traces by this spec; `began` is when its first part could be made."""

    trialrun: str
    asked: str  # digest of the cases and the options
    traces: str  # digest of the files and how they are split
    plan: ChunkPlan
    shards: int = 1

    def same(self, other: Job) -> str | None:
        """What is not the same in another job; None if their parts can be mixed."""
        if self.trialrun != other.trialrun:
            return f"another version of trialrun, {other.trialrun}"
        if self.asked != other.asked:
            return "another spec or other options"
        if self.traces != other.traces:
            return "other traces"
        if self.shards != other.shards:
            return f"{other.shards} shards, not {self.shards}"
        return None


def job_of(scorer: Scorer, plan: ChunkPlan, paths: Sequence[str | Path], shards: int = 1) -> Job:
    """The job of these cases and traces."""
    return Job(__version__, asked_digest(scorer), plan.digest(roots_of(paths)), plan, shards)


def asked_digest(scorer: Scorer) -> str:
    """A digest of all cases, which of them are planned, and the options that can change a row."""
    from hashlib import blake2b

    digest = blake2b(digest_size=16)
    for number in range(len(scorer.cases)):
        suite, case = scorer.cases[number]
        digest.update(fingerprint(Planned(suite, None, case)).encode())
        label = [suite.name, case.name, list(case.tags), bool(scorer.cases.is_planned[number])]
        digest.update(msgspec.json.encode([label, suite.match, list(suite.redact)]))
        digest.update(_content_of(scorer, number))
    options = scorer.options
    given: list[Any] = [options.require_baseline, options.sample]
    given.append(None if options.prices is None else msgspec.to_builtins(options.prices))
    digest.update(msgspec.json.encode(given, order="deterministic"))
    return digest.hexdigest()


def _content_of(scorer: Scorer, number: int) -> bytes:
    """A hash of the baseline of a case; the same for every baseline that cannot be read."""
    try:
        file = scorer.known.file_of(*scorer.cases[number])
        from hashlib import blake2b

        return b"" if file is None else blake2b(file.read_bytes(), digest_size=16).digest()
    except (TrialrunError, OSError):
        return b"unreadable"


def begin(folder: PartsFolder, job: Job, *, resume: bool) -> int:
    """Prepare the folder, and say how many parts it already has.

    UsageError if it cannot be written, or if `resume` is asked for and the job is another one.
    """
    try:
        folder.path.mkdir(exist_ok=True)
        if not os.access(folder.path, os.W_OK):
            raise PermissionError(13, os.strerror(13))
    except OSError as error:
        raise UsageError(f"{folder.path}: cannot be written: {reason(error)}") from None
    file = folder.path / FILE
    if file.exists() and resume:
        _require_same(job, read_job(folder.path), folder.path)
        _require_unchanged(job, file)
        return sum(folder.has(chunk.number) for chunk in job.plan.chunks)
    if not resume:
        folder.remove()
        folder.path.mkdir(exist_ok=True)
    replace_file(file, [msgspec.json.encode(job)])
    return 0


def read_job(folder: Path) -> Job:
    """The job of a folder of parts. UsageError if there is none, TraceError if it is damaged."""
    try:
        return msgspec.json.decode((folder / FILE).read_bytes(), type=Job)
    except FileNotFoundError:
        raise UsageError(f"{folder}: no {FILE} here: not a folder of parts") from None
    except OSError as error:
        raise UsageError(f"{folder}: cannot be read: {reason(error)}") from None
    except ValueError as error:
        raise TraceError(f"{folder / FILE}: damaged: {error}") from None


def _require_same(job: Job, other: Job, place: Path) -> None:
    wrong = job.same(other)
    if wrong is not None:
        raise UsageError(f"{place}: these parts were made with {wrong}; start again without them")


def _require_unchanged(job: Job, file: Path) -> None:
    """Refuse to go on if a file of traces was written since: its size may be the same."""
    began = file.stat().st_mtime
    for name in {piece.file for chunk in job.plan.chunks for piece in chunk.pieces}:
        try:
            changed = Path(name).stat().st_mtime > began
        except OSError:
            continue  # reading it reports why
        if changed:
            raise UsageError(f"{name}: changed since the scoring began; start it again")


# Shards


class Shard(Struct, frozen=True):
    """One of several equal shares of the chunks, by its number from 1."""

    number: int
    of: int

    def has(self, chunk: int) -> bool:
        """Whether the chunk belongs to this shard: neighbours go to different shards."""
        return chunk % self.of == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def shard_of(chunk: int, shards: int) -> Shard:
    """The shard that has this chunk."""
    return Shard(chunk % shards + 1, shards)


class MergedFolders:
    """Several folders of parts of one job, read as one."""

    def __init__(self, places: Sequence[Path], asked: str) -> None:
        """UsageError for parts of different jobs, or a part that is there twice."""
        folders = [found for place in places for found in _folders_in(place)]
        jobs = [(folder, read_job(folder)) for folder in folders]
        first_place, self.job = jobs[0]
        for place, job in jobs:
            if job.same(self.job) is not None:
                raise UsageError(
                    f"{place}: not of the same job as {first_place}: {self.job.same(job)}"
                )
        _require_same(replace(self.job, asked=asked, trialrun=__version__), self.job, first_place)
        self._by_chunk: dict[int, PartsFolder] = {}
        for folder in map(PartsFolder, folders):
            for chunk in self.job.plan.chunks:
                if folder.has(chunk.number):
                    other = self._by_chunk.setdefault(chunk.number, folder)
                    if other is not folder:
                        raise UsageError(
                            f"chunk {chunk.number} is there twice, in {other.path} and in "
                            f"{folder.path}: each part counts once"
                        )

    def require_all(self) -> None:
        """TraceError if a part is missing: it names the shards that were to make it."""
        missing = [one.number for one in self.job.plan.chunks if one.number not in self._by_chunk]
        if missing:
            shards = sorted({chunk % self.job.shards + 1 for chunk in missing})
            named = ", ".join(f"--shard {one}/{self.job.shards}" for one in shards[:10])
            more = f" and {len(shards) - 10} more" if len(shards) > 10 else ""
            raise TraceError(
                f"{len(missing)} of {len(self.job.plan.chunks)} chunks are missing; they are of "
                f"{named}{more}: run it again, with --resume if it was cut off"
            )

    def summary(self, chunk: int) -> Summary:
        """The summary of a part."""
        return self._by_chunk[chunk].summary(chunk)

    def lines(self, summary: Summary) -> Iterator[bytes]:
        """The rows of a part."""
        return self._by_chunk[summary.chunk].lines(summary)


def _folders_in(place: Path) -> list[Path]:
    """The folder itself, or the folders of parts below it, as CI puts artifacts."""
    if (place / FILE).exists():
        return [place]
    try:
        found = sorted(file.parent for file in place.rglob(FILE))
    except OSError as error:
        raise UsageError(f"{place}: cannot be read: {reason(error)}") from None
    if not found:
        raise UsageError(f"{place}: no parts here: expected a folder that has {FILE}")
    return found
