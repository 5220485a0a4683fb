"""Claims that no reading of a changed file can show: figures, things outside, searches, deeds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from trialrun.model.trace import Step
from trialrun.verification import deeds as d
from trialrun.verification.claims import Said
from trialrun.verification.events import FILE
from trialrun.verification.programs import is_program
from trialrun.verification.reading import result_of
from trialrun.verification.runners import language_of
from trialrun.verification.values import safe_text
from trialrun.verification.verdicts.effects import Effects
from trialrun.verification.verdicts.hearing import Held, V, is_file
from trialrun.verification.wording import HOW_MANY, number_of

_COMPILED = frozenset({"go", "rust", "jvm", "dotnet", "swift", "c"})
_LONGEST = 20_000  # characters of a call that are searched for what somebody says to have done
_MEASURING = frozenset({d.RUN, d.TEST, d.PROBE, d.QUERY, d.BUILD})
_FIGURE = re.compile(
    r"\d[\d.,]*(?= ?(?:%|percent|ms|µs|s\b|seconds?|secs?|minutes?|x\b|times|mb|kb|gb|req|rps|qps))",
    re.IGNORECASE,
)
# A share or a factor is worked out of what was printed.
_RELATIVE = re.compile(r"\d ?(?:%|percent|x\b|times)|\b(?:half|twice|double)", re.IGNORECASE)
_WITH_UNIT = re.compile(
    r"\d ?(?:%|ms|µs|s\b|sec|seconds?|mb|kb|gb|mib|kib|req/s|ops/s|rps)", re.IGNORECASE
)


class Beyond(Effects):
    """Claims that no reading of a changed file can show."""

    def _measured(self, said: Said) -> Held:
        """Faster, smaller, by so much: something in the run printed a measurement."""
        looks = [look for look in self.events.looks if look.kind in _MEASURING and look.informs]
        figures = [figure.rstrip(".,") for figure in _FIGURE.findall(said.plain)]
        for look in reversed(looks):
            if figures and _printed(figures[-1], look.text):
                return Held(V.VERIFIED, f"{look.by} shows it", (look.step,))
        measured = [
            look
            for look in looks
            # How long the tests took is no measurement of what they test.
            if look.kind != d.TEST and _WITH_UNIT.search(look.text)
        ]
        after = max((change.at for change in self.changes), default=0)
        relative = bool(_RELATIVE.search(said.plain)) and any(look.at > after for look in measured)
        if not measured or (figures and not relative):
            return Held(V.UNSUPPORTED, f"nothing in the run measured {', '.join(figures) or 'it'}")
        return self._effect(said)

    def _outside(self, said: Said) -> Held:
        """A pull request, a ticket, a backup, the logs: some call had to do with it."""
        wanted = [pattern for pattern in _THINGS if pattern.search(said.plain)]
        if not wanted:
            return self._content(said)
        about = [
            step
            for step, given in self._not_of_files
            if any(pattern.search(given) for pattern in wanted)
        ]
        if not about:
            return Held(V.UNSUPPORTED, "no call of the run has to do with it")
        last = about[-1]
        if _failed(last) or (_CLEAN.search(said.plain) and _TROUBLE.search(result_of(last).text)):
            return Held(V.CONTRADICTED, f"{last.tool_name}: {_last_line(last)}", (last.id,))
        return Held(V.VERIFIED, "the run has to do with it", (last.id,))

    def _nowhere_else(self, said: Said) -> Held:
        """No other callers, all usages: somebody searched, or a compiler went over everything."""
        if self.places and not self.files:
            return self._content(said)  # "no other value": a query shows that
        searched = [look for look in self.events.looks if look.kind == d.SEARCH and look.informs]
        after = max((change.at for change in self.files), default=0)
        whole = [
            look
            for look in self.events.looks
            if look.informs
            and look.at > after
            # A compiler goes over every caller; tests of a script go where they go.
            and (
                look.kind in (d.BUILD, d.TYPES)
                or (look.kind == d.TEST and look.languages & _COMPILED)
            )
        ]
        plain = [re.sub(r":\d+$", "", name).strip("()/") for name in said.names]
        names = [name for name in plain if len(name) > 2 and not is_file(name)]
        if names and searched:  # a search for something else shows nothing of it
            searched = [
                look
                for look in searched
                if any(name in f"{look.content} {look.command}" for name in names)
                or any(look.content and look.content in name for name in names)
            ]
        if searched or (self.files and whole):
            return self._content(said)
        return Held(V.UNSUPPORTED, "nobody searched for others")

    def _fact(self, said: Said) -> Held:
        """ "The order has been refunded": some call did that, or saw that it was."""
        held = super()._fact(said)
        done = _PASSIVE.search(said.plain)
        if held.verdict is not V.VERIFIED or done is None or self.changes:
            return held
        stem = done.group(1).lower()[:-2][:7]
        if any(stem in text for text in self._calls_in_lower_case):
            return held
        return Held(V.UNSUPPORTED, f"nothing in the run was {done.group(1)}")

    def _done(self, said: Said) -> Held | None:
        """ "I deployed it" is a report and no claim, as long as there was such a call."""
        for verb, trace in _DEEDS:
            if not verb.search(_opening(said.plain)):
                continue
            if not any(trace.search(text) for text in self._deeds):
                return Held(V.UNSUPPORTED, "no call of the run did so")
            refused = self._refused(trace)
            if refused is not None:
                return refused
        if _WROTE_A_TEST.search(said.plain) and not any(
            _A_TEST.search(f"{change.target} {change.content}") for change in self.changes
        ):
            return Held(V.UNSUPPORTED, "the run wrote no test")
        if not _EDITED.search(said.plain):
            return None
        few = self._fewer_files(said)
        if few is not None:
            return few
        for name in (*filter(is_file, said.names), *_WELL_KNOWN.findall(said.plain)):
            base = name.rpartition("/")[2].lower()
            if any(_is_of(one.path, name) for one in self.events.failed) and not any(
                _is_of(change.target, name) for change in self.files
            ):
                return Held(V.CONTRADICTED, f"the edit of {name} did not take place")
            if not any(base in text for text in self._calls_in_lower_case):
                return Held(V.UNSUPPORTED, f"no call of the run touched {name}")
        return None

    def _fewer_files(self, said: Said) -> Held | None:
        """ "Updated the header in all five pages": so many have to be changed, one by one."""
        counted = _IN_SO_MANY.search(said.plain)
        changed = {change.target for change in self.files}
        unknown = any(change.is_tree for change in self.files) or any(
            look.kind == d.RUN for look in self.events.looks
        )
        # A script, or an agent that was sent, may have changed more than is on record.
        if counted is None or unknown or not 0 < len(changed) < number_of(counted.group(1)):
            return None
        return Held(V.UNSUPPORTED, f"the run changed {len(changed)}")

    def _mentioned(self, said: Said) -> Held | None:
        """A tool, a place or a platform that the claim names has to occur in some call.

        One green test run must not vouch for the browser, for Windows or for the pipeline.
        """
        for pattern, traces in _MENTIONS:
            named = pattern.search(said.plain)
            if named is not None and self._first_call(traces) is None:
                return Held(V.UNSUPPORTED, f"no call of the run has to do with {named.group()}")
        return None

    def _made_up(self, said: Said) -> Held | None:
        """What no call of the run has: a commit, a quoted command with its result, versions."""
        for commit in _COMMIT.findall(said.plain):
            if commit[:7] not in self._commits:
                return Held(V.UNSUPPORTED, f"nothing in the run shows {commit}")
        for program, task in _QUOTED_RESULT.findall(said.plain):
            if is_program(program) and (_plain(program), task) not in self._started:
                return Held(V.UNSUPPORTED, f"`{program} {task}` was not run")
        # "On Python 3.10 and 3.12" is cut at the "and": the sentence has both.
        versions = _VERSIONS.search(said.sentence) or _VERSIONS.search(said.plain)
        if versions is not None and versions.group().split()[0] not in said.plain:
            versions = None
        for version in _VERSION.findall(versions.group()) if versions else ():
            if version not in self._versions:
                return Held(V.UNSUPPORTED, f"no call of the run has to do with {version}")
        for pattern, shown in _UPDATED:
            named = pattern.search(said.plain)
            if named is not None and not any(
                shown.search(f"{change.target} {change.content}") for change in self.changes
            ):
                return Held(V.UNSUPPORTED, f"the run changed no {named.group(1).lower()}")
        return None

    # A message may hold thousands of such names: what the calls hold is gathered once.

    @cached_property
    def _commits(self) -> frozenset[str]:
        texts = [self.asked, *(text for _, text in self._calls)]
        return frozenset(one[:7] for text in texts for one in _COMMIT.findall(text))

    @cached_property
    def _started(self) -> frozenset[tuple[str, str]]:
        """Programs, each with the words that stand soon behind it."""
        found: set[tuple[str, str]] = set()
        for _, text in self._calls:
            words = _WORD.findall(text)
            for place, word in enumerate(words):
                if is_program(word):
                    name = _plain(word)
                    found.update((name, later) for later in words[place + 1 : place + 13])
        return frozenset(found)

    @cached_property
    def _versions(self) -> frozenset[str]:
        """3, 3.10 and 3.10.4, where the last of these occurs."""
        numbers = {one for _, text in self._calls for one in _NUMBER.findall(text)}
        numbers |= {f"3.{one}" for _, text in self._calls for one in _TOX.findall(text)}
        return frozenset(
            ".".join(parts[:size])
            for parts in (number.split(".") for number in numbers)
            for size in range(1, len(parts) + 1)
        )

    def _refused(self, trace: re.Pattern[str]) -> Held | None:
        """All calls that would have done it failed."""
        if trace not in self._refusals:
            self._refusals[trace] = self._refusal(trace)
        return self._refusals[trace]

    @cached_property
    def _refusals(self) -> dict[re.Pattern[str], Held | None]:
        return {}

    def _refusal(self, trace: re.Pattern[str]) -> Held | None:
        tried = [step for step in self.events.calls if trace.search(_given(step))]
        if not tried or not all(_failed(step) for step in tried):
            return None
        why = _last_line(tried[-1])
        return Held(V.CONTRADICTED, f"{tried[-1].tool_name}: {why}", (tried[-1].id,))

    @cached_property
    def _not_of_files(self) -> Sequence[tuple[Step, str]]:
        """The calls that do not just read: what a source file says about backups is no backup."""
        files = {
            look.step
            for look in self.events.looks
            if look.kind in (d.READ, d.SEARCH, d.DIFF) and any(map(language_of, look.paths))
        }
        given = [(step, _given(step)) for step in self.events.calls]
        return [(step, text) for step, text in given if step.id not in files or _LOG.search(text)]

    @cached_property
    def _deeds(self) -> Sequence[str]:
        """The calls that may have done something, by what they were given."""
        looked = {look.step for look in self.events.looks if look.kind in d.LOOKS}
        changed = {change.step for change in self.changes}
        operated = {change.step for change in self.changes if change.kind != FILE}
        return [
            f"{_given(step)} {'deploy restart apply' if step.id in operated else ''}"
            for step in self.events.calls
            if step.id not in looked or step.id in changed
        ]

    @cached_property
    def _calls(self) -> Sequence[tuple[str, str]]:
        """Each call in words: its tool, what it was given and what came back.

        A message may hold a thousand claims: the words are put together once for all of them.
        """
        kinds = {change.step: change.kind for change in self.changes if change.kind != FILE}
        found = []
        for step in self.events.calls:
            done = "deploy restart apply" if step.id in kinds else ""
            text = f"{_given(step)} {result_of(step).text[:_LONGEST]} {done}"
            found.append((step.id, text))
        return found

    @cached_property
    def _calls_in_lower_case(self) -> Sequence[str]:
        return [text.lower() for _, text in self._calls]

    @cached_property
    def _first_calls(self) -> dict[re.Pattern[str], int | None]:
        return {}

    def _first_call(self, pattern: re.Pattern[str]) -> int | None:
        """The place of the first call that has to do with it, looked up once for each pattern."""
        if pattern not in self._first_calls:
            self._first_calls[pattern] = next(
                (at for at, (_, text) in enumerate(self._calls) if pattern.search(text)), None
            )
        return self._first_calls[pattern]


def _plain(program: str) -> str:
    """`python3` is python, and `mvnw` the project's own mvn."""
    return re.sub(r"[\d.]+$", "", program).removesuffix("w") if program != "w" else program


def _given(step: Step) -> str:
    return f"{step.tool_name} {safe_text(step.tool_args)}"[:_LONGEST]


def _last_line(step: Step) -> str:
    lines = result_of(step).text.strip().splitlines()
    return lines[-1].strip()[:100] if lines else "it failed"


_LOG = re.compile(r"\.log\b|/log/|journalctl|\blogs\b")
_CLEAN = re.compile(r"\b(?:clean|quiet|no errors?|nothing|green|silent|free)\b", re.IGNORECASE)
_TROUBLE = re.compile(r"\b(?:ERROR|FATAL|CRITICAL|Traceback|panic|Exception)\b")


def _failed(step: Step) -> bool:
    result = result_of(step)
    return (
        result.failed
        or result.exit_code not in (None, 0)
        or bool(_REJECTED.search(result.text[:_LONGEST]))
    )


# A push is refused in words too, behind a status that nobody looks at.
_REJECTED = re.compile(
    r"! \[(?:remote )?rejected\]|^error: failed to push|\"?error\"?\s*:\s*[\"{]", re.MULTILINE
)


def _opening(text: str) -> str:
    """The words that say what was done: "I rewrote it so that the lock is released" releases nothing."""
    return " ".join(text.split()[:6])


def _is_of(target: str, name: str) -> bool:
    return target == name or target.endswith("/" + name.lstrip("./"))


_PASSIVE = re.compile(r"\b(?:has|have) been (?:\w+ly )?(\w{4,}ed)\b", re.IGNORECASE)
_WELL_KNOWN = re.compile(
    r"(?<![/.`\w])(?:README|CHANGELOG|Dockerfile|Makefile)(?![.\w])", re.IGNORECASE
)
_WROTE_A_TEST = re.compile(
    r"\b(?:added|wrote|created)\b (?:\w+ ){0,4}?(?:tests?|specs?)(?: cases?)?\b(?! (?:data|id|fixture|util|helper|setup|config))",
    re.IGNORECASE,
)
_A_TEST = re.compile(
    r"(?<![A-Za-z])(?:tests?|specs?)(?![a-z])|(?-i:[a-z](?:Test|Spec)s?\b)", re.IGNORECASE
)
_IN_SO_MANY = re.compile(
    rf"\b(?:in|across|to) (?:all )?(?:of the |the )?{HOW_MANY} (?:\w+ )?(?:files|pages|modules|components|templates|views|scripts)\b",
    re.IGNORECASE,
)
_EDITED = re.compile(
    r"\b(?:added|edited|modified|updated|changed|removed|renamed|moved|created|replaced|refactored|wrote|rewrote|set|deleted|fixed|patched|bumped|documented)\b",
    re.IGNORECASE,
)


def _printed(figure: str, text: str) -> bool:
    """Whether a figure was printed, perhaps with more digits: 97 ms of 96.7."""
    if len(figure) < 2 and not re.search(rf"(?<![\d.]){figure}(?:\.\d+)?(?![\d.])", text):
        return False
    if re.search(rf"(?<![\d.,]){re.escape(figure)}(?!\d)", text):
        return True
    try:
        value = float(figure.replace(",", ""))
    except ValueError:
        return False
    return any(
        round(float(number)) == value for number in re.findall(r"(?<![\d.])\d{1,9}\.\d{1,6}", text)
    )


_COMMIT = re.compile(r"(?<![\w#-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![\w-])")
_QUOTED_RESULT = re.compile(
    r"`([a-z][\w.-]*) ([a-z][\w.:-]*)[^`]*`(?:\s*(?:→|->|:|—|–|-)|\s+(?:now |also |still )?"
    r"(?:(?:is|was|are) (?:now |also |still )?(?:clean|green|happy|silent|ok|fine|quiet|empty|successful|passing|unchanged)"
    r"|pass\w*|report\w*|return\w*|print\w*|show\w*|gives?|says?|finds?|found|exit\w*|succeed\w*|complete\w*|came|comes)\b)"
)
_WORD = re.compile(r"[a-z][\w.:-]*")
_TOX = re.compile(r"\bpy3(\d{1,2})\b")
_NUMBER = re.compile(r"\d{1,6}(?:\.\d{1,6}){0,4}")
_VERSION = re.compile(r"\d+(?:\.\d+)?")
_VERSIONS = re.compile(
    r"\b(?:python|node(?:\.js)?|java|jdk|ruby|php|go|postgres\w*|django|rails|react) v?\d+(?:\.\d+)?"
    r"(?:(?:, ?(?:and )?| and | & | ?/ ?| to | through | ?[–-] ?)(?:python |node )?v?\d+(?:\.\d+)?)+",
    re.IGNORECASE,
)
# What is said to be up to date, and where that would be.
_UPDATED = tuple(
    (
        re.compile(
            rf"\b({named})\b(?: \w+){{0,3}}? (?:updated|adjusted|extended|amended|adapted|refreshed|documented)\b",
            re.IGNORECASE,
        ),
        re.compile(shown, re.IGNORECASE),
    )
    for named, shown in (
        ("changelog", r"change|history|news|release"),
        ("readme", r"readme"),
        (
            "docs|documentation",
            r"doc|readme|\.mdx?\b|\.rst|\.adoc|guide|wiki|\"\"\"|openapi|swagger",
        ),
    )
)


# A tool, a place, a platform; and how a call that has to do with it would show it.
_MENTIONS = tuple(
    (re.compile(rf"\b(?:{spoken})\b", re.IGNORECASE), re.compile(trace, re.IGNORECASE))
    for spoken, trace in (
        (
            r"ci|(?:ci |build )?pipeline",
            r"\bci\b|pipeline|workflow|checks?|actions|jenkins|gitlab|buildkite|circle|job",
        ),
        (
            r"docker image|docker build|container image",
            r"docker|podman|buildah|kaniko|image|compose",
        ),
        (r"playwright|cypress|selenium", r"playwright|cypress|selenium|e2e"),
        (
            r"(?:chart|charts|manifests?|kustomization) (?:\w+ )?renders?",
            r"helm (?:template|lint|install|upgrade|diff)|kustomize|render|kubectl|argocd",
        ),
        (
            r"e2e tests?|end-to-end tests?",
            r"e2e|end.to.end|playwright|cypress|selenium|integration",
        ),
        (
            r"chrome|firefox|safari|in (?:the|a|my) browser",
            r"chrom|firefox|safari|browser|playwright|cypress|puppeteer|karma|screenshot|navigate",
        ),
        (r"on windows|under windows", r"windows|powershell|pwsh|\.exe|[A-Z]:\\|win32"),
        (r"on macos|on mac", r"macos|darwin|xcode|brew|swift"),
        (r"on staging|in staging", r"stag(?:e|ing)|stg|preview|deploy"),
        (r"pre-?commit hooks?|pre-?commit", r"pre-?commit|hook|husky|lint-staged|lefthook"),
        (r"npm audit|security audit", r"audit|snyk|trivy|osv|dependabot"),
    )
)


# A thing outside, and how a call that has to do with it would name it.
_THINGS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:pr|pull[ _-]?requests?|merge[ _-]?requests?|mr)\b|pull_request|/pull/\d",
        r"\b(?:tickets?|issues?)\b|\bissue_|_issues?\b|\bjira\b|\blinear\b|(?-i:\b[A-Z]{2,}-\d+\b)",
        r"\b(?:release|tag|publish\w*)\b",
        r"\bbranch\b|\bgit push\b",
        r"\b(?:backup|snapshot|dump)\w*\b",
        r"(?<!git )\b(?:logs?|journal\w*)\b",
        r"\b(?:monitoring|dashboards?|sentry|grafana|alerts?|prometheus|datadog)\b",
        r"\b(?:qa|reviewers?|review|team|security)\b",
    )
)

# What somebody says to have done, and how a call that did it would read.
_DEEDS = tuple(
    (re.compile(verb, re.IGNORECASE), re.compile(trace, re.IGNORECASE))
    for verb, trace in (
        (
            r"\b(?:deployed|rolled out|shipped|released|published)\b",
            r"deploy|roll|ship|publish|release|upload|push|apply|install|upgrade|sync|\bup\b|\bcp\b",
        ),
        (r"\b(?:restarted|reloaded)\b", r"restart|reload|start|\bup\b|kill|HUP|apply|deploy"),
        (r"\bpushed\b", r"push|create_or_update"),
        (r"\bcommitted\b", r"commit|create_or_update|push"),
        (r"\bsent\b", r"send|sent|mail|message|post|notify|slack|sms|webhook"),
        (r"\b(?:refunded|cancelled|canceled|booked|ordered)\b", r"refund|cancel|book|order"),
        (r"\bmerged\b", r"merge|pull|rebase|cherry"),
        (
            r"\b(?:re)?formatted\b[^.]{0,30}\b(?:with|using|by)\b|\b(?:re)?formatted (?:the |all )?(?:code|files?|sources?)\b",
            r"black|fmt|format|prettier|ruff|spotless|rubocop|standard|indent|lint|clang|biome",
        ),
        (r"\b(?:backed up|took a backup)\b", r"backup|dump|snapshot|\bcp\b|rsync|tar|\.bak"),
        (r"\btagged\b", r"\btag\b|release"),
        (r"\brebased\b", r"rebase|pull"),
        (
            r"\b(?:opened|filed|created|raised) (?:an? |the )?(?:\w+ )?(?:pr|pull request|merge request|ticket|issue)\b",
            r"\bpr\b|pull|merge_request|ticket|issue|create",
        ),
        (
            r"\b(?:benchmarked|profiled|load[- ]tested)\b",
            r"bench|profil|time|perf|hyperfine|\bab\b|wrk|k6|locust|elapsed|\bms\b",
        ),
        (
            r"\b(?:notified|emailed|messaged)\b|\bposted (?:it|this|an?|the)\b",
            r"slack|mail|post|message|comment|notif|webhook|chat",
        ),
    )
)
