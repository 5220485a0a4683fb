"""What the hook remembers of a session: the findings that it blocked for, and how often.

Without a folder that it can write to, nothing is blocked: the agent might never be let go.
"""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct

from trialrun.util.files import replace_file

MOST_BLOCKS = 3
"""How often an agent is sent back to work for one prompt of the user."""


class _Kept(Struct):
    seen: list[str] = []  # fingerprints of findings that were blocked for
    prompt: str = ""
    blocks: int = 0  # since that prompt


class Memory:
    """The memory of one session; `prompt` names the prompt that the agent works on."""

    def __init__(self, folder: Path, session: str, prompt: str) -> None:
        plain = re.sub(r"[^A-Za-z0-9-]", "", session)[:40]
        digest = sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        self.file = folder / f"{plain}-{digest}.json"
        self.prompt = prompt
        self.readable = True
        self._kept = _Kept()
        try:
            self._kept = msgspec.json.decode(self.file.read_bytes(), type=_Kept)
        except FileNotFoundError:
            pass
        except (OSError, ValueError):
            self.readable = False

    @property
    def blocks(self) -> int:
        """How often it was blocked since the prompt."""
        return self._kept.blocks if self._kept.prompt == self.prompt else 0

    def has_seen(self, fingerprint: str) -> bool:
        """Whether it was blocked for that finding before."""
        return fingerprint in self._kept.seen

    def remember(self, fingerprints: list[str]) -> bool:
        """Note one more block, for these findings; False if that cannot be written."""
        if not self.readable:
            return False
        seen = [*self._kept.seen, *fingerprints]
        kept = _Kept(list(dict.fromkeys(seen)), self.prompt, self.blocks + 1)
        try:
            _make_folder(self.file.parent)
            replace_file(self.file, [msgspec.json.encode(kept)])
        except (OSError, ValueError):
            return False
        self._kept = kept
        return True


def memory_folder(cwd: str) -> Path:
    """`hook/` in the folder of the store: `.trialrun` of the project, or that of TRIALRUN_STORE."""
    base = Path(cwd) if cwd else Path.cwd()
    location = os.environ.get("TRIALRUN_STORE", "").strip()
    if location and "://" not in location:
        return (base / location).parent / "hook"
    return base / ".trialrun" / "hook"


def _make_folder(folder: Path) -> None:
    """Create the folder; a new `.trialrun` is kept out of git, as the store does."""
    store = folder.parent
    is_new = not store.exists()
    folder.mkdir(parents=True, exist_ok=True)
    if is_new and store.name == ".trialrun":
        (store / ".gitignore").write_text("*\n", encoding="utf-8")
