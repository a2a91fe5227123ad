"""The command: its subcommands, and the handling of errors.

Nothing here imports torch: `--help` must come at once. Each command imports what it needs
when it runs.
"""

from __future__ import annotations

import io
import logging
import math
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

import subadjacent
from subadjacent.cli.alarms import alarms
from subadjacent.cli.demo import demo
from subadjacent.cli.detect import detect
from subadjacent.cli.evaluate import evaluate
from subadjacent.cli.fit import fit
from subadjacent.cli.fleet import fleet
from subadjacent.cli.generate import generate
from subadjacent.cli.info import info
from subadjacent.cli.listing import list_detectors
from subadjacent.cli.output import print_text, tell, write_nowhere
from subadjacent.cli.report import report
from subadjacent.cli.score import score
from subadjacent.cli.serve import serve
from subadjacent.cli.start import INTERRUPTED
from subadjacent.cli.stream import stream
from subadjacent.cli.watch import watch
from subadjacent.cli.wording import missing_package
from subadjacent.errors import SubAdjacentError
from subadjacent.showing import visible

BAD_INPUT, BAD_USAGE = 1, 2
LONGEST = 2_000
"""Characters of an error that are shown: it may list thousands of names."""

LASTING = ("serve", "watch")
AGAIN_AFTER = 60.0
"""Seconds after which a lasting command repeats a warning: once a minute fills no disk."""

app = typer.Typer(
    name="subadjacent",
    help="Find anomalies in multivariate time series, and say which channels caused them.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (
    demo, detect, fit, fleet, score, alarms, stream, serve, watch, report, info, evaluate,
    generate,
)  # fmt: skip
for command in COMMANDS:
    app.command()(command)
app.command("list")(list_detectors)


def moved(context: typer.Context) -> None:
    """Tell the user the new name of a command that moved."""
    module = "reproduce" if context.info_name == "reproduce" else f"reproduce {context.info_name}"
    tell(f"'subadjacent {context.info_name}' is now 'python -m {module}' in the source repository")
    raise typer.Exit(BAD_USAGE)


for name in ("reproduce", "data"):
    app.command(
        name,
        hidden=True,
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )(moved)


def _version(wanted: bool) -> None:
    if wanted:
        print_text(f"subadjacent {subadjacent.__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 — typer calls back with it
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show tracebacks and every log line.")
    ] = False,
) -> None:
    """Find anomalies in multivariate time series, and say which channels caused them."""
    log_remarks(debug=debug, lasts=context.invoked_subcommand in LASTING)


def log_remarks(*, debug: bool, lasts: bool = False) -> None:
    """Send the library's log to standard error: every line, or each warning once."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Visible("%(levelname)s %(name)s: %(message)s" if debug else "%(message)s"))
    if not debug:
        handler.addFilter(Once(again_after=AGAIN_AFTER if lasts else math.inf))
    logging.basicConfig(handlers=[handler], level=logging.DEBUG if debug else logging.WARNING)


class Visible(logging.Formatter):
    """A log formatter that removes terminal control characters."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record, without control characters."""
        return visible(super().format(record))


class Once(logging.Filter):
    """A log filter that passes each warning once; errors always pass.

    Rows read in parts would repeat it. A long-running command passes it again after a while.
    """

    def __init__(self, again_after: float = math.inf) -> None:
        super().__init__()
        self._again_after = again_after
        self._said: dict[tuple[str, str], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to pass a record: no other with its message template passed recently."""
        if record.levelno >= logging.ERROR:
            return True
        kind = (record.name, str(record.msg))
        last = self._said.get(kind)
        if last is not None and record.created < last + self._again_after:
            return False
        self._said[kind] = record.created
        return True


def run(
    command: typer.Typer = app, name: str = "subadjacent", arguments: Sequence[str] | None = None
) -> None:
    """Run a command, and turn every error into one sentence and an exit code."""
    debug = "--debug" in sys.argv
    try:
        # typer gives an interruption back as an exit code
        # by its own name, however it was started: completion scripts are for that name
        if (code := command(arguments, prog_name=name, standalone_mode=False)) == INTERRUPTED:
            raise KeyboardInterrupt
    except typer.TyperException as error:
        shown = io.StringIO()
        error.show(shown)  # type: ignore[attr-defined]  # what is raised is always a child with it
        tell(shown.getvalue().rstrip("\n"))
        code = BAD_USAGE
    except (KeyboardInterrupt, typer.Abort):
        tell("interrupted; nothing was half-written")
        code = INTERRUPTED
    except BrokenPipeError:
        write_nowhere()
        code = 0
    except Exception as error:
        tell(traceback.format_exc() if debug else _sentence(error))
        code = BAD_INPUT
    sys.exit(code or 0)


def _sentence(error: Exception) -> str:
    text = " ".join(str(error).split())
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]} … ({len(text) - LONGEST:,} characters more)"
    if isinstance(error, SubAdjacentError):
        return f"error: {text}"
    if isinstance(error, ModuleNotFoundError):
        return f"error: {missing_package(error)}"
    if isinstance(error, OSError):
        prefix = f"{error.filename}: " if error.filename else ""
        return f"error: {prefix}{error.strerror or text}"
    return f"error: {type(error).__name__}: {text} (--debug shows where)"
