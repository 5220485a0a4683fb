"""Data, services and registries: what changes them, and what only tries them out."""

from __future__ import annotations

import pytest

from tests.verification.runs import bash, is_open, ledger
from trialrun import Step

# Data.


@pytest.mark.parametrize(
    ("change", "look", "shown"),
    [
        (
            'echo "DELETE FROM orders" | psql shop',
            "psql shop -c 'SELECT * FROM orders'",
            "(0 rows)",
        ),
        ("printf 'UPDATE a SET b=1;' | mysql shop", "mysql shop -e 'SELECT b FROM a'", "b\n1"),
        (
            "mongosh --eval 'db.users.deleteMany({a: 1})'",
            "mongosh --eval 'db.users.countDocuments({a: 1})'",
            "0",
        ),
        (
            "mongosh shop --eval 'db.a.updateMany({}, {})'",
            "mongosh shop --eval 'db.a.find()'",
            "[]",
        ),
        ("redis-cli del session:1", "redis-cli exists session:1", "0"),
        ("redis-cli -n 2 FLUSHDB", "redis-cli -n 2 dbsize", "0"),
    ],
)
def test_data_that_is_changed(change, look, shown):
    assert len(is_open(bash(change, "ok"))) == 1
    assert is_open(bash(change, "ok"), bash(look, shown)) == []
    assert is_open(bash(look, shown)) == []


@pytest.mark.parametrize(
    "sql",
    ["BEGIN; UPDATE a SET b = 1; ROLLBACK;", "begin; delete from a; select * from a; rollback"],
)
def test_what_is_rolled_back_was_not_changed(sql):
    assert is_open(bash(f'psql -c "{sql}"', "BEGIN\nUPDATE 3\nROLLBACK")) == []
    assert len(is_open(bash(f'psql -c "{sql}; UPDATE c SET d = 1"', "UPDATE 3"))) == 1


def test_another_database_is_another_thing():
    change = bash("psql -d shop -c 'UPDATE a SET b = 1'", "UPDATE 3")
    assert len(is_open(change, bash("psql -d other -c 'SELECT b FROM a'", "1"))) == 1
    assert is_open(change, bash("psql shop -c 'SELECT b FROM a'", "1")) == []
    assert is_open(change, bash("psql postgres://u:p@h:5432/shop -c 'SELECT b FROM a'", "1")) == []
    assert len(is_open(change, bash("psql postgres://h/other -c 'SELECT b FROM a'", "1"))) == 1


# Things that run elsewhere.


@pytest.mark.parametrize(
    ("change", "look", "shown"),
    [
        ("npm publish", "npm view pkg version", "1.2.0"),
        ("cargo publish", None, ""),
        ("docker push registry.test/shop:1", "docker manifest inspect registry.test/shop:1", "{}"),
        ("git push heroku main", "curl -s https://shop.test/health", '{"status": "ok"}'),
        ("gh pr merge 12 --squash", "gh pr view 12", "state: MERGED"),
        ("gh release create v1.2", "gh release view v1.2", "title: v1.2"),
        ("curl -X POST https://api.test/v1/deploy", "curl https://api.test/health", "ok"),
        (
            "curl -X DELETE https://api.test/users/1",
            "curl -i https://api.test/users",
            "HTTP/1.1 200",
        ),
        ("curl -d '{}' https://api.test/users", "curl -i https://api.test/users", "HTTP/1.1 200"),
        ("curl -X PUT https://api.test/flags/a", "curl -i https://api.test/flags", "HTTP/1.1 200"),
        ("http POST api.test/users a=1", "http api.test/users", "HTTP/1.1 200"),
        ("curl -XPOST localhost:8080/-/reload", "curl -i localhost:8080/health", "HTTP/1.1 200"),
    ],
)
def test_what_is_changed_elsewhere(change, look, shown):
    assert len(is_open(bash(change, "done"))) == 1
    if look is not None:
        assert is_open(bash(change, "done"), bash(look, shown)) == []


@pytest.mark.parametrize(
    "command",
    [
        "curl -X POST localhost:8000/api/orders -d '{}'",
        "curl -d '{}' http://127.0.0.1:8000/login",
        "curl -X DELETE localhost:8000/api/orders/1",
        "curl -X POST https://api.test/graphql -d '{}'",
        "curl -X POST https://api.test/v1/search -d '{}'",
        "curl -d a=1 https://api.test/oauth/token",
        "curl -X POST https://hooks.slack.com/services/a -d '{}'",
        "git push",
        "git push origin main",
        "gh pr create --fill",
        "./deploy.sh --dry-run",
        "make deploy DRY_RUN=1",
        "npm publish --dry-run",
    ],
)
def test_what_only_tries_something_out(command):
    assert is_open(bash(command, '{"id": 1}')) == []


def test_a_request_that_tries_the_api_has_an_outcome():
    sent = "curl -i -X POST localhost:8000/orders -d '{}'"
    for status, expected in (("201 Created", "passed"), ("500 Internal Server Error", "failed")):
        (seen,) = ledger("Done.", bash(sent, f"HTTP/1.1 {status}\n")).observations
        assert seen.outcome.value == expected


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("deploy_service", {"service": "shop"}),
        ("restart_server", {"name": "shop"}),
        ("rollback_release", {"app": "shop"}),
        ("create_release", {"tag": "v1"}),
        ("merge_pull_request", {"pull_number": 12}),
        ("mcp__github__merge_pull_request", {"pullNumber": 12}),
        ("mcp__ops__deployService", {"service": "shop"}),
        ("terraform_apply", {}),
        ("publish_package", {"name": "shop"}),
    ],
)
def test_tools_that_change_what_runs(tool, arguments):
    assert len(is_open(Step.tool_call(tool, arguments, "ok"))) == 1


@pytest.mark.parametrize(
    "tool",
    ["get_deployment", "deployment_status", "list_releases", "get_pull_request", "check_rollout",
     "create_pull_request", "release_lock", "merge_pull_request_status"],
)  # fmt: skip
def test_tools_that_only_ask(tool):
    assert is_open(Step.tool_call(tool, {"name": "shop"}, "ok")) == []


def test_a_tool_that_asks_answers_a_tool_that_deploys():
    deployed = Step.tool_call("deploy_service", {"service": "shop"}, "started")
    asked = Step.tool_call("get_deployment_status", {"service": "shop"}, '{"status": "running"}')
    assert is_open(deployed, asked) == []


def test_a_look_at_what_was_published_speaks_of_nothing_else():
    pulled = bash("docker pull shop:1", "Status: Downloaded newer image")
    assert is_open(bash("systemctl restart shop"), pulled) == ["shop"]
    assert ledger("Done.", pulled).observations == []


def test_a_request_that_was_refused_has_changed_nothing():
    sent = "curl -s -X POST https://api.test/customers -d '{}'"
    assert is_open(bash(sent, '{"error":"quota exceeded","status":429}')) == []
    assert len(is_open(bash(sent, '{"id": "c-19"}'))) == 1
