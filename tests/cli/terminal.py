"""The command with its standard streams on a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
from pathlib import Path

from running import COMMAND


def shown(folder: Path, *arguments: str, columns: int = 100, **environment: str) -> str:
    """What the command writes to a terminal of so many columns."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    # a size that the environment names would win
    others = {name: text for name, text in os.environ.items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(
        [COMMAND, *arguments],
        cwd=folder, stdin=follower, stdout=follower, stderr=follower,
        env={**others, "TERM": "xterm-256color", **environment},
    )  # fmt: skip
    os.close(follower)
    text = b""
    while piece := _read(leader):
        text += piece
    os.close(leader)
    assert process.wait() == 0, text
    return text.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:
        # how Linux says that no one writes to it any more
        return b""
