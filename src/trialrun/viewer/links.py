"""The addresses of the viewer's pages."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from trialrun.reports.pages.links import Links


def run_address(run_id: str, page: str = "") -> str:
    """The address of a run, or of one of its further pages."""
    return f"/runs/{quote(run_id, safe='')}" + (f"/{page}" if page else "")


def with_query(address: str, **fields: str | list[str]) -> str:
    """The address with the fields that say something."""
    query = urlencode({name: value for name, value in fields.items() if value}, doseq=True)
    return f"{address}?{query}" if query else address


class RunLinks(Links):
    """Addresses of cases and steps of a run. `query` keeps how the list was filtered."""

    def __init__(self, run_id: str, query: str = "") -> None:
        self._run = run_address(run_id)
        self._query = f"?{query}" if query else ""

    def run(self) -> str:
        return f"{self._run}{self._query}"

    def case(self, number: int) -> str:
        return f"{self._run}/cases/{number}{self._query}"

    def attempt(self, number: int, attempt: int) -> str:
        return f"{self.case(number)}#c{number}-{attempt}"

    def step(self, number: int, attempt: int, index: int) -> str:
        return f"{self.case(number)}#c{number}-{attempt}-{index}"

    def trace(self, number: int, attempt: int) -> str:
        return f"{self._run}/cases/{number}/trace-{attempt}.json"
