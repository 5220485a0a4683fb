"""Tempo's envelopes around spans."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from trialrun import read_traces
from trialrun.importers import importer_of

FILE = Path(__file__).parents[1] / "data/formats/tempo/tempo-batches.json.gz"


def check(file):
    assert importer_of(file).name == "tempo"
    (trace,) = read_traces(file)
    assert trace.output.startswith("There are two Helm releases currently deployed:")
    # `call_llm`, `generate_content` and `openai.chat` are the same call seen three times.
    assert trace.total_llm_calls == 2
    assert trace.total_tokens == 4648 + 129
    assert trace.tool_call_sequence == ["helm_list_releases"]
    assert trace.metadata["imported"]["repeated"] == {"model call": 4}


def test_the_old_envelope():
    check(FILE)


def test_the_new_envelope(tmp_path):
    batches = json.loads(gzip.decompress(FILE.read_bytes()))["batches"]
    file = tmp_path / "trace.json"
    file.write_text(json.dumps({"trace": {"resourceSpans": batches}}))
    check(file)
