"""`subadjacent watch`: what is wrong is said before anything is asked."""

from __future__ import annotations

import socket
from pathlib import Path

from running import Run

URL = ("--prometheus", "http://127.0.0.1:1")


def test_options_reach_the_settings(command: Run, tmp_path: Path) -> None:
    # each is refused for what it says
    for option, value in (
        ("--history", "1m"),
        ("--listen", "here"),
        ("--data", "file"),
    ):
        (tmp_path / "file").write_text("")
        done = command("watch", *URL, "--query", "up", option, value, code=1)
        assert option.strip("-") in done.stderr
    done = command("watch", *URL, "--query", "up", "--false-alarms", "none", code=2)
    assert "--false-alarms" in done.stderr
    (tmp_path / "watch.toml").write_text("[queries.load]\nexpr = 'load'\nsteps = 3")
    done = command("watch", *URL, "--config", "watch.toml", code=1)
    assert done.stderr == (
        "error: watch.toml: queries.load.steps is no setting; docs/prometheus.md lists them\n"
    )


def test_an_address_in_use_is_bad_input(command: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        done = command("watch", *URL, "--query", "up", "--listen", listen, code=1)
    assert done.stderr.startswith(f"error: listen must be an address that is free; {listen}: ")
