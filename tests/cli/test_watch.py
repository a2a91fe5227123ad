"""`subadjacent watch`: what is wrong is said before anything is asked."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from running import Run

URL = ("--prometheus", "http://127.0.0.1:1")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "error: queries must have at least one entry: add --query, or [queries.NAME]\n"),
        (("--query", "up"), "error: prometheus must be given (--prometheus URL)\n"),
        ((*URL, "--config", "none.toml"), "error: none.toml is not a file: --config needs"),
        ((*URL, "--query", "up", "--step", "0"), "error: queries.up.step must be a time longer"),
        ((*URL, "--query", "up", "--token-file", "none"), "error: none cannot be read: No such"),
    ],
)
def test_bad_settings_are_one_sentence(command: Run, arguments: tuple[str, ...], said: str) -> None:
    done = command("watch", *arguments, code=1)
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


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
