"""The command's first lines: Ctrl-C is met from here on, also while the rest is imported."""

from __future__ import annotations

import sys


def main() -> None:
    """Import the command, and run it."""
    try:
        from subadjacent.cli.main import run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
