"""Where a run came from is recorded and shown: commit, CI, labels, agents and models."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.engine.conftest import says
from trialrun import Step, Trace
from trialrun.engine.origin import NamesSeen, origin_of

CI = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID", "GITHUB_REF_NAME")
CI += ("GITHUB_HEAD_REF", "CI_JOB_URL", "CI_PIPELINE_URL", "CI_COMMIT_REF_NAME", "BUILD_URL")


@pytest.fixture(autouse=True)
def outside_of_ci(monkeypatch):
    for name in (*CI, "BRANCH_NAME"):
        monkeypatch.delenv(name, raising=False)


def git(folder, *arguments):
    names = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    done = subprocess.run(
        ["git", *names, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "trunk")
    (folder / "agent.py").write_text("one\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def test_the_commit_and_the_branch_are_recorded(repository):
    found = origin_of(repository)
    assert found["commit"] == git(repository, "rev-parse", "HEAD")
    assert (found["branch"], found["dirty"]) == ("trunk", False)


def test_a_changed_or_staged_file_is_dirty_and_an_untracked_or_touched_one_is_not(repository):
    file = repository / "agent.py"
    (repository / "new.txt").write_text("x")
    file.write_text("one\n")  # the same content at another time
    assert origin_of(repository)["dirty"] is False
    file.write_text("two\n")
    assert origin_of(repository)["dirty"] is True
    git(repository, "add", "agent.py")
    assert origin_of(repository)["dirty"] is True
    git(repository, "commit", "-q", "-m", "second")
    assert origin_of(repository)["dirty"] is False
    file.unlink()
    assert origin_of(repository)["dirty"] is True


def test_nothing_that_the_repository_names_is_run(repository):
    ran = repository / "ran"
    (repository / ".gitattributes").write_text("* filter=evil\n")
    git(repository, "config", "filter.evil.clean", f"touch {ran}; cat")
    git(repository, "config", "core.fsmonitor", f"touch {ran}")
    (repository / "agent.py").write_text("two\n")
    assert origin_of(repository)["dirty"] is True
    assert not ran.exists()


def test_a_commit_that_ci_checked_out_has_the_branch_of_the_environment(repository, monkeypatch):
    git(repository, "checkout", "-q", "--detach")
    assert "branch" not in origin_of(repository)
    monkeypatch.setenv("GITHUB_REF_NAME", "main")
    assert origin_of(repository)["branch"] == "main"


@pytest.mark.parametrize("without", ["repository", "git"])
def test_without_a_repository_or_git_nothing_is_recorded(tmp_path, monkeypatch, without):
    if without == "git":
        monkeypatch.setenv("PATH", str(tmp_path))
    assert set(origin_of(tmp_path)) == {"trialrun"}
    assert set(origin_of(tmp_path / "missing")) == {"trialrun"}


@pytest.mark.parametrize(
    ("environment", "url"),
    [
        (
            {
                "GITHUB_SERVER_URL": "https://github.com",
                "GITHUB_REPOSITORY": "a/b",
                "GITHUB_RUN_ID": "7",
            },
            "https://github.com/a/b/actions/runs/7",
        ),
        ({"CI_JOB_URL": "https://gitlab.example/jobs/1"}, "https://gitlab.example/jobs/1"),
        ({"BUILD_URL": "https://ci.example/5"}, "https://ci.example/5"),
    ],
)
def test_the_page_of_the_ci_job_is_recorded(tmp_path, monkeypatch, environment, url):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert origin_of(tmp_path)["ci_url"] == url


def test_agents_and_models_are_named_as_they_were_seen():
    seen = NamesSeen({})
    for model in ("m2", "m1", "m2"):
        seen.add(Trace(input="q", agent_name="bot", steps=[Step.llm_call(model, "in", "out")]))
    assert seen.added_to({"commit": "c"}) == {
        "commit": "c",
        "agents": ["bot"],
        "models": ["m1", "m2"],
    }


def test_the_origin_is_shown_by_every_command_on_runs(project):
    git(project.folder, "init", "-q", "-b", "trunk")
    git(project.folder, "add", ".")
    git(project.folder, "commit", "-q", "-m", "first")
    commit = git(project.folder, "rev-parse", "HEAD")
    project.agent(
        """
        def run(question):
            step = {"type": "llm_call", "model": "a-model"}
            return {"output": question, "steps": [step]}
        """
    )
    project.spec(says("a"))
    secret = "sk-ant-api03-" + "k3J9x" * 8
    done = project.run("--label", "nightly", "--label", secret)
    origin = done.report["origin"]
    assert (origin["commit"], origin["branch"], origin["dirty"]) == (commit, "trunk", True)
    assert (origin["labels"], origin["models"]) == (["nightly", "[redacted]"], ["a-model"])
    project.run()
    assert project.command("show", "latest~1", "--format", "json").report["origin"] == origin
    shown = project.command("show", "latest~1")
    assert f"commit {commit[:10]} (trunk, uncommitted changes)" in shown.err
    assert "nightly" in project.command("runs").out
    assert json.loads(project.command("runs", "--json").out)[1]["origin"] == origin
    compared = project.command("compare", "latest~1", "latest")
    assert f"before: commit {commit[:10]}" in compared.out
    document = json.loads(project.command("compare", "latest~1", "latest", "--json").out)
    assert document["before_origin"] == origin
    refused = project.run("--resume", "--label", "x")
    assert (refused.code, "it takes no --label" in refused.err) == (2, True)
