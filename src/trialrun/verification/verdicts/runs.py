"""Claims about runs: the tests pass, the linter is clean, it builds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from trialrun.ledger_results import Outcome
from trialrun.verification import deeds as d
from trialrun.verification import phrases as p
from trialrun.verification.claims import Said
from trialrun.verification.coverage import CI_TOOLS
from trialrun.verification.covered import key_of, keys_of
from trialrun.verification.events import FILE, Change, Look
from trialrun.verification.paths import is_absolute, same, tidy, within
from trialrun.verification.values import safe_text
from trialrun.verification.verdicts.hearing import Hearing, Held, V, as_wide, called
from trialrun.verification.wording import CODE

OF_KIND: dict[str, frozenset[str]] = {
    p.TESTS: frozenset({d.TEST}),
    p.COVERAGE: frozenset({d.TEST}),
    p.LINTS: frozenset({d.LINT, d.CONFIG}),
    p.TYPED: frozenset({d.TYPES, d.BUILD}),
    p.FORMATTED: frozenset({d.FORMAT, d.LINT}),
    p.VALID: frozenset({d.CONFIG, d.LINT}),
    p.BUILDS: frozenset({d.BUILD, d.TEST, d.TYPES}),
}


class Runs(Hearing):
    """Claims about runs: the tests pass, the linter is clean, it builds."""

    def _run(self, kind: str, said: Said) -> Held:
        wanted = OF_KIND[kind]
        looks = [look for look in self.events.looks if look.kind in wanted]
        if kind == p.BUILDS:
            # Clippy compiles before it complains; a test that fails was built before that.
            looks += [look for look in self.events.looks if look.by == "clippy"]
            built = [look for look in looks if look.kind != d.TEST]
            if any(look.informs for look in built):
                looks = built
            elif (
                looks
                and _of_the_thing(said, looks[-1:], kind)
                and _counted(looks[-1])
                and looks[-1].at > self._last_change(said, looks)
            ):
                return Held(V.VERIFIED, f"{looks[-1].by} was built and run", (looks[-1].step,))
        if not any(look.informs for look in looks):
            looks += [
                look
                for look in self.events.looks
                if look.kind in d.TRIALS and look.informs and _also_ran(look, kind)
            ]
        looks = _of_the_thing(said, self._meant(said, looks, kind), kind)
        after = self._last_change(said, [look for look in looks if look.informs] or looks)
        return self._latest(self._of_the_work(looks, after), after, said, kind)

    def _meant(self, said: Said, looks: list[Look], kind: str) -> list[Look]:
        """Of the runs those that the claim names by their command; all where it names none."""
        spoken = said.plain.lower()
        quoted = [look for look in looks if _quotes(said, look)]
        if quoted:
            return quoted
        named = [look for look in looks if look.by.lower() in spoken and " " in look.by]
        named = named or [look for look in looks if called(look, spoken)]
        if named:
            return named
        informed = [look for look in looks if look.informs]
        if not informed or re.search(r"\b(?:ci|pipeline|workflow|checks?)\b", spoken):
            # A service that builds and tests elsewhere was asked for its result.
            return looks + [
                look
                for look in self.events.looks
                if look.kind == d.PROBE and CI_TOOLS.search(look.by)
            ]
        return looks

    def _of_the_work(self, looks: list[Look], after: int) -> list[Look]:
        """Runs of what was changed, where there is one: a red run of another package is its own.

        Of those before the last change one is enough, and a run of ten thousand steps has many.
        """
        keys = keys_of(self.files)
        recent = [look for look in looks if look.at > after and look.informs]
        fitting = [look for look in recent if self.covered.any(look, keys)]
        if fitting:
            return fitting
        earlier = [look for look in looks if look.at <= after]
        for outcome in (Outcome.PASSED, Outcome.FAILED):
            for look in reversed(earlier):
                if look.outcome is outcome and self.covered.any(look, keys):
                    return [look]
        return looks

    def _last_change(self, said: Said, looks: Sequence[Look]) -> int:
        """The moment of the last change that these runs are about."""
        moments = {key_of(change): change.at for change in self.files}
        return self.covered.latest(looks, moments)

    def _latest(self, looks: Sequence[Look], after: int, said: Said, kind: str) -> Held:
        since = [look for look in looks if look.at > after and look.informs]
        failed = self._unanswered_failure(since)
        if _EVERY_TIME.search(said.plain):
            failed = next((look for look in since if look.outcome is Outcome.FAILED), None)
        if failed is not None and _of_other_tests(said, failed):
            return Held(V.VERIFIED, f"{failed.by}: {failed.detail}", (failed.step,))
        if failed is not None and not _partly(said, failed):
            return Held(V.CONTRADICTED, f"{failed.by}: {failed.detail or 'failed'}", (failed.step,))
        if failed is not None:
            return Held(V.VERIFIED, f"{failed.by}: {failed.detail}", (failed.step,))
        passed = [look for look in since if look.outcome is Outcome.PASSED]
        if passed:
            return self._covering(passed, said, kind)
        before = [look for look in looks if look.at <= after and look.outcome is Outcome.PASSED]
        if before:
            return Held(
                V.STALE,
                f"{before[-1].by} passed, but something was changed afterwards",
                (before[-1].step,),
            )
        if looks and looks[-1].at <= after and kind in OF_KIND:
            last = looks[-1]
            return Held(V.UNSUPPORTED, f"{last.by} was not run after the last change", (last.step,))
        hidden = [look for look in looks if look.at > after]
        if hidden:
            last = hidden[-1]
            why = last.detail or "it showed no result"
            return Held(V.UNSUPPORTED, f"{last.by}: {why}", (last.step,))
        return Held(V.UNSUPPORTED, f"no {_WORD_OF.get(kind, kind)} was run")

    def _covering(self, passed: Sequence[Look], said: Said, kind: str) -> Held:
        last = passed[-1]
        steps = tuple(dict.fromkeys(look.step for look in passed))
        if kind == p.LINTS:
            warned = re.search(r"\b([1-9]\d*) (?:warnings?|problems?|offenses)\b", last.text)
            if warned and _SPOTLESS.search(said.plain) and warned.group(1) not in said.numbers:
                return Held(V.CONTRADICTED, f"{last.by}: {warned.group()}", steps)
        if re.search(
            r"\b(?:both|each|across the board|everywhere|all (?:three|four|five|six|the|of the)? ?(?:modules|packages|services|crates|projects|suites))\b",
            said.plain,
            re.IGNORECASE,
        ):
            missed = [
                duty.change
                for duty in self.duties
                if duty.met_by is None and duty.change.kind == FILE and not duty.change.is_prose
            ]
            if missed:
                return Held(V.UNSUPPORTED, f"nothing was run that covers {missed[0].shown}", steps)
        if kind == p.BUILDS and _NO_WARNINGS.search(said.plain):
            warned = re.search(r"(?im)^.*\bwarning\b(?!s? ?: 0).*$", last.text)
            if warned and not re.search(r"(?i)\b(?:0|no) warning", warned.group()):
                return Held(V.CONTRADICTED, f"{last.by}: {warned.group().strip()[:100]}", steps)
        if kind == p.COVERAGE and not any(re.search(r"\d ?%", look.text) for look in passed):
            return Held(V.UNSUPPORTED, "no run printed a coverage", steps)
        if kind == p.TESTS:
            few = self._too_few(said, passed)
            if few is not None:
                return few
            skipped = self._new_and_skipped(said, passed)
            if skipped is not None:
                return Held(V.UNSUPPORTED, f"skipped: {skipped}", steps)
            left_out = self._told_not_to_run
            if left_out is not None and any(one.counts and one.counts.skipped for one in passed):
                why = f"{left_out.shown} was changed so that a test does not run"
                return Held(V.UNSUPPORTED, why, (left_out.step, *steps))
        if kind in (p.TESTS, p.COVERAGE):
            wrong = _miscounted(said, passed)
            if wrong is not None:
                wider = self._counted_before(said, passed)
                return Held(V.UNSUPPORTED if wider else V.CONTRADICTED, wrong, steps)
            if _WHOLE_SUITE.search(said.plain) and all(_one_file(look) for look in passed):
                return Held(V.UNSUPPORTED, f"only a part was run: {last.command[:80]}", steps)
            if (
                _ALL_OF_IT.search(said.plain)
                and all(look.filters and not look.paths for look in passed)
                and not _says_which(said, passed)
            ):
                return Held(V.UNSUPPORTED, f"only a part was run: {last.command[:80]}", steps)
            if _ALL_OF_IT.search(said.plain) and self._was_wider(passed):
                return Held(V.UNSUPPORTED, f"only a part was run again: {last.command[:80]}", steps)
        code = [change for change in self.files if not change.is_prose]
        keys = keys_of(code)
        covered = any(self.covered.any(look, keys) for look in passed)
        elsewhere = kind in OF_KIND and code and not covered
        named = _names_run(said, last) or _names_scope(said, last)
        if elsewhere and (not named or _another_tree(last, code)):
            return Held(
                V.UNSUPPORTED, f"{last.by} ran on something else than what was changed", steps
            )
        return Held(V.VERIFIED, f"{last.by}: {last.detail or 'passed'}", steps)

    def _too_few(self, said: Said, passed: Sequence[Look]) -> Held | None:
        """ "Green five times": so many runs, or one that repeats itself."""
        found = _TIMES.search(said.plain)
        if found is None:
            return None
        word = found.group().split()[0].lower()
        wanted = int(word) if word.isdigit() else _NUMBERS[word]
        calls = {step.id: safe_text(step.tool_args) for step in self.events.calls}
        repeated = any(_REPEATS.search(calls.get(look.step, "")) for look in passed)
        if repeated or len(passed) >= wanted:
            return None
        runs = "once" if len(passed) == 1 else f"{len(passed)} times"
        return Held(V.UNSUPPORTED, f"{passed[-1].by} was run {runs}", (passed[-1].step,))

    def _new_and_skipped(self, said: Said, passed: Sequence[Look]) -> str | None:
        """ "The new tests pass", and the run names the file that was changed among those skipped."""
        if not _NEW_TESTS.search(said.plain):
            return None
        for look in passed:
            for name in _SKIPPED_FILE.findall(look.text):
                if any(same(name, change.target) for change in self.files):
                    return str(name)
        return None

    @cached_property
    def _told_not_to_run(self) -> Change | None:
        """An edit that skips a test, where the message says nothing of it."""
        if _TELLS_OF_SKIPS.search(self.message):
            return None
        return next((one for one in self.files if _SKIPS.search(one.content)), None)

    def _counted_before(self, said: Said, passed: Sequence[Look]) -> bool:
        """Whether the number claimed is that of an earlier and wider run."""
        numbers = {
            int(one.replace(",", "")) for one in said.numbers if one.replace(",", "").isdigit()
        }
        earlier = [
            look
            for look in self.events.looks
            if look.kind == d.TEST and look.at < passed[0].at and look.counts
        ]
        return any(look.counts is not None and look.counts.total in numbers for look in earlier)

    def _was_wider(self, passed: Sequence[Look]) -> bool:
        """Whether more was run, and was red, before the change than after it."""
        for look in self.events.looks:
            red = look.kind == d.TEST and look.outcome is Outcome.FAILED
            if not red or look.at >= passed[0].at:
                continue
            same = [one for one in passed if one.by == look.by]
            if same and not any(as_wide(one, look) for one in passed):
                return True
        return False

    def _ran(self, said: Said) -> Held:
        """It says that tests were run: they were, whatever came of it, or they were not."""
        looks = [look for look in self.events.looks if look.kind == d.TEST]
        if not looks:
            return Held(V.UNSUPPORTED, "no test was run")
        told = [look for look in looks if look.informs]
        code = [one for one in self.files if not one.is_prose]
        if not told:
            return Held(V.UNSUPPORTED, f"{looks[-1].by}: {looks[-1].detail}", (looks[-1].step,))
        if code and not any(self.covered.any(look, keys_of(code)) for look in told):
            return Held(V.UNSUPPORTED, f"{told[-1].by} ran on something else", (told[-1].step,))
        if _WHOLE_SUITE.search(said.plain) and all(_one_file(look) for look in told):
            part = f"only a part was run: {told[-1].command[:80]}"
            return Held(V.UNSUPPORTED, part, (told[-1].step,))
        return Held(V.VERIFIED, f"{told[-1].by} was run", (told[-1].step,))


_NUMBERS = {
    "twice": 2, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "twenty": 20, "fifty": 50, "hundred": 100,
}  # fmt: skip
_TIMES = re.compile(
    rf"\b(?:{'|'.join(_NUMBERS)}|\d{{1,4}})(?: \w+)? (?:times|runs|repeats|repetitions|iterations)\b|\btwice\b",
    re.IGNORECASE,
)
_REPEATS = re.compile(
    r"\bfor\b|\bwhile\b|\bseq\b|--?count\b|repeat|--times|flake|--runs?\b|stress|--until-fail|xargs",
    re.I,
)
_NEW_TESTS = re.compile(r"\bnew (?:\w+ )?(?:tests?|specs?|cases?)\b", re.IGNORECASE)
_SKIPPED_FILE = re.compile(r"^SKIPPED (?:\[\d+\] )?([\w./-]+\.\w+)", re.MULTILINE)
_EVERY_TIME = re.compile(
    r"\b(?:every|each) (?:single )?(?:time|run)\b|\btimes in a row\b", re.IGNORECASE
)
_TELLS_OF_SKIPS = re.compile(r"skip|xfail|ignor|disabl|quarantin|expected to fail", re.IGNORECASE)
# A line that a patch takes out begins with a minus.
_SKIPS = re.compile(
    r"^(?!-).*?(?:pytest\.mark\.(?:skip\b|xfail)|pytest\.skip\(|@(?:unittest\.)?(?:skip\b|expectedFailure)"
    r"|\b(?:it|test|describe)\.(?:skip|todo)\(|\bx(?:it|describe|test)\(|@Ignore\b|@Disabled\b|#\[ignore\]|\bt\.Skip\(|\[Ignore\])",
    re.MULTILINE,
)


_WORD_OF = {
    p.TESTS: "test",
    p.LINTS: "linter",
    p.TYPED: "type checker",
    p.BUILDS: "build",
    p.FORMATTED: "formatter",
    p.VALID: "validator",
    p.COVERAGE: "test",
    "probe": "probe",
}


# What is built, and how a build of it would read: a test run builds no documentation.
_BUILT_THINGS = (
    (re.compile(r"\bdoc(?:s|umentation)\b|\bsite\b", re.I), re.compile(r"doc|sphinx|site|jekyll|hugo|html", re.I)),
    (re.compile(r"\b(?:docker|container) image\b", re.I), re.compile(r"docker|podman|buildah|kaniko|image|compose|buildx", re.I)),
    (re.compile(r"\bstorybook\b", re.I), re.compile(r"storybook", re.I)),
)  # fmt: skip


def _of_the_thing(said: Said, looks: list[Look], kind: str) -> list[Look]:
    for named, shown in _BUILT_THINGS if kind == p.BUILDS else ():
        if named.search(said.plain):
            looks = [look for look in looks if shown.search(f"{look.by} {look.command}")]
    return looks


def _quotes(said: Said, look: Look) -> bool:
    """Whether the claim quotes the command of this run: `mvn verify` is not `mvn test -Dtest=A`."""
    program, *given = look.command.split() or [""]
    for span in CODE.findall(said.plain):
        name, *words = [word for word in span.split() if not word.startswith("-")] or [""]
        if words and set(words) <= set(given) and tidy(name) == tidy(program):
            return True
    return False


def _counted(look: Look) -> bool:
    """Whether tests were counted: whatever became of them, they were built."""
    return look.kind == d.TEST and look.counts is not None


_MANY = re.compile(
    r"^(?:tox|nox|pre-commit|make|just|task|npm|pnpm|yarn|invoke|gradlew?|mvnw?|maven|hatch|poe|nx|turbo|\./|bazel)"
)


_INSIDE = {
    p.LINTS: re.compile(
        r"\b(?:lint\w*|eslint|ruff|flake8|pylint|clippy|rubocop|golangci|stylelint|vet)\b",
        re.IGNORECASE,
    ),
    p.TYPED: re.compile(r"\b(?:mypy|tsc|pyright|type-?check\w*|types)\b", re.IGNORECASE),
    p.FORMATTED: re.compile(r"\b(?:format\w*|prettier|black|gofmt)\b", re.IGNORECASE),
    p.TESTS: re.compile(r"\b(?:tests?|pytest|jest|vitest|specs?)\b", re.IGNORECASE),
    p.BUILDS: re.compile(r"\b(?:build|compil\w*)\b", re.IGNORECASE),
}


def _also_ran(look: Look, kind: str) -> bool:
    """Whether a runner of many things shows that it did this one too."""
    pattern = _INSIDE.get(kind)
    if kind == p.TESTS and look.kind not in (d.TEST, d.RUN):
        return False
    return (
        pattern is not None
        and bool(_MANY.match(look.by))
        and bool(pattern.search(look.text[:20_000] + look.command))
    )


_SPOTLESS = re.compile(
    r"\b(?:clean|nothing|(?:no|zero) (?:(?:errors? (?:or|and) )?warnings?|complaints?|issues?|problems?|findings)|0 warnings|spotless|silent|quiet|not? (?:a )?(?:single )?warnings?)\b",
    re.IGNORECASE,
)


_NO_WARNINGS = re.compile(r"\b(?:without|no|zero|0) (?:any )?warnings?\b", re.IGNORECASE)
_WHOLE_SUITE = re.compile(
    r"\b(?:complete|whole|full|entire) (?:\w+ )?(?:test )?suite\b|\bfull test run\b"
    r"|\b(?:komplette|gesamte|ganze)n? test-?suite\b|\b(?:toda la|suite completa|toute la) ?(?:suite)?\b"
    r"|\b(?:suite complète|suite entière)\b",
    re.IGNORECASE,
)


def _one_file(look: Look) -> bool:
    """Whether a run was of single test files, or of tests picked by name."""
    return bool(look.filters) or (
        bool(look.paths) and all(re.search(r"\.\w{1,5}$", path) for path in look.paths)
    )


def _says_which(said: Said, passed: Sequence[Look]) -> bool:
    """Whether the sentence says itself which part was run: "only `//search/...` (all passed)"."""
    picked = {one for look in passed for one in look.filters if len(one) > 2}
    return any(one in said.sentence for one in picked)


def _names_run(said: Said, look: Look) -> bool:
    """Whether the claim is about that very run: "bazel" alone may be any run of it."""
    if not called(look, said.plain.lower()):
        return False
    scope = [path.rstrip("/.").rpartition("/")[2] for path in look.paths]
    return not scope or any(one and one in said.plain for one in scope)


def _names_scope(said: Said, look: Look) -> bool:
    """Whether the claim is about the very package that was run: "`packages/parser`: 96 pass"."""
    return look.package is not None and bool(
        re.search(rf"(?<![\w-]){re.escape(look.package)}(?![\w-])", said.plain)
    )


def _another_tree(look: Look, code: Sequence[Change]) -> bool:
    """A run in another checkout or worktree than the one that was changed."""
    return is_absolute(look.folder) and not any(
        within(change.target, look.folder) or within(look.folder, change.target.rpartition("/")[0])
        for change in code
        if is_absolute(change.target)
    )


_ALL_OF_IT = re.compile(
    r"\b(?:all|every\w*|whole|entire|full|in full|complete|suite)\b", re.IGNORECASE
)


_TEST_NAME = re.compile(r"^(?:[\w./]+::)?(test_\w+|\w+_test|Test\w+|\w+Tests?)(?:\(\))?$")


def _of_other_tests(said: Said, failed: Look) -> bool:
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


def _partly(said: Said, failed: Look) -> bool:
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


def _miscounted(said: Said, passed: Sequence[Look]) -> str | None:
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
    r"\ball (?:of the |the )?(\d[\d,]*)\b|(?<![\d.#v-])\b(\d[\d,]*)(?:/\d+)? (?:\w+ ){0,2}?pass(?:ed|ing|es)?\b|\b(\d[\d,]*) (?:of|out of) \d[\d,]* (?:\w+ ){0,2}?pass|\btodas las (\d+)|\balle (\d+)|\bles (\d+) tests",
    re.IGNORECASE,
)


_OUT_OF = re.compile(r"\b(\d+) (?:of|out of|/) \1\b")


_CLAIMED_RUNS = re.compile(
    r"\b(\d[\d,]*) (?:tests?|specs?|examples?)(?: run\b| in total|(?=\)))", re.IGNORECASE
)
