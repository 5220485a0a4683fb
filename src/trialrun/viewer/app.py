"""The application: which address shows which page."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Collection
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from trialrun.errors import TrialrunError, UsageError
from trialrun.store.store import Store
from trialrun.viewer.guard import Guard, Refused
from trialrun.viewer.links import RunLinks, run_address
from trialrun.viewer.renderer import Link, asset_of, page
from trialrun.viewer.run_pages import figures_of, one_case, run_page, values_of
from trialrun.viewer.runs_page import runs_page
from trialrun.viewer.summaries import Cache, Summary, summary_of

Handler = Callable[[Request], Response | Awaitable[Response]]


def make_app(store: Store, hosts: Collection[str]) -> ASGIApp:
    """The application over a store, for these names of this machine."""
    viewer = Viewer(store)
    routes: list[tuple[str, Handler, str]] = [
        ("/", viewer.runs, "GET"),
        ("/assets/{name}", asset_of, "GET"),
        ("/favicon.ico", lambda request: Response(status_code=204), "GET"),
        ("/version", viewer.list_version, "GET"),
        ("/runs/{run}", viewer.run, "GET"),
        ("/runs/{run}/version", viewer.version, "GET"),
        ("/runs/{run}/cases/{position:int}", viewer.case, "GET"),
        ("/runs/{run}/figures", viewer.figures, "GET"),
    ]
    app = Starlette(
        routes=[Route(path, handler, methods=[method]) for path, handler, method in routes],
        exception_handlers={
            HTTPException: _missing,
            UsageError: _missing,
            TrialrunError: _broken,
            Refused: _refused,
        },
    )
    app.router.redirect_slashes = False
    return Guard(app, hosts)


class Viewer:
    """Answers requests from a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._cache = Cache()
        self._token = secrets.token_urlsafe(24)

    def runs(self, request: Request) -> Response:
        """The list of runs."""
        found = runs_page(self._store, request.query_params)
        return page(request, "runs.html", "Runs", page=found)

    def list_version(self, request: Request) -> Response:
        """What changes as soon as the list of runs does."""
        found = runs_page(self._store, {})
        return PlainTextResponse(found.version)

    def run(self, request: Request) -> Response:
        """The cases of a run."""
        summary = self._summary(request)
        values = values_of(request.query_params)
        links = RunLinks(summary.record.id, values.query)
        offset = _whole(request.query_params.get("from", ""))
        found = run_page(self._store, summary, values, offset, self._cache, links)
        return self._page(request, "run.html", summary, run=found, links=links, values=values)

    def version(self, request: Request) -> Response:
        """What changes as soon as the run does."""
        return PlainTextResponse(self._summary(request).version)

    def case(self, request: Request) -> Response:
        """One case with its attempts."""
        summary = self._summary(request)
        values = values_of(request.query_params)
        links = RunLinks(summary.record.id, values.query)
        position = request.path_params["position"]
        found = one_case(self._store, summary, position, values, self._cache, links)
        if found is None:
            raise UsageError(f"run {summary.record.id} has no case {position}")
        return self._page(
            request, "one_case.html", summary, title=found.case.name, one=found, links=links
        )

    def figures(self, request: Request) -> Response:
        """The figures of a run."""
        summary = self._summary(request)
        figures, note = self._cache.get(
            "figures", summary.version, lambda: figures_of(self._store, summary)
        )
        return self._page(request, "figures.html", summary, figures=figures, note=note)

    def _summary(self, request: Request) -> Summary:
        record = self._store.find_run(request.path_params["run"])
        return summary_of(self._store, record, self._cache)

    def _page(
        self, request: Request, template: str, summary: Summary, title: str = "", **values: Any
    ) -> Response:
        name = summary.record.id
        return page(
            request,
            template,
            title or name,
            _tabs(summary, request.url.path),
            summary=summary,
            **values,
        )


def _tabs(summary: Summary, here: str) -> tuple[Link, ...]:
    """The pages of a run."""
    name = summary.record.id
    noun = "Sessions" if summary.record.kind == "verify" else "Cases"
    pages = [(noun, ""), ("Figures", "figures")]
    return tuple(
        (text, run_address(name, part), here == run_address(name, part)) for text, part in pages
    )


def _whole(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0


# What went wrong


def _missing(request: Request, error: Exception) -> Response:
    """There is no such page, or no such run."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    why = "there is no such page" if isinstance(error, HTTPException) else str(error)
    return page(request, "problem.html", "Not found", status=status, why=why)


def _broken(request: Request, error: Exception) -> Response:
    """The store cannot be read."""
    return page(request, "problem.html", "Cannot be read", status=500, why=str(error))


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return PlainTextResponse(f"{error}\n", error.status, {"connection": "close"})
