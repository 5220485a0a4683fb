"""MLflow's traces."""

from __future__ import annotations

from pathlib import Path

from trialrun import read_traces
from trialrun.importers import importer_of

FILE = Path(__file__).parents[1] / "data/formats/mlflow/made-3.17.json"


def test_a_trace_with_base64_ids_and_json_in_strings():
    assert importer_of(FILE).name == "mlflow"
    (trace,) = read_traces(FILE)
    assert trace.id == "ae422b9f50333ab72314c4404be9cc6d"  # "rkIrn1AzOrcjFMRAS+nMbQ=="
    assert (trace.input, trace.output) == ("Weather in Paris?", "18 in Paris.")
    assert [call.model for call in trace.llm_calls] == ["gpt-4o-mini", "gpt-4o-mini"]
    assert trace.total_tokens == 240  # the sum in the metadata is not added
    (call,) = trace.tool_calls
    assert (call.tool_args, call.tool_result) == ({"city": "Paris"}, {"city": "Paris", "temp": 18})
    assert call.parent_id == trace.llm_calls[0].id


def test_several_on_lines(tmp_path):
    text = FILE.read_text().strip()
    other = text.replace("rkIrn1AzOrcjFMRAS+nMbQ==", "rkIrn1AzOrcjFMRAS+nMbA==")
    file = tmp_path / "traces.jsonl"
    file.write_text(f"{text}\n{other}\n")
    assert [trace.total_tokens for trace in read_traces(file)] == [240, 240]
