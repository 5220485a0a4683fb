"""`trialrun judge`: measure on stored runs how reliable a judge is; no agent is called."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from trialrun.cli.output import printing_to_stderr, put, say, shown_path
from trialrun.cli.reporting import Wanted, kind_of, wanted_options, write
from trialrun.cli.stores import require_cases, store_option
from trialrun.errors import NothingSelected, UsageError
from trialrun.util.texts import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trialrun.engine.judge_audit import Item
    from trialrun.model.case import Suite
    from trialrun.store.records import RunRecord
    from trialrun.store.store import Store

LABELS = "labels.jsonl"


_spec = click.option(
    "--spec", help="The spec to use [default: the one that the run was made with]."
)
_limit = click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="The most verdicts to use; an answer has one for each of its rules.",
)


@click.group("judge")
def command() -> None:
    """Audit the judge behind rubrics, and label answers for it."""


def _stored(store: Store, run: str, spec: str | None) -> tuple[RunRecord, list[Suite]]:
    from trialrun.spec.load import load_suites

    record = store.find_run(run)
    require_cases(record, spec)
    return record, load_suites(spec or record.spec_key)


def _items(store: Store, record: RunRecord, suites: list[Suite], limit: int) -> list[Item]:
    from itertools import islice

    from trialrun.engine.judge_audit import items_of

    return list(islice(items_of(store, [record], suites), limit))


@command.command("audit")
@click.argument("run", default="latest")
@_spec
@click.option("--labels", metavar="FILE", help="Labels given by a person, .csv or .jsonl.")
@click.option(
    "--retests",
    type=click.IntRange(0, 50),
    default=3,
    show_default=True,
    help="How many times the same answer is judged again.",
)
@_limit
@wanted_options(
    "The file to write the audit to [default: judge-audit.json beside the spec]; with the ending "
    "of another report, that report."
)
@store_option
def audit_command(
    run: str,
    spec: str | None,
    labels: str | None,
    retests: int,
    limit: int,
    store: str | None,
    **given: Any,
) -> int:
    """Measure the judge of the spec on the stored answers of RUN (default: `latest`).

    It is compared with the free checks, with itself, and with labels given by a person: in the
    viewer (`trialrun view`), or in a file.

    Exit codes: 0 trustworthy, 1 unreliable, 3 needs calibration or more evidence.
    """
    from trialrun.engine.evaluate import run_coroutine
    from trialrun.engine.judge_audit import audit
    from trialrun.engine.judge_audit_files import keep_audit
    from trialrun.engine.judges import audit_file
    from trialrun.engine.sharing import shared_audit
    from trialrun.model.audit import TRUSTWORTHY, UNRELIABLE
    from trialrun.store import open_store
    from trialrun.util.files import is_folder, reason

    wanted, output = _report_and_file(Wanted(**given))
    kind = kind_of(wanted, "reads_audits")
    with open_store(store, create=False) as opened, printing_to_stderr():
        record, suites = _stored(opened, run, spec)
        items = _items(opened, record, suites, limit)
        # One file beside each audited spec; audits of other specs are not replaced.
        files = {audit_file(item.suite) for item in items} if output is None else {Path(output)}
        targets = sorted(files)
        for target in targets:  # refused before the judge is called and paid
            if is_folder(target) or not is_folder(target.parent):
                raise UsageError(
                    f"{target}: cannot be written: it is a folder, or its folder does not exist"
                )
        known = _from_viewer(opened, suites, items)
        known |= {} if labels is None else _known(Path(labels), items)
        found = run_coroutine(audit(items, suites, [record.id], known, retests))
    for target in targets:
        try:
            keep_audit(target, found)
        except (OSError, ValueError) as error:
            raise UsageError(f"{target}: cannot be written: {reason(error)}") from None
    shown = shared_audit(found) if wanted.share else found
    write(kind, wanted, lambda report, view: report.render_audit(shown, view))
    if not kind.for_machines or wanted.output is not None:
        say(f"audit written to {', '.join(map(shown_path, targets))}")
    return {TRUSTWORTHY: 0, UNRELIABLE: 1}.get(found.verdict, 3)


def _report_and_file(wanted: Wanted) -> tuple[Wanted, str | None]:
    """What to report, and the file of the audit: `-o` names either, by its ending."""
    ending = Path(wanted.output or "").suffix.lower()
    if wanted.output is None or ending in ("", ".json"):
        return replace(wanted, output=None), wanted.output
    return wanted, None


@command.command("label")
@click.argument("run", default="latest")
@_spec
@click.option(
    "--labels",
    metavar="FILE",
    default=LABELS,
    show_default=True,
    help="The file that labels are added to.",
)
@_limit
@store_option
def label_command(run: str, spec: str | None, labels: str, limit: int, store: str | None) -> int:
    """Label the answers of RUN (default: `latest`) one by one: does each follow its rule?

    Answers that have a label are skipped. The verdict of the judge is not shown.
    """
    from trialrun.engine.judge_labels import write_label
    from trialrun.store import open_store

    with open_store(store, create=False) as opened:
        record, suites = _stored(opened, run, spec)
        items = _items(opened, record, suites, limit)
    if not items:
        raise NothingSelected(f"run {record.id}: no answer has a rubric")
    file = Path(labels)
    if file.suffix.lower() == ".csv":
        raise UsageError(f"{file}: labels are added to a .jsonl file; only the audit reads .csv")
    known = _known(file, items) if file.exists() else {}
    left = list({item.key: item for item in items if item.key not in known}.values())
    for number, item in enumerate(left, 1):
        _show(item, number, len(left))
        label = _ask()
        if label == "q":
            break
        if label != "s":
            write_label(file, item, label == "p")
            known[item.key] = label == "p"
    total = len({item.key for item in items})
    say(f"{counted(len(known), 'label')} of {total} in {file}")
    return 0


def _known(file: Path, items: Sequence[Item]) -> dict[str, bool]:
    """The labels in the file, by key; labels of other answers are reported and not counted."""
    from trialrun.engine.judge_labels import read_labels

    found = read_labels(file, items)
    if found.others:
        verb = "is" if found.others == 1 else "are"
        say(
            f"{counted(found.others, 'label')} in {file} {verb} about other answers, rules or "
            "contexts than these: not counted"
        )
    return found.known


def _from_viewer(store: Store, suites: list[Suite], items: Sequence[Item]) -> dict[str, bool]:
    """The labels of these items that were given in the viewer; a file may replace them."""
    from trialrun.engine.judge_labels import stored_labels

    wanted = {item.key for item in items}
    given = stored_labels(store, suites)
    found = {key: label for key, label in given.items() if key in wanted}
    if found:
        say(f"{counted(len(found), 'label')} given in the viewer")
    return found


def _show(item: Item, number: int, total: int) -> None:
    from trialrun.reports.views.printable import printable

    request = item.request
    put(
        f"\n{number} of {total} · {printable(item.case)} #{item.attempt}\n"
        f"rule: {printable(request.rubric.rule)}\n"
        + "".join(f"scale: {printable(line)}\n" for line in request.rubric.scale or ())
        + f"asked: {printable(request.question)}\n"
        f"answered: {printable(request.answer)}\n"
    )
    for piece in request.context:
        put(f"{piece.name}: {printable(piece.text)[:2000]}\n")


def _ask() -> str:
    """Ask the user for one letter: pass, fail, skip or quit. The end of the input means quit."""
    while True:
        put("does it follow the rule? [p]ass [f]ail [s]kip [q]uit ")
        line = sys.stdin.readline() if sys.stdin is not None else ""
        if not line:
            return "q"
        word = line.strip().lower()
        if word in ("p", "f", "s", "q", "pass", "fail", "skip", "quit"):
            return word[0]
