"""`trialrun validate`: report every mistake of a spec before any money is spent."""

from __future__ import annotations

import click

from trialrun.cli.output import put
from trialrun.errors import NothingSelected, Problem, SpecError
from trialrun.spec.load import DEFAULT_SPEC, load_suites


@click.command("validate")
@click.argument("specs", nargs=-1)
def command(specs: tuple[str, ...]) -> int:
    """Check SPECS (files or folders; default: `trialrun.yaml`) without running anything."""
    problems: list[Problem] = []
    lines, empty = [], []
    for spec in specs or (DEFAULT_SPEC,):
        try:
            suites = load_suites(spec)
        except SpecError as error:
            problems += error.problems
            continue
        for suite in suites:
            if not suite.cases:
                empty.append(f"{suite.file}: the spec has no cases")
                continue
            checks = sum(case.number_of_checks() for case in suite.cases)
            cases = "1 case" if len(suite.cases) == 1 else f"{len(suite.cases)} cases"
            asked = "1 check" if checks == 1 else f"{checks} checks"
            lines.append(f"{suite.file}: ok: {cases}, {asked}")
    if problems:
        raise SpecError(problems)
    if empty:
        raise NothingSelected("; ".join(empty))
    put("\n".join(lines) + "\n")
    return 0
