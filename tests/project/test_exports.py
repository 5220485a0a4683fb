"""The public names of the package, and that each module can be imported alone."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import trialrun

SOURCE = Path(trialrun.__file__).parent
MODULES = sorted(
    ".".join(("trialrun", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(
        ".__init__"
    )
    for path in SOURCE.rglob("*.py")
    if path.name != "__main__.py"
)


def test_all_names_are_there_and_none_is_forgotten() -> None:
    assert sorted(trialrun.__all__) == sorted(set(trialrun.__all__))
    for name in trialrun.__all__:
        assert getattr(trialrun, name) is not None
    assert {*trialrun._HOME_OF, "__version__"} == set(trialrun.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Tarce'"):
        trialrun.Tarce  # noqa: B018


def test_the_names_that_others_rely_on() -> None:
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


def test_every_module_can_be_imported_alone() -> None:
    """In one process per module this would take a minute; a fresh `sys.modules` does the same."""
    # Those in `integrations` need the other tool, and are tested beside it.
    alone = [name for name in MODULES if not name.startswith("trialrun.integrations.")]
    program = (
        "import importlib, sys\n"
        f"for name in {alone!r}:\n"
        "    for loaded in [n for n in sys.modules if n.split('.')[0] == 'trialrun']:\n"
        "        del sys.modules[loaded]\n"
        "    importlib.import_module(name)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


QUIET = """
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
def test_importing_opens_nothing_and_loads_nothing_heavy(program: str) -> None:
    subprocess.run([sys.executable, "-c", QUIET.format(program=program)], check=True, timeout=60)


def test_the_quiet_test_can_fail() -> None:
    for program in ("import yaml", "open('/etc/hostname')", "import socket; socket.socket()"):
        done = subprocess.run(
            [sys.executable, "-c", QUIET.format(program=program)], capture_output=True, timeout=60
        )
        assert done.returncode != 0, program


FORBIDDEN = re.compile(r"pickle|\beval\(|\bexec\(|yaml\.load\(|shell=True|os\.system")


@pytest.mark.parametrize("module", MODULES)
def test_nothing_dangerous_is_called(module: str) -> None:
    path = SOURCE.joinpath(*module.split(".")[1:])
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = file.read_text(encoding="utf-8")
    assert not FORBIDDEN.findall(text)
