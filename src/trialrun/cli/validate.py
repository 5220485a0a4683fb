"""`trialrun validate`: report every mistake of a spec before any money is spent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from trialrun.cli.output import printing_to_stderr, put
from trialrun.errors import NothingSelected, Problem, SpecError
from trialrun.model.case import Suite
from trialrun.spec.load import DEFAULT_SPEC, load_suites


@click.command("validate")
@click.argument("specs", nargs=-1)
def command(specs: tuple[str, ...]) -> int:
    """Check SPECS (files or folders; default: `trialrun.yaml`), and load what they name.

    The baselines of their cases are read, too. No agent is asked and no judge is called.
    """
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
        problems += _missing(suites)
    if problems:
        raise SpecError(problems)
    if empty:
        raise NothingSelected("; ".join(empty))
    put("\n".join(lines) + "\n")
    return 0


def _missing(suites: Sequence[Suite]) -> Iterator[Problem]:
    """What the specs name and a run could not load, and baselines that it could not use."""
    from trialrun.engine.baseline_lookup import require_usable_baselines
    from trialrun.engine.loading import require_judges, require_loadable

    for require in (require_judges, require_loadable, require_usable_baselines):
        try:
            with printing_to_stderr():
                require(suites)
        except SpecError as error:
            yield from error.problems
