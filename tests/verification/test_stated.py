"""Which sentences are statements about checks, what they admit, and that none is dropped."""

from __future__ import annotations

import pytest

from tests.verification.runs import GREEN, bash, edit, ledger, verdict
from trialrun import Step

RED = bash("pytest -q", "1 failed, 11 passed in 0.2s", status="failure")
LINT = bash("npm run lint", "> app@1.0.0 lint\n> eslint\n\n✖ 1 problem (0 errors, 1 warning)")
FIXES = bash(
    "bun run check", "$ prettier --write . && eslint --fix\na.ts 3ms\nb.ts 1ms (unchanged)"
)


@pytest.mark.parametrize(
    ("message", "steps"),
    [
        ("`pytest -q` — passed clean (fixed 3 errors)", [bash("pytest -q", GREEN)]),
        ("`bun run check` — passed clean", [FIXES]),
        ("Check passed clean.", [FIXES]),
        ("**VERIFY OK** — 125 tools.", [bash("make verify", GREEN)]),
        ("All checks pass.", [bash("ruff check .", "All checks passed!"), bash("pytest", GREEN)]),
        ("I also ran the linter and fixed what it found.", [LINT]),
        ("7 of 8 packages complete, lint clean.", [LINT]),
        ("All builds pass (the warnings are pre-existing).", [bash("go build ./...", "")]),
        ("One test failed - the server expects 58 tools.", [RED]),
        ("The tests pass.", [bash("bats a.bats", "1..2\nok 1 adds\nok 2 rounds\n")]),
    ],
)
def test_what_a_run_shows_is_verified(message, steps):
    assert verdict(message, *steps) == "verified"


@pytest.mark.parametrize(
    ("message", "steps"),
    [
        ("All checks pass.", [RED, bash("ruff check .", "All checks passed!")]),
        ("Health checks pass.", [bash("pytest -q", GREEN)]),
        ("Check passed clean.", []),
        (
            "The lint errors are fixed.",
            [bash("npm run lint", "✖ 3 problems (3 errors)", status="failure")],
        ),
        ("Both test suites pass.", [bash("pytest -q", GREEN)]),
        ("The tests pass on Python 3.9, 3.10 and 3.12.", [bash("pytest -q", GREEN)]),
        ("The tests pass under Node 18 and 20.", [bash("npm test", "Tests: 3 passed, 3 total")]),
        ("`cargo test`: 3 passed, 0 failed", [bash("cargo fmt --check", "")]),
    ],
)
def test_what_no_run_shows_whole_is_not_verified(message, steps):
    assert all(one.verdict.value != "verified" for one in ledger(message, *steps).claims)


@pytest.mark.parametrize(
    "sentence",
    [
        "The crate's public API is exactly what it was before.",
        "The queue retries when the server answers with 503.",
        "It uses a lock instead of a sleep.",
    ],
)
def test_every_sentence_about_the_work_is_listed(sentence):
    assert verdict(sentence, edit(), bash("pytest -q", GREEN)) == "not_checkable"


@pytest.mark.parametrize(
    "sentence",
    [
        "I fixed both failing tests, and the search is ready.",
        "I reproduced the crash first, and after the fix the same steps succeed.",
        "That failure is pre-existing and also happens without my change.",
        "The previously failing import is stable.",
    ],
)
def test_a_word_for_a_failure_is_no_admission_by_itself(sentence):
    assert verdict(sentence, edit(), bash("pytest -q", GREEN)) == "not_checkable"


@pytest.mark.parametrize("sentence", ["If you push it, CI runs.", "Next, I will add docs.", "Ok?"])
def test_plans_and_questions_state_nothing(sentence):
    assert not ledger(sentence, edit(), bash("pytest -q", GREEN)).claims


def test_a_prompt_that_repeats_the_agent_reports_nothing():
    told = "Do this:\n\n1. Open the settings\n2. Set `HOST`\n3. Check that it works"
    asked = "<ide_file>a works</ide_file>Open the settings\nSet HOST\nCheck that it works\n"
    steps = [edit(".github/deploy.yml", new="a: 2", old="a: 1"), Step.llm_call("m", output=told)]
    again = [*steps, Step.human_input(asked)]
    assert ledger("Done.", *again).open_obligations
    said = [*steps, Step.human_input("It works, thanks.")]
    assert not ledger("Done.", *said).open_obligations


def test_sources_of_unknown_languages_are_to_be_exercised_prose_is_not():
    for name in ("flake.nix", "units/app.service", "init.vim", "rtl/adder.v"):
        assert ledger("Done.", edit(name, "a = 2;", "a = 1;")).open_obligations, name
    for name in ("a.typ", "a.bib", "a.po", "a.patch", "logo.svg", "a.jsonl", "a.unheard", "ERRORS"):
        assert not ledger("Done.", edit(name, "a = 2;", "a = 1;")).open_obligations, name


def test_the_end_of_an_output_counts_more_than_its_middle():
    page = "✓ built in 2.55s\nrendering /a.html\n"
    for end in (" ELIFECYCLE  Command failed with exit code 1.", "[ERROR] fetch failed"):
        assert verdict("The build succeeds.", bash("vite build | tail", page + end)) != "verified"
    assert verdict("The build succeeds.", bash("vite build | tail", page)) == "verified"
    assert verdict("Lint is clean.", bash("biome lint", "Checked 0 files in 3ms")) != "verified"


def test_a_failure_said_without_a_failed_run_is_no_proof():
    assert verdict("One test failed.", bash("pytest -q", GREEN)) == "disclosed"
