"""`subadjacent serve`: rows in over HTTP, alarms out, and a page that shows them."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from subadjacent.cli import options as option
from subadjacent.cli.output import tell


def serve(
    model: Annotated[
        Path | None,
        typer.Option("-m", "--model", help="Model folder for series that have its channels."),
    ] = None,
    listen: Annotated[
        str | None, typer.Option(help="Address; by default 127.0.0.1:8080. Port 0 is any free one.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Data folder; by default subadjacent-data.")
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="File with lines 'read TOKEN' and 'write TOKEN'.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="TOML file: limits, retention, webhooks. Options win.")
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Made-up series that keep coming, in a folder that goes.")
    ] = False,
    quiet: option.Quiet = False,
) -> None:
    """Serve live scores, alarms and a page over HTTP."""
    from subadjacent.service.run import serve as run
    from subadjacent.service.settings import read_settings

    with ExitStack() as stack:
        if demo and data is None:
            data = Path(stack.enter_context(TemporaryDirectory(prefix="subadjacent-demo-")))
        settings = read_settings(
            config,
            model=model,
            listen=listen,
            data=data,
            token_file=token_file,
            demo=demo or None,
        )
        run(settings, listening=lambda address: tell(f"listening on {address}", quiet=quiet))
