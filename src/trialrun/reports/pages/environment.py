"""The templates of the pages: Jinja2 with autoescape, our style and scripts, and the policy.

Every value that a template shows passes `_finalized`: characters that hide or reverse text are
escaped there, whatever template shows them, and Jinja2 escapes markup after that.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from trialrun.errors import UsageError
from trialrun.reports.pages.texts import MARKS
from trialrun.reports.views.printable import unhidden

if TYPE_CHECKING:
    from jinja2 import Environment

    from trialrun.reports.pages.case_page import CasePage
    from trialrun.reports.pages.links import Links

_NEEDS_JINJA = "HTML pages need Jinja2; install it with: pip install 'trialrun[view]'"


def require_jinja() -> None:
    """UsageError without Jinja2: said before any agent is called, not after all were paid."""
    if not has_jinja():
        raise UsageError(_NEEDS_JINJA)


def has_jinja() -> bool:
    """Whether pages can be rendered here."""
    try:
        import jinja2  # noqa: F401
    except ImportError:
        return False
    return True


class Shell(Struct, frozen=True, kw_only=True):
    """What surrounds a page: its title, its navigation, and how style and scripts reach it.

    With `inline`, both are in the page, and a policy allows them by their hash: the page needs
    nothing else and can be opened from disk. Without, the page links to `style` and `scripts`, and
    the server that sends it sends the policy.
    """

    title: str
    subtitle: str = ""
    links: tuple[tuple[str, str, bool], ...] = ()  # text, address, whether it is this page
    inline: bool = True
    style: str = "page.css"
    scripts: tuple[str, ...] = ("page.js",)
    bare: bool = False  # without the bar at the top, in a frame


@cache
def asset(name: str) -> str:
    """The text of a style sheet or script of ours."""
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")


def policy(style: str, scripts: tuple[str, ...]) -> str:
    """The Content-Security-Policy of a page with this style and these scripts in it."""
    allowed = " ".join(_hash(asset(name)) for name in scripts) or "'none'"
    return (
        "default-src 'none'; connect-src 'none'; base-uri 'none'; form-action 'none'; "
        f"img-src data:; style-src {_hash(asset(style))}; script-src {allowed}"
    )


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _finalized(value: Any) -> Any:
    if type(value) is str:
        return value if value.isascii() and value.isprintable() else unhidden(value)
    return "" if value is None else value


@cache
def environment() -> Environment:
    """The environment of all templates; UsageError without Jinja2."""
    require_jinja()
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    from trialrun.reports.pages import markup

    made = Environment(
        loader=PackageLoader("trialrun.reports.pages"),
        autoescape=True,
        auto_reload=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalized,
    )
    # Our own files, not text of anyone else: the only values that are not escaped.
    made.globals["asset"] = lambda name: Markup(asset(name))
    made.globals["policy"] = policy
    made.globals["marks"] = MARKS
    for make in (
        markup.badge,
        markup.checks,
        markup.exchanges,
        markup.pairs,
        markup.reason_items,
        markup.sign,
        markup.step_links,
        markup.timeline,
    ):
        made.globals[make.__name__] = make
    return made


def case_markup(case: CasePage, links: Links) -> str:
    """The page of a case without what surrounds it."""
    # The macro itself: a template of its own around it would be set up again for each case.
    parts: Any = environment().get_template("case_parts.html").module
    text: str = parts.case_body(case, links)
    return text


def render(template: str, **values: Any) -> str:
    """A template as text."""
    return environment().get_template(template).render(values)
