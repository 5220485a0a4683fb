"""Jaeger's envelope around spans."""

from __future__ import annotations

from pathlib import Path

from trialrun import read_traces
from trialrun.importers import importer_of
from trialrun.importers.jaeger import JaegerImporter

FILE = Path(__file__).parents[1] / "data/formats/jaeger/adk-helm-jaeger.json.gz"


def test_one_call_seen_by_two_libraries_counts_once():
    assert importer_of(FILE).name == "jaeger"
    (trace,) = read_traces(FILE)
    assert trace.input == "list all Helm releases"
    assert trace.output.startswith("There are two Helm releases installed in the cluster:")
    assert trace.agent_name == "helm_agent"
    assert [call.tokens.prompt_tokens for call in trace.llm_calls] == [1820, 1956]
    assert [call.tokens.completion_tokens for call in trace.llm_calls] == [13, 117]
    # Only the inner span of the second call has cached tokens.
    assert [call.tokens.cached_tokens for call in trace.llm_calls] == [0, 1792]
    (call,) = trace.tool_calls
    assert (call.tool_name, call.tool_args) == ("helm_list_releases", {})
    assert call.tool_result.startswith("NAME")
    assert call.duration_ms == 57.091
    report = trace.metadata["imported"]
    assert report["repeated"] == {"model call": 2}
    # 96 spans: 4 model spans, 1 tool, 1 agent; the rest is plumbing.
    assert report["dropped"] == {"span that is structure": 90}


def test_a_duration_beyond_all_numbers_is_left_out(tmp_path):
    file = tmp_path / "t.json"
    file.write_text(JaegerImporter.example.replace("1799329", "1" + "0" * 400))
    (trace,) = read_traces(file)
    assert trace.output == "4" and trace.llm_calls[0].duration_ms is None
