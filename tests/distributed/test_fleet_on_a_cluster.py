"""A fleet on a cluster: what the cores of one machine come to, to the last digit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from running import runner
from subadjacent import MagnitudeDetector
from subadjacent.runtime import in_turn
from subadjacent.workflow import fleet as module
from subadjacent.workflow.cluster import over_cluster
from subadjacent.workflow.fleet import fleet

MACHINES, ROWS = 9, 80


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Machines of one shape, one of them without any value in a channel."""
    values = np.random.default_rng(0).normal(size=(MACHINES, ROWS, 2))
    values[::2, 60:64] += 12
    values[3, :, 1] = np.nan
    frame = pl.DataFrame(values.reshape(-1, 2), schema=["flow", "heat"])
    names = np.repeat([f"machine-{number}" for number in range(MACHINES)], ROWS)
    frame.with_columns(item_id=pl.Series(names)).write_parquet(tmp_path / "plant.parquet")
    return tmp_path / "plant.parquet"


def results(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def test_a_cluster_leaves_the_files_that_one_machine_leaves(
    path: Path, tmp_path: Path, cluster: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PACK_ROWS", 2 * ROWS)
    detector = MagnitudeDetector()
    alone = fleet(detector, [str(path)], tmp_path / "alone", spread=in_turn)
    together = fleet(detector, [str(path)], tmp_path / "together", spread=over_cluster)
    assert cluster == 2
    assert alone.counts == together.counts
    assert (alone.counts.entities, alone.counts.failed) == (MACHINES, 1)
    assert results(tmp_path / "together") == results(tmp_path / "alone")


@pytest.mark.sweep
@pytest.mark.usefixtures("cluster")
def test_the_command_finds_files_that_are_named_from_where_it_stands(
    path: Path, tmp_path: Path
) -> None:
    for name, rows in pl.read_parquet(path).group_by("item_id", maintain_order=True):
        rows.drop("item_id").write_csv(tmp_path / f"{name[0]}.csv")
    done = runner(tmp_path)(
        "fleet", "machine-?.csv", "-o", "out", "--engine", "ray", "--detector", "magnitude"
    )
    counts = json.loads(done.stdout)
    assert (counts["entities"], counts["rows"]) == (MACHINES, MACHINES * ROWS)
    entities = pl.read_csv(tmp_path / "out" / "entities.csv")
    # the one that has another channel comes last
    assert sorted(entities["entity"]) == [f"machine-{n}.csv" for n in range(MACHINES)]
