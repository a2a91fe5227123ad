"""Every table asks for runs that can be made, and shows the paper's rows beside ours."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from reproduce import catalogue
from reproduce.catalogue import FIGURES, OURS, PAPERS, TABLES
from reproduce.comparison import (
    Cell,
    Comparison,
    Variant,
    paper_tables,
)
from reproduce.methods import build
from reproduce.plan import SYNTHETIC, Selection
from reproduce.protocols import published
from reproduce.results import Results
from reproduce.run import CLEAN, PUBLISHED, RETIRED, Run
from reproduce.runner import MEASURED
from reproduce.tables.main_results import auc_cells
from subadjacent.detectors.base import BaseDetector
from subadjacent.errors import InputError


def test_the_catalogue_has_all_that_the_paper_has() -> None:
    assert list(PAPERS) == list(paper_tables()) == [f"table{n}" for n in range(1, 12)]
    assert list(TABLES) == [*PAPERS, *OURS]
    assert [catalogue.table(name).name for name in TABLES] == list(TABLES)
    assert [catalogue.figure(name).name for name in FIGURES] == list(FIGURES)


def test_names_come_in_the_papers_order_and_all_stands_for_every_one() -> None:
    assert catalogue.names(["figure3", "table10", "table2"]) == ["table2", "table10", "figure3"]
    # ours after the paper's
    assert catalogue.names(["figure3", *OURS, "table2"]) == ["table2", *OURS, "figure3"]
    assert catalogue.names(["table2", "all"]) == [*TABLES, *FIGURES]
    with pytest.raises(InputError, match=r"tables and figures are table1, .*, all; got 'table12'"):
        catalogue.names(["table12"])


def test_every_run_has_settings_that_its_protocol_takes() -> None:
    for name, quick in product(TABLES, (False, True)):
        runs = catalogue.table(name).runs(Selection(quick=quick))
        assert runs
        for run in {run for run in runs if run.detector not in {*MEASURED, *RETIRED}}:
            if run.protocol == PUBLISHED:
                published._settings(run)
            else:
                # refuses a parameter that it does not have
                assert isinstance(build(run, "cpu"), BaseDetector)
            assert run.quick == quick


def test_a_table_without_rows_says_not_run_where_runs_were_requested(tmp_path: Path) -> None:
    selection = Selection(datasets=("msl", SYNTHETIC))
    # generated, or with a table for each dataset that is there
    whole = {"table3", "ablation-kinds", "nips-ts-kinds", "decisions", "leaderboard"}
    for name in TABLES:
        grids = catalogue.table(name).result_tables(Results(tmp_path), selection)
        cells = [cell for grid in grids for _, row in grid.rows for cell in row]
        assert not any(cell.values for cell in cells)
        missing = {cell.missing for cell in cells}
        assert "not run" in missing
        assert ("no data" in missing) or name in whole


SMALL = Comparison("table4", "T", "band", (Variant("20:30"),), datasets=("msl", "smd"))


def test_cells_hold_percents_of_the_seeds_that_are_there(tmp_path: Path) -> None:
    results = Results(tmp_path)
    for seed, f1 in ((0, 0.9), (2, 0.95)):
        results.add(Run("msl", "sub-adjacent", PUBLISHED, seed), {"oracle_point_adjusted_f1": f1})
    grid = SMALL.result_tables(results, Selection(datasets=("msl",)))[0]
    ours = dict(grid.rows)["20:30"]
    assert ours[0].values == pytest.approx((90, 95))
    assert ours[0].paper == 96.7
    assert (ours[1].values, ours[1].missing, ours[1].paper) == ((), "no data", 97.7)


def test_the_papers_auc_follows_from_its_f1() -> None:
    # F1 99.0 gives 99 · (3 - 0.99) / 2 = 99.495, printed as 99.5
    assert auc_cells("table2") == (95, 96)
    assert auc_cells("table3") == (7, 9)


def test_a_selection_of_unknown_datasets_protocols_or_no_seeds_is_refused() -> None:
    with pytest.raises(InputError, match=r"datasets must be among swat, .*; got 'mnist'"):
        Selection(datasets=("mnist",))
    with pytest.raises(InputError, match="protocols must be among published, clean; got 'fair'"):
        Selection(protocols=("fair",))
    with pytest.raises(InputError, match="seeds must be a whole number of at least 1; got 0"):
        Selection(seeds=0)


def test_a_row_of_one_dataset_is_run_there_alone(tmp_path: Path) -> None:
    one = Comparison(
        "table4",
        "T",
        "band",
        (Variant("mine", datasets=("smd",)),),
        datasets=("swat", "msl", "smd"),
    )
    runs = [r for r in one.runs(Selection(datasets=("msl", "smd"))) if r.detector == "sub-adjacent"]
    assert {run.dataset for run in runs} == {"smd"}
    # a trial has it where it can
    trial = one.runs(Selection(datasets=("msl",), quick=True))
    assert "msl" in {run.dataset for run in trial if run.detector == "sub-adjacent"}
    grid = one.result_tables(Results(tmp_path), Selection(datasets=("msl", "smd")))[0]
    assert [cell.missing for cell in dict(grid.rows)["mine"]] == ["no data", "", "not run"]


def test_there_is_no_mean_over_kinds_as_long_as_a_run_is_missing(tmp_path: Path) -> None:
    results = Results(tmp_path)
    results.add(Run("off the ring", "default", CLEAN), {"average_precision": 0.5})
    rows = dict(catalogue.table("ablation-kinds").result_tables(results, Selection())[0].rows)
    assert rows["off the ring (state)"][0].values == (50.0,)
    assert rows["mean"][0].missing == "not run"


def released(seed: int, dataset: str = "msl") -> Run:
    """A run of Table 10 as the authors' code makes it."""
    settings = (("attention_weight", 0.0), ("epochs", 8))
    return Run(dataset, "sub-adjacent", PUBLISHED, seed, settings, "smoothed", per_entity=True)


def test_the_best_of_ten_runs_is_shown_once_all_were_made(tmp_path: Path) -> None:
    results = Results(tmp_path)
    selection = Selection(datasets=("msl", "smd"))

    def row(label: str) -> tuple[Cell, ...]:
        """Cells of MSL, SMAP and SMD."""
        grid = catalogue.table("table10").result_tables(results, selection)[0]
        return dict(grid.rows)[f"Ours, as released: {label}"][3:]

    best = "best of 10 runs of each entity"
    for seed in range(10):
        assert [cell.missing for cell in row(best)] == ["not run", "no data", "not run"]
        f1s = {"oracle_f1": 0.4, "oracle_f1_by_entity": f"0.5 0.{seed}"}
        results.add(released(seed), f1s)
    assert row("mean of 10 runs")[0].values == pytest.approx((40,) * 10)
    # the best of the first entity is 0.5, of the second 0.9
    assert row(best)[0].values == pytest.approx((70,))
    assert [cell.missing for cell in row(best)] == ["", "no data", "not run"]
    grids = catalogue.table("table10").result_tables(results, selection)
    clean = [label for label, _ in grids[1].rows]
    assert not any("as released" in label for label in clean)
