"""The command, for those who start modules: ``python -m subadjacent``, or ``torchrun -m``."""

from __future__ import annotations

from subadjacent.cli.start import main

if __name__ == "__main__":
    main()
