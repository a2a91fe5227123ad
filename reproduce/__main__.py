"""`python -m reproduce`: the paper's tables and figures, and with `data` the datasets."""

from __future__ import annotations

import signal
import sys

import typer

from reproduce.command import reproduce
from reproduce.data_command import data
from subadjacent.cli.main import log_remarks, run
from subadjacent.cli.start import end_in_order

DEBUG = "--debug"
EPILOG = "'python -m reproduce data --help' is about the datasets; --debug shows tracebacks."

tables = typer.Typer(
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
tables.command(epilog=EPILOG, no_args_is_help=True)(reproduce)


def main() -> None:
    """Run the command about datasets, or the one that makes tables and figures."""
    signal.signal(signal.SIGTERM, end_in_order)
    words = [word for word in sys.argv[1:] if word != DEBUG]
    log_remarks(debug=DEBUG in sys.argv)
    if words[:1] == ["data"]:
        run(data, "python -m reproduce data", words[1:])
    else:
        run(tables, "python -m reproduce", words)


if __name__ == "__main__":
    main()
