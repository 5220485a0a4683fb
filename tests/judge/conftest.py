from __future__ import annotations

import asyncio
import os

import pytest

from tests.judge.servers import Server
from trialrun.judge import Judge, JudgeRequest
from trialrun.model.case import JudgeSettings, Rubric

CHAT = "openai:gpt-4o-mini"
RESPONSES = "openai-responses:gpt-4o-mini"
ANTHROPIC = "anthropic:claude-haiku-4-5"


@pytest.fixture
def serve():
    """Starts scripted servers, and stops them after the test."""
    started = []

    def start(*script, **given):
        started.append(Server(*script, **given))
        return started[-1]

    yield start
    for server in started:
        server.close()


@pytest.fixture(autouse=True)
def keys(monkeypatch, tmp_path):
    """Keys that no server checks, and a cache for this test only."""
    monkeypatch.setenv("OPENAI_API_KEY", "of no use")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")  # restored after each test
    monkeypatch.setenv("ANTHROPIC_API_KEY", "of no use")
    monkeypatch.setenv("TRIALRUN_JUDGE_CACHE", str(tmp_path / "verdicts"))


def settings(server, model=CHAT, **given):
    """A `judge:` block for a server."""
    base = server.url if model.startswith("anthropic") else f"{server.url}/v1"
    if model == RESPONSES:  # no address: the client's environment variable has it
        os.environ["OPENAI_BASE_URL"] = base
        base = None
    return JudgeSettings(model=model, base_url=base, **{"timeout": 60, **given})


def request(answer="an answer", threshold=0.7, **given):
    rubric = Rubric(rule="polite", threshold=threshold)
    return JudgeRequest(**{"rubric": rubric, "question": "a question", "answer": answer, **given})


def verdict_of(judge, *requests):
    """The judge's verdicts on the requests, asked concurrently; one verdict for one request."""

    async def ask():
        async with judge:
            return await asyncio.gather(*map(judge.verdict, requests or [request()]))

    found = asyncio.run(ask())
    return found if len(requests) > 1 else found[0]


def asked_of(server, model=CHAT, **given):
    """The verdict of a scripted server."""
    return verdict_of(Judge(settings(server, model, **given)))
