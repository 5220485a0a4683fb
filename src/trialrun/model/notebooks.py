"""How traces and results show themselves in a notebook: as HTML, where Jinja2 is installed."""

from __future__ import annotations


class Shown:
    """Adds `_repr_html_`, which notebooks call; without Jinja2 they show the plain `repr`."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        from trialrun.reports.pages.notebook import notebook_html

        return notebook_html(self)
