"""Adds a case to a spec file as lines: every other byte stays as it is."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trialrun.errors import UsageError
from trialrun.spec.document import read_document
from trialrun.spec.validation import Problems, Unreadable, plain
from trialrun.util.files import reason, replacement_for


def add_case(file: Path, lines: Sequence[str]) -> None:
    """Add the case at the end of the spec's `queries:`; a file that does not exist is begun.

    UsageError if the spec has a case of that name, or takes more than adding lines at its end.
    """
    target = file.resolve()
    try:
        before = target.read_bytes() if target.exists() else b"version: 1\n\nqueries:\n"
        made = _added(before, lines, str(file))
        with replacement_for(target) as temporary:
            temporary.write_bytes(made)
            if target.exists():
                shutil.copymode(target, temporary)
    except OSError as error:
        raise UsageError(f"{file}: cannot be written: {reason(error)}") from None


def _added(data: bytes, lines: Sequence[str], file: str) -> bytes:
    before = _read(data, file)
    key = "cases" if "cases" in before else "queries"
    listed = before.get(key) or []
    (new,) = _read("\n".join(lines).encode(), file, list)
    if any(isinstance(case, dict) and case.get("name") == new["name"] for case in listed):
        raise UsageError(
            f"{file}: there is a case named `{new['name']}` already; give another CASE"
        )
    ending = "\r\n" if b"\r\n" in data else "\n"
    text = data.decode("utf-8")
    text += "" if text.endswith("\n") else ending
    for indent in ("  ", "", "    "):
        made = text + "".join(f"{indent}{line}{ending}" for line in lines)
        try:
            after = _read(made.encode(), file)
        except UsageError:
            continue
        if after == {**before, key: [*listed, new]}:
            return made.encode()
    raise UsageError(
        f"{file}: the case cannot be added at the end of this file; "
        "without -o it is printed, to be pasted where it belongs"
    )


def _read(data: bytes, file: str, kind: type = dict) -> Any:
    problems = Problems(file)
    try:
        document = plain(read_document(data, problems))
    except Unreadable:
        raise UsageError(str(problems.found[0])) from None
    if not isinstance(document, kind):
        raise UsageError(f"{file}: not a spec: a spec is a mapping with `queries`")
    return document
