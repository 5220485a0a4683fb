"""What a claim says about a run: which one it means, how many tests, how often."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trialrun.verification import phrases as p
from trialrun.verification.claims import Said
from trialrun.verification.events import Look
from trialrun.verification.paths import tidy
from trialrun.verification.verdicts.hearing import called
from trialrun.verification.wording import CODE, HOW_MANY, number_of


def quotes(said: Said, look: Look) -> bool:
    """Whether the claim quotes the command of this run: `mvn verify` is not `mvn test -Dtest=A`."""
    quoted = [span.split() for span in CODE.findall(said.plain) if " " in span]
    if not quoted:
        return False
    program, *given = look.command.split() or [""]
    for span in quoted:
        name, *words = [word for word in span if not word.startswith("-")] or [""]
        if words and set(words) <= set(given) and tidy(name) == tidy(program):
            return True
    return False


def says_which(said: Said, passed: Sequence[Look]) -> bool:
    """Whether the sentence says itself which part was run: "only `//search/...` (all passed)"."""
    picked = {one for look in passed for one in look.filters if len(one) > 2}
    return any(one in said.sentence for one in picked)


def names_run(said: Said, look: Look) -> bool:
    """Whether the claim is about that very run: "bazel" alone may be any run of it."""
    if not called(look, said.plain.lower()):
        return False
    scope = [path.rstrip("/.").rpartition("/")[2] for path in look.paths]
    return not scope or any(one and one in said.plain for one in scope)


def names_scope(said: Said, look: Look) -> bool:
    """Whether the claim is about the very package that was run: "`packages/parser`: 96 pass"."""
    return look.package is not None and bool(
        re.search(rf"(?<![\w-]){re.escape(look.package)}(?![\w-])", said.plain)
    )


# "The client retries three times" is about the client.
_TIMES = re.compile(
    rf"\b(?:re-?)?(?:ran|run|executed|repeated|pass(?:ed|es)?|green)\b[^.,;]{{0,30}}?\b{HOW_MANY}(?: \w+)? (?:times|runs)\b"
    rf"|\b{HOW_MANY} (?:times in a row|(?:consecutive|green|full|straight|successive) runs)\b"
    rf"|\b(?:over|across|after) {HOW_MANY} runs\b"
    rf"|\b(?:ran|run|executed)\b[^.,;]{{0,30}}?\b(twice)\b",
    re.IGNORECASE,
)


def times_said(said: Said) -> int | None:
    """How often something was run, by the claim's own words: five times, 20 runs, twice."""
    found = _TIMES.search(said.plain)
    if found is None:
        return None
    return number_of(next(group for group in found.groups() if group))


EVERY_TIME = re.compile(
    r"\b(?:every|each) (?:single )?(?:time|run)\b|\btimes in a row\b", re.IGNORECASE
)


_TEST_NAME = re.compile(r"^(?:[\w./]+::)?(test_\w+|\w+_test|Test\w+|\w+Tests?)(?:\(\))?$")


def of_other_tests(said: Said, failed: Look) -> bool:
    """ "`test_a` passes", and the run names another one as failed."""
    named = [match.group(1) for name in said.names if (match := _TEST_NAME.match(name))]
    lines = [line for line in failed.text.splitlines() if _BAD_LINE.search(line)]
    return (
        bool(named)
        and bool(lines)
        and bool(failed.counts and failed.counts.passed)
        and not any(name in line for name in named for line in lines)
    )


_BAD_LINE = re.compile(r"\b(?:FAIL(?:ED)?|ERROR|failed|error)\b|[✗✘×✖●]")


def partly(said: Said, failed: Look) -> bool:
    """ "The other 94 pass": true of a run in which two failed, where it says no more than that."""
    counts = failed.counts
    if counts is None or counts.passed is None:
        return False
    if str(counts.passed) not in said.numbers and not any(
        # Of several projects one: its line of the output has that number.
        re.search(rf"(?i)\bpassed:\s+{number}\b|(?<![\d.]){number} pass(?:ed|ing)\b", failed.text)
        for number in said.numbers
        if number.isdigit() and int(number) > 0
    ):
        return False
    return (
        not re.search(
            r"\b(?:all|every\w*|whole|entire|suite|no failures?)\b", said.plain, re.IGNORECASE
        )
        or str(counts.failed) in said.numbers
    )


def miscounted(said: Said, passed: Sequence[Look]) -> str | None:
    """Counts that the claim gives and the runs do not."""
    percent = re.findall(r"(\d+(?:\.\d+)?) ?%", said.plain)
    if percent and p.COVERAGE in said.kinds:
        shown = "\n".join(look.text for look in passed)
        found = re.findall(r"(\d+(?:\.\d+)?) ?%", shown)
        if found and not any(
            re.search(rf"(?<![\d.]){re.escape(one)}(?:\.\d+)?\s?%", shown) for one in percent
        ):
            return f"the run shows {found[-1]}%"
        return None
    counts = [look.counts for look in passed if look.counts is not None]
    if not counts:
        return None
    text = re.sub(r"`[^`]*`", " ", said.plain)
    good = {one.passed for one in counts} | {sum(one.passed or 0 for one in counts)}
    # A loop prints one result a round.
    for look in passed:
        good |= {int(one) for one in re.findall(r"(?<![\d.])(\d{1,7}) pass(?:ed|ing)\b", look.text)}
    ran = (
        good
        | {one.total for one in counts}
        | {sum(one.total or 0 for one in counts)}
        | {(one.passed or 0) + (one.skipped or 0) for one in counts}
    )
    for match in _CLAIMED_PASSES.finditer(text):
        number = int(next(group for group in match.groups() if group).replace(",", ""))
        if number not in good and number > 1:
            return f"the run counted {counts[-1]}"
    for match in _OUT_OF.finditer(text):
        if int(match.group(1)) not in good:
            return f"the run counted {counts[-1]}"
    for match in _CLAIMED_RUNS.finditer(text):
        if int(match.group(1).replace(",", "")) not in ran:
            return f"the run counted {counts[-1]}"
    return None


_CLAIMED_PASSES = re.compile(
    r"\ball (?:of the |the )?(\d[\d,]*)\b|(?<![\d.#v-])\b(\d[\d,]*)(?:/\d+)? (?!new\b)(?:\w+ ){0,2}?pass(?:ed|ing|es)?\b|\b(\d[\d,]*) (?:of|out of) \d[\d,]* (?:\w+ ){0,2}?pass|\btodas las (\d+)|\balle (\d+)|\bles (\d+) tests",
    re.IGNORECASE,
)


_OUT_OF = re.compile(r"\b(\d+) (?:of|out of|/) \1\b")


_CLAIMED_RUNS = re.compile(
    r"\b(\d[\d,]*) (?:tests?|specs?|examples?)(?: run\b| in total|(?=\)))", re.IGNORECASE
)
