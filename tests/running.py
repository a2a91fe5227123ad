"""The real command, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

COMMAND = Path(sys.executable).with_name("subadjacent")

Run = Callable[..., subprocess.CompletedProcess[str]]


def runner(folder: Path) -> Run:
    """A function that runs `subadjacent …` in a folder and checks its exit code."""

    def run(*arguments: Any, code: int = 0, **others: Any) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [COMMAND, *map(str, arguments)],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            **others,
        )
        assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        return done

    return run


def json_lines(text: str) -> list[dict[str, Any]]:
    """JSON objects, one a line."""
    return [json.loads(line) for line in text.splitlines()]
