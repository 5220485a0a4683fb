"""A person's labels on verdicts of a judge, kept beside the answers that they are about."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from hashlib import blake2b

from msgspec import Struct

from trialrun.errors import UsageError
from trialrun.store.backends.base import Conflict, Database
from trialrun.store.codec import Redactor, original_text, redact_plain, safe_text

_COLUMNS = ("position", "attempt", "check", "turn", "rule_key", "rule", "follows", "reason")
_LISTED = ", ".join(f'"{name}"' for name in _COLUMNS)
_WHICH = 'run_id = ? AND position = ? AND attempt = ? AND "check" = ? AND turn = ? AND rule_key = ?'


class LabelPlace(Struct, frozen=True):
    """The verdict that a label is about. `turn` is 0 for the whole answer."""

    run_id: str
    position: int
    attempt: int
    check: str
    turn: int
    rule: str


class Label(Struct, frozen=True):
    """Whether the answer follows the rule, as a person says, and why."""

    place: LabelPlace
    follows: bool
    reason: str = ""


class LabelBook:
    """Reads and writes labels; a label that is given again replaces the one before."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, run_ids: Collection[str]) -> dict[LabelPlace, Label]:
        """The labels of these runs."""
        found = {}
        with self._database.reading() as connection:
            for run_id in sorted(set(run_ids)):
                query = f"SELECT {_LISTED} FROM trialrun_labels WHERE run_id = ? ORDER BY given_at"
                for row in connection.rows(query, [run_id]):
                    position, attempt, check, turn, _, rule, follows, reason = row
                    place = LabelPlace(
                        run_id,
                        position,
                        attempt,
                        original_text(check),
                        turn,
                        original_text(rule),
                    )
                    found[place] = Label(place, bool(follows), original_text(reason))
        return found

    def runs(self) -> list[str]:
        """The runs that have labels."""
        with self._database.reading() as connection:
            return [
                row[0]
                for row in connection.rows(
                    "SELECT run_id FROM trialrun_labels GROUP BY run_id ORDER BY max(given_at)"
                )
            ]

    def give(self, label: Label, redactor: Redactor = redact_plain) -> None:
        """Record the label: on disk when this returns."""
        place = label.place
        which = _which(place)
        values = [
            *which,
            safe_text(place.rule),
            int(label.follows),
            safe_text(redactor(label.reason)),
            self._database.moment(datetime.now(UTC)),
        ]
        marks = ", ".join("?" * len(values))
        try:
            with self._database.writing() as connection:
                connection.execute(f"DELETE FROM trialrun_labels WHERE {_WHICH}", which)
                connection.execute(
                    f"INSERT INTO trialrun_labels (run_id, {_LISTED}, given_at) VALUES ({marks})",
                    values,
                )
        except Conflict:
            raise UsageError(f"run {place.run_id} plans no case {place.position}") from None

    def take_back(self, place: LabelPlace) -> None:
        """Delete the label, if there is one."""
        with self._database.writing() as connection:
            connection.execute(f"DELETE FROM trialrun_labels WHERE {_WHICH}", _which(place))


def _which(place: LabelPlace) -> list[str | int]:
    key = blake2b(place.rule.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    check = safe_text(place.check)
    return [place.run_id, place.position, place.attempt, check, place.turn, key]
