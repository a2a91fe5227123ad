"""The command's first lines, before the rest is imported: Ctrl-C and closed streams are met."""

from __future__ import annotations

import os
import sys

STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))
"""Names of the standard streams by their numbers, and how each is opened."""


def main() -> None:
    """Import the command, and run it."""
    replace_closed_streams()
    try:
        from subadjacent.cli.main import run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


def replace_closed_streams() -> None:
    """Read nothing from, and write nowhere to, a stream that was closed before the start.

    Its number would otherwise go to the next file that is opened, and whatever a library prints
    would be written into that file.
    """
    for number, (name, mode) in enumerate(STREAMS):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 — a number has no path, and it stays open to the end


if __name__ == "__main__":
    main()
