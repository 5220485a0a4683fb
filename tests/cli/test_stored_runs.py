"""Commands on stored runs: where they look, and what they refuse to print or write."""

from __future__ import annotations

import pytest

from tests.engine.conftest import project, says  # noqa: F401
from tests.postgres import postgres_url  # noqa: F401


def test_baselines_are_listed_where_they_are_saved(project):  # noqa: F811
    (project.folder / "deep").mkdir()
    project.spec(says("a"), name="deep/spec.yaml", runner="an_agent:run")
    (project.folder / "deep" / "an_agent.py").write_text(
        "def run(question):\n    return question\n"
    )
    assert project.run(spec="deep/spec.yaml").code == 0
    assert project.command("baseline", "save").code == 0
    listed = project.command("baseline", "list")
    assert (listed.code, "deep/baselines/spec/a.json" in listed.out) == (0, True)
    assert '"output": "a"' in project.command("baseline", "show", "a").out


def test_show_refuses_an_unknown_ending_as_run_does(project):  # noqa: F811
    project.spec(says("a"))
    project.run()
    shown = project.command("show", "latest", "-o", "page.xyz")
    assert (shown.code, "there is no report format for .xyz" in shown.err) == (2, True)
    assert not (project.folder / "page.xyz").exists()


@pytest.mark.postgres
def test_a_password_is_not_printed_with_the_command_that_continues(project, postgres_url):  # noqa: F811
    project.spec(says("a", "x"), says("b"))
    before, _, database = postgres_url.rpartition("/")
    user, _, host = before.removeprefix("postgresql://").partition("@")
    name, _, password = user.partition(":")
    address = f"postgresql://{name}@{host}/{database}?password={password}"
    stopped = project.command("run", "spec.yaml", "-j", "1", "--fail-fast", "--store", address)
    assert "continue with: trialrun run spec.yaml --resume --store postgresql" in stopped.err
    assert password not in stopped.err
    assert "password=***" in stopped.err
