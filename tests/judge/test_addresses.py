"""The address of a model: cached verdicts depend on it, wherever it is set."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.judge.conftest import request, settings, verdict_of
from tests.judge.servers import Reply, score
from tests.tiers import all_but_first
from trialrun.judge import Judge
from trialrun.judge.cache import VerdictCache
from trialrun.model.case import JudgeSettings, Rubric


def gemini(number):
    call = {"name": "give_verdict", "args": {"rationale": "", "score": number}}
    content = {"role": "model", "parts": [{"functionCall": call}]}
    return Reply(body=json.dumps({"candidates": [{"content": content, "finishReason": "STOP"}]}))


@pytest.mark.parametrize(
    ("model", "variable", "reply"),
    all_but_first(
        pytest.mark.provider,
        [
            ("azure:gpt-4o", "AZURE_OPENAI_ENDPOINT", score),
            ("google:gemini-2.5-flash", "GOOGLE_GEMINI_BASE_URL", gemini),
            ("anthropic:claude-haiku-4-5", "ANTHROPIC_BASE_URL", score),
            ("ollama:llama3", "OLLAMA_BASE_URL", score),
        ],
    ),
)
def test_cached_verdicts_of_one_address_are_not_used_for_another(
    serve, tmp_path, monkeypatch, model, variable, reply
):
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "of no use")
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-06-01")
    monkeypatch.setenv("GOOGLE_API_KEY", "of no use")
    kind, strict = serve(reply(5)), serve(reply(1))
    cache = VerdictCache(tmp_path / "c")
    block = JudgeSettings(model=model, timeout=60)
    for _ in range(2):
        for server, passed in ((kind, True), (strict, False)):
            monkeypatch.setenv(variable, server.url)
            assert verdict_of(Judge(block, cache=cache)).passed is passed
            assert server.url in Judge(block).identity()
    assert (len(kind.asked), len(strict.asked)) == (1, 1)


def test_the_azure_protocol_version_is_part_of_the_address(monkeypatch):
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "of no use")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "http://127.0.0.1:1")
    judges = []
    for version in ("2024-06-01", "2024-10-21"):
        monkeypatch.setenv("OPENAI_API_VERSION", version)
        judges.append(Judge("azure:gpt-4o").identity())
    assert judges[0] != judges[1]


@pytest.mark.provider
def test_a_cached_verdict_of_a_common_provider_loads_no_client(serve, tmp_path):
    """The clients take seconds to import: a rerun whose verdicts are all cached needs none."""
    server = serve(score(5))
    cache = tmp_path / "c"
    verdict_of(Judge(settings(server, "anthropic:claude-haiku-4-5"), cache=VerdictCache(cache)))
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from tests.judge.conftest import request, verdict_of\n"
        "from trialrun.judge import Judge\n"
        "from trialrun.judge.cache import VerdictCache\n"
        "from trialrun.model.case import JudgeSettings\n"
        f"block = JudgeSettings(model='anthropic:claude-haiku-4-5', base_url={server.url!r})\n"
        f"judge = Judge(block, cache=VerdictCache(Path({str(cache)!r})))\n"
        "print(verdict_of(judge).votes[0].cached, judge.identity())\n"
        "print([name for name in ('pydantic_ai', 'anthropic', 'httpx2') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[1] == "[]", done.stdout
    assert done.stdout.startswith("True ")


# A rubric's own model, beside a block with an address


@pytest.mark.parametrize(
    ("block", "own", "sent"),
    [
        (
            "llama3.2:3b",
            "mistral:7b",
            "mistral:7b",
        ),  # the tag of a local model, and the name of a provider
        ("llama3.2:3b", "qwen:7b", "qwen:7b"),
        ("llama3", "phi:x", "phi:x"),
        ("openai:a", "openai-chat:b", "b"),
        ("openai-chat:a", "openai:b", "b"),
        ("openai:a", "b", "b"),
    ],
)
def test_a_rubrics_own_model_is_asked_at_the_address_of_the_block(
    serve, monkeypatch, block, own, sent
):
    monkeypatch.setenv("MISTRAL_API_KEY", "of no use")
    server = serve(score(5))
    judge = Judge(settings(server, block, retries=0))
    found = verdict_of(judge, request(rubric=Rubric(rule="r", model=own)))
    assert (found.passed, [body["model"] for body in server.asked]) == (True, [sent])


@pytest.mark.parametrize("block", ["llama3.2:3b", "mistral:7b", "anthropic:claude-haiku-4-5"])
def test_a_model_of_another_provider_is_not_asked_at_the_address_of_the_block(
    serve, monkeypatch, block
):
    local, real = serve(score(5)), serve(score(1))
    monkeypatch.setenv("OPENAI_BASE_URL", f"{real.url}/v1")
    judge = Judge(settings(local, block))
    found = verdict_of(judge, request(rubric=Rubric(rule="r", model="openai:gpt-4o-mini")))
    assert (found.passed, len(local.asked), len(real.asked)) == (False, 0, 1)
