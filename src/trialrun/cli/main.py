"""The entry point of the command line.

Exit codes: 0 passed · 1 any FAIL · 2 usage or spec error · 3 any ERROR · 5 nothing was selected.
A user's mistake ends in a message on stderr; a traceback is a bug in trialrun.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # `typing` is not imported: that would slow down `--version`

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal's encoding lacks is escaped instead of raising an error.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if given == ["--version"]:  # answered without imports: editors and CI call it often
        from trialrun import __version__

        try:
            sys.stdout.write(f"trialrun {__version__}\n")
            sys.stdout.flush()
        except (OSError, AttributeError):
            os._exit(0)
        return 0
    code = _run(given)
    if arguments is None:  # the process ends now
        import gc

        # At its end Python searches all objects for garbage: a tenth of a short command.
        gc.freeze()
    return code


def _run(arguments: list[str]) -> int:
    import click

    from trialrun.cli.group import cli
    from trialrun.errors import TrialrunError

    try:
        code = cli.main(arguments, prog_name="trialrun", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return 2
    except click.exceptions.Exit as error:
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted")
        return 130
    except TrialrunError as error:
        for message in error.messages():
            _say(f"error: {message}")
        return error.exit_code
    except SystemExit as error:
        # click wraps stdout and exits this way when a pipe broke, whichever it was.
        if "PacifyFlush" in type(sys.stdout).__name__:
            if _has_no_reader(sys.stdout):
                return 0
            _say(f"error: a connection to another process broke: {error.__context__}")
            return 3
        return error.code if isinstance(error.code, int) else 2
    return code if isinstance(code, int) else 0


def _say(message: str) -> None:
    from trialrun.cli.output import say

    say(message)


def _has_no_reader(stream: Any) -> bool:
    """Whether the reader of stdout closed it, as `head` does: then nothing is left to report."""
    import select

    try:
        poll = select.poll()
        poll.register(stream.fileno(), 0)
        return bool(poll.poll(0))  # only errors and a hang-up are reported
    except (AttributeError, OSError, ValueError):
        return False
