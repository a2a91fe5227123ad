"""Many entities, each with a detector of its own: all results, whatever goes wrong with some."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from subadjacent.data.files import Columns
from subadjacent.detectors.base import BaseDetector
from subadjacent.errors import InputError
from subadjacent.runtime import Progress, in_turn
from subadjacent.workflow import fleet as module
from subadjacent.workflow.fit import TrainingRows
from subadjacent.workflow.fleet import MAX_TRIES, fleet
from subadjacent.workflow.fleet_pack import FleetCounts
from workflow.level import LevelDetector

ROWS = 60
NAMES = ("press", "drill", "saw", "lathe", "mill")
START = datetime(2026, 1, 1)


def machines() -> dict[str, pl.DataFrame]:
    """Machines with something wrong near the end, all but one of as many rows."""
    found = {}
    for number, name in enumerate(NAMES):
        rows = ROWS - 10 * (name == "saw")
        values = np.random.default_rng(number).normal(10 * number, 1, size=(rows, 2))
        values[rows - 15 : rows - 10, 0] += 20
        found[name] = pl.DataFrame(values, schema=["flow", "heat"]).with_columns(
            machine=pl.lit(name),
            at=pl.Series([START + timedelta(minutes=row) for row in range(rows)]),
        )
    return found


@pytest.fixture
def path(tmp_path: Path) -> str:
    """All machines in one file, their rows in the order of time."""
    pl.concat(machines().values()).sort("at", maintain_order=True).write_parquet(
        tmp_path / "plant.parquet"
    )
    return str(tmp_path / "plant.parquet")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two machines a pack."""
    monkeypatch.setattr(module, "PACK_ROWS", 2 * ROWS)


BY_MACHINE = Columns(entity="machine", time="at")


def run(paths: str | Sequence[str], folder: Path, **options: Any) -> FleetCounts:
    detector: BaseDetector = options.pop("detector", LevelDetector())
    options = {"columns": BY_MACHINE, "spread": in_turn} | options
    paths = [paths] if isinstance(paths, str) else paths
    return fleet(detector, paths, folder, **options).counts


def table(folder: Path, name: str) -> pl.DataFrame:
    return pl.read_csv(folder / f"{name}.csv")


def scores(folder: Path) -> pl.DataFrame:
    return pl.read_parquet(folder / "scores" / "*.parquet").sort("machine", "at")


def everything(folder: Path) -> dict[str, bytes]:
    """All that a run leaves, by name."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def test_every_row_of_every_machine_is_scored_by_a_detector_of_its_own(
    path: str, tmp_path: Path
) -> None:
    told: list[Progress] = []
    counts = run(path, tmp_path / "out", watch=told.append)
    assert counts == FleetCounts(5, 5 * ROWS - 10, counts.alarms, 0, 0)
    found = scores(tmp_path / "out")
    alarms = table(tmp_path / "out", "alarms")
    for name, frame in machines().items():
        alone = (
            LevelDetector()
            .fit(frame[: len(frame) // 2].drop("machine"))
            .assess(frame.drop("machine"))
        )
        own = found.filter(pl.col("machine") == name)
        assert own["at"].to_list() == frame["at"].to_list()
        np.testing.assert_array_equal(own["score"].to_numpy(), alone.scores.to_numpy())
        np.testing.assert_array_equal(own["anomalous"].to_numpy(), alone.anomalous.to_numpy())
        np.testing.assert_array_equal(
            own["normalized_score"].to_numpy(), alone.normalized_scores.to_numpy()
        )
        said = alarms.filter(pl.col("entity") == name)["sentence"].to_list()
        assert said == [one.sentence for one in alone.alarms()]
        assert said
    assert counts.alarms == len(alarms)
    assert not (tmp_path / "out" / "rows").exists()
    assert [(one.stage, one.done) for one in told if one.stage != "reading"] == [
        ("fitting and scoring", done) for done in (0, 2, 4, 5)
    ]
    assert told[-1].total == 5
    assert told[-1].note == f"{counts.alarms} alarms, 0 failed"


def test_the_table_of_entities_says_what_came_of_each(path: str, tmp_path: Path) -> None:
    run(path, tmp_path / "out")
    entities = table(tmp_path / "out", "entities")
    assert sorted(entities["entity"]) == sorted(NAMES)
    (saw,) = entities.filter(pl.col("entity") == "saw").to_dicts()
    own = scores(tmp_path / "out").filter(pl.col("machine") == "saw")
    assert (saw["rows"], saw["fitted_rows"], saw["fits"], saw["error"]) == (50, 25, True, None)
    assert saw["anomalous_rows"] == own["anomalous"].sum() > 0
    assert saw["severity"] == own["normalized_score"].max()
    assert entities["alarms"].sum() == len(table(tmp_path / "out", "alarms"))
    assert table(tmp_path / "out", "failures").columns == ["entity", "error"]
    assert len(table(tmp_path / "out", "failures")) == 0


def test_a_file_each_is_an_entity_each(path: str, tmp_path: Path) -> None:
    names = []
    for name, frame in machines().items():
        names.append(str(tmp_path / f"{name}.csv"))
        frame.drop("machine").write_csv(names[-1])
    (tmp_path / "broken.csv").write_text("flow,heat\nhot,cold\n")
    run(path, tmp_path / "together")
    counts = run([str(tmp_path / "*.csv")], tmp_path / "apart", columns=Columns(time="at"))
    assert (counts.entities, counts.failed, counts.rows) == (6, 1, 5 * ROWS - 10)
    failures = table(tmp_path / "apart", "failures")
    assert failures["entity"].to_list() == [str(tmp_path / "broken.csv")]
    assert "broken.csv" in failures["error"][0]
    parts = pl.read_parquet(tmp_path / "apart" / "scores" / "*.parquet")
    together = scores(tmp_path / "together")
    for name in NAMES:
        own = parts.filter(pl.col("item_id").str.ends_with(f"{name}.csv"))
        expected = together.filter(pl.col("machine") == name)
        np.testing.assert_allclose(own["score"], expected["score"], rtol=1e-12)
        assert own["at"].to_list() == expected["at"].to_list()


def test_machines_without_rows_before_a_time_fail_and_others_do_not(
    path: str, tmp_path: Path
) -> None:
    late = machines()["saw"].with_columns(
        at=pl.col("at") + timedelta(days=1), machine=pl.lit("new")
    )
    late.write_parquet(tmp_path / "late.parquet")
    counts = run(
        [path, str(tmp_path / "late.parquet")],
        tmp_path / "out",
        training=TrainingRows(until="2026-01-01T00:30"),
    )
    assert (counts.entities, counts.failed) == (6, 1)
    (failure,) = table(tmp_path / "out", "failures").to_dicts()
    assert failure["entity"] == "new"
    assert "must leave rows to fit on" in failure["error"]
    entities = table(tmp_path / "out", "entities").filter(pl.col("entity") != "new")
    assert set(entities["fitted_rows"]) == {30}


def test_a_machine_that_cannot_be_fitted_stops_no_other_of_its_batch(
    path: str, tmp_path: Path
) -> None:
    run(path, tmp_path / "whole")
    rows = pl.read_parquet(path)
    dead = (pl.col("machine") == "drill") & (pl.col("at") < START + timedelta(minutes=29))
    rows.with_columns(heat=pl.when(dead).then(None).otherwise("heat")).write_parquet(path)
    counts = run(path, tmp_path / "out")
    assert (counts.entities, counts.failed) == (5, 1)
    (failure,) = table(tmp_path / "out", "failures").to_dicts()
    assert failure["entity"] == "drill"
    assert "'heat'" in failure["error"]
    others = pl.col("machine") != "drill"
    assert scores(tmp_path / "out").equals(scores(tmp_path / "whole").filter(others))


class Fragile(LevelDetector):
    """Ends a process that fits it to a level of 20, as a lack of memory would; but for its own."""

    def __init__(
        self,
        *,
        parent: int = 0,
        contamination: Any = 0.05,
        adapt_after: int | None = None,
        fill_limit: int = 10,
    ) -> None:
        super().__init__(
            contamination=contamination, adapt_after=adapt_after, fill_limit=fill_limit
        )
        self.parent = parent

    def _prepare(self, table: Any) -> Any:
        if 15 < table.series[0].values.mean() < 25 and os.getpid() != self.parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return super()._prepare(table)


IN_PROCESSES = """
import os, sys
from pathlib import Path
from subadjacent.workflow import fleet
from subadjacent.runtime import over_processes
from workflow.test_fleet import ROWS, Fragile, run
fleet.PACK_ROWS = 2 * ROWS
fragile = Fragile(parent=os.getpid())
print(*run(sys.argv[1], Path(sys.argv[2]), detector=fragile, spread=over_processes))
"""


def test_a_pack_that_ends_its_worker_is_tried_again_and_then_given_up(
    path: str, tmp_path: Path
) -> None:
    # started by a process of its own: this one may have workers of other tests
    tests = str(Path(__file__).parents[1])
    env = os.environ | {
        "PYTHONPATH": os.pathsep.join([tests, *filter(None, [os.environ.get("PYTHONPATH")])])
    }
    done = subprocess.run(
        [sys.executable, "-c", IN_PROCESSES, path, str(tmp_path / "out")],
        env=env,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    counts = FleetCounts(*map(int, done.stdout.split()))
    # the saw, of a level of 20, shares its pack with the press
    failures = table(tmp_path / "out", "failures")
    assert sorted(failures["entity"]) == ["press", "saw"], failures["error"].to_list()
    assert all(text.endswith(f"({MAX_TRIES} times)") for text in failures["error"])
    assert (counts.entities, counts.failed) == (5, 2)
    assert set(scores(tmp_path / "out")["machine"]) == {"drill", "lathe", "mill"}


class Moody:
    """Fails on its first calls as a full disk would, then works in turn."""

    def __init__(self, failures: int) -> None:
        self.failures = failures

    def __call__(self, function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        for item in items:
            if self.failures:
                self.failures -= 1
                yield "OSError: no space left on device"
            else:
                yield function(item)


def test_what_fails_at_first_is_tried_again(path: str, tmp_path: Path) -> None:
    run(path, tmp_path / "whole")
    counts = run(path, tmp_path / "out", spread=Moody(MAX_TRIES - 1))
    assert counts.failed == 0
    assert everything(tmp_path / "out") == everything(tmp_path / "whole")
    counts = run(path, tmp_path / "never", spread=Moody(MAX_TRIES))
    assert counts.failed == 2
    assert set(table(tmp_path / "never", "failures")["error"]) == {
        f"OSError: no space left on device ({MAX_TRIES} times)"
    }


class Killed(BaseException):
    """What no part of a run may catch."""


def test_a_run_that_was_ended_goes_on_and_makes_nothing_twice(path: str, tmp_path: Path) -> None:
    run(path, tmp_path / "whole")
    worked: list[int] = []

    def stops(after: int) -> Callable[..., Iterator[Any]]:
        def spread(function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
            for item in items:
                if len(worked) == after:
                    raise Killed
                if not item.is_done:
                    worked.append(item.pack.number)
                yield function(item)

        return spread

    with pytest.raises(Killed):
        run(path, tmp_path / "out", spread=stops(1))
    assert not (tmp_path / "out" / "alarms.csv").exists()
    counts = run(path, tmp_path / "out", spread=stops(9))
    assert worked == [0, 1, 2]
    assert counts.entities == 5
    assert everything(tmp_path / "out") == everything(tmp_path / "whole")


def test_a_folder_of_other_settings_or_files_is_refused(path: str, tmp_path: Path) -> None:
    run(path, tmp_path / "out")
    with pytest.raises(InputError, match=r"differ in parameters: name another folder"):
        run(path, tmp_path / "out", detector=LevelDetector(contamination=0.1))
    shutil.copy(path, tmp_path / "other.parquet")
    with pytest.raises(InputError, match="differ in files_sha256"):
        run(str(tmp_path / "other.parquet"), tmp_path / "out")
    facts = json.loads((tmp_path / "out" / "fleet.json").read_text())
    assert (facts["detector"], facts["files"]) == ("LevelDetector", 1)


def test_a_folder_of_something_else_is_refused(path: str, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("all of it")
    with pytest.raises(
        InputError, match=r"must be a new folder, or hold a fleet; it holds thesis\.txt"
    ):
        run(path, tmp_path / "out")


def test_two_runs_at_a_time_are_refused(path: str, tmp_path: Path) -> None:
    def spread(function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        with pytest.raises(InputError, match="another process is at work on it"):
            run(path, tmp_path / "out")
        return in_turn(function, items)

    assert run(path, tmp_path / "out", spread=spread).entities == 5


def test_standard_input_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="got standard input"):
        run("-", tmp_path / "out")
    with pytest.raises(InputError, match="got none"):
        run([], tmp_path / "out")
