"""Pages as answers: the templates of reports and of the viewer, in the same frame."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from trialrun import __version__
from trialrun.reports.pages.environment import Shell, asset, environment

if TYPE_CHECKING:
    from jinja2 import Environment

Link = tuple[str, str, bool]
"""A text, an address, and whether it is the present page."""

_STYLE = "/assets/page.css"
_SCRIPTS = ("/assets/page.js", "/assets/viewer.js")


@cache
def _templates() -> Environment:
    from jinja2 import ChoiceLoader, PackageLoader

    shared = environment()
    assert shared.loader is not None
    return shared.overlay(loader=ChoiceLoader([PackageLoader("trialrun.viewer"), shared.loader]))


def page(
    request: Request,
    template: str,
    title: str,
    tabs: tuple[Link, ...] = (),
    status: int = 200,
    **values: Any,
) -> HTMLResponse:
    """A page of the viewer."""
    shell = Shell(
        title=title,
        links=(("Runs", "/", request.url.path == "/"), *tabs),
        inline=False,
        style=_STYLE,
        scripts=_SCRIPTS,
    )
    text = (
        _templates()
        .get_template(template)
        .render(shell=shell, foot=f"trialrun {__version__}", **values)
    )
    return HTMLResponse(text.encode("utf-8", "backslashreplace"), status)


@cache
def _assets() -> dict[str, tuple[str, str]]:
    """The files that pages ask for, by name: nothing else can be asked for."""
    ours = files("trialrun.viewer") / "assets"
    style = asset("page.css") + (ours / "viewer.css").read_text(encoding="utf-8")
    script = (ours / "viewer.js").read_text(encoding="utf-8")
    return {
        "page.css": (style, "text/css"),
        "page.js": (asset("page.js"), "text/javascript"),
        "viewer.js": (script, "text/javascript"),
    }


def asset_of(request: Request) -> Response:
    """A style sheet or script of ours; 404 for any other name."""
    name = request.path_params["name"]
    if name not in _assets():
        return Response("there is no such file\n", 404, media_type="text/plain")
    text, kind = _assets()[name]
    return Response(text, media_type=kind, headers={"cache-control": "no-cache"})
