"""Which entities of a fleet are kept: p-values, alarms that are left, and runs that go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from subadjacent.data.files import Columns
from subadjacent.decision.discoveries import benjamini_hochberg, p_values_of, worst_of
from subadjacent.errors import InputError
from subadjacent.runtime import in_turn
from subadjacent.workflow import fleet as module
from subadjacent.workflow.fit import TrainingRows
from subadjacent.workflow.fleet import FleetFindings, fleet
from workflow.level import LevelDetector

ROWS, MACHINES, BROKEN = 400, 30, (4, 11, 20)


def machines() -> dict[str, np.ndarray]:
    found = {}
    for number in range(MACHINES):
        values = np.random.default_rng(number).normal(size=(ROWS, 2)) * (1 + number)
        if number in BROKEN:
            values[300:306] += 20 * (1 + number)
        found[f"m{number:02d}"] = values
    # a channel of one is silent for long
    found["m07"][320:360, 1] = np.nan
    return found


@pytest.fixture
def path(tmp_path: Path) -> str:
    frames = [
        pl.DataFrame(values, schema=["flow", "heat"]).with_columns(machine=pl.lit(name))
        for name, values in machines().items()
    ]
    pl.concat(frames).write_parquet(tmp_path / "plant.parquet")
    return str(tmp_path / "plant.parquet")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten machines a pack."""
    monkeypatch.setattr(module, "PACK_ROWS", 10 * ROWS)


def run(path: str, folder: Path, **options: Any) -> FleetFindings:
    options = {"columns": Columns(entity="machine"), "spread": in_turn} | options
    return fleet(LevelDetector(contamination=1e-3), [path], folder, **options)


def table(folder: Path, name: str) -> pl.DataFrame:
    return pl.read_csv(folder / f"{name}.csv")


def test_every_entity_has_the_p_value_of_its_worst_row_among_all(path: str, tmp_path: Path) -> None:
    run(path, tmp_path / "out")
    worst = []
    for values in machines().values():
        frame = pl.DataFrame(values, schema=["flow", "heat"])
        detector = LevelDetector(contamination=1e-3).fit(frame[: ROWS // 2])
        judged = detector.assess(frame).judgements[0]
        worst.append(worst_of(detector.held_out_scores_[0], judged.scores[ROWS // 2 :]))
    entities = table(tmp_path / "out", "entities").sort("entity")
    np.testing.assert_allclose(entities["p_value"], p_values_of(worst))
    assert "kept" not in entities.columns
    assert "worst" not in entities.columns


def test_alarms_are_those_of_entities_that_stand_out(path: str, tmp_path: Path) -> None:
    everything = run(path, tmp_path / "all")
    found = run(path, tmp_path / "out", fdr=0.1)
    entities = table(tmp_path / "out", "entities").sort("entity")
    expected = benjamini_hochberg(entities["p_value"].to_numpy(), 0.1)
    assert entities["kept"].to_list() == expected.tolist()
    kept = set(entities.filter("kept")["entity"])
    assert kept == {f"m{number:02d}" for number in BROKEN}
    assert found.kept == 3
    alarms, before = table(tmp_path / "out", "alarms"), table(tmp_path / "all", "alarms")
    # what is missing is told whatever the chance
    silent = before.filter(pl.col("kind") == "missing")
    assert set(silent["entity"]) == {"m07"}
    assert alarms.equals(
        before.filter(pl.col("entity").is_in(kept) | (pl.col("kind") == "missing"))
    )
    assert set(alarms["entity"]) == kept | {"m07"}
    assert found.counts == everything.counts._replace(alarms=len(alarms))
    assert len(alarms) < everything.counts.alarms == len(before)
    assert everything.kept is None
    # scores are as they were
    assert pl.read_parquet(tmp_path / "out" / "scores" / "*.parquet").equals(
        pl.read_parquet(tmp_path / "all" / "scores" / "*.parquet")
    )


def test_a_rate_may_be_chosen_after_the_run_and_nothing_is_made_again(
    path: str, tmp_path: Path
) -> None:
    run(path, tmp_path / "out")
    parts = sorted((tmp_path / "out" / "entities").glob("*.parquet"))
    before = {part: part.stat().st_mtime_ns for part in parts}
    assert len(parts) == 3
    again = run(path, tmp_path / "out", fdr=0.1)
    assert {part: part.stat().st_mtime_ns for part in parts} == before
    straight = run(path, tmp_path / "straight", fdr=0.1)
    assert again.counts == straight.counts
    for name in ("alarms.csv", "entities.csv", "failures.csv"):
        assert (tmp_path / "out" / name).read_text() == (tmp_path / "straight" / name).read_text()


def test_a_normal_fleet_has_no_alarms_but_its_table_has_its_columns(tmp_path: Path) -> None:
    frames = [
        pl.DataFrame(
            np.random.default_rng(number).normal(size=(ROWS, 1)), schema=["flow"]
        ).with_columns(machine=pl.lit(f"m{number}"))
        for number in range(12)
    ]
    pl.concat(frames).write_parquet(tmp_path / "calm.parquet")
    found = run(str(tmp_path / "calm.parquet"), tmp_path / "out", fdr=0.01)
    assert (found.kept, found.counts.alarms) == (0, 0)
    alarms = table(tmp_path / "out", "alarms")
    assert len(alarms) == 0
    assert {"entity", "severity", "sentence"} <= set(alarms.columns)


def test_entities_without_rows_to_test_have_no_p_value_and_do_not_count(
    path: str, tmp_path: Path
) -> None:
    found = run(path, tmp_path / "out", fdr=0.1, training=TrainingRows(fraction=1.0))
    entities = table(tmp_path / "out", "entities")
    assert entities["p_value"].null_count() == MACHINES
    assert not entities["kept"].any()
    assert found.kept == 0


def test_failed_entities_have_no_p_value(path: str, tmp_path: Path) -> None:
    rows = pl.read_parquet(path)
    dead = pl.col("machine") == "m03"
    rows.with_columns(heat=pl.when(dead).then(None).otherwise("heat")).write_parquet(path)
    found = run(path, tmp_path / "out", fdr=0.1)
    (failed,) = table(tmp_path / "out", "entities").filter(pl.col("entity") == "m03").to_dicts()
    assert (failed["p_value"], failed["kept"]) == (None, False)
    assert (found.counts.failed, found.kept) == (1, 3)


def test_a_rate_that_is_none_is_refused(path: str, tmp_path: Path) -> None:
    for rate in (0, 1.5, "few"):
        with pytest.raises(InputError, match="fdr must be a finite number above 0 and of at most"):
            run(path, tmp_path / "out", fdr=rate)
    assert not (tmp_path / "out").exists()
