"""Runs a coroutine to completion, with and without a running event loop."""

from __future__ import annotations

from collections.abc import Coroutine
from contextvars import copy_context
from typing import Any, TypeVar

Made = TypeVar("Made")


def run_coroutine(coroutine: Coroutine[Any, Any, Made]) -> Made:
    """Run to completion: here, or in a thread if a loop is already running (a notebook)."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(copy_context().run, asyncio.run, coroutine).result()
