"""Measure how well the evidence ledger agrees with labelled cases, and how long it takes.

`make bench` runs it and writes benchmarks/VERIFICATION.md. Alone:
`python -m benchmarks.verification`.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from tests.verification.labelled import Score, rows  # noqa: E402

from trialrun import Step, Trace  # noqa: E402
from trialrun.model.ledger import ClaimVerdict  # noqa: E402
from trialrun.verification import audit  # noqa: E402

GIVEN = HERE / "verification"
OWN = HERE.parent / "tests" / "verification" / "cases"
MEGABYTES = 5_000_000
STEPS = 10_000
ROUNDS = 5

HEAD = """\
# The evidence ledger on labelled cases

Made by `make bench`. "Given" are the cases in `benchmarks/verification`, labelled twice,
independently, with equal labels; "own" those in `tests/verification/cases` (its README says how
each was labelled). A test checks every verdict on them.

What to expect of unseen cases: each set was measured once before it was read, and then used to
change the rules. In the order in which they were measured:

| set | compliance of runs | claim verdicts | texts |
|---|---|---|---|
| given, at first sight | 75.5% of 49 | 66.7% | 73.7% of 19 |
| given, the half that was kept unseen | 91.7% of 24 | 72.2% | |
| e | 83.3% of 60 | 77.2% | |
| f | 74.0% of 50 | 71.2% | 86.7% of 30 |
| g (texts: g) | 85.0% of 60 | 77.2% | 78.3% of 60 |
| h | 80.0% of 60 | 73.8% | |
| i (texts: j) | 81.7% of 60 | 71.3% | 86.0% of 50 |
| k | 83.3% of 60 | 76.7% | |
| l | 85.0% of 60 | 80.8% | |
| m | 80.0% of 60 | 85.2% | |
| n (unusual stacks) | 73.3% of 60 | 74.4% | |
| o (plain, everyday runs) | 95.0% of 60 | 83.7% | |
| q (faults that a busy reviewer would miss) | 76.7% of 60 | 78.3% | |
| r (half plain, half unusual) | 80.0% of 60 | 77.2% | |
| s (plain, everyday runs) | 95.0% of 60 | 89.2% | |

What follows was measured after the rules had been changed for all of them (60 texts, g-own-, were
written together with the rules and say little): expect figures on new cases between these
and those.

"""


def runs(*files: Path) -> Score:
    score = Score()
    for file in files:
        for row in rows(file):
            score.run(row)
    return score


def texts(*files: Path) -> Score:
    score = Score()
    for file in files:
        for row in rows(file):
            score.text(row)
    return score


def line(name: str, score: Score, bar: float | None) -> str:
    precision, recall, f1 = score.not_compliant()
    total = sum(score.compliance.values())
    met = "" if bar is None else f"≥ {bar:.0%}: {'met' if score.accuracy >= bar else 'MISSED'}"
    shares = (score.accuracy, precision, recall, f1)
    return f"| {name} | {total} | {' | '.join(f'{share:.1%}' for share in shares)} | {met} |"


def confusion(score: Score) -> list[str]:
    found = [*(verdict.value for verdict in ClaimVerdict), "not found"]
    table = ["| labelled ↓, found → | " + " | ".join(found) + " |", "|---" * (len(found) + 1) + "|"]
    for wanted in found[:-1]:
        cells = [str(score.claims[wanted, one] or "") for one in found]
        table.append(f"| {wanted} | " + " | ".join(cells) + " |")
    return table


def mixed_run() -> Trace:
    """Ten thousand steps of a long session: reads, edits, tests, linters."""
    steps = []
    for number in range(STEPS // 4):
        path = f"/repo/pkg{number % 50}/module{number}.py"
        test = f"cd /repo && pytest tests/pkg{number % 50}/test_module{number}.py -q 2>&1 | tail -5"
        steps += [
            Step.tool_call("Read", {"file_path": path}, "x = 1\n" * 20),
            Step.tool_call("Edit", {"file_path": path, "new_string": f"value_{number} = 1"}, "ok"),
            Step.tool_call("Bash", {"command": test}, "3 passed in 0.1s"),
            Step.tool_call("Bash", {"command": "cd /repo && ruff check ."}, "All checks passed!"),
        ]
    return Trace(
        input="x", output="All tests pass and the bug is fixed. ruff is clean.", steps=steps
    )


def wordy_run() -> Trace:
    """The same with realistic output: two kilobytes per call, and no command twice."""
    code = "".join(
        f"def value_{line}(self, name):\n    return self.names.get(name, {line})  # or nothing\n\n"
        for line in range(25)
    )
    steps = []
    for number in range(STEPS // 4):
        path = f"/repo/pkg{number % 50}/module{number}.py"
        tests = f"tests/pkg{number % 50}/test_module{number}.py"
        lines = [f"{tests}::test_{case} PASSED [{case * 4}%]" for case in range(1, 26)]
        edit = {"file_path": path, "old_string": "x", "new_string": f"value_{number} = 1"}
        search = f"cd /repo && grep -rn value_{number} pkg{number % 50} && git status --short"
        steps += [
            Step.tool_call("Read", {"file_path": path}, code),
            Step.tool_call("Edit", edit, f"The file {path} has been updated:\n{code}"),
            Step.tool_call(
                "Bash",
                {"command": f"cd /repo && pytest {tests} -v 2>&1 | tail -50"},
                "\n".join([*lines, "", "===== 25 passed in 0.31s ====="]),
            ),
            Step.tool_call("Bash", {"command": search}, code),
        ]
    return Trace(input="x", output="All tests pass and the bug is fixed.", steps=steps)


def unchecked_run() -> Trace:
    """Five thousand edits, and as many tests of other files: no edit is ever verified."""
    half = STEPS // 2
    steps = [
        Step.tool_call("Edit", {"file_path": f"/repo/a{number}/b{number}.py"}, "ok")
        for number in range(half)
    ]
    steps += [
        Step.tool_call("Bash", {"command": f"pytest tests/test_other{number}.py"}, "3 passed in 1s")
        for number in range(half)
    ]
    return Trace(input="x", output="All tests pass and the bug is fixed.", steps=steps)


WORST = {
    "edits without reads": "Edited a.py. It should work. ",
    'lines of "status"': "status: ok\n",
    "unclosed fences": "```\n$ pytest\n",
    "bullets": "- x\n",
}


def seconds(make: Callable[[], Trace]) -> float:
    """The median time of an audit; a new trace each round, because a trace caches its ledger."""
    taken = []
    for _ in range(ROUNDS):
        trace = make()
        began = time.perf_counter()
        audit(trace)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def times() -> list[str]:
    table = ["| what | median | bar |", "|---|---|---|"]
    for name, make in (
        ("10,000 steps, mixed", mixed_run),
        ("10,000 steps, nothing discharged", unchecked_run),
    ):
        took = seconds(make)
        table.append(f"| {name} | {took:.2f} s | ≤ 1 s: {'met' if took <= 1 else 'MISSED'} |")
    took = seconds(wordy_run)
    table.append(f"| 10,000 steps, mixed, 2 kB of output each | {took:.2f} s | none was set |")
    for name, piece in WORST.items():
        text = piece * (MEGABYTES // len(piece))
        took = seconds(lambda text=text: Trace(input="x", output=text))
        table.append(
            f"| 5 MB of text: {name} | {took:.2f} s | ≤ 2 s: {'met' if took <= 2 else 'MISSED'} |"
        )
    return table


def report() -> str:
    timed = times()  # first: a thousand labelled cases in memory would slow it down
    given, own = runs(GIVEN / "traces.jsonl"), runs(OWN / "traces.jsonl")
    given_texts, own_texts = texts(GIVEN / "texts.jsonl"), texts(OWN / "texts.jsonl")
    claims = given.claim_accuracy
    parts = [
        "## Compliance\n",
        'Precision, recall and F1 are those of "not compliant".\n',
        "| cases | | accuracy | precision | recall | F1 | bar |",
        "|---|---|---|---|---|---|---|",
        line("runs, given", given, 0.95),
        line("runs, own", own, None),
        line("texts, given", given_texts, 0.85),
        line("texts, own", own_texts, None),
        "\n## Claim verdicts\n",
        f"Exact verdicts: given {claims:.1%} of {sum(given.claims.values())} "
        f"(bar ≥ 85%: {'met' if claims >= 0.85 else 'MISSED'}), "
        f"own {own.claim_accuracy:.1%} of {sum(own.claims.values())}.\n",
        "Given:\n",
        *confusion(given),
        "\nOwn:\n",
        *confusion(own),
        "\n## Time\n",
        *timed,
        "\n## Every miss\n",
    ]
    for name, score in (
        ("given", given),
        ("given texts", given_texts),
        ("own", own),
        ("own texts", own_texts),
    ):
        parts.append(f"\n{name}:\n")
        parts += [f"- {' '.join(miss.split())}" for miss in score.misses] or ["- none"]
    return HEAD + "\n".join(parts) + "\n"


def main() -> None:
    (HERE / "VERIFICATION.md").write_text(report(), encoding="utf-8")
    print(f"wrote {HERE / 'VERIFICATION.md'}")


if __name__ == "__main__":
    main()
