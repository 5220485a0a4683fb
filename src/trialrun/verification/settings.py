"""What a spec adds to the ledger: tools, runners and phrases of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, convert

from trialrun.measures.pattern_shapes import finds_in_every_text
from trialrun.measures.patterns import quietly_compiled
from trialrun.util.texts import did_you_mean
from trialrun.verification.kinds import kinds_known
from trialrun.verification.runners import LANGUAGES, Runner, Table

Text = Annotated[str, Meta(min_length=1)]
Texts = Annotated[list[Text], Meta(min_length=1)]


class OwnTools(Struct, frozen=True):
    """One's own tools, by what they do."""

    edits: list[Text] = []
    reads: list[Text] = []
    runs: list[Text] = []


class OwnRunner(Struct, frozen=True):
    """One's own test runner, linter and the like: how it is called, and how its result reads."""

    name: Text
    kind: Literal["test", "lint", "types", "build", "format", "config", "probe"]
    command: Text | Texts
    languages: list[Text] = []
    passed: Text | None = None
    failed: Text | None = None
    nothing: Text | None = None

    def __post_init__(self) -> None:
        for pattern in (self.passed, self.failed, self.nothing):
            if pattern is not None:
                try:
                    quietly_compiled(pattern)
                except Exception as error:  # `re` has several ways to refuse
                    raise ValueError(f'"{pattern}" is not a regular expression: {error}') from None
                if finds_in_every_text(pattern):
                    raise ValueError(
                        f'"{pattern}" finds something in every text: it could only pass'
                    )
        for language in self.languages:
            if language not in LANGUAGES:
                known = ", ".join(sorted(LANGUAGES))
                raise ValueError(f"unknown language {language!r}; known are {known}")

    def runner(self) -> Runner:
        """The row of the table."""
        commands = (self.command,) if isinstance(self.command, str) else tuple(self.command)
        return Runner(
            name=self.name,
            kind=self.kind,
            commands=commands,
            languages=tuple(self.languages),
            passed=(self.passed,) if self.passed else (),
            failed=(self.failed,) if self.failed else (),
            nothing=(self.nothing,) if self.nothing else (),
        )


class Settings(Struct, frozen=True):
    """Everything that may differ from one spec to the next."""

    tools: OwnTools | None = None
    table: Table | None = None
    phrases: Mapping[str, Sequence[str]] | None = None


def own_of(
    block: Mapping[str, Any] | None,
) -> tuple[OwnTools | None, list[Runner], dict[str, list[str]] | None]:
    """What the `verification:` block of a spec adds: tools, rows of the table, phrases."""
    block = block or {}
    tools = convert(block["tools"], OwnTools) if block.get("tools") else None
    runners = [one.runner() for one in convert(block.get("runners") or [], list[OwnRunner])]
    return tools, runners, block.get("phrases")


def settings_of(
    tools: OwnTools | None,
    runners: Sequence[OwnRunner],
    phrases: Mapping[str, Sequence[str]] | None,
) -> Settings | None:
    """The settings, or None where nothing differs. ValueError for a kind of claim not known."""
    for kind in phrases or ():
        if kind not in kinds_known():
            known = f"; known are {', '.join(kinds_known())}"
            hint = did_you_mean(kind, kinds_known()) or known
            raise ValueError(f"phrases: no kind of claim `{kind}`{hint}")
    if tools is None and not runners and not phrases:
        return None
    table = Table([one.runner() for one in runners]) if runners else None
    return Settings(tools, table, phrases)
