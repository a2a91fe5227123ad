"""The page about the watcher is true."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from service.watch.servers import ROOT, RULES, needs_prometheus
from service.watch.test_deploy import exposed
from subadjacent.data.clock import duration
from subadjacent.service.watch.settings import (
    INHERITED,
    PolledQuery,
    WatchSettings,
    read_settings,
)

DOCS = ROOT / "docs"
PAGE = (DOCS / "prometheus.md").read_text()


def block(language: str, page: str = PAGE) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)
    return str(found)


def table(model: type[PolledQuery | WatchSettings]) -> dict[str, tuple[str, bool]]:
    """Default of every setting that the page lists, and whether it may stand at the top."""
    rows = re.findall(r"^\| `(\w+)`( \*)? \| (?:`(.*?)`)? *\|", PAGE, re.MULTILINE)
    return {
        name: (default, bool(mark)) for name, mark, default in rows if name in model.model_fields
    }


def test_the_file_on_the_page_is_one_that_is_understood(tmp_path: Path) -> None:
    (tmp_path / "watch.toml").write_text(block("toml"))
    found = read_settings(tmp_path / "watch.toml", {}, ())
    assert [query.name for query in found.queries] == ["load", "cpu"]
    assert found.queries[1].groupby == ("instance",)
    assert found.queries[0].false_alarms == "1/week"


@pytest.mark.parametrize("model", [PolledQuery, WatchSettings])
def test_every_setting_is_on_the_page_with_its_default(
    model: type[PolledQuery | WatchSettings],
) -> None:
    listed = table(model)
    assert set(listed) == set(model.model_fields) - {"name"}
    for name, (text, _) in listed.items():
        default: Any = model.model_fields[name].get_default()
        shown = text.strip('"')
        if isinstance(default, int) and not shown.isdigit():
            assert default == (0 if shown == "0s" else duration(shown) * 1_000)
        elif isinstance(default, int | float | str):
            assert str(default).removesuffix(".0") == shown
        else:
            assert shown == ""


def test_settings_for_all_queries_are_marked() -> None:
    assert {name for name, (_, mark) in table(PolledQuery).items() if mark} == set(INHERITED)


def test_every_metric_is_on_the_page_and_no_other() -> None:
    named = set(re.findall(r"`(anomaly_\w+)`", PAGE))
    ends = re.compile(r"_(bucket|sum|count)$")
    ours = {name for name in exposed() if name.startswith("anomaly_")}
    assert named == {ends.sub("", name) for name in ours}


@needs_prometheus
@pytest.mark.parametrize("page", ["prometheus", "service"])
def test_the_server_understands_what_the_pages_tell_it(tmp_path: Path, page: str) -> None:
    (tmp_path / "rules.yml").write_text(RULES.read_text())
    (tmp_path / "token").write_text("w" * 20)
    (tmp_path / "prometheus.yml").write_text(block("yaml", (DOCS / f"{page}.md").read_text()))
    done = subprocess.run(
        ["promtool", "check", "config", "prometheus.yml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
