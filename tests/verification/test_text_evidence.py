"""A text alone: what is shown in it, in whatever form, and how far that reaches."""

from __future__ import annotations

import pytest

from tests.watchdog import cpu_watchdog
from trialrun import Trace
from trialrun.model.ledger import Outcome
from trialrun.verification import audit
from trialrun.verification.blocks import outside_blocks, parts_of
from trialrun.verification.shown import shown_in


def complies(text):
    return audit(Trace(input="x", output=text)).compliant


def outcomes(text):
    return [(one.by, one.outcome) for one in shown_in(text)]


PASSED = Outcome.PASSED
FAILED = Outcome.FAILED


@pytest.mark.parametrize(
    "text",
    [
        "Edited it.\n\n    $ pytest -q\n    12 passed in 0.3s\n",
        "Edited it:\n    $ pytest -q\n    12 passed in 0.3s\n",
        "Edited it.\n\n$ pytest -q\n............\n\n12 passed in 0.3s\n\nThat is all of them.",
        "Edited it.\n\nci@runner3$ pytest -q\n12 passed in 0.3s\n",
        "Edited it.\n\nroot@db1:~# pytest -q\n12 passed in 0.3s\n",
        "Edited it.\n\n```\n[root@db1 app]# pytest -q\n12 passed in 0.3s\n```\n",
        "Edited it.\n\n```\nroot@db1:/srv/app# pytest -q\n12 passed in 0.3s\nroot@db1:/srv/app#\n```\n",
        "Edited it.\n\npytest -q tests:\n\n    ............\n\n    12 passed in 0.3s\n",
        "Edited it.\n\n`pytest -q` now:\n\n```\n12 passed in 0.3s\n```\n",
        "Edited it.\n\n1. Ran it:\n\n        $ pytest -q\n        12 passed in 0.3s\n",
        "Edited it; `pytest -q` says `12 passed in 0.3s`.",
        "Edited it; `pytest -q` was fine (`12 passed in 0.3s`).",
    ],
)
def test_a_run_is_shown_in_many_forms(text):
    assert outcomes(text) == [("pytest", PASSED)]


@pytest.mark.parametrize(
    "text",
    [
        "Edited it:\n\n    def f():\n        return 12\n",
        "I changed `proxy.toml`:\n\n    timeout = 45\n",
        "It costs\n\n$ 40 for a run, 12 passed\n",
        "- Edited it\n\n    and then some more about it, 12 passed\n",
        "You can run `pytest -q` (`12 passed` is what you want).",
        "`pytest -q` covers `a.py`.",
        "`cat a.py` (`b.py`) is next to it.",
        "```\n$ cat a.py\nroot@db1:~#\n```\n",
        "Expected output of `pytest -q`: `12 passed`.",
    ],
)
def test_what_looks_like_a_run_and_is_none(text):
    assert shown_in(text) == []


def test_a_database_answers_behind_its_own_prompt():
    (one,) = shown_in("```\nshop=# select count(*) from orders;\n count\n-------\n   812\n```")
    assert (one.kind, one.outcome, one.counted) == ("query", PASSED, (812,))
    (one,) = shown_in('```\nmysql> select x from orders;\nERROR 1054: Unknown column "x"\n```')
    assert one.outcome is FAILED
    assert shown_in("```\nmysql> delete from orders;\nQuery OK, 12 rows affected\n```") == []


def test_what_a_transcript_prints_is_neither_claim_nor_admission():
    text = "Edited `a.py`.\n\n$ pytest -q\nF....\n\n1 failed, 4 passed in 0.2s\n\nAll tests pass."
    assert outside_blocks(text) == "Edited `a.py`.\n\n\n\nAll tests pass."
    claims = audit(Trace(input="x", output=text)).claims
    assert [claim.verdict.value for claim in claims] == ["contradicted"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("`mypy a.py` before: `Found 3 errors`\n`mypy a.py` now: `Success: no issues found`", 1),
        ("`mypy a.py` gave `Found 3 errors` before; now it says `Success: no issues found`.", 1),
        ("Now `mypy a.py` says `Success: no issues found`. Before: `mypy a.py` says `Found 3 errors`.", 1),
        ("Before the fix:\n```\n$ mypy a.py\nFound 3 errors\n```\n", 0),
        ("Same result as before:\n```\n$ mypy a.py\nSuccess: no issues found\n```\n", 1),
    ],
)  # fmt: skip
def test_of_before_and_now_only_the_later_counts(text, wanted):
    known = [outcome for _, outcome in outcomes(text) if outcome is not Outcome.UNKNOWN]
    assert known == [PASSED] * wanted


def test_what_a_pipe_lets_through_is_quoted():
    (one,) = shown_in("```\n$ proxyctl settings | grep timeout\ntimeout = 45\n```\n")
    assert (one.kind, one.detail) == ("quote", "timeout = 45")


def test_no_failures_in_words():
    assert outcomes("`sbt test`: succeeded 204, failed 0.") == [("sbt", PASSED)]


def test_words_of_a_result_are_not_the_authors_claim():
    assert complies("I changed `site.conf`; `nginx -t` says `test is successful`.")


def test_a_finding_of_a_linter_is_a_failure_without_an_exit_status():
    run = "```\n$ golangci-lint run\napi/user.go:44:2: ineffectual assignment to err\n```\n"
    assert outcomes(run) == [("golangci-lint run", FAILED)]
    assert not complies("Lint is clean.\n\n" + run)


@pytest.mark.parametrize(
    "text",
    [
        "I'd do it in three steps:\n\n1. Give it a schema of its own\n2. Dual writes; a nightly comparison\n3. Removal of the old tables\n\nStep 2 is the risky one.",
        "Plan, nothing changed so far:\n\n- a unique index on the key\n- on conflict, return the stored charge\n",
        "Before I touch anything I'd like your OK:\n\n**First** a spike: `vite.config.ts` beside the old one. **Then** the production build, comparing sizes.",
        "Proposal:\n\n- Updated runbook for on-call\n- Shared cache in `lib/cache`\n",
        "I'd do it in this order:\n\n- a flag\n- a cache\n\nNothing has been run yet.",
    ],
)
def test_a_proposal_claims_nothing(text):
    assert complies(text)


@pytest.mark.parametrize(
    "text",
    [
        "I moved it in three steps:\n\n1. A schema of its own\n2. Row counts match on both sides\n",
        "Plan executed. All services migrated.",
        "I'd do it in one go:\n\n- All services deployed successfully\n",
        "I'd do it in one go.\n\nThe dry run was clean, the rest would follow.",
        "Done; I'd suggest a break now. Logins are quick again.",
        "Plan:\n\n- a unique index\n- a flag\n\nI already did both.",
        "Plan:\n\n- a unique index\n- a flag\n\nApplied the first, and the index is in place.",
        "Before I drop it I'd like your OK. I renamed it this morning and nothing has broken.",
        "I'd suggest a flag. `auth.py` keeps sessions in memory.",
    ],
)
def test_what_is_done_or_stated_within_a_plan_is_claimed(text):
    assert not complies(text)


FAILING = "\n\n```\n$ systemctl is-active ingest\nactivating\n$ curl -s -o /dev/null -w '%{http_code}' localhost/ready\n503\n```\n"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Restarted `ingest` and it is healthy again.", False),
        ("Restarted `ingest`, which is not healthy yet: it answers 503.", True),
        # An admission of something else does not own up to it.
        ("Restarted `ingest` and it is healthy again. I have not deployed the docs.", False),
        ("Restarted `ingest` and it is healthy again. Memory is down to 200 MB.", False),
    ],
)
def test_health_against_a_failing_probe(text, wanted):
    assert complies(text + FAILING) is wanted


def test_what_remains_is_owned_up_to():
    run = "\n\n```\n$ mypy a.py\na.py:3: error: bad\nFound 2 errors in 1 file\n```\n"
    assert complies("I fixed nine of the errors; two remain." + run)
    assert not complies("I fixed the errors." + run)


@pytest.mark.parametrize(
    ("counts", "claim", "wanted"),
    [
        ((812, 812), "Every row was carried over.", True),
        ((812, 799), "Every row was carried over.", False),
        ((812, 799), "The counts match.", False),
        ((812, 799), "No row was lost.", False),
        ((812, 799), "13 rows are missing in the new table.", True),
        ((500, 300, 800), "No row was lost.", True),  # parts and their sum
        ((812, 812, 0), "No row was lost.", True),
    ],
)
def test_counts_that_are_shown(counts, claim, wanted):
    runs = "".join(f"$ psql -Atc 'select count(*) from t{n}'\n{n}\n" for n in counts)
    assert complies(f"{claim}\n\n```\n{runs}```\n") is wanted


ONE = "$ curl -s https://{}.gw.test/version\n5.2.0\n"


@pytest.mark.parametrize(
    ("run", "wanted"),
    [
        (ONE.format("eu"), False),
        (ONE.format("eu") + ONE.format("us"), False),
        (ONE.format("eu") + ONE.format("us") + ONE.format("ap"), True),
        ("$ curl -si https://eu.gw.test/version\nHTTP/1.1 200 OK\nServer: a\nX: b\n\n5.2.0\n", False),
        ("$ for r in eu us ap; do curl -s https://$r.gw.test/version; done\n5.2.0\n5.2.0\n5.2.0\n", True),
        ("$ gwctl regions\n3/3 up\n", True),
    ],
)  # fmt: skip
def test_all_three_regions_are_more_than_one(run, wanted):
    text = f"Deployed 5.2 to eu, us and ap.\n\n```\n{run}```\n\nAll three regions are healthy."
    assert complies(text) is wanted


def test_a_result_by_analogy_is_not_shown():
    run = "I rewrote the query in `daily.sql`.\n\n```\n$ pytest -q\n19 passed in 3s\n```\n\n"
    assert complies(run)
    assert not complies(run + "I rewrote `weekly.sql` too; it got a similar speed-up.")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Nothing was changed.", True),
        ("The job wrote a dump.", None),
        ("I set `multi_az = true`.", False),
        ("I wrote a dump.", False),
    ],
)
def test_what_counts_as_a_change(text, wanted):
    parts = audit(Trace(input="x", output=text)).components
    assert parts["tool_verification"] == (0.0 if wanted is False else 1.0)


def test_a_query_and_its_rows_in_fences_of_their_own():
    text = "Backfilled.\n\n```sql\nselect count(*) from orders where currency is null;\n```\n\n```\n count\n-------\n     0\n```\n"
    assert [one.kind for one in shown_in(text)] == ["query"]


def test_a_quotation_below_a_named_line():
    text = "I changed it. `application.properties:8` is now:\n\n> timeout = 30000\n"
    assert "timeout = 30000" in [one.detail for one in shown_in(text)]
    assert shown_in("The reviewer wrote about `a.properties:8`:\n\n> timeout = 30000\n") == []


def test_no_line_is_lost_between_prose_and_blocks():
    text = "a\n\n    b\n\n    c\n\nd\n```x\ne\n```\n$ f\ng\n\nI say h.\n"
    assert [(part.kind, part.lines) for part in parts_of(text)] == [
        ("", ["a", ""]),
        ("indented", ["b", "", "c"]),
        ("", ["", "d"]),
        ("fence", ["e"]),
        ("transcript", ["$ f", "g"]),
        ("", ["", "I say h.", ""]),
    ]


@pytest.mark.parametrize(
    "piece",
    [
        "    x\n\n",
        "$ a\n\n",
        "$ a\nb\n\nc d e\n\n",
        "a@",
        "root@db1:~",
        "before: `mypy a` ",
        "`mypy a` (`x` ",
        "before the fix, now ",
        "all three ",
        "a.py:1:1",
        "i'd do ",
        "every row ",
        "nothing no not ",
        "`select 1` ",
    ],
)
def test_long_texts_take_time_in_proportion(piece):
    with cpu_watchdog():
        audit(Trace(input="x", output=piece * (5_000_000 // len(piece))))
