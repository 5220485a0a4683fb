"""`--resume` refuses verdicts that the current judge could not have given."""

from __future__ import annotations

import sys

import pytest
import yaml

from tests.judge.servers import score
from trialrun.cli.main import main

STOPS = "def run(question):\n    assert question != 'b'\n    return question\n"


@pytest.fixture
def project(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [part for part in sys.path if "pytest" not in part])
    (tmp_path / "agent.py").write_text(STOPS)

    def spec(judge, **rubric):
        correctness = {"llm_judge": [{"rule": "r", **rubric}]}
        queries = [{"name": name, "query": name, "correctness": correctness} for name in "abc"]
        written = {"runner": "agent:run", "judge": judge, "queries": queries}
        (tmp_path / "spec.yaml").write_text(yaml.safe_dump(written))

    def run(*arguments):
        capsys.readouterr()
        code = main(["run", "spec.yaml", "-j", "1", *arguments])
        return code, capsys.readouterr().err

    run.spec = spec
    return run


def refused(project):
    code, err = project("--resume")
    return code == 2 and "finished cases were changed in the spec since: a, b" in err


def test_verdicts_of_an_unaudited_judge_are_not_kept_once_an_audit_is_required(project, serve):
    server = serve(score(5))
    block = {"model": "m", "base_url": f"{server.url}/v1", "timeout": 60}
    project.spec(block)
    project("--fail-fast")
    project.spec({**block, "require_audit": True})
    assert refused(project)
    project.spec({**block, "timeout": 9, "max_concurrency": 1})  # no verdict
    assert not refused(project)


@pytest.mark.parametrize("rubric", [{}, {"model": "openai-chat:other"}])
def test_verdicts_from_another_address_are_not_kept(project, serve, monkeypatch, rubric):
    """The address may be set only in the environment: the spec is the same."""
    kind, strict = serve(score(5)), serve(score(1))
    project.spec({"model": "openai-chat:gpt-4o-mini", "timeout": 60}, **rubric)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{kind.url}/v1")
    project("--fail-fast")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{strict.url}/v1")
    assert refused(project)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{kind.url}/v1")
    assert not refused(project)


@pytest.mark.provider
def test_the_address_of_a_rubrics_own_model_counts_beside_the_blocks_address(
    project, serve, monkeypatch
):
    """A model of another provider is asked at its own address, not at the block's."""
    server, other = serve(score(5)), serve(score(1))
    block = {"model": "anthropic:claude-haiku-4-5", "base_url": server.url, "timeout": 60}
    project.spec(block, model="openai-chat:gpt-4o-mini")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    project("--fail-fast")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{other.url}/v1")
    assert refused(project)
