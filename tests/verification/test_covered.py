"""The index over the changes: it leaves out no pair that fits, and does not try them all."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.verification.labelled import HERE, rows
from tests.verification.runs import bash, edit, read, verdict
from trialrun import Step, Trace
from trialrun.verification import audit, covered
from trialrun.verification.coverage import fits
from trialrun.verification.covered import Covered
from trialrun.verification.deeds import TRIALS
from trialrun.verification.recording import events_of
from trialrun.verification.runners import default_table


def left_out(trace):
    """The pairs that fit, found by trying each of them, and that the index does not find."""
    events = events_of(trace, None, default_table())
    index = Covered(events)
    return [
        (look.command or look.by, change.target)
        for look in events.looks
        for change in events.changes
        if change.kind in ("file", "service", "data")
        and fits(look, index.changes[change.key], events)
        and not index.has(look, change)
    ]


def latest_by_trying(looks, moments, index):
    return max(
        (
            moment
            for key, moment in moments.items()
            for look in looks
            if fits(look, index.changes[key], index.events)
        ),
        default=0,
    )


def test_of_labelled_runs_no_pair_is_left_out():
    runs = {
        row["id"]: Trace.from_dict(row["trace"]) for row in rows(HERE / "cases" / "traces.jsonl")
    }
    assert {name: pairs for name, run in runs.items() if (pairs := left_out(run))} == {}


FILES = [
    "/r/src/orders/api.py",
    "/r/src/orders/models.py",
    "src/orders/api.py",
    "/r/web/app.ts",
    "/r/web/app.test.ts",
    "/r/tests/orders/test_api.py",
    "/r/Makefile",
    "/r/pyproject.toml",
    "/r/k8s/api.yaml",
    "/r/docker-compose.yml",
    "/r/README.md",
    "/r/infra/main.tf",
    "/r/db/migrations/001_init.sql",
    "/r/scripts/soak.sh",
    "/r/tool.py",
    "/r/packages/billing-core/index.js",
    "/r/tests/fixtures/a.json",
    "web1:/etc/nginx/nginx.conf",
    "/r/.env",
    "/r/web/[id].tsx",
    "/r/web/My Page.tsx",
    "/r/src/date-utils.py",
    "/r/src/.hidden.py",
    "/r/docs/guide/a.md",
]
COMMANDS = [
    "pytest", "pytest tests/orders", "cd /r && pytest tests/orders/test_api.py", "make test",
    "npx jest web/app.test.ts", "npm test --workspace billing-core", "npx playwright test e2e/api.spec.ts",
    "ruff check .", "ruff check src/orders", "mypy src", "npm run build", "terraform validate",
    "python tool.py", "cd /r && python tool.py", "scripts/soak.sh", "./tool.py --fast", "python -c 'import api'",
    "curl -s localhost:8000/health", "curl -s https://api.example.com/health",
    "kubectl apply -f k8s/", "kubectl apply -f k8s/api.yaml", "kubectl rollout status deploy/api",
    "kubectl set image deploy/billing-worker w=w:2", "kubectl get pods -l app=billing",
    "kubectl rollout status deploy/billing",
    "docker compose up -d", "docker compose ps", "terraform apply -auto-approve", "terraform plan",
    "systemctl restart nginx", "systemctl is-active nginx", "ssh web1 systemctl reload nginx",
    "ssh web1 curl -s localhost", "psql -c 'update orders set a = 1'", "psql -c 'select * from shop.orders'",
    "psql -c 'select * from pg_tables'", "sqlite3 a.db 'delete from orders'", "alembic upgrade head",
    "cd /r/docs && sphinx-build -b html manual out", "python -c 'import date-utils-extra'",
    "git diff", "git diff --stat", "git diff src", "git status", "grep -rn api src", "grep -rn gone .",
    "cat src/orders/api.py", "cd src && cat orders/api.py", "ls -la src/orders", "rm -r src/orders",
    "git checkout -- src/orders/api.py", "git stash", "git stash pop", "mv web/app.ts web/main.ts",
    "gh run view 12", "docker compose config", "nginx -t", "npm publish", "npm view billing-core",
]  # fmt: skip
OUTPUTS = [
    "",
    "ok",
    "3 passed in 0.1s",
    "src/orders/api.py:1: api\n" * 12,
    "200",
    "./.env:1:API=2\nweb/[id].tsx:3: api\nweb/My Page.tsx:4: api",
]
STEPS = st.one_of(
    st.sampled_from(FILES).map(edit),
    st.sampled_from(FILES).map(lambda path: read(path, "import api\nx = 1")),
    st.sampled_from(FILES).map(
        lambda path: Step.tool_call("Write", {"file_path": path, "content": "import api"}, "ok")
    ),
    st.builds(bash, st.sampled_from(COMMANDS), st.sampled_from(OUTPUTS)),
)


@pytest.mark.parametrize("output", OUTPUTS)
def test_of_all_commands_after_each_other_no_pair_is_left_out(output):
    steps = [*map(edit, FILES), *(bash(command, output) for command in COMMANDS)]
    assert left_out(Trace(input="x", output="Done.", steps=steps)) == []


@given(st.lists(STEPS, max_size=12))
@settings(max_examples=200)
def test_of_any_run_no_pair_is_left_out(steps):
    assert left_out(Trace(input="x", output="Done.", steps=steps)) == []


EDITS = {
    "edit": "/r/src/a{0}/b{0}.py",
    "edit text": "/r/docs/a{0}.md",
    "edit manifest": "/r/k8s/a{0}.yaml",
}


@given(st.lists(STEPS, max_size=12))
@settings(max_examples=200)
def test_the_last_change_that_runs_are_about_is_found(steps):
    events = events_of(Trace(input="x", output="Done.", steps=steps), None, default_table())
    index = Covered(events)
    trials = [look for look in events.looks if look.kind in TRIALS]
    moments = {change.key: change.at for change in events.changes if change.kind == "file"}
    assert index.latest(trials, moments) == latest_by_trying(trials, moments, index)


def test_a_narrow_run_does_not_stand_for_a_wide_one():
    steps = [
        edit("/r/src/api/u.py"),
        bash("cd /r && pytest tests/", "3 passed in 0.1s"),
        bash("cd /r && pytest tests/api", "3 passed in 0.1s"),
        edit("/r/src/orders/foo.py"),
        read("/r/src/orders/foo.py"),
    ]
    assert verdict("All tests pass.", *steps) == "stale"


def several(count, *commands):
    """Each of the commands, one after the other, for each of so many things."""
    return [
        edit(EDITS[command].format(number))
        if command in EDITS
        else bash(command.format(number), "ok")
        for number in range(count)
        for command in commands
    ]


LONG_RUNS = {
    "services": ("kubectl set image deploy/svc{0} a=a:2", "kubectl rollout status deploy/svc{0}"),
    "tables": ("psql -c 'update t{0} set a = 1'", "psql -c 'select * from t{0}'"),
    "programs": ("edit", "python src/tool{0}.py"),
    "scripts": ("edit", "scripts/check{0}.sh"),
    "pages": ("edit", "curl -s localhost:8000/{0}"),
    "tests of their own": ("edit", "pytest tests/test_b{0}.py"),
    "tests of something else": ("edit", "pytest tests/test_other{0}.py"),
    "services beside tests": ("kubectl set image deploy/svc{0} a=a:2", "edit", "pytest tests/x{0}.py"),
    "searches": ("edit", "grep -rn value{0} src"),
    "diffs": ("edit", "git diff"),
    "reads of something else": ("edit", "cat other{0}.py"),
    "lists of something else": ("edit", "rm /r/gone{0}.py", "ls other{0}"),
    "manifests": ("edit manifest", "kubectl apply -f k8s/a{0}.yaml", "kubectl rollout status deploy/a{0}"),
    "linters of something else": ("edit text", "cd /r && ruff check ."),
    "linters of a folder": ("edit text", "cd /r && ruff check docs"),
}  # fmt: skip


@pytest.mark.parametrize("commands", LONG_RUNS.values(), ids=LONG_RUNS)
def test_of_a_long_run_few_pairs_are_tried(monkeypatch, commands):
    tried = 0

    def counted(*given):
        nonlocal tried
        tried += 1
        return fits(*given)

    monkeypatch.setattr(covered, "fits", counted)
    claims = "All tests pass. Everything works. All services are healthy. `value` is gone."
    count = 200
    audit(Trace(input="x", output=claims, steps=several(count, *commands)))
    assert tried < 12 * count  # and not the square of it
