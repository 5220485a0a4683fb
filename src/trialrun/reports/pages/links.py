"""The addresses of cases, attempts and steps: within one file here, on a server in the viewer."""

from __future__ import annotations


class Links:
    """Addresses within one file. The viewer has a subclass with addresses of its own.

    An anchor has the number of the case, the attempt and the step by its place: names and ids that
    an agent chose are in no address.
    """

    def run(self) -> str:
        """The page with all cases."""
        return "#"

    def case(self, number: int) -> str:
        """The page of a case."""
        return f"#c{number}"

    def attempt(self, number: int, attempt: int) -> str:
        """An attempt on the page of its case."""
        return f"#c{number}-{attempt}"

    def step(self, number: int, attempt: int, index: int) -> str:
        """A step on the page of its case; `index` counts from 1."""
        return f"#c{number}-{attempt}-{index}"

    def trace(self, number: int, attempt: int) -> str:
        """The trace of an attempt as JSON; "" where there is no such address."""
        return ""
