"""Who may import whom, imports inside functions included. The rules are in docs/architecture.md."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "trialrun"

GROUND = {
    "audit_results",
    "comparison_results",
    "errors",
    "files",
    "ledger_results",
    "measures",
    "redaction",
    "results",
    "retries",
    "shapes",
    "steps",
    "strict_json",
    "test_case",
    "trace",
    "trace_format",
}
MIDDLE = {
    "registry",
    "checks",
    "metrics",
    "judge",
    "pricing",
    "spec_blocks",
    "spec_defaults",
    "spec_reading",
    "verification",
}
SIDE = {"agents", "importers", "reports", "store"}
ENGINE = {"engine"}
TOP = {"cli", "demo", "integrations", "scenarios", "testing", "__main__"}

ALLOWED = {
    "audit_results": {"measures"},
    "errors": set(),
    "ledger_results": set(),
    "files": set(),
    "redaction": {"errors", "measures"},
    "steps": {"errors"},
    "trace": {"errors", "steps", "trace_format", "pricing"},
    "trace_format": {"errors", "shapes", "trace"},
    "results": {"measures"},
    "retries": set(),
    "strict_json": set(),
    "comparison_results": {"errors", "measures", "results"},
    "shapes": {"errors"},
    "test_case": {"spec_reading", "checks", "metrics", "pricing", "results", "shapes"},
    "measures": {"measures"},
    "registry": {"errors", "checks", "metrics"},
    "checks": GROUND | {"checks", "pricing", "verification"},
    "metrics": GROUND | {"metrics", "pricing", "registry", "verification"},
    "verification": GROUND | {"verification"},
    "judge": GROUND | {"judge", "pricing"},
    "pricing": {"trace"},
    "spec_defaults": GROUND | {"checks"},
    "spec_blocks": GROUND | {"registry", "checks", "spec_defaults"},
    "spec_reading": GROUND | {"registry", "spec_blocks", "spec_defaults"},
    "agents": GROUND | {"agents", "registry"},
    "store": GROUND | {"store"},
    "importers": GROUND | {"importers"},
    "reports": GROUND | {"reports", "pricing", "__version__"},
    "engine": (GROUND | MIDDLE | SIDE | ENGINE | {"__version__"}) - {"reports"},
    "cli": GROUND | MIDDLE | SIDE | ENGINE | {"cli", "demo", "__version__"},
    "demo": set(),
    "integrations": GROUND | MIDDLE | SIDE | ENGINE,
    # Files that a user gets: they have the public names only.
    "scenarios": {"LayerStatus", "evaluate", "load_suite", "read_traces"},
    "testing": GROUND | MIDDLE | SIDE | ENGINE,
    "__main__": {"cli"},
    "__init__": GROUND | MIDDLE | SIDE | ENGINE,
}
# Type annotations need names that run time does not: these imports are for the type checker only.
LAZY_ONLY = {("test_case", "spec_reading"), ("trace", "pricing"), ("trace", "trace_format")}


def room_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return parts[0]


def imports(path: Path) -> list[tuple[str, int, bool]]:
    """The rooms that a file imports: (room, line, at module level and at run time)."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: list[tuple[str, int, bool]] = []

    def visit(node: ast.AST, eager: bool) -> None:
        for child in ast.iter_child_nodes(node):
            inside = eager and not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                inside = False
            names: list[str] = []
            if isinstance(child, ast.ImportFrom) and child.module:
                assert child.level == 0, f"{path}:{child.lineno}: import by the full name"
                if child.module == "trialrun":
                    names = [f"trialrun.{alias.name}" for alias in child.names]
                else:
                    names = [child.module]
            elif isinstance(child, ast.Import):
                names = [alias.name for alias in child.names]
            for name in names:
                parts = name.split(".")
                if parts[0] == "trialrun" and len(parts) > 1:
                    found.append((parts[1], child.lineno, eager))  # type: ignore[attr-defined]
            visit(child, inside)

    visit(tree, True)
    return found


FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_file_imports_only_what_its_room_may(path: Path) -> None:
    room = room_of(path)
    for imported, line, eager in imports(path):
        assert imported in ALLOWED[room], f"{path}:{line}: {room} must not import {imported}"
        if (room, imported) in LAZY_ONLY:
            assert not eager, f"{path}:{line}: {room} may reach {imported} inside a function only"


def test_every_room_has_a_rule() -> None:
    assert {room_of(path) for path in FILES} == set(ALLOWED)


def test_the_rule_can_fail(tmp_path: Path) -> None:
    """The reader sees imports at the top, in functions, and behind TYPE_CHECKING."""
    file = tmp_path / "sample.py"
    file.write_text(
        "from trialrun.cli import main\n"
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from trialrun import store\n"
        "def f():\n    import trialrun.viewer.pages\n"
    )
    assert imports(file) == [("cli", 1, True), ("store", 4, False), ("viewer", 6, False)]
