"""What a spec adds to the ledger: tools, runners and phrases of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta, Struct, convert
from msgspec.structs import replace

from trialrun.measures.pattern_shapes import finds_in_every_text
from trialrun.measures.patterns import quietly_compiled
from trialrun.model.ledger import Finding
from trialrun.util.texts import did_you_mean
from trialrun.verification.runners import LANGUAGES, Runner, Table

if TYPE_CHECKING:
    from trialrun.verification.rules.base import Rule

Text = Annotated[str, Meta(min_length=1)]
Texts = Annotated[list[Text], Meta(min_length=1)]


CLAIM_KINDS = ("tests", "build", "lint", "types", "format")
"""Kinds of statements to which a spec may add phrases."""


PHRASES = "trialrun.verification.phrases"
"""The entry point by which packages add phrases: `{kind: [phrases]}`, or a function that returns it."""


@cache
def extra_phrases() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The phrases of other packages, by kind."""
    from importlib.metadata import entry_points

    from trialrun.errors import PluginError, crash

    found: list[tuple[str, tuple[str, ...]]] = []
    for point in entry_points(group=PHRASES):
        try:
            made = point.load()
            rows = dict(made() if callable(made) else made)
        except BaseException as error:
            raise PluginError(
                f"phrases of {point.value} cannot be loaded: {crash(error)}"
            ) from error
        for kind, texts in rows.items():
            if kind not in CLAIM_KINDS:
                hint = did_you_mean(str(kind), CLAIM_KINDS)
                raise PluginError(f"phrases of {point.value}: no kind of claim `{kind}`{hint}")
            # A text in place of a list would make a phrase of every letter.
            if not isinstance(texts, (list, tuple)) or not all(
                isinstance(text, str) and text.strip() for text in texts
            ):
                raise PluginError(f"phrases of {point.value}: `{kind}` must be a list of texts")
            found.append((kind, tuple(texts)))
    return tuple(found)


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
    select: tuple[str, ...] = ()  # codes, or the beginning of codes; none: every rule
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, str] | None = None  # by code

    def all_phrases(self) -> Mapping[str, Sequence[str]]:
        """The phrases of the spec and of other packages, by kind."""
        found = {kind: list(texts) for kind, texts in (self.phrases or {}).items()}
        for kind, texts in extra_phrases():
            found.setdefault(kind, []).extend(texts)
        return found

    def own_tools(self) -> dict[str, str]:
        """The kind of each tool that the spec names."""
        if self.tools is None:
            return {}
        kinds = (("edit", self.tools.edits), ("read", self.tools.reads), ("shell", self.tools.runs))
        return {name: kind for kind, names in kinds for name in names}

    def rules(self) -> tuple[Rule, ...]:
        """The rules that are switched on."""
        from trialrun.verification.rules.base import all_rules

        return tuple(rule for rule in all_rules() if self.wants(rule.code))

    def wants(self, code: str) -> bool:
        """Whether the rule of that code is selected and not ignored."""
        if any(code.startswith(one) for one in self.ignore):
            return False
        return not self.select or any(code.startswith(one) for one in self.select)

    def weighted(self, finding: Finding) -> Finding:
        """The finding with the severity that the spec gives its rule."""
        severity = (self.severity or {}).get(finding.code)
        return finding if severity is None else replace(finding, severity=severity)


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
        if kind not in CLAIM_KINDS:
            known = f"; known are {', '.join(CLAIM_KINDS)}"
            hint = did_you_mean(kind, CLAIM_KINDS) or known
            raise ValueError(f"phrases: no kind of claim `{kind}`{hint}")
    if tools is None and not runners and not phrases:
        return None
    table = Table([one.runner() for one in runners]) if runners else None
    return Settings(tools, table, phrases)
