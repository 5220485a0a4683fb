"""A small process that outlives us by a moment: it ends what we started if we are killed.

It is told on stdin which process groups we have (`+123`, `-123`). Where we end, however we end, its
stdin is closed, and what is left of those groups is killed. Without it, an agent whose trialrun was
killed would go on spending money, and would answer into the void.

Run by its path with `python -I -S`: it imports nothing of ours and is there in a few milliseconds.
"""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Follow what is said on stdin until it ends, then kill what is left."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        number = int(line[1:])
        if line[0] == "+":
            groups.add(number)
        else:
            groups.discard(number)
    for group in groups:
        try:
            os.killpg(group, signal.SIGKILL)
        except OSError:
            continue  # it ended by itself


if __name__ == "__main__":
    main()
