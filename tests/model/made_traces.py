"""Makes JSON texts of traces at random: sound ones, odd ones, and texts that are nearly JSON.

Used by test_decoding.py, and by `python -m tests.model.made_traces COUNT`, which compares the
two ways of reading on as many of them as wanted.
"""

from __future__ import annotations

import json
import random
import sys
import warnings

from trialrun.errors import TraceError
from trialrun.model.trace_format import decode, decode_with_care

KINDS = ["llm_call", "tool_call", "reasoning", "human_input", "handoff", "retrieval", "guardrail"]
TEXTS = ["", "a", "search", 'say "hi"', "é\u2028", "new-1", "\\", "x" * 400, "1", "\ud83d\ude00"]
MOMENTS = [
    "2026-11-19T08:00:00Z",
    "2026-11-19T08:00:01.5+01:00",
    "2026-11-19T08:00:02",
    "2026-11-19",
    "soon",
    1763539200,
]
NUMBERS = [0, 1, 2.5, 1e-7, -1, 10**15, 10**16, 10**30, "3", True, 1e15, 5.0]
ODD = [None, False, {}, [], "text", {"a": 1}, [1, {"b": None}], 7]
USAGE = [
    "prompt_tokens",
    "completion_tokens",
    "total_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "cache_write_1h_tokens",
    "input_tokens",
]
EVIDENCE = ["answer", "tool_calls", "tool_args", "tool_results", "llm_calls", "tokens", "costs"]
MODELS = ["gpt-4o", "claude-3-5-sonnet", "gemini-2.5-pro", ""]


class Twice:
    """A JSON object in which a key is given twice, which a dict cannot hold."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        self.pairs = pairs


def usage(draw: random.Random, odd: float) -> object:
    if draw.random() < odd:
        return draw.choice([*ODD, {"prompt_tokens": 5}, {"total_tokens": 0}])
    names = draw.sample(USAGE[:-1], draw.randint(2, 5)) if draw.random() < 0.5 else USAGE[:3]
    counts = {name: draw.choice([0, 3, 10, 200]) for name in names}
    if draw.random() < 0.7 and "total_tokens" in counts:
        counts["total_tokens"] = counts.get("prompt_tokens", 0) + counts.get("completion_tokens", 0)
    if draw.random() < odd:
        counts[draw.choice(USAGE)] = draw.choice(NUMBERS)
    return counts


def step(draw: random.Random, odd: float, number: int) -> object:
    if draw.random() < odd / 4:
        return draw.choice(ODD)
    kind = draw.choice(KINDS)
    made: dict[str, object] = {"type": kind}
    if draw.random() < 0.8:
        made["id"] = str(number) if draw.random() > odd else draw.choice(TEXTS)
    if kind == "tool_call" or draw.random() < 0.2:
        made["tool_name"] = draw.choice(TEXTS[1:4])
    some = {
        "status": lambda: draw.choice(["success", "failure", "pending"]),
        "timestamp": lambda: draw.choice(MOMENTS[:2]),
        "duration_ms": lambda: draw.choice(NUMBERS[:4]),
        "model": lambda: draw.choice(MODELS),
        "input": lambda: draw.choice(TEXTS),
        "output": lambda: draw.choice(TEXTS),
        "tokens": lambda: usage(draw, odd),
        "cost_usd": lambda: draw.choice(NUMBERS[:4]),
        "tool_args": lambda: {"q": draw.choice([*TEXTS, *NUMBERS, *ODD])},
        "tool_result": lambda: draw.choice([*ODD, *TEXTS]),
        "reasoning_text": lambda: draw.choice(TEXTS),
        "handoff_to": lambda: draw.choice(TEXTS),
        "parent_id": lambda: str(draw.randint(0, number + 1) if draw.random() < odd else 1),
        "error": lambda: draw.choice(TEXTS),
        "metadata": lambda: {"unusable": {"cost_usd": "-1"}} if draw.random() < 0.5 else {"k": 1},
    }
    for name in draw.sample(list(some), draw.randint(0, 7)):
        made[name] = some[name]()
    if draw.random() < odd:
        name = draw.choice([*some, "children", "tool_calls", "usage", "content", "tol_args"])
        made[name] = draw.choice([*ODD, *NUMBERS, *MOMENTS, [{"name": "f", "args": {}}]])
    return twice(draw, odd, made)


def twice(draw: random.Random, odd: float, made: dict[str, object]) -> object:
    if draw.random() < odd / 6:
        return Twice([*made.items(), draw.choice(list(made.items()))])
    return made


def trace(draw: random.Random, odd: float) -> object:
    made: dict[str, object] = {"input": draw.choice(TEXTS)}
    some = {
        "format_version": lambda: draw.choice([0, 3, -1] if draw.random() < odd else [2, 2, 1]),
        "id": lambda: draw.choice(TEXTS),
        "name": lambda: draw.choice(TEXTS),
        "output": lambda: draw.choice([*TEXTS, {"a": [1.5]}, 3, 1.5, None, True]),
        "status": lambda: draw.choice(["success", "failure", "timeout", "error"]),
        "error": lambda: draw.choice(TEXTS),
        "started_at": lambda: draw.choice(MOMENTS if draw.random() < odd else MOMENTS[:2]),
        "completed_at": lambda: draw.choice(MOMENTS if draw.random() < odd else MOMENTS[:2]),
        "duration_ms": lambda: draw.choice(NUMBERS[:4]),
        "framework": lambda: draw.choice(TEXTS),
        "recorded": lambda: draw.sample(EVIDENCE, draw.randint(0, 7)),
        "metadata": lambda: {"recorded_in_turn": ["answer"]},
    }
    for name in draw.sample(list(some), draw.randint(0, 6)):
        made[name] = some[name]()
    if draw.random() < 0.9:
        made["steps"] = [step(draw, odd, number + 1) for number in range(draw.randint(0, 6))]
    if draw.random() < odd:
        made[draw.choice([*some, "steps", "children", "answer", "spans"])] = draw.choice(
            [*ODD, *NUMBERS]
        )
    return twice(draw, odd, made)


def written(draw: random.Random, value: object) -> str:
    """JSON as different writers give it: with spaces, in ASCII, keys in any order."""
    if isinstance(value, Twice):
        inner = [f"{json.dumps(key)}: {written(draw, item)}" for key, item in value.pairs]
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, dict):
        pairs = list(value.items())
        draw.shuffle(pairs)
        return "{" + ",".join(f"{json.dumps(k)}:{written(draw, one)}" for k, one in pairs) + "}"
    if isinstance(value, list):
        return "[ " + " , ".join(written(draw, item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=draw.random() < 0.5)


def text(seed: int) -> bytes:
    """One text; most are sound traces, some are odd in one place or in many, some are cut."""
    draw = random.Random(seed)
    odd = draw.choice([0.0, 0.0, 0.05, 0.3])
    made = written(draw, trace(draw, odd)).encode("utf-8", "surrogatepass")
    if odd and draw.random() < 0.1:
        place = draw.randrange(len(made))
        made = (
            made[:place] + draw.choice([b"", b'"', b"\\ud800", b"\xff", b","]) + made[place + 1 :]
        )
    return made


_UNLIKE = ("_clock", "_numbers")  # provisional ids are counted in the whole process


def read(way, made: bytes) -> tuple:
    """What one way of reading gives: the trace with what is derived from it, or the mistake."""
    try:
        found, notes = way(made)
    except TraceError as error:
        return ("error", str(error))
    derived = {key: value for key, value in found.__dict__.items() if key not in _UNLIKE}
    kinds = [type(one.status) for one in found.steps], type(found.recorded), type(found.steps)
    return ("trace", found, derived, kinds, notes)


def main(count: int) -> None:
    warnings.simplefilter("ignore")
    typed = 0
    for seed in range(count):
        made = text(seed)
        found = read(decode, made)
        assert found == read(decode_with_care, made), (seed, made)
        typed += found[0] == "trace" and not found[-1]
    sys.stdout.write(f"{count:,} texts are read alike in both ways; {typed:,} without a note\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
