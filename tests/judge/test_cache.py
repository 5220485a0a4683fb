"""Cached verdicts: the key covers what they depend on, and nothing else."""

from __future__ import annotations

import os

import pytest
from msgspec.structs import replace

from tests.judge.conftest import request, settings, verdict_of
from tests.judge.servers import score
from trialrun.judge import Judge, Material
from trialrun.judge.cache import VerdictCache
from trialrun.model.case import Rubric


def cached(server, cache, **given):
    return Judge(settings(server, **given), cache=cache)


def test_a_cached_verdict_is_used_the_second_time(serve, tmp_path):
    server, cache = serve(score(5)), VerdictCache(tmp_path / "c")
    first = verdict_of(cached(server, cache))
    second = verdict_of(cached(server, cache))
    assert len(server.asked) == 1
    assert (first.passed, second.passed) == (True, True)
    assert second.votes == [replace(first.votes[0], cached=True)]


def asked_otherwise():
    base = request()
    yield "question", replace(base, question="another"), {}
    yield "answer", replace(base, answer="another"), {}
    yield "context", replace(base, context=[Material("context", "x")]), {}
    yield "rule", replace(base, rubric=Rubric(rule="another")), {}
    yield "scale", replace(base, rubric=Rubric(rule="polite", scale=["5: yes"])), {}
    yield "examples", replace(base, rubric=Rubric(rule="polite", few_shot_examples=["x"])), {}
    yield "temperature", base, {"temperature": 0.5}
    yield "model", base, {"model": "openai:gpt-4o"}


@pytest.mark.parametrize(("what", "other", "given"), list(asked_otherwise()))
def test_the_cache_key_covers_all_that_a_verdict_depends_on(serve, tmp_path, what, other, given):
    server, cache = serve(score(5)), VerdictCache(tmp_path / "c")
    verdict_of(cached(server, cache))
    verdict_of(cached(server, cache, **given), other)
    assert len(server.asked) == 2, what


def test_another_prompt_version_has_another_key(serve, tmp_path, monkeypatch):
    server, cache = serve(score(5)), VerdictCache(tmp_path / "c")
    verdict_of(cached(server, cache))
    monkeypatch.setattr("trialrun.judge.cache.PROMPT_VERSION", "next")
    verdict_of(cached(server, cache))
    assert len(server.asked) == 2


def test_another_threshold_uses_the_same_score(serve, tmp_path):
    server, cache = serve(score(4)), VerdictCache(tmp_path / "c")
    assert verdict_of(cached(server, cache), request(threshold=0.5)).passed is True
    assert verdict_of(cached(server, cache), request(threshold=1.0)).passed is False
    assert len(server.asked) == 1


def test_samples_do_not_share_a_verdict(serve, tmp_path):
    server, cache = serve(score(5), score(1), score(5)), VerdictCache(tmp_path / "c")
    first = verdict_of(cached(server, cache, samples=3))
    second = verdict_of(cached(server, cache, samples=3))
    assert len(server.asked) == 3
    assert sorted(vote.score for vote in second.votes) == [1, 5, 5]
    assert (first.score, second.passed) == (second.score, True)


def test_failures_are_not_cached(serve, tmp_path):
    server, cache = serve(score(0)), VerdictCache(tmp_path / "c")
    verdict_of(cached(server, cache, retries=0))
    verdict_of(cached(server, cache, retries=0))
    assert len(server.asked) == 2
    assert cache.stats().verdicts == 0


@pytest.mark.parametrize("damage", [b"", b"{", b'{"model": "m"}', b"\xff\xfe", b'{"score": "5"}'])
def test_a_damaged_cache_file_is_ignored(serve, tmp_path, damage):
    server, cache = serve(score(5)), VerdictCache(tmp_path / "c")
    verdict_of(cached(server, cache))
    (file,) = (tmp_path / "c").glob("*/*.json")
    file.write_bytes(damage)
    assert verdict_of(cached(server, cache)).passed is True
    assert len(server.asked) == 2


def test_an_unwritable_cache_folder_is_not_an_error(serve, tmp_path):
    (tmp_path / "c").write_text("a file is in the way")
    server, cache = serve(score(5)), VerdictCache(tmp_path / "c")
    assert verdict_of(cached(server, cache)).passed is True
    assert (cache.stats().verdicts, cache.clear()) == (0, 0)


def test_stats_and_clear(serve, tmp_path):
    server, cache = serve(score(5)), VerdictCache(tmp_path / "c")
    verdict_of(cached(server, cache), request("a"), request("b"))
    found = cache.stats()
    assert (found.verdicts, found.saved_usd) == (2, pytest.approx(0.00042))
    assert found.size > 0
    assert (cache.clear(), cache.stats().verdicts) == (2, 0)
    assert (tmp_path / "c" / ".gitignore").read_text() == "*\n"


def test_secrets_in_a_rationale_are_not_cached(serve, tmp_path):
    from tests.judge.servers import Reply
    from trialrun.redaction import Redactor

    secret = "sk-proj-Ab3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA1bC2dE3fG4hI5jK6"
    server = serve(Reply('{"rationale": "it shows %s", "score": 1}' % secret))  # noqa: UP031
    cache = VerdictCache(tmp_path / "c")
    verdict_of(Judge(settings(server), cache=cache, redactor=Redactor().plain))
    kept = "".join(file.read_text() for file in (tmp_path / "c").glob("*/*.json"))
    assert "it shows [redacted]" in kept
    assert "sk-proj" not in kept


def test_the_environment_sets_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("TRIALRUN_JUDGE_CACHE", str(tmp_path / "here"))
    assert VerdictCache().folder == tmp_path / "here"
    monkeypatch.setenv("TRIALRUN_JUDGE_CACHE", " ")
    assert os.fspath(VerdictCache().folder) == ".trialrun/judge"


def test_the_cache_commands_work(serve, tmp_path, monkeypatch, capsys):
    from trialrun.cli.main import main

    monkeypatch.setenv("TRIALRUN_JUDGE_CACHE", str(tmp_path / "c"))
    verdict_of(cached(serve(score(5)), VerdictCache()))
    assert main(["cache", "stats"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"1 verdict in {tmp_path / 'c'}, ")
    assert said.endswith("asking for them again would cost $0.00021\n")
    assert main(["cache", "clear"]) == 0
    assert capsys.readouterr().out == f"1 verdict removed from {tmp_path / 'c'}\n"
    assert main(["cache", "stats"]) == 0
    assert capsys.readouterr().out.startswith("0 verdicts in")
