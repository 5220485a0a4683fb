"""Every format has a recording in `tests/data/formats`: real, or made by the real library."""

from __future__ import annotations

from tests.importers.recordings import FORMATS
from trialrun import registry
from trialrun.importers import importer_of, scan
from trialrun.model.evidence import EVIDENCE

FOLDERS = {
    "anthropic-managed-agents": "anthropic_managed",
    "claude-code": "claude_code",
    "http-cassettes": "http_cassette",
    "inspect": "inspect_log",
    "openclaw-telemetry": "openclaw",
    "otel-span-lists": "span_list",
}
"""The importers of folders that have another name."""
NO_TRACE = {
    "claude-code/costs/subagents/agent-a47e7d9c00f58840a.meta.json",
    "gemini-cli/entire-cli-warning-only.json",
    "google-adk/ecommerce.evalset.test.json",
    "otel-span-lists/made-mcp-2.3-server.json",
    "otlp/no-agent-spans.otlp.jsonl.gz",
}
"""Files that hold no run: calls that are expected, spans without an agent, a file beside one."""
FILES = [file for file in sorted(FORMATS.glob("*/**/*")) if file.is_file()]


def importer_for(file):
    folder = file.relative_to(FORMATS).parts[0]
    return FOLDERS.get(folder, folder.replace("-", "_"))


def test_every_importer_has_a_recording():
    read = {importer_for(file) for file in FILES if scan(file)[0]}
    assert read == set(registry.importers()) - {"native"}


def test_every_recording_is_found_by_its_content_and_reported():
    for file in FILES:
        traces, problems, _ = scan(file)
        if str(file.relative_to(FORMATS)) in NO_TRACE:
            assert traces == [] and problems, file
            continue
        assert traces and not problems, file
        assert importer_of(file).name == importer_for(file), file
        for trace in traces:
            found = trace.metadata["imported"]
            assert found["format"] == importer_for(file)
            assert set(found.get("absent", ())) == EVIDENCE - trace.recorded


def test_every_recording_has_a_row_in_the_notices():
    notices = (FORMATS / "NOTICES.md").read_text(encoding="utf-8")
    for file in FILES:
        name = file.relative_to(FORMATS)
        assert any(text in notices for text in (str(name), *(f"{one}/*" for one in name.parents)))
