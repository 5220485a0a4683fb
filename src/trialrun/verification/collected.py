"""The facts of one session while they are collected, and how a change gets into them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from trialrun.model.trace import Trace
from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification import calls as c
from trialrun.verification import done as p
from trialrun.verification.facts import (
    Act,
    Change,
    Facts,
    Failed,
    Look,
    Message,
    Run,
    Sort,
    Unknown,
)
from trialrun.verification.paths import is_absolute, join, tidy
from trialrun.verification.runners import Table
from trialrun.verification.shell import Command
from trialrun.verification.sorts import sort_of
from trialrun.verification.task_files import printing_tasks


class Waiting(Struct, gc=False):
    """A call that was left in the background, its checks, and the steps that belong to it."""

    call: c.Call
    checks: list[tuple[p.Done, Command]]
    steps: list[str]


class Collected(Struct, gc=False):
    """The facts of one session while they are collected."""

    table: Table
    own: dict[str, str]
    root: str
    at: int = 0
    changes: list[Change] = []
    runs: list[Run] = []
    acts: list[Act] = []
    looks: list[Look] = []
    unknown: list[Unknown] = []
    failed: list[Failed] = []
    waiting: dict[str, Waiting] = {}
    made: set[str] = set()  # files that were made in this session
    tasks: dict[str, bool] = {}  # those that it wrote, and whether they only print
    calls: int = 0

    def facts(self, messages: Sequence[Message], texts: Sequence[str], **rest: Any) -> Facts:
        """The facts as rules get them."""
        return Facts(
            tuple(self.changes), tuple(self.runs), tuple(self.acts), tuple(self.looks),
            tuple(self.unknown), tuple(self.failed), tuple(messages), self.root, self.at,
            calls=self.calls, texts=tuple(texts), **rest,
        )  # fmt: skip

    def next(self) -> int:
        """The next position."""
        self.at += 1
        return self.at


def collect(trace: Trace, table: Table, own: dict[str, str]) -> Collected:
    """An empty collection for the session."""
    cwd = trace.metadata.get("cwd")
    root = cwd if isinstance(cwd, str) else ""
    return Collected(table, own, tidy(root) if root else "")


def whole(call: c.Call, path: str, folder: str | None = "") -> str:
    """The absolute name of a path of a call, where its folder is known."""
    path = tidy(path)
    if is_absolute(path):
        return path
    base = folder if folder and is_absolute(folder) else join(call.cwd or None, folder or ".")
    return tidy(f"{base}/{path}") if base else path


def change_file(
    facts: Collected,
    call: c.Call,
    path: str,
    by: str,
    verb: str = "edit",
    new: str = "",
    old: str = "",
) -> None:
    if verb == "create":
        facts.made.add(path)
    if new:
        facts.tasks |= printing_tasks(path.rpartition("/")[2], new, facts.table)
    sort = sort_of(within_project(path, facts.root)) if verb != "tree" else Sort.CODE
    if sort in (Sort.CODE, Sort.TEST, Sort.CONFIG) and _only_comments(new, old):
        sort = Sort.TEXT
    facts.changes.append(
        Change(facts.next(), call.step.id, path, sort, by, verb, new[:20_000], old[:20_000],
               path in facts.made, call.agent)
    )  # fmt: skip


# A worktree that an agent made for itself: `~/.codex/worktrees/7d59/mise/src/http.rs`.
_WORKTREE = lazy_pattern(r"^.*/worktrees/(?:[0-9a-f]{4,}/)?[^/]+/")


def within_project(path: str, root: str) -> str:
    """The path from the project's folder, or from that of a worktree, if it lies there."""
    if root and path.startswith(root + "/"):
        return path[len(root) + 1 :]
    return _WORKTREE.sub("", path)


_COMMENT = lazy_pattern(r"^\s*(?:#(?!\[|!|include|define|if|endif)|//|\*|/\*|\*/|--|<!--|;;|$)")


def _only_comments(new: str, old: str) -> bool:
    """Whether an edit exchanges comment lines for comment lines."""
    if not new.strip() or not old.strip():
        return False
    before, after = old.splitlines(), new.splitlines()
    changed = [line for line in (*before, *after) if line not in before or line not in after]
    return bool(changed) and all(_COMMENT.match(line) for line in changed)


def opaque(facts: Collected, call: c.Call, writes: bool = True) -> None:
    """A call of which nothing shows what it did."""
    facts.unknown.append(
        Unknown(
            facts.next(), call.step.id, call.name, call.text[:2000], writes, True, not call.failed
        )
    )
