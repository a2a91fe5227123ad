"""`subadjacent serve --demo`, which `make serve` runs, and what is said where it cannot run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import pytest

from live_service import START_WORDS, LiveService, until
from subadjacent.service.demo import BROKEN, BROKEN_BEFORE, HISTORY, SERIES

ROOT = Path(__file__).parents[2]


def test_the_demo_has_series_with_alarms_that_keep_coming_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    # the folder of the demo is made where this points to
    service = LiveService(None, "--demo", more_env={"TMPDIR": str(tmp_path)})
    try:
        until(lambda: len(service.get("/api/series")["series"]) == len(SERIES))
        names = {one.name: list(one.channels) for one in SERIES}
        found = service.get("/api/series")["series"]
        assert {one["name"]: one["channels"] for one in found} == names
        until(
            lambda: all(
                one["rows"] > HISTORY + BROKEN for one in service.get("/api/series")["series"]
            )
        )
        first = service.get("/api/series/pump")["rows"]
        until(lambda: service.get("/api/series/pump")["rows"] > first)
        # a row a second from the first on, however long the history took
        for one in SERIES:
            path = f"/api/series/{quote(one.name)}/history?limit=5000&points=5000"
            times = [datetime.fromisoformat(time) for time in service.get(path)["times"]]
            assert {(b - a).total_seconds() for a, b in pairwise(times)} == {1.0}
        alarms = service.get("/api/alarms?limit=1000")["alarms"]
        assert {alarm["series"] for alarm in alarms} == set(names)
        assert all(alarm["sentence"] and alarm["causes"] for alarm in alarms)
        # whoever opens the page now has something to look at
        assert any(alarm["first"] >= HISTORY + BROKEN - BROKEN_BEFORE for alarm in alarms)
        assert b"<!doctype html>" in service.ask("GET", "/").body.lower()
        assert len(list(tmp_path.iterdir())) == 1
    finally:
        said = service.end()
    assert said == ""
    assert list(tmp_path.iterdir()) == []


def test_make_serve_runs_the_demo() -> None:
    # as typed in a shell, also where the tests themselves were started by make
    env = {name: word for name, word in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(
        ["make", "--dry-run", "--always-make", "serve"],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == ".venv/bin/subadjacent serve --demo"
    assert "make serve" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("package", ["fastapi", "uvicorn", "pydantic"])
def test_without_the_extra_one_sentence_says_what_to_install(tmp_path: Path, package: str) -> None:
    # an import of None is refused as one that is not installed
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.modules['{package}'] = None\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, *START_WORDS, "serve", "--data", str(tmp_path / "data")],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"error: .*pip install 'subadjacent\[serve\]'\n", done.stderr), done.stderr
    assert package in done.stderr
    assert not (tmp_path / "data").exists()
