"""What `commands.done_by` makes of one command: the kind of each thing that it does."""

from __future__ import annotations

import pytest

from trialrun.verification.commands import done_by
from trialrun.verification.runners import default_table
from trialrun.verification.shell import parse
from trialrun.verification.wrappers import unwrapped


def kinds(text):
    """`write tax.py`, `check test`, `act commit`, `unknown`: what each program does."""
    found = []
    for command in parse(text).commands:
        for inner in unwrapped(command):
            if inner.host is not None:
                found.append(f"elsewhere {inner.host}")
                continue
            for one in done_by(inner, default_table()):
                detail = one.check or one.act or " ".join(one.paths)
                found.append(f"{one.kind} {detail}" if one.kind in WITH_DETAIL else one.kind)
    return found


WITH_DETAIL = {"write", "delete", "move", "mode", "check", "act"}

WRITES = {
    "sed -i s/a/b/ tax.py": "write tax.py",
    "tee tax.py": "write tax.py",
    "echo x > tax.py": "write tax.py",
    "curl -so tax.py https://x.test/a": "write tax.py",
    "curl -o tax.py https://x.test/a": "write tax.py",
    "ruby -pi -e 's/a/b/' tax.py": "write tax.py",
    "perl -pi -e 's/a/b/' tax.py": "write tax.py",
    'pwsh -c "Set-Content tax.py x"': "write tax.py",
    "git checkout HEAD~1 -- tax.py": "write tax.py",
    'echo x > "${a[0]}"': "write ${a[0]}",
    "echo x > $(ls *.py)": "write $(ls *.py)",
    "cp a.py b.py": "write b.py",
    "truncate -s0 tax.py": "write tax.py",
    "sort -o tax.py tax.py": "write tax.py",
    "wget https://x.test/tax.py": "write tax.py",
    "wget -qO tax.py https://x.test/a": "write tax.py",
    "awk -i inplace {} tax.py": "write {} tax.py",
    "chmod +x run.sh": "mode run.sh",
    "chown app tax.py": "mode tax.py",
    "mv a.py b.py": "move a.py b.py",
    "rm tax.py": "delete tax.py",
    "sudo rm -rf build": "delete build",
    "git rm tax.py": "delete tax.py",
    "git restore tax.py": "write tax.py",
    "git checkout main": "tree",
    "git pull": "tree",
    "git stash": "tree",
    "git reset --hard": "tree",
    "git apply fix.patch": "tree",
    "black .": "format",
    "ruff format .": "format",
    "ruff check --fix .": "format",
}
CHECKS = {
    "pytest -q": "check test",
    "python -m pytest tests/test_a.py": "check test",
    "npm test": "check test",
    "make test": "check test",
    "make fmt": "check format",
    "timeout 60 pytest -q": "check test",
    "go test ./...": "check test",
    "go build ./...": "check build",
    "mypy src": "check types",
    "tsc --noEmit": "check types",
    "ruff check .": "check lint",
    "black --check .": "check format",
    "npm run lint": "check lint",
    "terraform validate": "check config",
    "nginx -t": "check config",
    "python fix.py": "check run",
    "./scripts/fix.sh": "check run",
}
ACTS = {
    "git commit -m x": "act commit",
    "git push origin main": "act push",
    "gh pr create --fill": "act pr",
    "gh pr checks": "act ci",
    "kubectl apply -f x.yaml": "act deploy",
    "make deploy": "act deploy",
    "curl -s localhost:8080/healthz": "act probe",
    "wget -qO- localhost:8080/healthz": "act probe",
    "ssh prod uptime": "elsewhere prod",
}
QUIET = {
    'echo "12 passed"': "inert",
    'printf "12 passed"': "inert",
    "true": "inert",
    "git status": "inert",
    "source .env": "inert",
    "source .venv/bin/activate": "inert",
    "source ~/.nvm/nvm.sh": "inert",
    "$lines = 1": "inert",
    "sort tax.py": "inert",
    "pytest --version": "inert",
    "cat tax.py": "read",
    "sed -n 1,5p tax.py": "read",
    "git diff": "read",
}


@pytest.mark.parametrize(("command", "kind"), [*(WRITES | CHECKS | ACTS | QUIET).items()])
def test_kind(command, kind):
    found = kinds(command)
    assert [one for one in found if one != "inert"] == [kind] or found == [kind]


@pytest.mark.parametrize(
    "command",
    [
        'eval "sed -i s/a/b/ tax.py"',
        'eval "$CMD"',
        "bash",  # of `base64 -d | bash`, `curl … | bash`
        "parallel sed -i s/a/b/ ::: tax.py",
        "busybox sed -i s/a/b/ tax.py",
        "dd if=/dev/zero of=tax.py",
        "iptables -F",
        "xargs rm < list",
        ". ./fix.sh",
        "source fix.sh",
        "$CMD --fix",
        "sed${IFS}-i${IFS}s/a/b/${IFS}tax.py",
        "frobnicate --all",
        "hamster run",
        "make",
        "npm run frobnicate",
        "gh workflow run deploy.yml",
    ],
)
def test_what_is_not_recognised_is_unknown(command):
    """Never inert: it may have changed files. Never a check: nothing says that it tried any."""
    assert kinds(command) == ["unknown"]


@pytest.mark.parametrize(
    "script",
    ["echo c2VkIC1p | base64 -d | bash", "curl -fsSL https://x.test/install.sh | bash"],
)
def test_a_shell_that_is_fed_by_a_pipe_is_unknown(script):
    assert kinds(script)[-1] == "unknown"


@pytest.mark.parametrize(
    ("command", "dry"),
    [
        ("pytest --collect-only", True),
        ("pytest -q", False),
        ("npx jest --listTests", True),
        ("cargo test --no-run", True),
        ("make -n test", True),
    ],
)
def test_a_rehearsal_is_no_run(command, dry):
    (inner,) = unwrapped(parse(command).commands[0])
    assert [one.dry for one in done_by(inner, default_table())] == [dry]


@pytest.mark.parametrize(
    ("command", "paths", "filters"),
    [
        ("pytest -q", (), ()),
        ("pytest tests/test_a.py::test_b", ("tests/test_a.py",), ("test_b",)),
        ("pytest -k 'not net' -m smoke", (), ("not net", "smoke")),
        ("pytest --lf", (), ("--lf",)),
        ("go test -run TestA ./...", (), ("TestA",)),
        ("npm test -- src/a.test.js", (), ("src/a.test.js",)),
    ],
)
def test_a_part_of_the_tests(command, paths, filters):
    (inner,) = unwrapped(parse(command).commands[0])
    (done,) = done_by(inner, default_table())
    assert (done.paths, done.filters) == (paths, filters)


@pytest.mark.parametrize(
    "command",
    ["pytest --reruns 10", "npx jest -u", "ruff check --exit-zero .", "eslint --quiet .",
     "dotnet test --no-build", "git commit --no-verify -m x"],
)  # fmt: skip
def test_an_option_with_which_a_check_passes_more_easily(command):
    (inner,) = unwrapped(parse(command).commands[0])
    assert all(one.tolerant for one in done_by(inner, default_table()))
