"""These tests need frameworks in separate environments, which `make test-all` makes.

LangGraph, the OpenAI Agents SDK and others are in one; CrewAI and LlamaIndex, which need an earlier
version of OpenAI's SDK, are in another. Each environment runs the tests of what is in it.
"""

from __future__ import annotations

import importlib.util

import pytest
from tests.scripted_models import scripted_models

collect_ignore = [
    file
    for file, module in (("test_frameworks.py", "langgraph"), ("test_crews.py", "crewai"))
    if importlib.util.find_spec(module) is None
]


@pytest.fixture(scope="module")
def address():
    with scripted_models() as found:
        yield found


@pytest.fixture
def environment(address, monkeypatch, tmp_path):
    """The models of all providers are the scripted ones; nothing is sent elsewhere."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.setenv(name, f"{address}/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
    monkeypatch.setenv("CREWAI_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("CREWAI_TRACING_ENABLED", "false")
    monkeypatch.setenv("CREWAI_STORAGE_DIR", str(tmp_path / "crewai"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
