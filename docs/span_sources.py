"""Libraries whose spans `otlp`, `span_list` and the other readers of spans read, for formats.md.

Each has a recording among the tests' data; what its spans never record is read from that.
"""

from __future__ import annotations

from pathlib import Path

from trialrun.importers import scan

DATA = Path(__file__).parents[1] / "tests" / "data" / "formats"
SPANS = "otel-span-lists"
SOURCES = (
    ("Strands Agents", f"{SPANS}/made-strands-1.62.json.gz", "on, once a provider is set"),
    ("pydantic-ai", f"{SPANS}/made-pydantic-ai-mcp-2.3.json.gz", "`Agent.instrument_all()`"),
    ("Logfire", f"{SPANS}/made-logfire-5.2.json.gz", "`logfire.instrument_pydantic_ai()`"),
    (
        "Google ADK",
        f"{SPANS}/made-google-adk-2.13.json.gz",
        "`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY`",
    ),
    ("AutoGen", f"{SPANS}/autogen_live_spans.json", "on, once a provider is set"),
    (
        "OpenInference, LangGraph",
        f"{SPANS}/made-langgraph-console.json.gz",
        "`LangChainInstrumentor().instrument()`",
    ),
    (
        "OpenInference, LlamaIndex",
        f"{SPANS}/made-llama-index-0.14.json.gz",
        "`LlamaIndexInstrumentor().instrument()`",
    ),
    (
        "OpenInference, CrewAI",
        f"{SPANS}/made-crewai-1.15.json.gz",
        "`CrewAIInstrumentor().instrument()`; the instrumentor of the model's SDK adds model calls",
    ),
    (
        "OpenInference, OpenAI Agents SDK",
        f"{SPANS}/made-openai-agents-openinference-twice.json.gz",
        "`OpenAIAgentsInstrumentor().instrument()`",
    ),
    (
        "Phoenix",
        f"{SPANS}/made-phoenix-20.26-get-spans.json",
        "`Client().spans.get_spans(…)`; `get_spans_dataframe(…)` as JSON lines",
    ),
    (
        "OpenLLMetry (Traceloop)",
        f"{SPANS}/made-langgraph-openllmetry.json.gz",
        "`Traceloop.init()`",
    ),
    (
        "LangSmith in its OpenTelemetry mode",
        f"{SPANS}/made-langgraph-langsmith.json.gz",
        "`LANGSMITH_TRACING_MODE=otel`",
    ),
    (
        "Vercel AI 6",
        f"{SPANS}/made-vercel-ai-6.json",
        "`experimental_telemetry: {isEnabled: true}` in each call",
    ),
    ("Vercel AI 7", f"{SPANS}/made-vercel-ai-7.json", "`registerTelemetry` with `@ai-sdk/otel`"),
    (
        "MCP SDK, beside the spans of an agent",
        f"{SPANS}/made-pydantic-ai-mcp-2.3.json.gz",
        "on, once a provider is set; a server alone is not a run",
    ),
    (
        "Claude Code",
        "otlp/made-claude-code-2.1.197.otlp.jsonl",
        "`CLAUDE_CODE_ENABLE_TELEMETRY=1`, spans and log records together",
    ),
)


def rows() -> list[tuple[str, str, str]]:
    """The library, what its spans lack, and how to turn them on."""
    found = []
    for name, file, switch in SOURCES:
        report = scan(DATA / file)[0][-1].metadata["imported"]
        found.append((name, ", ".join(report.get("absent", ())) or "–", switch))
    return found
