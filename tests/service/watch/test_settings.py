"""What a settings file may say, and what is said of one that is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from subadjacent.errors import DataNotFound, InputError
from subadjacent.service.watch.settings import read_settings

URL = "http://127.0.0.1:9090"

FILE = """
prometheus = "http://127.0.0.1:9090/"
step = "30s"
false_alarms = "1/week"

[queries.load]
expr = "node_load1"

[queries.cpus]
expr = "rate(node_cpu_seconds_total[5m])"
step = "1m"
groupby = ["instance"]
"""


def test_a_file_gives_queries_with_names(tmp_path: Path) -> None:
    (tmp_path / "watch.toml").write_text(FILE)
    found = read_settings(tmp_path / "watch.toml", {"step": None}, ())
    assert found.prometheus == URL
    assert found.service(tmp_path).address == ("127.0.0.1", 9109)
    load, cpus = found.queries
    assert (load.name, load.expr, load.step) == ("load", "node_load1", 30_000)
    assert load.groupby is None
    assert (cpus.name, cpus.step, cpus.groupby) == ("cpus", 60_000, ("instance",))
    assert load.false_alarms == cpus.false_alarms == "1/week"
    assert load.history == 7 * 24 * 3600 * 1_000
    assert (load.offset, load.forget_after, load.max_series) == (0, 3_600_000, 1_000)


def test_options_win_and_queries_of_both_are_watched(tmp_path: Path) -> None:
    (tmp_path / "watch.toml").write_text(FILE)
    given = {"prometheus": "https://[::1]/prom", "step": "2m", "listen": "[::1]:0"}
    found = read_settings(tmp_path / "watch.toml", given, ("up",))
    assert found.prometheus == "https://[::1]/prom"
    assert found.service(tmp_path).address == ("::1", 0)
    assert [query.name for query in found.queries] == ["load", "cpus", "up"]
    assert {query.step for query in found.queries} == {120_000}
    assert found.queries[2].false_alarms == "1/week"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"prometheus": None}, "prometheus must be given (--prometheus URL)"),
        ({"prometheus": "localhost:9090"}, "prometheus must be the address of the server"),
        ({"prometheus": "http://a:secret@b"}, "prometheus must not hold a password"),
        ({"step": "fast"}, "queries.up.step must be a time longer than none"),
        ({"step": "100ms"}, "queries.up.step must be greater than or equal to 1000"),
        (
            {"history": "90m"},
            "queries.up.history must be 100 to 100,000 times step; it is 90 times",
        ),
        (
            {"history": "1y"},
            "queries.up.history must be 100 to 100,000 times step; it is 525,600 times",
        ),
        ({"false_alarms": "few"}, "queries.up.false_alarms must be 'auto', a share of the rows"),
        ({"username": "a"}, "username and password_file must be given together"),
        (
            {"username": "a", "password_file": "b", "token_file": "c"},
            "username and token_file must not be given together",
        ),
        ({"forget_after": "1s"}, "queries.up.forget_after must be at least step"),
        ({"colour": "red"}, "colour is no setting; docs/prometheus.md lists them"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as found:
        read_settings(None, {"prometheus": URL} | given, ("up",))
    assert str(found.value).startswith(said)
    assert "\n" not in str(found.value)
    assert "secret" not in str(found.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("queries = 3", "queries must be tables such as [queries.load]"),
        ("queries.load = 3", "queries must be tables such as [queries.load]"),
        ("[queries.load]", "queries.load.expr must be given"),
        ("[queries.load]\nexpr = ''", "queries.load.expr must have at least 1 character"),
        ("[queries.up]\nexpr = 'up'", "queries must each be given once"),
        ("[queries.load]\nexpr = 'a'\nsteps = '1m'", "queries.load.steps is no setting"),
        ("prometheus = ", "must be TOML"),
    ],
)
def test_what_is_wrong_in_a_file_names_the_file(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "watch.toml"
    path.write_text(text)
    with pytest.raises(InputError) as found:
        read_settings(path, {"prometheus": URL}, ("up",))
    assert str(found.value).startswith(str(path))
    assert said in str(found.value)


def test_others_may_only_read_where_there_are_no_tokens(tmp_path: Path) -> None:
    for listen, tokens, read_only in (
        ("127.0.0.1:1", None, False),
        ("0.0.0.0:1", None, True),
        ("0.0.0.0:1", "tokens", False),
    ):
        given = {"prometheus": URL, "listen": listen, "access_file": tokens}
        service = read_settings(None, given, ("up",)).service(tmp_path)
        service.check()
        assert service.read_only is read_only
        assert service.limits.series == 3_000


def test_no_file_and_no_query_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataNotFound, match="--config needs a TOML file"):
        read_settings(tmp_path / "none.toml", {}, ())
    with pytest.raises(InputError, match=r"add --query, or \[queries.NAME\]"):
        read_settings(None, {"prometheus": URL}, ())
