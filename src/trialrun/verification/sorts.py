"""What a file is to the project, by its name: code, test, configuration, text, or none of it."""

from __future__ import annotations

import mimetypes
import re
from functools import cache

from trialrun.util.lazy_patterns import lazy_pattern
from trialrun.verification.facts import Sort
from trialrun.verification.runners import language_of
from trialrun.verification.tables import words

# Folders in which agents keep their own notes: `.claude/plans`, `.planning`, `.entire`, `memory/`.
_STATE = lazy_pattern(
    r"(?:^|/)(?:\.claude|\.codex|\.cursor|\.gemini|\.copilot|\.pi|\.entire|\.planning|\.beads"
    r"|\.specstory|\.aider[^/]*|\.git|memory-bank|scratchpad)(?:/|$)"
    r"|^(?:/private)?/(?:var/)?tmp(?:/|$)|^/var/folders/|/AppData/Local/Temp/|^/dev/|^\$"
    r"|(?:^|/)(?:MEMORY|TODO|HANDOFF|PLAN)[\w-]*\.md$",
    re.IGNORECASE,
)
# `~/.zshrc`, `/home/ann/.config/x.toml`: the user's own settings.
_OUTSIDE = lazy_pattern(r"^(?:~|/home/[^/]+|/Users/[^/]+|/root|[A-Za-z]:/Users/[^/]+)/\.[^/]+")
# What a program writes and nobody edits: `poetry.lock`, `dist/`, logs.
_MADE = lazy_pattern(
    r"(?:^|/)(?:node_modules|__pycache__|dist|coverage|\.cache|\.venv|_build)/"
    r"|(?:[.-]lock(?:\.json|\.yaml)?|\.lockb|\.sum|\.log|\.out|\.snap|\.pid|\.tmp|\.bak)$"
)
# `tests/test_tax.py`, `tax_test.go`, `Tax.spec.ts`, `TaxTest.java`.
_TEST = lazy_pattern(
    r"(?:^|/)(?:tests?|specs?|__tests__|e2e|features|testdata|fixtures)/"
    r"|(?:^|/)(?:test_|conftest)[^/]*$|[._-](?:test|spec)s?\.[^/]+$|(?:Test|Tests|Spec)\.[^/]+$"
)
_TEXT_NAMES = frozenset(words("text_names"))
_CONFIG_NAMES = frozenset(words("config_names"))
MANIFESTS = {
    "package.json": "javascript", "tsconfig.json": "javascript", "go.mod": "go",
    "cargo.toml": "rust", "pyproject.toml": "python", "setup.py": "python", "setup.cfg": "python",
    "pom.xml": "jvm", "build.gradle": "jvm", "mix.exs": "elixir", "gemfile": "ruby",
    "composer.json": "php", "conftest.py": "python", "pytest.ini": "python", "tox.ini": "python",
}  # fmt: skip
"""Configuration that every run of a language reads."""


def sort_of(path: str) -> Sort:
    """What the file is to the project."""
    if _STATE.search(path):
        return Sort.STATE
    if _OUTSIDE.match(path):
        return Sort.OUTSIDE
    base = path.rpartition("/")[2].lower()
    stem = base.partition(".")[0]
    language = language_of(path)
    if _MADE.search(path) or stem in _TEXT_NAMES or base.endswith("ignore"):
        return Sort.TEXT
    if language == "markup" or base in _CONFIG_NAMES or language == "docker":
        return Sort.CONFIG
    if language is None:
        return Sort.CONFIG if _is_source(base) else Sort.TEXT
    if language == "docs":
        return Sort.TEXT
    return Sort.TEST if _TEST.search(path) else Sort.CODE


def _is_source(base: str) -> bool:
    """Whether a file of a kind that no table names is written in some language that Pygments knows.

    A program reads it then, though nothing here says what tries it out: `flake.nix`, `app.service`.
    """
    found = _languages().get(base) or _languages().get(f"*.{base.rpartition('.')[2]}", "Text only")
    kind = mimetypes.guess_type(base)[0] or ""
    return _NO_SOURCE.search(found) is None and not kind.startswith(("image/", "text/plain"))


@cache
def _languages() -> dict[str, str]:
    from pygments.lexers import get_all_lexers  # type: ignore[import-untyped]

    rows = sorted(get_all_lexers(plugins=False), reverse=True)
    return {one.lower(): name for name, _, patterns, _ in rows for one in patterns}


# Prose, data, and what a program printed: "Bash Session", "Python Traceback", "objdump".
_NO_SOURCE = lazy_pattern("|".join(words("no_source")), re.IGNORECASE)


def is_test(path: str) -> bool:
    """Whether the file belongs to the tests, by its name."""
    return bool(_TEST.search(path))
