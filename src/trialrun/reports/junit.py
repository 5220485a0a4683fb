"""The JUnit report: a run as JUnit XML, which CI systems show as test results.

The file and the exit code never disagree: there is a failure in it where the exit code is 1, and an
error where it is 3. With `--min-pass-rate` single failures do not fail the run: they are in
`system-out` of their test cases, and the gate is a test case of its own.

Of comparisons, sessions and audits, what a person has to look at is a failure, whatever the exit
code of their command is: that depends on options such as `--fail-on`.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree

from trialrun.model.audit import NEEDS_CALIBRATION, TRUSTWORTHY, UNRELIABLE, Audit
from trialrun.model.comparison import Comparison
from trialrun.model.results import CheckStatus, EvaluationResult, LayerStatus, RunResult
from trialrun.model.verified import Verification
from trialrun.model.withheld import Withheld
from trialrun.reports.base import Report, View
from trialrun.reports.views.comparison import behaviour_lines, verdicts_text
from trialrun.reports.views.ledger import finding_place, finding_text, weight_of
from trialrun.reports.views.printable import one_line
from trialrun.reports.views.texts import masked_among, masked_in
from trialrun.reports.views.wording import exchange, status_word
from trialrun.util.texts import counted

_NO_VERDICT = (LayerStatus.ERROR, LayerStatus.SKIP)


class JunitReport(Report):
    """JUnit XML, which CI systems show as test results."""

    name = "junit"
    suffixes = (".xml",)
    reads_sessions = True
    reads_comparisons = True
    reads_audits = True

    def render(self, run: RunResult, view: View) -> str:
        return render(run, strict=view.strict)

    def render_sessions(self, found: Verification, view: View) -> str:
        texts = masked_among(found), found.withheld
        return _document("trialrun verify", _session_cases(found), texts)

    def render_comparison(self, found: Comparison, view: View) -> str:
        texts = masked_among(found), found.withheld
        return _document(f"{found.before} → {found.after}", _change_cases(found), texts)

    def render_audit(self, audit: Audit, view: View) -> str:
        texts = masked_among(audit), audit.withheld
        return _document(f"judge {audit.identity}", _audit_cases(audit), texts)


def render(run: RunResult, strict: bool = False) -> str:
    """The report as XML. A warning is a passed test case, with its reasons in `system-out`."""
    suites: dict[str, list[EvaluationResult]] = {}
    for result in run.results:
        owner = result.suite_name or "trialrun"
        name = f"{owner} ({result.agent})" if result.agent is not None else owner
        suites.setdefault(name, []).append(result)
    root = ElementTree.Element("testsuites")
    # A run that passes with gaps was allowed to have them.
    gap = "skipped" if run.exit_code(strict) == 0 else "error"
    for name, results in suites.items():
        suite = ElementTree.SubElement(root, "testsuite", {"name": one_line(name)})
        for result in results:
            _add(
                suite,
                result,
                gap if result.status in _NO_VERDICT else _kind(result, strict, run.by_rate),
            )
    _add_run(root, run, gap)
    _add_texts(root, masked_in(run), run.withheld)
    return _written(root)


def _written(root: ElementTree.Element) -> str:
    for part in (*root, root):
        part.attrib |= _counts(part)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


Case = tuple[str, str, str | None, list[str]]
"""A test case: the name of its class, its own, what it has (a failure …), and the lines in that."""


def _document(name: str, cases: Iterable[Case], texts: tuple[int, Withheld | None]) -> str:
    """One test suite."""
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(root, "testsuite", {"name": one_line(name)})
    for owner, own, kind, lines in cases:
        names = {"name": one_line(own), "classname": one_line(owner), "time": "0.000"}
        _say(ElementTree.SubElement(suite, "testcase", names), kind, list(map(one_line, lines)))
    _add_texts(root, *texts)
    return _written(root)


def _session_cases(found: Verification) -> Iterable[Case]:
    """Each session, with its findings; and each file that could not be read."""
    for session in found.sessions:
        red = [one for one in session.findings if not weight_of(one)]
        ordered = [*red, *(one for one in session.findings if weight_of(one))]
        lines = [
            f"{finding_place(session, one)}: {one.code} {one.name}: {finding_text(one)}"
            for one in ordered
        ]
        silent = session.ledger.no_verdict
        kind = "failure" if red else "error" if silent else None
        yield session.file, session.name, kind, [*lines, *([silent] if silent else [])]
    for problem in found.problems:
        yield "trialrun verify", "sessions are readable", "error", [problem]


_WORSE = ("broke", "worse")


def _change_cases(found: Comparison) -> Iterable[Case]:
    """The verdict, and each case that changed or could not be compared."""
    kind = "failure" if found.worse else None
    yield "trialrun compare", "the verdict", kind, [found.sentence]
    for change in found.changes:
        lines = [f"{change.kind}: {verdicts_text(change)}", *behaviour_lines(change)]
        kind = "failure" if change.kind in _WORSE else None
        yield change.suite, change.case, kind, lines
    for case in found.loosened:
        yield case.suite, f"{case.case}: checks", "failure", ["checked less", *case.what]
    for one in found.lost:
        yield one.suite, one.case, "error", [f"lost its verdict: {one.error or 'no error'}"]
    for one in found.not_comparable:
        yield one.suite, one.case, "skipped", ["not comparable: it was asked something else"]


_RATINGS = {TRUSTWORTHY: None, NEEDS_CALIBRATION: "error", UNRELIABLE: "failure"}


def _audit_cases(audit: Audit) -> Iterable[Case]:
    """Each measurement, and each answer that the judge passed and that is wrong."""
    for name, figures, rating in audit.findings():
        kind = _RATINGS.get(rating, "skipped")
        yield "trialrun judge audit", name, kind, [f"{rating}: {figures}"]
    for one in audit.disagreements:
        lines = [f"score {one.score} for {one.rule}", one.against, one.rationale]
        yield "passed by the judge, and wrong", f"{one.case} #{one.attempt}", "failure", lines


def _add_texts(root: ElementTree.Element, masked: int, withheld: Withheld | None) -> None:
    """How many values are masked, and what was left out: properties of the first test suite."""
    first = root.find("testsuite")
    if first is None:
        return
    properties = ElementTree.Element("properties")
    values = {"masked": str(masked)}
    if withheld is not None:
        values["left out"] = str(withheld)
    for name, value in values.items():
        ElementTree.SubElement(properties, "property", {"name": name, "value": value})
    first.insert(0, properties)


def _kind(result: EvaluationResult, strict: bool, by_rate: bool) -> str | None:
    """The element that a verdict has in its test case: `failure`, or none."""
    if result.status is LayerStatus.FAIL:
        return None if by_rate else "failure"
    return "failure" if strict and result.status is LayerStatus.WARN else None


def _counts(part: ElementTree.Element) -> dict[str, str]:
    cases = list(part.iter("testcase"))
    return {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(sum(case.find("error") is not None for case in cases)),
        "skipped": str(sum(case.find("skipped") is not None for case in cases)),
        "time": f"{sum(float(case.attrib['time']) for case in cases):.3f}",
    }


def _add_run(root: ElementTree.Element, run: RunResult, gap: str) -> None:
    """What is about the whole run: its gates, and what is missing in it."""
    kinds = {True: None, False: "failure", None: "error"}
    found = [(f"gate {gate.name}", kinds[gate.holds], gate.message) for gate in run.gates]
    if run.unreadable:
        text = f"{counted(run.unreadable, 'trace')} could not be read"
        found.append(("traces are readable", gap, text))
    # A case that was not run says so itself.
    complete = not run.incomplete and run.tally.cases >= run.planned
    if not complete and root.find(".//error") is None:
        text = "; ".join(run.warnings) or "some planned cases have no result"
        found.append(("the run is complete", "error", text))
    if not found:
        return
    suite = ElementTree.SubElement(root, "testsuite", {"name": "trialrun: the whole run"})
    for name, kind, message in found:
        names = {"name": one_line(name), "classname": "trialrun", "time": "0.000"}
        case = ElementTree.SubElement(suite, "testcase", names)
        _say(case, kind, [one_line(message)])


def _say(case: ElementTree.Element, kind: str | None, lines: list[str]) -> None:
    """Add the reasons to a test case, the first of them as the message."""
    if kind is None:
        if lines:
            ElementTree.SubElement(case, "system-out").text = "\n".join(lines)
        return
    named = {"message": lines[0] if lines else kind, "type": "fail" if kind == "failure" else kind}
    ElementTree.SubElement(case, kind, named).text = "\n".join(lines)


def _number(value: float | None) -> str:
    """`10000001`, `0.000972`: never `1e+07`, which says less."""
    return "" if value is None else f"{value:.15g}"


def _add(suite: ElementTree.Element, result: EvaluationResult, kind: str | None) -> None:
    name = result.case_name if result.attempt == 1 else f"{result.case_name} #{result.attempt}"
    case = ElementTree.SubElement(
        suite,
        "testcase",
        {
            "name": one_line(name),
            "classname": one_line(result.suite_name or "trialrun"),
            "time": f"{(result.duration_ms or 0) / 1000:.3f}",
        },
    )
    properties = ElementTree.SubElement(case, "properties")
    values = {f"layer.{layer}": found.status.value for layer, found in result.layers.items()}
    values |= {f"metric.{metric.metric_name}": _number(metric.value) for metric in result.metrics}
    if result.earlier_errors:
        values["tries"] = str(len(result.earlier_errors) + 1)
    for key, value in values.items():
        ElementTree.SubElement(
            properties, "property", {"name": one_line(key), "value": one_line(value)}
        )
    # One line each: a line break in an agent's text could imitate another reason.
    reasons = [one_line(reason) for reason in _reasons(result)]
    if reasons:
        reasons += map(one_line, exchange(result))
    if result.status is LayerStatus.FAIL and kind is None:
        reasons.insert(0, "failed, but --min-pass-rate decides about the run")
    _say(case, kind, reasons)


def _reasons(result: EvaluationResult) -> Iterable[str]:
    if result.error:
        yield result.error
    for layer, check in result.checks():
        if check.status in (CheckStatus.FAIL, CheckStatus.UNKNOWN):
            turn = f" (turn {check.turn})" if check.turn else ""
            yield f"{layer}: {check.name}{turn}: {status_word(check)}: {check.message}"
    for call in result.failed_calls:
        yield f"tool call: {call}"
    if result.tries:
        yield result.tries
    for metric in result.metrics:
        if metric.error and metric.gate is None:
            yield f"metrics: {metric.metric_name}: {metric.error}"
