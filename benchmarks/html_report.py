"""What the one-file HTML report costs: CPU to write it, its size, and how fast Chromium shows it.

`python -m benchmarks.html_report [CASES]` (a part of `make bench`) writes benchmarks/HTML.md. Cases
have ten steps each. Making the data is not measured.
"""

from __future__ import annotations

import gzip
import random
import shutil
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from trialrun import EvalCase, Step, TokenUsage, Trace, evaluate
from trialrun.model.results import EvaluationResult, RunResult
from trialrun.reports.base import View
from trialrun.reports.html import HtmlReport

HERE = Path(__file__).parent
CASES = 10_000
STEPS = 10
QUIET = 0.073
ROUNDS = 5
BARS = {"cpu": 5.0, "megabytes": 6.0, "paint": 0.5, "case": 0.3}
_START = datetime(2026, 1, 1, tzinfo=UTC)
_TEXT = (
    "the order was returned within thirty days of delivery and the refund goes to your card once "
    "our store has checked the parcel please keep the receipt and the tracking number"
)
_WORDS = _TEXT.split()
_SPEC = {
    "query": "How long do I have to return shoes?",
    "correctness": {"expected_in_answer": ["refund"], "not_in_answer": ["guarantee"]},
    "path": {"expected_tools": ["search"], "max_tool_calls": 4},
    "cost": {"max_total_tokens": 20_000},
}


class Recorded(list[EvaluationResult]):
    """Results with their traces, as those of `trialrun score`."""

    def __init__(self, made: list[tuple[EvaluationResult, Trace]]) -> None:
        super().__init__(result for result, _ in made)
        self.made = made

    def attempts(self):
        """Every result with its trace."""
        return ((result, trace, None) for result, trace in self.made)


def run_of(cases: int) -> RunResult:
    """Cases of a support agent: it searches in 200 documents, and says one of 200 sentences."""
    chance = random.Random(7)
    documents = [" ".join(chance.choices(_WORDS, k=40)) for _ in range(200)]
    sentences = [" ".join(chance.choices(_WORDS, k=20)) for _ in range(200)]
    case = EvalCase.from_dict(_SPEC)
    made = []
    for number in range(cases):
        answer = chance.choice(sentences)
        trace = Trace(input=_SPEC["query"], output=answer, steps=_steps(chance, documents, answer))
        result = evaluate(case, trace)
        result.case_name, result.suite_name = f"case-{number:05}", "support"
        made.append((result, trace))
    return RunResult(results=Recorded(made), planned=cases)


def _steps(chance: random.Random, documents: list[str], answer: str) -> list[Step]:
    moment, steps = _START, []
    for place in range(STEPS):
        took = float(chance.randint(50, 900))
        if place % 2:
            found = [{"source": "policy.md", "text": chance.choice(documents)}]
            steps.append(
                Step.tool_call(
                    chance.choice(["search", "lookup", "rank"]),
                    {"query": "return shoes", "limit": chance.randint(1, 9)},
                    found,
                    timestamp=moment,
                    duration_ms=took,
                )
            )
        else:
            used = TokenUsage(prompt_tokens=chance.randint(200, 900), completion_tokens=40)
            steps.append(
                Step.llm_call(
                    "small-model",
                    _SPEC["query"],
                    answer if place == STEPS - 2 else "",
                    used,
                    timestamp=moment,
                    duration_ms=took,
                    cost_usd=used.total_tokens / 1e6,
                )
            )
        moment += timedelta(milliseconds=took)
    return steps


def written(run: RunResult) -> tuple[float, float, str]:
    """CPU seconds of the quickest of some rounds, those of a fixed loop, and the report.

    The loop runs before and after each round. It says how fast the machine is, and how busy.
    """
    taken, loops, text = [], [fixed_loop()], ""
    for _ in range(ROUNDS):
        start = time.process_time()
        text = HtmlReport().render(run, View())
        taken.append(time.process_time() - start)
        loops.append(fixed_loop())
    return min(taken), statistics.median(loops), text


def fixed_loop() -> float:
    """CPU seconds of some plain Python: `QUIET` where little else ran on that machine."""
    start = time.process_time()
    total = 0
    for number in range(2_000_000):
        total += number * number % 7
    return time.process_time() - start


def in_browser(file: Path) -> tuple[float, float] | None:
    """Seconds to the first paint, and to open a case; medians. None without Chromium."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        return None
    from playwright.sync_api import sync_playwright

    paints, opened = [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-background-networking"]
        )
        for number in range(5):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(file.as_uri())
            page.wait_for_selector("html[data-ready]")
            paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
            paints.append(page.evaluate(paint) / 1000)
            # A case of a part that was not unpacked yet.
            opened.append(page.evaluate(_OPEN, 1234 + 1700 * number) / 1000)
            page.close()
        browser.close()
    return statistics.median(paints), statistics.median(opened)


_OPEN = """async number => {
  const start = performance.now();
  location.hash = `#c${number}`;
  while (!document.getElementById(`c${number}`)) await new Promise(requestAnimationFrame);
  document.getElementById(`c${number}`).getBoundingClientRect();
  return performance.now() - start;
}"""


def main(cases: int) -> None:
    run = run_of(cases)
    traces = b"\n".join(trace.to_json() for _, trace in run.results.made)
    seconds, loop, text = written(run)
    size = len(text.encode()) / 1e6
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        file.write_text(text, encoding="utf-8")
        shown = in_browser(file)
    lines = [
        "# The HTML report",
        "",
        f"{datetime.now(UTC).date()}, Python {sys.version.split()[0]}; by "
        f"`python -m benchmarks.html_report`. {cases:,} cases × {STEPS} steps: the traces are "
        f"{len(traces) / 1e6:.1f} MB of JSON, {len(gzip.compress(traces)) / 1e6:.1f} MB as gzip.",
        "",
        f"A fixed loop of plain Python took {loop:.3f} s of CPU beside it, and {QUIET} s while "
        "little else ran on the machine: what else runs slows both.",
        "",
        "| | | bar | |",
        "|---|---|---|---|",
        _line("written, CPU", seconds, "cpu", "s"),
        _line("size", size, "megabytes", "MB"),
    ]
    if shown is not None:
        lines.append(_line("first paint in Chromium", shown[0], "paint", "s"))
        lines.append(_line("a case opens", shown[1], "case", "s"))
    report = "\n".join(lines) + "\n"
    (HERE / "HTML.md").write_text(report, encoding="utf-8")
    print(report)


def _line(name: str, value: float, bar: str, unit: str) -> str:
    verdict = "met" if value <= BARS[bar] else "**missed**"
    return f"| {name} | {value:.2f} {unit} | {BARS[bar]:g} {unit} | {verdict} |"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else CASES)
