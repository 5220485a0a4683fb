"""The public names of the package exist, and every module can be imported first."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import trialrun
from tests.watchdog import WALL_SECONDS

SOURCE = Path(trialrun.__file__).parent
FILES = {
    ".".join(("trialrun", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(
        ".__init__"
    ): path
    for path in sorted(SOURCE.rglob("*.py"))
    if path.name != "__main__.py"
}
MODULES = sorted(FILES)


def test_every_name_in_all_exists_and_every_export_is_in_all() -> None:
    assert sorted(trialrun.__all__) == sorted(set(trialrun.__all__))
    for name in trialrun.__all__:
        assert getattr(trialrun, name) is not None
    assert {*trialrun._HOME_OF, "__version__"} == set(trialrun.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Tarce'"):
        trialrun.Tarce  # noqa: B018


def test_the_names_that_users_rely_on_exist() -> None:
    wanted = {
        "trialrun": "Trace Step StepType TokenUsage EvalCase Evaluator LayerStatus MetricResult "
        "evaluate evaluate_async load_suite read_traces",
        "trialrun.metrics": "BaseMetric StepCountMetric TokenUsageMetric ToolCallCountMetric "
        "DurationMetric ToolDiversityMetric StepEfficiencyMetric LLMCallCountMetric "
        "ErrorRateMetric AverageStepDurationMetric TokenCostMetric RetryRateMetric "
        "ReasoningDepthMetric ToolRecallMetric ToolPrecisionMetric ToolF1Metric "
        "SequenceLcsMetric SequenceEditMetric LoopCountMetric",
        "trialrun.metrics.base": "BaseMetric",
        "trialrun.model.results": "MetricResult",
        "trialrun.model.trace": "Trace",
        "trialrun.model.case": "EvalCase",
        "trialrun.measures.sequence": "sequence_lcs sequence_edit",
        "trialrun.measures.sets": "tool_recall tool_precision tool_f1",
        "trialrun.measures.loops": "loop_count",
        "trialrun.measures.matching": "matches",
        "trialrun.judge": "minimum_score",
    }
    for module, names in wanted.items():
        for name in names.split():
            assert hasattr(importlib.import_module(module), name), f"{module}.{name}"


def imported_names(path: Path) -> set[str]:
    """The modules that a file imports at import time, without imports inside functions."""
    names: set[str] = set()
    waiting = list(ast.iter_child_nodes(ast.parse(path.read_text(encoding="utf-8"))))
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            names |= {name if name in FILES else node.module for name in whole}
        waiting += ast.iter_child_nodes(node)
    return names & FILES.keys()


def loaded_by(module: str) -> set[str]:
    """The modules of trialrun that are run while this one is imported, with their packages."""
    found = set()
    for name in imported_names(FILES[module]):
        parts = name.split(".")
        parents = {".".join(parts[:length]) for length in range(1, len(parts))}
        # The parent packages of this module are already being imported, and may be incomplete.
        found |= {name, *(one for one in parents if not f"{module}.".startswith(f"{one}."))}
    return found - {module}


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The import cycles of the graph, each as a list of modules."""
    found: list[list[str]] = []
    done: set[str] = set()

    def follow(module: str, path: list[str]) -> None:
        if module in path:
            found.append([*path[path.index(module) :], module])
        elif module not in done:
            for other in sorted(graph[module]):
                follow(other, [*path, module])
            done.add(module)

    for module in graph:
        follow(module, [])
    return found


def test_there_are_no_import_cycles() -> None:
    """Without import cycles, every module can be imported first."""
    graph = {name: loaded_by(name) for name in FILES}
    assert sum(map(len, graph.values())) > len(FILES)
    assert not cycles(graph)


def test_an_import_cycle_is_found() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == [["b", "c", "b"]]


def test_every_module_can_be_imported() -> None:
    # Modules in `integrations` need other packages, and have their own tests.
    for name in MODULES:
        if not name.startswith("trialrun.integrations."):
            importlib.import_module(name)


IMPORT_PROBE = """
import sys
opened = []
def audit(event, args):
    if event == "open" and isinstance(args[0], str):
        opened.append(args[0])
    elif event.startswith("socket.") or event in ("subprocess.Popen", "os.system"):
        opened.append(event)
sys.addaudithook(audit)
{program}
bad = [n for n in opened if not n.endswith((".py", ".pyc", ".so", ".pth")) and ".pyc." not in n]
libraries = ("rich", "pydantic", "yaml", "click", "genai_prices", "asyncio")
heavy = [m for m in libraries if m in sys.modules]
assert not bad, bad
assert not heavy, heavy
"""


@pytest.mark.parametrize(
    "program", ["import trialrun", "from trialrun import Trace, evaluate, EvalCase"]
)
def test_importing_opens_no_files_and_loads_no_heavy_libraries(program: str) -> None:
    subprocess.run(
        [sys.executable, "-c", IMPORT_PROBE.format(program=program)],
        check=True,
        timeout=WALL_SECONDS,
    )


def test_the_import_test_can_fail() -> None:
    for program in ("import yaml", "open('/etc/hostname')", "import socket; socket.socket()"):
        done = subprocess.run(
            [sys.executable, "-c", IMPORT_PROBE.format(program=program)],
            capture_output=True,
            timeout=WALL_SECONDS,
        )
        assert done.returncode != 0, program


# Example: the `eval(` in `eval(text)`.
FORBIDDEN = re.compile(r"pickle|\beval\(|\bexec\(|yaml\.load\(|shell=True|os\.system")


def test_no_dangerous_function_is_called() -> None:
    found = {
        name: FORBIDDEN.findall(path.read_text(encoding="utf-8")) for name, path in FILES.items()
    }
    assert {name: calls for name, calls in found.items() if calls} == {}
