"""Code in a word of the command: `node -e`, `ruby -e`, `perl -e`, `php -r`.

Searched for the few calls by which such code writes a file, or tries whether one can be parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trialrun.verification import deeds as d
from trialrun.verification.deeds import Deed
from trialrun.verification.paths import is_fleeting
from trialrun.verification.programs.making import make_deed
from trialrun.verification.shell import Command

LONGEST_CODE = 100_000

_ARGUMENT = (
    r"""(?:(?P<quote>['"`])(?P<text>[^'"`\n]{1,300})(?P=quote)|\$?(?P<name>[A-Za-z_]\w{0,60}))"""
)
_WRITES = re.compile(
    r"\b(?:(?:write|append|output)(?:Text)?(?:File|Json|JSON)(?:Sync)?|createWriteStream|Bun\.write|(?:File|IO)\.(?:bin)?write|file_put_contents)"
    rf"\s*\(?\s*{_ARGUMENT}"
)
_OPENS = re.compile(
    rf"\b(?:File\.open|fopen|openSync)\s*\(?\s*{_ARGUMENT}\s*,\s*['\"][wax]"
    rf"|\bopen\s*\(?\s*(?:my\s+)?\\?\$?\w+\s*,\s*['\"]\+?>>?[^'\"]{{0,20}}['\"]\s*,\s*"
    + _ARGUMENT.replace("quote", "quote2").replace("<text", "<text2").replace("<name", "<name2")
)
_READS = re.compile(
    rf"\b(?:readFile(?:Sync)?|readTextFile(?:Sync)?|(?:File|IO)\.(?:read|open)|load_file|file_get_contents|require)\s*\(?\s*{_ARGUMENT}"
)
_PARSES = re.compile(
    r"\b(?:JSON\.parse|JSON\.load|YAML\.\w*(?:load|parse)\w*|yaml\.load|TOML\.\w+|toml\.parse|json_decode|yaml_parse)\b|require\(['\"]\.[^'\"]+\.json"
)
_TESTS = re.compile(
    r"\b(?:devtools::(?:test|check)|testthat::test_\w+|test_(?:dir|local|file|package)|tinytest::\w+|Pkg\.test)\s*\("
)
_ASSIGNED = re.compile(r"\b([A-Za-z_]\w{0,60})\s*=\s*(['\"`])([^'\"`\n]{1,300})\2")


def deeds_of_snippet(code: str, command: Command, language: str) -> Iterator[Deed]:
    """Files that the code writes; else those that it parses, and that it was run."""
    code = code[:LONGEST_CODE]
    names = {name: text for name, _, text in _ASSIGNED.findall(code)}
    writes = [*_WRITES.finditer(code), *_OPENS.finditer(code)]
    if writes:
        written = [_named(match, names) for match in writes]
        known = [path for path in written if path is not None]
        kept = tuple(path for path in dict.fromkeys(known) if not is_fleeting(path))
        if kept or len(known) < len(written):  # somewhere, where the name cannot be known
            yield make_deed(d.EDIT, command, by=f"{command.name} -e", paths=kept, content=code)
            return
    if _TESTS.search(code):  # R and Julia run their tests by a call
        yield make_deed(d.TEST, command, by=command.name, languages=frozenset({language}))
        return
    read = [_named(match, names) for match in _READS.finditer(code)]
    files = tuple(dict.fromkeys(path for path in read if path is not None and "." in path[1:]))
    if files and _PARSES.search(code):
        yield make_deed(d.CONFIG, command, by=f"{command.name} -e", paths=files)
    yield make_deed(d.RUN, command, by=command.name, languages=frozenset({language}), content=code)


def _named(match: re.Match[str], names: dict[str, str]) -> str | None:
    groups = match.groupdict()
    text = groups.get("text") or groups.get("text2")
    if text is not None:
        return None if "${" in text or "#{" in text else text
    return names.get(groups.get("name") or groups.get("name2") or "")
