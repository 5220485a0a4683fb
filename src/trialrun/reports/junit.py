"""The JUnit report: a run as JUnit XML, which CI systems show as test results."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree

from trialrun.model.results import CheckStatus, EvaluationResult, LayerStatus, RunResult
from trialrun.reports.base import Report, View
from trialrun.reports.views.printable import one_line


class JunitReport(Report):
    """JUnit XML, which CI systems show as test results."""

    name = "junit"
    suffixes = (".xml",)

    def render(self, run: RunResult, view: View) -> str:
        return render(run, strict=view.strict)


def render(run: RunResult, strict: bool = False) -> str:
    """The report as XML. A warning is a passed test case, with its reasons in `system-out`."""
    suites: dict[str, list[EvaluationResult]] = {}
    for result in run.results:
        owner = result.suite_name or "trialrun"
        name = f"{owner} ({result.agent})" if result.agent is not None else owner
        suites.setdefault(name, []).append(result)
    everything = [result for results in suites.values() for result in results]
    root = ElementTree.Element("testsuites", _counts(everything, strict))
    for name, results in suites.items():
        suite = ElementTree.SubElement(
            root, "testsuite", {"name": one_line(name), **_counts(results, strict)}
        )
        for result in results:
            _add(suite, result, strict)
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'


def _failed(result: EvaluationResult, strict: bool) -> bool:
    return result.status is LayerStatus.FAIL or (strict and result.status is LayerStatus.WARN)


def _counts(results: Iterable[EvaluationResult], strict: bool) -> dict[str, str]:
    results = list(results)
    return {
        "tests": str(len(results)),
        "failures": str(sum(_failed(result, strict) for result in results)),
        "errors": str(sum(result.status is LayerStatus.ERROR for result in results)),
        "skipped": "0",
        "time": f"{sum(result.duration_ms or 0 for result in results) / 1000:.3f}",
    }


def _add(suite: ElementTree.Element, result: EvaluationResult, strict: bool) -> None:
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
    values |= {
        f"metric.{metric.metric_name}": "" if metric.value is None else f"{metric.value:g}"
        for metric in result.metrics
    }
    for key, value in values.items():
        ElementTree.SubElement(
            properties, "property", {"name": one_line(key), "value": one_line(value)}
        )
    # One line each: a line break in an agent's text could imitate another reason.
    reasons = [one_line(reason) for reason in _reasons(result)]
    text = "\n".join(reasons)
    message = reasons[0] if reasons else result.status.value
    if _failed(result, strict):
        ElementTree.SubElement(case, "failure", {"message": message, "type": "fail"}).text = text
    elif result.status is LayerStatus.ERROR:
        ElementTree.SubElement(case, "error", {"message": message, "type": "error"}).text = text
    elif text:
        ElementTree.SubElement(case, "system-out").text = text


def _reasons(result: EvaluationResult) -> Iterable[str]:
    if result.error:
        yield result.error
    for layer, check in result.checks():
        if check.status in (CheckStatus.FAIL, CheckStatus.UNKNOWN):
            turn = f" (turn {check.turn})" if check.turn else ""
            yield f"{layer}: {check.name}{turn}: {check.status.value}: {check.message}"
    for metric in result.metrics:
        if metric.error and metric.gate is None:
            yield f"metrics: {metric.metric_name}: {metric.error}"
