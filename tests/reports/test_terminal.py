"""The terminal report: what failed first, within the width of the terminal, of bounded length."""

from __future__ import annotations

import tracemalloc
from collections.abc import Collection

import pytest
from rich.cells import cell_len
from rich.text import Text

from tests.reports.runs import everything, result
from tests.reports.test_what_is_shown import repeated
from trialrun import EvalCase, Step, Trace, evaluate
from trialrun.model.results import LayerStatus, RunResult
from trialrun.reports import terminal
from trialrun.reports.base import View
from trialrun.reports.views.consoles import terminal_width

PASS, WARN, FAIL, ERROR = (
    LayerStatus.PASS,
    LayerStatus.WARN,
    LayerStatus.FAIL,
    LayerStatus.ERROR,
)


class Made(Collection):
    """Results that are made when they are read, as those of a store are."""

    def __init__(self, number):
        self.number = number
        self.alive = 0

    def __len__(self):
        return self.number

    def __contains__(self, one):
        return False

    def __iter__(self):
        for index in range(self.number):
            status = FAIL if index % 10 == 7 else PASS
            yield result(f"case {index}", status, f"why {index}", answer="text " * 200)


def lines_of(run, **view):
    return terminal.render(run, View(**view)).splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_line_is_wider_than_the_terminal(width):
    wide = result(
        "日本語のとても長いケース名です", FAIL, "長い理由 " * 30, cost_usd=0.1, total_tokens=5
    )
    run = RunResult(results=[*everything().results, wide], planned=5)
    for verbose in (False, True):
        for line in lines_of(run, width=width, verbose=verbose):
            assert cell_len(line) <= width
            assert line == line.rstrip()


def test_further_lines_are_indented_more_than_the_first():
    run = RunResult(results=[result("a", FAIL, "word " * 60)], planned=1)
    lines = lines_of(run, width=80)
    start = next(at for at, line in enumerate(lines) if "some_check fail" in line)
    assert lines[start].startswith(" " * 7 + "path")
    assert all(line.startswith(" " * 9 + "word") for line in lines[start + 1 : start + 4])


def test_without_a_width_no_line_is_broken():
    run = RunResult(results=[result("a", FAIL, "word " * 100)], planned=1)
    (line,) = [line for line in lines_of(run) if "some_check" in line]
    assert line.count("word") == 100


def test_names_of_wide_characters_keep_the_columns():
    rows = [result("日本語", FAIL, "x"), result("plain-name", FAIL, "x")]
    lines = [line for line in lines_of(RunResult(results=rows, planned=2)) if line[:4] == "FAIL"]
    places = {cell_len(line[: line.index("path")]) for line in lines}
    assert len(places) == 1


def test_a_narrow_terminal_has_short_layers_and_the_figures_that_fit():
    row = result("refund-without-order", FAIL, "x", cost_usd=0.25, total_tokens=1200)
    assert (
        "path ✗  $0.25 · 1,200 tokens · 1.5 s" in lines_of(RunResult(results=[row], planned=1))[1]
    )
    rows = [row, result("b", PASS, layer="correctness", cost_usd=0.25, total_tokens=1200)]
    lines = lines_of(RunResult(results=rows, planned=2), width=60)
    assert lines[1].endswith("corr –  path ✗  $0.25")
    assert next(line for line in lines if line.startswith("PASS")).endswith("path –  $0.25")


def test_the_width_is_that_of_a_terminal_only(monkeypatch):
    monkeypatch.setenv("COLUMNS", "97")
    assert terminal_width(True) == 97 and terminal_width(False) is None
    monkeypatch.setenv("COLUMNS", "3")
    assert terminal_width(True) == 40


def test_colour_adds_nothing_but_colour():
    run = everything()
    coloured = terminal.render(run, View(colour=True, width=80))
    assert Text.from_ansi(coloured).plain.rstrip() == terminal.render(run, View(width=80)).rstrip()


# The path


def shown_path(expected, tools):
    trace = Trace(input="q", output="a", steps=[Step.tool_call(tool) for tool in tools])
    case = {"name": "c", "query": "q", "path": {"expected_tool_sequence": expected}}
    run = RunResult(results=[evaluate(EvalCase.from_dict(case), trace)], planned=1)
    return next((line.strip() for line in lines_of(run) if "  path:" in line), None)


@pytest.mark.parametrize(
    ("expected", "tools", "path"),
    [
        (["a", "b"], ["a", "b"], None),
        (["a", "b"], ["a"], "path:  a  -b"),
        (["a"], ["a", "b", "b"], "path:  a  +b ×2"),
        (["a", "b"], ["a", "c"], "path:  a  -b  +c"),
        (["a"] * 9 + ["b"], ["a"] * 9, "path:  … 7 calls …  a ×2  -b"),
        (["b"] + ["a"] * 9, ["a"] * 9, "path:  -b  a ×2  … 7 calls …"),
        ([], ["x\x1b[2J"], "path:  +x\\x1b[2J"),
    ],
)
def test_the_path_is_an_edit_script(expected, tools, path):
    assert shown_path(expected, tools) == path


def regression(before, after):
    def trace(calls):
        return Trace(input="q", output="a", steps=[Step.tool_call(*call) for call in calls])

    case = {"name": "c", "query": "q", "regression": {"same_calls": True, "same_order": True}}
    run = RunResult(
        results=[evaluate(EvalCase.from_dict(case), trace(after), trace(before))], planned=1
    )
    return "\n".join(lines_of(run))


def test_the_path_against_a_baseline_marks_what_moved_and_changed():
    text = regression(
        [("find",), ("read", {"id": 1}), ("mail",)],
        [("read", {"id": 2}), ("find",), ("wipe",)],
    )
    assert "path:  *read  ~find  -mail  +wipe" in text
    assert "path: - missing  + extra  ~ at another place" in text
    assert "path: - missing" not in regression([("a",), ("b",)], [("a",)])


# Large runs


def test_of_a_large_run_the_first_failures_are_shown_and_the_rest_is_counted():
    lines = lines_of(RunResult(results=Made(1000), planned=1000), most=50)
    assert lines[0] == lines[-1] == "1,000 cases: 900 passed, 100 failed"
    shown = [line for line in lines if line[:4] in ("FAIL", "PASS")]
    assert [line.split()[2] for line in shown] == [str(7 + 10 * at) for at in range(50)]
    assert "and 950 more (50 failed): -v shows all, --format json and -o FILE have all" in lines


def test_verbose_shows_all_and_failures_still_first():
    lines = lines_of(RunResult(results=Made(200), planned=200), most=50, verbose=True)
    words = [line[:4] for line in lines if line[:4] in ("FAIL", "PASS")]
    assert words == ["FAIL"] * 20 + ["PASS"] * 180


def test_of_repeated_cases_the_worst_are_shown():
    runs = [repeated(PASS, PASS), repeated(FAIL, FAIL), repeated(PASS, FAIL)]
    results, stability = [], []
    for number in range(30):
        one = runs[number % 3]
        name = f"case {number}"
        for row in one.results:
            row.case_name = name
        results += [terminal_copy(row) for row in one.results]
        (case,) = one.stability
        stability.append(type(case)(**{**fields(case), "case_name": name}))
    run = RunResult(results=results, planned=30, stability=stability)
    lines = lines_of(run, most=12)
    words = [line.split()[0] for line in lines if line[:5].strip() in ("FAIL", "FLAKY", "PASS")]
    assert words == ["FAIL"] * 10 + ["FLAKY"] * 2
    assert "and 18 more (8 flaky): -v shows all, --format json and -o FILE have all" in lines


def terminal_copy(row):
    from msgspec.structs import replace

    return replace(row)


def fields(case):
    from msgspec.structs import asdict

    return asdict(case)


@pytest.mark.slow
def test_the_memory_does_not_grow_with_the_run():
    def peak(number):
        tracemalloc.start()
        terminal.render(RunResult(results=Made(number), planned=number), View(most=50))
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(100)
    assert peak(20_000) < 1.5 * peak(1_000)
