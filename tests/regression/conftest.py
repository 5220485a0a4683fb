"""A project with the support agent, its scripted model, and an ordinary spec with the gate."""

from __future__ import annotations

import shutil
import sys
import threading
from pathlib import Path

import pytest

from tests.engine.conftest import Project
from tests.engine.conftest import project as project  # the fixture
from tests.regression.scripted_model import ScriptedModel

HERE = Path(__file__).parent
GATE = {"same_calls": True, "same_arguments": True, "same_order": True, "same_errors": True}
DEFAULTS = {
    "correctness": {"expected_in_answer": ["refund"]},
    "path": {"forbidden_tools": ["delete_account"]},
    "cost": {"max_cost_multiplier": {"value": 3, "severity": "fail"}},
    "regression": GATE,
}


class Support:
    """The agent in a project: saved as a baseline, then changed."""

    def __init__(self, project: Project, kind: str):
        """`kind`: `function`, `command` or `url`, which is the quickest of them."""
        self.project = project
        self.model = ScriptedModel()
        self._server = None
        folder = project.folder
        shutil.copy(HERE / "support_agent.py", folder)
        (folder / "address").write_text(self.model.url)
        self.agent = {"runner": "support_agent:run"}
        if kind == "command":
            self.agent = {"runner": None, "command": [sys.executable, "support_agent.py"]}
        elif kind == "url":
            self.agent = {"runner": None, "url": self._serve(folder)}

    def _serve(self, folder):
        from tests.regression import support_agent

        support_agent.HERE = folder
        self._server = support_agent.serve()
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_port}/ask"

    def close(self):
        self.model.close()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    def save(self, *names, repeats=5, always=()):
        """Ask every case this often, and save the baselines; each case is named after its faults.

        `always` is the variety that the agent has before and after the change.
        """
        (self.project.folder / "always").write_text(" ".join(always))
        cases = [{"name": name, "query": f"Refund order 1012 [{name}]"} for name in names]
        self.project.spec(*cases, defaults=DEFAULTS, **self.agent)
        first = self.project.run("--repeat", repeats)
        # Before the first baseline there is nothing to compare with: that is skipped, not red.
        assert first.code == 0, first.out + first.err
        saved = self.project.command("baseline", "save")
        assert saved.code == 0, saved.err

    def change(self, *arguments, always=()):
        """The agent changes, and is asked again: the outcome, as JSON."""
        (self.project.folder / "always").write_text(" ".join(always))
        (self.project.folder / "changed").touch()
        return self.project.run(*arguments)


@pytest.fixture
def support(project, request):
    made = Support(project, getattr(request, "param", "url"))
    yield made
    made.close()


def reasons(outcome):
    """What failed in each case: `check: message`."""
    found = {}
    for result in outcome.report["results"]:
        found[result["case"]] = [
            f"{check['name']}: {check['message']}"
            for layer in result["layers"].values()
            for check in layer["checks"]
            if check["status"] == "fail" and check["severity"] == "fail"
        ]
    return found
