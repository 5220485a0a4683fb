"""`trialrun view`: the recorded runs as pages in a browser."""

from __future__ import annotations

import click

from trialrun.cli.output import put
from trialrun.cli.stores import store_option
from trialrun.errors import UsageError

PORT = 7357


@click.command("view")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=None,
    help=f"The port to listen on; 0: any that is free [default: {PORT}, else one that is free].",
)
@click.option("--open/--no-open", "opens", default=True, help="Open the pages in a browser.")
@store_option
def command(port: int | None, opens: bool, store: str | None) -> int:
    """Show the recorded runs as pages, on this machine only: http://127.0.0.1:PORT.

    Runs with their trends, cases with their timelines, comparisons, stability, and labels for the
    audit of a judge. Stop it with Ctrl-C.
    """
    require_view()
    from trialrun.store import open_store
    from trialrun.viewer.app import make_app
    from trialrun.viewer.server import ADDRESS, hosts_of, listen, server_of

    with open_store(store, create=False) as opened:
        try:
            listening = listen(PORT if port is None else port)
        except UsageError:
            if port is not None:
                raise
            listening = listen(0)
        with listening:
            number = listening.getsockname()[1]
            address = f"http://{ADDRESS}:{number}/"
            put(f"{opened.location} is shown at {address} · Ctrl-C stops it\n")
            if opens:
                _open(address)
            server_of(make_app(opened, hosts_of(number))).run(sockets=[listening])
    return 0


def require_view() -> None:
    """UsageError without the packages of the extra `view`."""
    try:
        import jinja2  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"the viewer needs {error.name}; install it with: pip install 'trialrun[view]'"
        ) from None


def _open(address: str) -> None:
    """Open the browser a moment later: the server answers as soon as it listens."""
    import threading
    import webbrowser

    threading.Timer(0.5, webbrowser.open, [address]).start()
