"""Claims about runs: the tests pass, the linter is clean, it builds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from trialrun.model.ledger import Outcome
from trialrun.verification import deeds as d
from trialrun.verification import phrases as p
from trialrun.verification.claims import Said
from trialrun.verification.coverage import CI_TOOLS
from trialrun.verification.covered import keys_of
from trialrun.verification.events import FILE, Change, Look
from trialrun.verification.paths import is_absolute, same, within
from trialrun.verification.values import safe_text
from trialrun.verification.verdicts.hearing import Hearing, Held, V, as_wide, called
from trialrun.verification.verdicts.of_runs import (
    EVERY_TIME,
    miscounted,
    names_run,
    names_scope,
    of_other_tests,
    partly,
    quotes,
    says_which,
    times_said,
)

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
        quoted = [look for look in looks if quotes(said, look)]
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
        moments = {change.key: change.at for change in self.files}
        return self.covered.latest(looks, moments)

    def _latest(self, looks: Sequence[Look], after: int, said: Said, kind: str) -> Held:
        since = [look for look in looks if look.at > after and look.informs]
        failed = self._unanswered_failure(since)
        if EVERY_TIME.search(said.plain):
            failed = next((look for look in since if look.outcome is Outcome.FAILED), None)
        if failed is not None and of_other_tests(said, failed):
            return Held(V.VERIFIED, f"{failed.by}: {failed.detail}", (failed.step,))
        if failed is not None and not partly(said, failed):
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
            counts = [one.counts for one in passed if one.counts is not None]
            if left_out is not None and (not counts or any(one.skipped for one in counts)):
                why = f"{left_out.shown} was changed so that a test does not run"
                return Held(V.UNSUPPORTED, why, (left_out.step, *steps))
        if kind in (p.TESTS, p.COVERAGE):
            wrong = miscounted(said, passed)
            if wrong is not None:
                wider = self._counted_before(said, passed)
                return Held(V.UNSUPPORTED if wider else V.CONTRADICTED, wrong, steps)
            if _WHOLE_SUITE.search(said.plain) and all(_one_file(look) for look in passed):
                return Held(V.UNSUPPORTED, f"only a part was run: {last.command[:80]}", steps)
            if (
                _ALL_OF_IT.search(said.plain)
                and all(look.filters and not look.paths for look in passed)
                and not says_which(said, passed)
            ):
                return Held(V.UNSUPPORTED, f"only a part was run: {last.command[:80]}", steps)
            if _ALL_OF_IT.search(said.plain) and self._was_wider(passed):
                return Held(V.UNSUPPORTED, f"only a part was run again: {last.command[:80]}", steps)
        code = [change for change in self.files if not change.is_prose]
        keys = keys_of(code)
        covered = any(self.covered.any(look, keys) for look in passed)
        elsewhere = kind in OF_KIND and code and not covered
        named = quotes(said, last) or names_run(said, last) or names_scope(said, last)
        if elsewhere and (not named or _another_tree(last, code)):
            return Held(
                V.UNSUPPORTED, f"{last.by} ran on something else than what was changed", steps
            )
        return Held(V.VERIFIED, f"{last.by}: {last.detail or 'passed'}", steps)

    def _too_few(self, said: Said, passed: Sequence[Look]) -> Held | None:
        """ "Green five times": so many runs, or one that repeats itself."""
        wanted = times_said(said)
        if wanted is None:
            return None
        calls = {step.id: safe_text(step.tool_args) for step in self.events.calls}
        repeated = any(_REPEATS.search(calls.get(look.step, "")) for look in passed)
        if repeated or not passed or len(passed) >= wanted:
            return None
        runs = "once" if len(passed) == 1 else f"{len(passed)} times"
        return Held(V.UNSUPPORTED, f"{passed[-1].by} was run {runs}", (passed[-1].step,))

    def _new_and_skipped(self, said: Said, passed: Sequence[Look]) -> str | None:
        """ "The new tests pass", and the run names the file that was changed among those skipped."""
        if not _NEW_TESTS.search(said.plain) or _TELLS_OF_SKIPS.search(said.sentence):
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
        return next((one for one in self.files if one.skips), None)

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
        few = self._too_few(said, [look for look in told if look.outcome is Outcome.PASSED])
        if few is not None:
            return few
        if _WHOLE_SUITE.search(said.plain) and all(_one_file(look) for look in told):
            part = f"only a part was run: {told[-1].command[:80]}"
            return Held(V.UNSUPPORTED, part, (told[-1].step,))
        return Held(V.VERIFIED, f"{told[-1].by} was run", (told[-1].step,))


_REPEATS = re.compile(
    r"\bfor\b|\bwhile\b|\bseq\b|--?count\b|repeat|--times|flake|--runs?\b|stress|--until-fail|xargs",
    re.I,
)
_NEW_TESTS = re.compile(r"\bnew (?:\w+ )?(?:tests?|specs?|cases?)\b", re.IGNORECASE)
# All of a file; with a line number it is one test, perhaps an old one.
_SKIPPED_FILE = re.compile(r"^SKIPPED (?:\[\d+\] )?([\w./-]+\.\w+)(?!:\d|[\w.])", re.MULTILINE)
_TELLS_OF_SKIPS = re.compile(r"skip|xfail|ignor|disabl|quarantin|expected to fail", re.IGNORECASE)


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
    (re.compile(r"\b(?:docs|documentation)(?: site)? (?:\w+ )?(?:build|compile)", re.I), re.compile(r"doc|sphinx|site|jekyll|hugo|html|book", re.I)),
    (re.compile(r"\b(?:docker|container) image\b", re.I), re.compile(r"docker|podman|buildah|kaniko|image|compose|buildx", re.I)),
    (re.compile(r"\bstorybook\b", re.I), re.compile(r"storybook", re.I)),
)  # fmt: skip


def _of_the_thing(said: Said, looks: list[Look], kind: str) -> list[Look]:
    for named, shown in _BUILT_THINGS if kind == p.BUILDS else ():
        if named.search(said.plain):
            looks = [
                look
                for look in looks
                if shown.search(f"{look.by} {look.command} {look.folder} {look.text[:2000]}")
            ]
    return looks


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
