"""Code shared by `compare` and `baseline diff`: compare two sides, report, exit code."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from trialrun.cli.output import shown_path
from trialrun.cli.reporting import Wanted, kind_of, write
from trialrun.errors import UsageError
from trialrun.model.comparison import FAIL_ON, Side
from trialrun.util.files import is_folder

if TYPE_CHECKING:
    from trialrun.store.store import Store

BASELINE = "baseline"

fail_on_option = click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice(FAIL_ON),
    help="Exit with 1 on regression (the pass rate of a case fell), worse (a difference for the "
    "worse that chance does not explain) or changed (a case behaves differently).",
)


def compare_sides(
    store: Store,
    before: str,
    after: str,
    fail_on: tuple[str, ...],
    wanted: Wanted,
) -> int:
    """Compare, write the report, and return the exit code that `--fail-on` asks for."""
    from trialrun.engine.compare import compare
    from trialrun.engine.comparison_sides import run_side

    kind = kind_of(wanted, "reads_comparisons")
    if after == BASELINE or is_folder(Path(after)):
        raise UsageError("a run is compared with a baseline: give the baseline first")
    record, newer = run_side(store, after)
    if before == BASELINE or is_folder(Path(before)):
        older = _baselines(before, record.spec_key, newer)
        known: Mapping[str, bool | None] = {}
    else:
        earlier, older = run_side(store, before)
        if earlier.id == record.id and older.label == newer.label:
            raise UsageError(f"{before} and {after} are the same run, {record.id}")
        known = earlier.settings.get("directions", {})
    directions = {**known, **record.settings.get("directions", {})}
    found = compare(older, newer, directions)
    if wanted.share:
        from trialrun.engine.sharing import shared_comparison

        found = shared_comparison(found)
    write(kind, wanted, lambda report, view: report.render_comparison(found, view))
    return found.exit_code(fail_on)


def _baselines(given: str, spec: str, newer: Side) -> Side:
    from trialrun.engine.baseline_lookup import baselines_beside
    from trialrun.engine.comparison_sides import baseline_side

    folder = baselines_beside(spec) if given == BASELINE else Path(given)
    side = baseline_side(folder, newer.cases)
    return replace(side, label=f"{BASELINE} {shown_path(folder)}")
