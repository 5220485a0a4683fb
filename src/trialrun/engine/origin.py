"""Where a run came from: commit, CI, labels, and the agents and models that its traces name.

git is asked only for what it reads from its own files: hooks, filters and file monitors, which a
repository may name, are not run. Without git or outside of a repository nothing is recorded.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from hashlib import sha1, sha256
from pathlib import Path
from typing import Any

from trialrun import __version__
from trialrun.model.trace import Trace

_SECONDS = 5
_MOST_NAMES = 20
_MOST_FILES = 1000
_OFF = {"core.fsmonitor": "false", "core.hooksPath": os.devnull}
_BRANCHES = ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "BRANCH_NAME")


def origin_of(folder: Path, labels: Sequence[str] = ()) -> dict[str, Any]:
    """What is known of the run before it begins; `folder` is that of its spec."""
    found: dict[str, Any] = {"trialrun": __version__, **_commit(folder)}
    if (url := _ci_url(os.environ)) is not None:
        found["ci_url"] = url
    if labels:
        found["labels"] = list(dict.fromkeys(labels))
    return found


class NamesSeen:
    """The names of agents and models in the traces of a run, as far as there are few."""

    def __init__(self, origin: Mapping[str, Any]) -> None:
        self.agents = dict.fromkeys(origin.get("agents", ()))
        self.models = dict.fromkeys(origin.get("models", ()))

    def add(self, trace: Trace) -> None:
        """Note the names in one more trace."""
        if trace.agent_name and len(self.agents) < _MOST_NAMES:
            self.agents[trace.agent_name] = None
        for step in trace.llm_calls:
            if step.model and len(self.models) < _MOST_NAMES:
                self.models[step.model] = None

    def added_to(self, origin: Mapping[str, Any]) -> dict[str, Any]:
        """The origin with the names."""
        names = {"agents": sorted(self.agents), "models": sorted(self.models)}
        return {**origin, **{key: value for key, value in names.items() if value}}


def _commit(folder: Path) -> dict[str, Any]:
    found = _git(folder, "rev-parse", "HEAD", "--abbrev-ref", "HEAD")
    if found is None or len(lines := found.decode("utf-8", "replace").split()) != 2:
        return {}
    known: dict[str, Any] = {"commit": lines[0]}
    branch = lines[1]
    if branch == "HEAD":  # CI checks out a commit, and says in the environment what it is of
        branch = next((os.environ[name] for name in _BRANCHES if os.environ.get(name)), "")
    if branch:
        known["branch"] = branch
    dirty = _is_dirty(folder)
    return known if dirty is None else {**known, "dirty": dirty}


def _is_dirty(folder: Path) -> bool | None:
    """Whether a tracked file differs from the commit; files that git does not track do not count.

    `diff-files` lists files whose times or sizes differ from the index. Their content is hashed
    here, and the filters of the repository are switched off: git would run them to compare it.
    """
    filters = _git(folder, "config", "--null", "--name-only", "--get-regexp", r"^filter\.") or b""
    off = dict.fromkeys(filters.decode("utf-8", "surrogateescape").split("\0")[:-1], "")
    off |= {name: "false" for name in off if name.endswith(".required")}
    root = _git(folder, "rev-parse", "--show-toplevel")
    staged = _git(folder, "diff-index", "--cached", "--raw", "-z", "HEAD", off=off)
    touched = _git(folder, "diff-files", "--raw", "-z", off=off)
    if root is None or staged is None or touched is None:
        return None
    if staged:
        return True
    parts = touched.split(b"\0")[:-1]
    if len(parts) > 2 * _MOST_FILES:
        return True
    top = Path(os.fsdecode(root.rstrip(b"\n")))
    return any(
        _differs(top / os.fsdecode(name), facts)
        for facts, name in zip(parts[::2], parts[1::2], strict=False)
    )


def _differs(file: Path, facts: bytes) -> bool:
    """Whether a file differs from `:100644 100644 <hash> 0000… M`."""
    before, after, wanted, _, kind = facts.removeprefix(b":").split(b" ")
    if before != after or kind != b"M":
        return True
    try:
        is_link = file.is_symlink()
        content = os.fsencode(file.readlink()) if is_link else file.read_bytes()
    except OSError:
        return True
    digest = sha1(usedforsecurity=False) if len(wanted) == 40 else sha256()
    digest.update(b"blob %d\0" % len(content) + content)
    return digest.hexdigest().encode() != wanted


def _git(folder: Path, *arguments: str, off: Mapping[str, str] | None = None) -> bytes | None:
    """What git prints; None if it fails. `off` are further settings that must not take effect."""
    settings = {**_OFF, **(off or {})}
    environment = {**os.environ, "GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        environment |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return done.stdout if done.returncode == 0 else None


def _ci_url(environment: Mapping[str, str]) -> str | None:
    """The page of the CI job: GitHub, GitLab, or `BUILD_URL` of others."""
    parts = [environment.get(f"GITHUB_{name}") for name in ("SERVER_URL", "REPOSITORY", "RUN_ID")]
    if all(parts):
        return f"{parts[0]}/{parts[1]}/actions/runs/{parts[2]}"
    names = ("CI_JOB_URL", "CI_PIPELINE_URL", "BUILD_URL")
    return next((environment[name] for name in names if environment.get(name)), None)
