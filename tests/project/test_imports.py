"""Which package may import which, imports inside functions included (docs/architecture.md)."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "trialrun"

DATA = {"errors", "measures", "model", "redaction", "util"}
JUDGING = {"checks", "judge", "metrics", "pricing", "registry", "spec", "verification"}
SIDES = {"agents", "capture", "importers", "reports", "store"}
BELOW_ENGINE = DATA | JUDGING | SIDES

ALLOWED = {
    "errors": set(),
    "util": {"util"},
    "measures": {"measures", "util"},
    "model": {"errors", "measures", "model", "util"},
    "redaction": {"errors", "measures", "util"},
    "pricing": {"model"},
    "price_list": {"model", "pricing"},
    "registry": {"errors", "util"},
    "checks": DATA | {"checks", "pricing", "registry", "verification"},
    "metrics": DATA | {"metrics", "pricing", "registry", "verification"},
    "verification": DATA | {"verification"},
    "judge": DATA | {"judge", "pricing"},
    "spec": DATA | {"checks", "pricing", "registry", "spec"},
    "agents": DATA | {"agents", "capture", "registry", "spec"},
    "capture": DATA | {"capture", "importers", "registry"},
    "store": DATA | {"registry", "store"},
    "importers": DATA | {"importers", "registry"},
    "reports": DATA | {"reports", "pricing", "spec", "verification", "__version__"},
    "engine": (BELOW_ENGINE | {"engine", "__version__"}) - {"reports"},
    "viewer": BELOW_ENGINE | {"engine", "viewer", "__version__"},
    "cli": BELOW_ENGINE | {"cli", "demo", "engine", "viewer", "__version__"},
    "demo": set(),
    "integrations": BELOW_ENGINE | {"engine"},
    # Files that a user gets: they have the public names only.
    "scenarios": {"LayerStatus", "evaluate", "load_suite", "read_traces"},
    "testing": BELOW_ENGINE | {"engine"},
    "__main__": {"cli"},
    "__init__": BELOW_ENGINE | {"engine"},
    # Re-exports of names that users import from here.
    "results": {"model"},
    "test_case": {"model"},
    "trace": {"model"},
}
INSIDE_FUNCTIONS = {
    # `EvalCase.from_dict` builds checks, `Trace.total_cost_usd` looks a price up, notebooks show
    # a trace by the templates of reports.
    "model": {"checks", "metrics", "pricing", "reports", "spec"},
    "spec": {"agents"},
    "pricing": {"price_list"},
    "registry": {"agents", "checks", "importers", "metrics", "reports", "store"},
}
"""Further imports that are allowed inside functions and for the type checker only."""


def package_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return parts[0]


def imports(path: Path) -> list[tuple[str, int, bool]]:
    """The packages that a file imports: (package, line, at module level and at run time)."""
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


def violations(path: Path) -> list[str]:
    package = package_of(path)
    lazy = INSIDE_FUNCTIONS.get(package, set())
    return [
        f"{path}:{line}: {package} must not import {imported}"
        + (" at the top of a module" if imported in lazy else "")
        for imported, line, eager in imports(path)
        if imported not in (ALLOWED[package] if eager else ALLOWED[package] | lazy)
    ]


def test_packages_import_only_what_they_may() -> None:
    found = [violation for path in FILES for violation in violations(path)]
    assert not found, "\n".join(found)


def test_every_package_has_a_rule() -> None:
    assert {package_of(path) for path in FILES} == set(ALLOWED)


def test_imports_are_found_in_functions_and_behind_type_checking(tmp_path: Path) -> None:
    """The reader sees imports at the top, in functions, and behind TYPE_CHECKING."""
    file = tmp_path / "sample.py"
    file.write_text(
        "from trialrun.cli import main\n"
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from trialrun import store\n"
        "def f():\n    import trialrun.viewer.pages\n"
    )
    assert imports(file) == [("cli", 1, True), ("store", 4, False), ("viewer", 6, False)]
