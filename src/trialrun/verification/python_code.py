"""What a piece of Python does to the world around it, as far as its text says.

Agents edit files by small programs (`python - <<EOF … write_text(…)`) and start others by
`subprocess`. The code is parsed, never run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trialrun.verification import deeds as d
from trialrun.verification.deeds import Deed
from trialrun.verification.paths import is_fleeting
from trialrun.verification.shell import Command

LONGEST_CODE = 100_000
_WRITERS = frozenset({"write_text", "write_bytes"})
_READERS = frozenset({"read_text", "read_bytes", "read_csv", "read_json", "read_parquet"})


def deeds_of_code(code: str, command: Command) -> Iterator[Deed]:
    """Files that the code writes or reads; running it is itself a trial."""
    written: list[str] = []
    read: list[str] = []
    names: dict[str, str] = {}
    parses = False
    if len(code) <= LONGEST_CODE:
        try:
            tree = ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            tree = ast.Module([], [])
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                target, text = node.targets[0], _path(node.value, names)
                if isinstance(target, ast.Name) and text is not None:
                    names[target.id] = text
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                _look_at(node, names, written, read)
                parses = parses or _parses(node, names, read)
    kept = tuple(path for path in dict.fromkeys(written) if not is_fleeting(path))
    if kept:
        yield Deed(
            d.EDIT, by="python", paths=kept, folder=command.folder, command=command, content=code
        )
        return
    if read and parses:
        yield Deed(
            d.CONFIG,
            by="python -c",
            paths=tuple(dict.fromkeys(read)),
            folder=command.folder,
            command=command,
        )
    if read:
        yield Deed(
            d.READ,
            by="python",
            paths=tuple(dict.fromkeys(read)),
            folder=command.folder,
            command=command,
        )
    yield Deed(
        d.RUN,
        by="python -c",
        folder=command.folder,
        command=command,
        languages=frozenset({"python"}),
        content=code,
    )


# Whatever these are given has been parsed: the run is a trial of the file.
_PARSERS = frozenset(
    {
        ("yaml", "safe_load"), ("yaml", "load"), ("yaml", "full_load"), ("yaml", "safe_load_all"),
        ("json", "load"), ("json", "loads"), ("tomllib", "load"), ("tomllib", "loads"),
        ("toml", "load"), ("tomli", "load"), ("ast", "parse"), ("ET", "parse"),
        ("ElementTree", "parse"), ("minidom", "parse"), ("py_compile", "compile"),
    }
)  # fmt: skip
_PARSE_FILES = frozenset({"ET", "ElementTree", "minidom", "py_compile"})


def _parses(node: ast.Call, names: dict[str, str], read: list[str]) -> bool:
    called = node.func
    if not isinstance(called, ast.Attribute):
        return False
    owner = called.value
    name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    if (name, called.attr) not in _PARSERS:
        return False
    path = _path(node.args[0], names) if name in _PARSE_FILES and node.args else None
    if path is not None:
        read.append(path)
    return True


_COPIERS = frozenset({"copy", "copy2", "copyfile", "move", "rename", "replace"})


_DEEPEST = 50
_LONGEST_PATH = 4_096  # of most systems; `a = a / a` doubles with every line


def _path(node: ast.expr, names: dict[str, str], depth: int = 0) -> str | None:
    if depth > _DEEPEST:
        return None
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Call) and node.args:
        called = node.func
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name in ("Path", "PurePath"):
            return _path(node.args[0], names, depth + 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        left, right = _path(node.left, names, depth + 1), _path(node.right, names, depth + 1)
        if left and right and len(left) + len(right) < _LONGEST_PATH:
            return f"{left}/{right}"
    return None


def _look_at(node: ast.Call, names: dict[str, str], written: list[str], read: list[str]) -> None:
    called = node.func
    if isinstance(called, ast.Name) and called.id == "open" and node.args:
        path = _path(node.args[0], names)
        mode = _path(node.args[1], names) if len(node.args) > 1 else None
        for keyword in node.keywords:
            if keyword.arg == "mode":
                mode = _path(keyword.value, names)
        if path is not None:
            (written if mode and set(mode) & set("wax+") else read).append(path)
    elif isinstance(called, ast.Attribute):
        owner = getattr(called.value, "id", "")
        if owner in ("shutil", "os") and called.attr in _COPIERS and len(node.args) > 1:
            path = _path(node.args[1], names)
            if path is not None:
                written.append(path)
        elif called.attr in _WRITERS:
            path = _path(called.value, names)
            if path is not None:
                written.append(path)
        elif called.attr in _READERS:
            path = _path(called.value, names) or (_path(node.args[0], names) if node.args else None)
            if path is not None:
                read.append(path)
        elif (
            called.attr.startswith("to_")
            and node.args
            and called.attr in ("to_csv", "to_json", "to_parquet", "to_excel")
        ):
            path = _path(node.args[0], names)
            if path is not None:
                written.append(path)
