"""Exclusive holds by lock files. The system releases them when their process ends, however it does.

A lock file is deleted while its lock is held. A process that had opened it before, and then gets
the lock of the deleted file, starts over with a new file.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

_PATIENCE = 0.25


def acquire(file: Path, wait: bool) -> int | None:
    """Lock the file, for `release`; None where another has it and `wait` is not set."""
    file.parent.mkdir(parents=True, exist_ok=True)
    # `is_locked` takes the lock for a moment: a hold must not be refused because of that.
    deadline = time.monotonic() + _PATIENCE
    while True:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            os.close(descriptor)
            if time.monotonic() > deadline:
                return None
            time.sleep(0.01)
            continue
        if _is_there(file, descriptor):
            return descriptor
        os.close(descriptor)


def release(file: Path, descriptor: int) -> None:
    """Let the next one have it."""
    file.unlink(missing_ok=True)
    os.close(descriptor)


def _is_there(file: Path, descriptor: int) -> bool:
    """Whether the open file is still the one of that name."""
    try:
        return os.path.samestat(file.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def is_locked(file: Path) -> bool:
    """Whether a process holds the lock of the file."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
