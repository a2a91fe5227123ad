"""The shell lines of the README give the output that stands below them."""

from __future__ import annotations

import os
import re
from pathlib import Path

from running import COMMAND, call

README = Path(__file__).parents[2] / "README.md"


def test_the_shell_lines_give_what_stands_below_them(tmp_path: Path) -> None:
    (session,) = re.findall(r"```console\n(.*?)```", README.read_text(), re.DOTALL)
    steps = re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]
    assert len(steps) == 3
    path = f"{COMMAND.parent}:{os.environ['PATH']}"
    for step in steps:
        line, _, expected = step.partition("\n")
        done = call(line, tmp_path, env=os.environ | {"PATH": path})
        assert done.stdout == expected
        assert done.stderr == ""
