"""The command's entry point: handles signals and closed streams before anything is imported."""

from __future__ import annotations

import os
import signal
import sys

INTERRUPTED, TERMINATED = 130, 143
"""Exit codes of a program that was stopped by Ctrl-C and by SIGTERM, as shells have them."""

STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))
"""Names of the standard streams by their numbers, and how each is opened."""


def main() -> None:
    """Import the command, and run it."""
    replace_closed_streams()
    # as an exception: what is half-done is then cleared away, as after Ctrl-C
    signal.signal(signal.SIGTERM, end_in_order)
    try:
        from subadjacent.cli.main import run
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except ModuleNotFoundError as error:
        if "--debug" in sys.argv:
            raise
        # with the library alone, the command is installed without what it needs to run
        from subadjacent.cli.wording import missing_package

        sys.exit(f"error: {missing_package(error)}")
    run()


def end_in_order(_number: int, _frame: object) -> None:
    """Raise SystemExit on SIGTERM, so that unfinished files are removed."""
    # once: a second one must not end the clearing away
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(TERMINATED)


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
