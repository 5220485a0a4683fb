"""Plain technical English: words of a private dialect stay out of code, docs and help."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from trialrun.cli.group import _COMMANDS
from trialrun.cli.main import main

ROOT = Path(__file__).parents[2]

BANNED = {
    r"\brooms?\b": "package, module",
    r"\bthe house\b": "architecture, package",
    r"\broads?\b": "code path",
    r"\bdeeds?\b": "action",
    r"\bcourts?\b|\bhearings?\b": "what it does",
    r"\btold\b(?! apart)": "said, reported; 'unless told' is 'default:'",
    r"\bmend(s|ed|ing)?\b": "fix, repair",
    r"\bone's own\b": "custom",
    r"\bcannot be had\b|\bto be had\b": "cannot be loaded, is missing",
    r"\bst(ands?|ood)\b(?!-in)": "is, are",
    r"(?<!\bthere )\b(is|are|was|were) no\b": "is not a",
    # Not the name of a user or a model: `nobody`, "nobody-knows-1", ~nobody.
    r"(?<![`\"'~/])\b(nobodys?|somebodys?|whoever)\b(?![`\"'-])": "say who: the user, …",
    r"\bhe(ld|ard)? against\b|\bholds? (\w+ ){0,3}against\b": "compared with, checked against",
    r"\banew\b": "again",
    r"\balso (when|where|if)\b": "even when",
    r"\bhe\b|\bhis\b|\bhim\b": "it",
    r"\bthe seed's\b|\bseed 00\d\b": "say what it does",
    r"\bin vain\b|\bat last\b": "without a result",
}
"""Pattern → what to write instead."""

# The text of a judge's prompt is part of its identity: other words would invalidate its audits.
# Old names of JSON keys in the change log are facts.
EXEMPT = ("Hold it against what is given", "Each piece stands", "Whatever stands", "`mended`")

CODE = [
    path
    for folder in ("src/trialrun", "tests", "benchmarks")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "verification" not in path.parts
    and ".envs" not in path.parts  # environments of the tools that benchmarks compare with
    and path.name != Path(__file__).name
]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *(path for path in sorted((ROOT / "docs").glob("*.md")) if path.name != "verification.md"),
]


def findings(name: str, text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, instead in BANNED.items():
            found = re.search(pattern, line.replace("_", " "), re.IGNORECASE)
            if found and not any(text in line for text in EXEMPT):
                yield f"{name}:{number}: {found[0]!r} → {instead}: {line.strip()[:100]}"


@pytest.mark.parametrize("files", [PAGES, CODE], ids=["pages", "code"])
def test_files_are_written_in_plain_words(files: list[Path]) -> None:
    found = [
        finding
        for path in files
        for finding in findings(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
    ]
    assert not found, f"{len(found)} places:\n" + "\n".join(found)


def test_help_is_written_in_plain_words(capsys: pytest.CaptureFixture[str]) -> None:
    found: list[str] = []
    for name in _COMMANDS:
        main([name, "--help"])
        found += findings(f"trialrun {name} --help", capsys.readouterr().out)
    assert not found, "\n".join(found)


def test_a_banned_word_is_found() -> None:
    text = "unless told\nA name that is no pattern.\nthere is no store\ndef is_nobodys_fault"
    assert [finding.split(":")[1] for finding in findings("page", text)] == ["1", "2", "4"]
