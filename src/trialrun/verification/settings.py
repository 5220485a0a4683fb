"""What a project adds to the ledger: custom tools, runners and phrases, and which rules are on.

It is written in the `verification:` block of a spec, or in `[tool.trialrun.verification]`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


RuleSeverity = Literal["fail", "warn"]

CLAIM_KINDS = ("tests", "build", "lint", "types", "format")
"""Kinds of statements to which a spec may add phrases."""


class OwnTools(Struct, frozen=True):
    """Custom tools, by what they do."""

    edits: list[Text] = []
    reads: list[Text] = []
    runs: list[Text] = []


class OwnRunner(Struct, frozen=True):
    """A custom test runner, linter and the like: how it is called, and how its result reads."""

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
    select: tuple[str, ...] = ()  # codes; none: every rule
    ignore: tuple[str, ...] = ()  # codes
    severity: Mapping[str, str] | None = None  # by code

    def own_tools(self) -> dict[str, str]:
        """The kind of each tool that the spec names."""
        if self.tools is None:
            return {}
        kinds = (("edit", self.tools.edits), ("read", self.tools.reads), ("shell", self.tools.runs))
        return {name: kind for kind, names in kinds for name in names}

    def rules(self) -> tuple[Rule, ...]:
        """The rules that are switched on, each with the severity that the spec gives it."""
        from trialrun.verification.rules.base import all_rules

        weights = self.severity or {}
        return tuple(
            replace(rule, severity=weights.get(rule.code, rule.severity))
            for rule in all_rules()
            if self.wants(rule.code)
        )

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


class Block(Struct, frozen=True, forbid_unknown_fields=True):
    """The settings as they are written, without the checks that may be beside them."""

    tools: OwnTools | None = None
    runners: list[OwnRunner] = []
    phrases: dict[str, list[str]] | None = None
    select: list[Text] = []
    ignore: list[Text] = []
    severity: dict[str, RuleSeverity] = {}

    def settings(self, rows: Sequence[Runner] = ()) -> Settings:
        """The settings; `rows` are further runners. ValueError for a mistake."""
        found = settings_of(
            self.tools, self.runners, self.phrases, self.select, self.ignore, self.severity
        )
        found = found or Settings()
        if rows:
            own = [one.runner() for one in self.runners]
            found = replace(found, table=Table([*own, *rows]))
        return found


SETTINGS_KEYS = Block.__struct_fields__


def settings_of(
    tools: OwnTools | None,
    runners: Sequence[OwnRunner],
    phrases: Mapping[str, Sequence[str]] | None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    severity: Mapping[str, str] | None = None,
) -> Settings | None:
    """The settings, or None where nothing differs. ValueError for what is not known."""
    for kind in phrases or ():
        if kind not in CLAIM_KINDS:
            known = f"; known are {', '.join(CLAIM_KINDS)}"
            hint = did_you_mean(kind, CLAIM_KINDS) or known
            raise ValueError(f"phrases: no kind of claim `{kind}`{hint}")
    if not (tools or runners or phrases or select or ignore or severity):
        return None
    weights = {
        code: weight
        for name, weight in sorted((severity or {}).items(), key=lambda item: len(item[0]))
        for code in codes_of(name, "severity")
    }
    return Settings(
        tools,
        Table([one.runner() for one in runners]) if runners else None,
        phrases,
        tuple(code for name in select for code in codes_of(name, "select")),
        tuple(code for name in ignore for code in codes_of(name, "ignore")),
        weights or None,
    )


def codes_of(name: str, place: str) -> list[str]:
    """The codes of the rules that a code, the beginning of codes, or a name names.

    ValueError, which begins with the place, if there is none.
    """
    from trialrun.verification.rules.base import all_rules

    rules = all_rules()
    wanted = name.strip()
    found = [rule.code for rule in rules if wanted and rule.code.startswith(wanted.upper())]
    found = found or [rule.code for rule in rules if rule.name == wanted.lower()]
    if not found:
        known = [*(rule.code for rule in rules), *(rule.name for rule in rules)]
        raise ValueError(f"{place}: there is no rule `{name}`{did_you_mean(name, known)}")
    return found
