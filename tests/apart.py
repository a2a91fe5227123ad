"""A thread without an event loop: a browser that was started keeps one in that of the tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def call_apart(function: Callable[[], Any]) -> Any:
    """Call a function in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


def run_apart(work: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine comes to: here, or in a thread of its own where a loop runs here."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return call_apart(lambda: asyncio.run(work))
