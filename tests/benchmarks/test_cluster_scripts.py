"""The scripts about many machines: what they simulate is right, and what they measure is real."""

from __future__ import annotations

import csv
import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
OWN = ("many_machines", "cluster", "live_data")


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Imports a script as it is when it is run: its folder comes first."""
    monkeypatch.syspath_prepend(str(FOLDER))
    before = {name: sys.modules.pop(name) for name in OWN if name in sys.modules}
    yield importlib.import_module
    for name in OWN:
        sys.modules.pop(name, None)
    sys.modules.update(before)


@pytest.fixture
def machines(load: Callable[[str], ModuleType]) -> ModuleType:
    return load("many_machines")


EVEN = {"uneven": 0.0, "slow_share": 0.0, "between_failures": 1e12}


def test_three_packs_on_two_workers_by_hand(machines: ModuleType) -> None:
    # a pack takes 10 s and is handed out in 1 s: 1 to 11, 2 to 12, and a third from 12 to 22
    work = machines.Work(series=30, per_pack=10, per_series=1.0, hand_out=1.0)
    cluster = machines.Cluster(machines=1, workers_each=2, **EVEN)
    assert machines.simulate(work, cluster) == machines.Outcome(22.0, 0)


def test_a_machine_that_fails_gives_its_packs_to_others(
    machines: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the first machine fails at 4, which is seen at 6; the other is idle from 10 on
    class Drawn:
        def normal(self, size: int) -> object:
            return machines.np.zeros(size)

        def random(self, size: int) -> object:
            return machines.np.ones(size)

        def exponential(self, _mean: float, size: int | None = None) -> object:
            return 1e12 if size is None else machines.np.array([4.0, 1e12])

    monkeypatch.setattr(machines.np.random, "default_rng", lambda _seed: Drawn())
    work = machines.Work(series=20, per_pack=10, per_series=1.0, hand_out=0.0)
    cluster = machines.Cluster(
        machines=2, workers_each=1, missed_after=2.0, back_after=100.0, **EVEN
    )
    assert machines.simulate(work, cluster) == machines.Outcome(20.0, 1)
    # back before the other is free, it does the pack itself: 5 to 15
    soon = machines.Cluster(machines=2, workers_each=1, missed_after=0.5, back_after=1.0, **EVEN)
    assert machines.simulate(work, soon) == machines.Outcome(15.0, 1)


def test_nothing_is_faster_than_the_ideal_and_handing_out_bounds_all(machines: ModuleType) -> None:
    for seed in range(5):
        work = machines.Work(series=5_000, per_pack=10, per_series=0.1, hand_out=0.01)
        cluster = machines.Cluster(machines=4, workers_each=4, between_failures=10.0)
        found = machines.simulate(work, cluster, seed)
        even = machines.simulate(work, machines.Cluster(machines=4, workers_each=4, **EVEN), seed)
        assert even.seconds >= 5_000 * 0.1 / 16
        assert found.seconds >= work.packs * work.hand_out
        assert found.lost > 0 == even.lost


def test_the_table_of_many_machines(
    machines: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = tmp_path / "rows.csv"
    words = "--seconds-per-series 0.01 --seconds-per-task 0.001 --series 10000 --machines 1 2"
    paths = ["--output", str(rows)]
    small = ["--series-a-task", "100", "--days-between-failures", "30", "--seeds", "1"]
    monkeypatch.setattr(sys, "argv", ["many_machines", *words.split(), *paths, *small])
    machines.main()
    with rows.open(newline="") as file:
        found = list(csv.DictReader(file))
    assert [row["machines"] for row in found] == ["1", "2"]
    assert all(0.5 < float(row["efficiency"]) <= 1.2 for row in found)
    assert "| 2 | 30 d | 100 |" in capsys.readouterr().out


def test_what_ray_costs(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs Ray")
    report = tmp_path / "cluster.md"
    words = ["--fits", "4", "--tasks", "20", "--workers", "1"]
    # in a process of its own, as it is run: Ray's workers import what they call by its name
    script = [sys.executable, str(FOLDER / "cluster.py"), *words, "--write", str(report)]
    subprocess.run(script, check=True, capture_output=True)
    text = report.read_text(encoding="utf-8")
    assert "| efficiency, 1 to 1 workers | 1.00 |" in text
    assert "| a task that does nothing |" in text
