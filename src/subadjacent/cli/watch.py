"""`subadjacent watch`: alarms from the metrics of a Prometheus server."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from subadjacent.cli import options as option
from subadjacent.cli.output import tell


def watch(
    prometheus: Annotated[
        str | None, typer.Option(help="Address of the server, such as http://127.0.0.1:9090.")
    ] = None,
    query: Annotated[
        list[str] | None, typer.Option(help="What to watch, in PromQL. May be repeated.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="TOML file of queries and settings. Options win.")
    ] = None,
    step: Annotated[
        str | None, typer.Option(help="Time from one row to the next, such as 30s.")
    ] = None,
    history: Annotated[
        str | None, typer.Option(help="How far back to learn from, such as 7d.")
    ] = None,
    groupby: Annotated[
        list[str] | None,
        typer.Option(help="Label; series that agree in it are watched as one. May be repeated."),
    ] = None,
    false_alarms: Annotated[
        Any,
        typer.Option(
            parser=option.parse_false_alarms,
            metavar="RATE",
            help="Most alarms of a series, such as 1/week or, as a share of the rows, 0.02%.",
        ),
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option(help="Address of page and metrics; by default 127.0.0.1:9109."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Data folder; by default a temporary one, deleted at the end."),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="File with the bearer token that the server requires.")
    ] = None,
    quiet: option.Quiet = False,
) -> None:
    """Learn from the history of a Prometheus server, then score its metrics as they come."""
    from subadjacent.service.run import serve
    from subadjacent.service.watch.poller import poll
    from subadjacent.service.watch.prometheus_api import check_secrets
    from subadjacent.service.watch.settings import read_settings

    remark = partial(tell, quiet=quiet)
    settings = read_settings(
        config,
        {
            "prometheus": prometheus,
            "step": step,
            "history": history,
            "groupby": groupby,
            "false_alarms": false_alarms,
            "listen": listen,
            "data": data,
            "token_file": token_file,
        },
        tuple(query or ()),
    )
    with ExitStack() as stack:
        folder = settings.data
        if folder is None:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="subadjacent-watch-")))
        check_secrets(settings)
        serve(
            settings.service(folder),
            listening=lambda address: remark(f"metrics on {address}/metrics"),
            background=partial(poll, settings, remark),
        )
