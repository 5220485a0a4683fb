"""Time LCS, set and loop measures; arguments: `trialrun` or `ciagent`, and the number of calls."""

import json
import random
import statistics
import sys
import time

tool, size = sys.argv[1], int(sys.argv[2])
if tool == "trialrun":
    from trialrun.measures.loops import loop_count
    from trialrun.measures.sequence import sequence_lcs
    from trialrun.measures.sets import tool_f1, tool_precision, tool_recall
else:
    from ciagent.engine.metrics import compute_sequence_lcs as sequence_lcs
    from ciagent.engine.metrics import compute_tool_f1 as tool_f1
    from ciagent.engine.metrics import compute_tool_precision as tool_precision
    from ciagent.engine.metrics import compute_tool_recall as tool_recall
    from ciagent.engine.metrics import detect_loops as loop_count

rng = random.Random(7)
names = [f"tool_{number}" for number in range(12)]
pairs = [
    ([rng.choice(names) for _ in range(size)], [rng.choice(names) for _ in range(size)])
    for _ in range(5)
]


def once(calls, reference):
    expected, used = set(reference), set(calls)
    return (
        sequence_lcs(calls, reference),
        tool_recall(expected, used),
        tool_precision(expected, used),
        tool_f1(expected, used),
        loop_count(calls),
    )


once(*pairs[0])
repeats = max(1, (200_000 if tool == "trialrun" else 4_000) // (size * 10))
rounds = []
for _ in range(5):
    start = time.perf_counter()
    for _ in range(repeats):
        for calls, reference in pairs:
            once(calls, reference)
    rounds.append((time.perf_counter() - start) / repeats / len(pairs) * 1e6)
answers = [once(*pair) for pair in pairs]
json.dump({"microseconds": statistics.median(rounds), "answers": answers}, sys.stdout)
