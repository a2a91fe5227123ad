"""The command's first lines: it can be stopped from here on, also while the rest is imported."""

from __future__ import annotations

import signal
import sys

INTERRUPTED, TERMINATED = 130, 143
"""Exit codes of a program that was stopped by Ctrl-C and by SIGTERM, as shells have them."""


def main() -> None:
    """Import the command, and run it."""
    # as an exception: what is half-done is then cleared away, as after Ctrl-C
    signal.signal(signal.SIGTERM, _end)
    try:
        from subadjacent.cli.main import run
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    run()


def _end(_number: int, _frame: object) -> None:
    # once: a second one must not end the clearing away
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(TERMINATED)


if __name__ == "__main__":
    main()
