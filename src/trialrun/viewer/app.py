"""The application: which address shows which page."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Collection
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from trialrun.errors import StoreError, TrialrunError, UsageError
from trialrun.store.records import VERIFY
from trialrun.store.store import Store
from trialrun.viewer.bodies import form_of
from trialrun.viewer.compare_page import choices_of, chosen_runs, compared, run_before
from trialrun.viewer.guard import Guard, Refused
from trialrun.viewer.judge_page import judge_page, judged_at, rows_of, take_label
from trialrun.viewer.links import RunLinks, run_address, with_query
from trialrun.viewer.renderer import Link, asset_of, page
from trialrun.viewer.run_pages import figures_of, one_case, run_page, trace_json, values_of
from trialrun.viewer.runs_page import runs_page
from trialrun.viewer.stability_page import stability_page
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
        ("/runs/{run}/cases/{position:int}/trace-{attempt:int}.json", viewer.trace, "GET"),
        ("/runs/{run}/figures", viewer.figures, "GET"),
        ("/runs/{run}/stability", viewer.stability, "GET"),
        ("/runs/{run}/judge", viewer.judge, "GET"),
        ("/runs/{run}/labels", viewer.label, "POST"),
        ("/compare", viewer.compare, "GET"),
    ]
    app = Starlette(
        routes=[Route(path, handler, methods=[method]) for path, handler, method in routes],
        exception_handlers={
            HTTPException: _missing,
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
        tabs = (("Compare", "/compare", False),)
        return page(request, "runs.html", "Runs", tabs, page=found)

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
        around = _whole(request.query_params.get("step", ""))
        found = one_case(self._store, summary, position, values, self._cache, links, around)
        if found is None:
            raise UsageError(f"run {summary.record.id} has no case {position}")
        (planned,) = self._store.tallies.planned(summary.record.id, [position])
        labels = self._store.labels.of([summary.record.id])
        judged = rows_of(judged_at(self._store, summary, planned), labels)
        return self._page(
            request,
            "one_case.html",
            summary,
            title=found.case.name,
            one=found,
            links=links,
            judged=judged,
            token=self._token,
        )

    def trace(self, request: Request) -> Response:
        """The trace of an attempt, as its page shows it: with secrets masked."""
        record = self._store.find_run(request.path_params["run"])
        position, attempt = request.path_params["position"], request.path_params["attempt"]
        text = trace_json(self._store, record, position, attempt)
        if text is None:
            raise UsageError(
                f"run {record.id} has no trace of attempt {attempt} at case {position}"
            )
        return Response(text, media_type="application/json")

    def figures(self, request: Request) -> Response:
        """The figures of a run."""
        summary = self._summary(request)
        figures, note = self._cache.get(
            "figures", summary.version, lambda: figures_of(self._store, summary)
        )
        return self._page(request, "figures.html", summary, figures=figures, note=note)

    def stability(self, request: Request) -> Response:
        """The stability of a repeated run."""
        summary = self._summary(request)
        offset = _whole(request.query_params.get("from", ""))
        found = stability_page(self._store, summary, offset)
        return self._page(request, "stability.html", summary, found=found)

    def judge(self, request: Request) -> Response:
        """The verdicts of the judge, to be labelled."""
        summary = self._summary(request)
        offset = _whole(request.query_params.get("from", ""))
        found = judge_page(self._store, summary, offset, self._cache)
        return self._page(
            request, "judge.html", summary, found=found, token=self._token, offset=offset
        )

    async def label(self, request: Request) -> Response:
        """Take a label, and show the page again that it was given on."""
        fields = await form_of(request)
        if not secrets.compare_digest(fields.get("token", "").encode(), self._token.encode()):
            raise Refused(403, "this form is not of this viewer, or of before it was started")
        return await run_in_threadpool(self._labelled, request, fields)

    def _labelled(self, request: Request, fields: dict[str, str]) -> Response:
        summary = self._summary(request)
        position = _whole(fields.get("position", ""))
        planned = self._store.tallies.planned(summary.record.id, [position])
        found = judged_at(self._store, summary, planned[0]) if planned else []
        take_label(self._store, found, fields)
        links = RunLinks(summary.record.id)
        address = run_address(summary.record.id, "judge")
        if fields.get("page") == "case":
            address = f"{links.case(position)}#labels"
        elif offset := _whole(fields.get("from", "")):
            address = f"{address}?from={offset}"
        return RedirectResponse(address, 303)

    def compare(self, request: Request) -> Response:
        """Two runs side by side."""
        asked = request.query_params
        before, after = chosen_runs(
            self._store, asked.getlist("run"), asked.get("before", ""), asked.get("after", "")
        )
        choices = choices_of(self._store)
        if not (before and after):
            return page(request, "choose.html", "Compare", choices=choices)
        found = compared(self._store, before, after, self._cache)
        return page(
            request,
            "comparison.html",
            f"{before} → {after}",
            choices=choices,
            before=before,
            after=after,
            page=found.page,
            addresses=found.addresses,
            distributions=found.distributions,
        )

    def _summary(self, request: Request) -> Summary:
        record = self._store.find_run(request.path_params["run"])
        return summary_of(self._store, record, self._cache)

    def _page(
        self, request: Request, template: str, summary: Summary, title: str = "", **values: Any
    ) -> Response:
        tabs = _tabs(summary, request.url.path)
        if before := run_before(self._store, summary.record):
            address = with_query("/compare", before=before, after=summary.record.id)
            tabs = (*tabs, ("Compare", address, False))
        return page(
            request,
            template,
            title or summary.record.id,
            tabs,
            summary=summary,
            **values,
        )


def _tabs(summary: Summary, here: str) -> tuple[Link, ...]:
    """The pages of a run."""
    name, sessions = summary.record.id, summary.record.kind == VERIFY
    pages = [("Sessions" if sessions else "Cases", ""), ("Figures", "figures")]
    if summary.record.repeat > 1:
        pages.append(("Stability", "stability"))
    if not sessions:
        pages.append(("Judge", "judge"))
    return tuple(
        (text, run_address(name, part), here == run_address(name, part)) for text, part in pages
    )


def _whole(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0


# What went wrong


def _missing(request: Request, error: Exception) -> Response:
    """There is no such page."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    return page(request, "problem.html", "Not found", status=status, why="there is no such page")


def _broken(request: Request, error: Exception) -> Response:
    """The store cannot be read, or what was asked for is not in it."""
    broken = isinstance(error, StoreError)
    title, status = ("Cannot be read", 500) if broken else ("Not found", 404)
    return page(request, "problem.html", title, status=status, why=str(error))


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return PlainTextResponse(f"{error}\n", error.status, {"connection": "close"})
