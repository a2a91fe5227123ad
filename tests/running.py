"""The command, in this process or in one of its own, and waiting for what a process does."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

COMMAND = Path(sys.executable).with_name("subadjacent")

GENEROUS = 600
"""Seconds after which something that was to happen will not: never reached on a busy machine."""

Run = Callable[..., subprocess.CompletedProcess[str]]
Codes = int | tuple[int, ...]


def runner(folder: Path, module: str = "subadjacent.cli.main", function: str = "run") -> Run:
    """A function that runs `subadjacent …` in a folder and checks its exit code (or codes).

    It runs in this process, where everything is imported already. It takes ``input`` and ``env``
    as ``subprocess.run`` does. ``module`` and ``function`` name another command.
    """

    def run(
        *arguments: Any,
        code: Codes = 0,
        input: str = "",  # noqa: A002 — subprocess's name
        env: dict[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        command = getattr(import_module(module), function)
        words = ["subadjacent", *map(str, arguments)]
        stdin = io.TextIOWrapper(io.BytesIO(input.encode()))
        exit_code: Any = None
        with (
            contextlib.chdir(folder),
            mock.patch.object(sys, "argv", words),
            mock.patch.object(sys, "stdin", stdin),
            mock.patch.dict(os.environ, env or {}, clear=env is not None),
            contextlib.redirect_stdout(io.StringIO()) as out,
            contextlib.redirect_stderr(io.StringIO()) as said,
            _own_logging(),
        ):
            try:
                command()
            except SystemExit as end:
                exit_code = end.code
        done = subprocess.CompletedProcess(words, exit_code, out.getvalue(), said.getvalue())
        return _checked(done, code)

    return run


def process_runner(folder: Path) -> Run:
    """The same in a process of its own, for what only shows there; slower by its imports."""
    return lambda *arguments, **others: call([COMMAND, *map(str, arguments)], folder, **others)


def call(
    words: Sequence[str | Path] | str, folder: Path, *, code: Codes = 0, **others: Any
) -> subprocess.CompletedProcess[str]:
    """Run any program, or a line for the shell, in a folder, and check its exit code."""
    done = subprocess.run(
        words,
        shell=isinstance(words, str),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=GENEROUS,
        check=False,
        **others,
    )
    return _checked(done, code)


def wait_until(happened: Callable[[], bool], process: subprocess.Popen[Any]) -> None:
    """Wait for something that a process does; fail if it ends first, or never does it."""
    deadline = time.monotonic() + GENEROUS
    while not happened():
        assert process.poll() is None, "the process ended before it happened"
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def json_lines(text: str) -> list[dict[str, Any]]:
    """JSON objects, one a line."""
    return [json.loads(line) for line in text.splitlines()]


def _checked(
    done: subprocess.CompletedProcess[str], code: Codes
) -> subprocess.CompletedProcess[str]:
    codes = (code,) if isinstance(code, int) else code
    assert done.returncode in codes, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    return done


@contextlib.contextmanager
def _own_logging() -> Iterator[None]:
    """A root logger without handlers, as a new process has it."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers.clear()
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
