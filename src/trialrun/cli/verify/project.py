"""The settings of `trialrun verify` for a session: from a spec, pyproject.toml and task files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from trialrun.errors import UsageError
from trialrun.util.files import is_folder, reason
from trialrun.util.texts import did_you_mean
from trialrun.verification.runners import Runner, default_table
from trialrun.verification.settings import SETTINGS_KEYS, Block, Settings, codes_of
from trialrun.verification.task_files import task_runners

TABLE = "[tool.trialrun.verification]"


class Project:
    """Knows the settings by the folder in which a session worked."""

    def __init__(
        self, spec: str | None = None, select: Sequence[str] = (), ignore: Sequence[str] = ()
    ) -> None:
        self._spec = _block_of_spec(spec) if spec is not None else {}
        self._spec_file = spec
        self._select = _codes(select, "--select")
        self._ignore = _codes(ignore, "--ignore")
        self._known: dict[Path, Settings] = {}

    def settings(self, cwd: object = None) -> Settings:
        """The settings for a session in that folder; it need not exist on this machine."""
        folder = Path.cwd()
        if isinstance(cwd, str) and cwd and is_folder(Path(cwd)):
            folder = Path(cwd)
        if folder not in self._known:
            self._known[folder] = self._made(folder)
        return self._known[folder]

    def _made(self, folder: Path) -> Settings:
        file, block = _block_of_project(folder)
        merged = {**block, **self._spec}
        place = f"--spec {self._spec_file}" if self._spec else f"{file}: {TABLE}"
        rows = _rows_of_tasks(folder)
        settings = _settings(merged, rows, place)
        if self._select:
            settings = replace(settings, select=self._select)
        if self._ignore:
            settings = replace(settings, ignore=(*settings.ignore, *self._ignore))
        return settings


def _codes(given: Sequence[str], option: str) -> tuple[str, ...]:
    try:
        return tuple(
            code
            for text in given
            for name in text.split(",")
            if name.strip()
            for code in codes_of(name.strip(), option)
        )
    except ValueError as error:
        raise UsageError(str(error)) from None


def _settings(block: Mapping[str, Any], rows: Sequence[Runner], place: str) -> Settings:
    try:
        return msgspec.convert(dict(block), Block).settings(rows)
    except msgspec.ValidationError as error:
        raise UsageError(f"{place} {_said(error, block)}") from None
    except ValueError as error:
        raise UsageError(f"{place} {error}") from None


def _said(error: msgspec.ValidationError, block: Mapping[str, Any]) -> str:
    """What msgspec says, with the place first, and a suggestion for a misspelt key."""
    text, _, path = str(error).partition(" - at `$")
    unknown = next((key for key in block if key not in SETTINGS_KEYS), None)
    if unknown is not None and not path:
        return f"unknown key `{unknown}`{did_you_mean(unknown, SETTINGS_KEYS)}"
    return f"{path.strip('.`')}: {text[:1].lower()}{text[1:]}"


def _block_of_spec(file: str) -> dict[str, Any]:
    """The settings that a spec gives all of its cases."""
    from trialrun.spec.load import load_suite

    block = load_suite(file).defaults.get("verification") or {}
    found = {key: block[key] for key in SETTINGS_KEYS if block.get(key)}
    if not found:
        keys = ", ".join(f"`{key}`" for key in SETTINGS_KEYS)
        raise UsageError(f"--spec {file}: none of {keys} below `defaults: verification:`")
    return found


def _block_of_project(folder: Path) -> tuple[Path | None, dict[str, Any]]:
    """The table of the nearest pyproject.toml that has one, in the folder or above."""
    for place in (folder, *folder.parents):
        file = place / "pyproject.toml"
        try:
            text = file.read_text(encoding="utf-8")
            import tomllib  # most folders have no such file

            document = tomllib.loads(text)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise UsageError(f"{file}: cannot be read: {reason(error)}") from None
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{file}: not TOML: {error}") from None
        block = document
        for key in ("tool", "trialrun", "verification"):
            inner = block.get(key)
            if inner is not None and not isinstance(inner, dict):
                raise UsageError(f"{file}: {TABLE} is not a table")
            block = inner or {}
        if block:
            return file, block
    return None, {}


def _rows_of_tasks(folder: Path) -> list[Runner]:
    """Tasks of the project, if it is the one that the command was called in."""
    root = _root(folder)
    if root != _root(Path.cwd()):
        return []
    places = [folder] if folder.resolve() == root else [folder, root]
    return [row for place in places for row in task_runners(place, default_table())]


def _root(folder: Path) -> Path:
    """The folder of the repository, or the folder itself."""
    folder = folder.resolve()
    return next((one for one in (folder, *folder.parents) if (one / ".git").exists()), folder)
