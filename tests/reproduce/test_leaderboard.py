"""The leaderboard: its order, its two protocols side by side, and its picture."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from committed import RESULTS
from reproduce.methods import METHODS, RIVALS
from reproduce.plan import Selection
from reproduce.results import Results
from reproduce.run import CLEAN, HEURISTICS, PUBLISHED
from reproduce.tables import leaderboard_figure, leaderboard_words
from reproduce.tables.leaderboard import (
    TABLE,
    VARIANTS,
    label_of,
    published_cell,
)
from reproduce.tables.main_results import OTHERS, PAPERS_RIVALS

BOTH = Selection(datasets=("msl", "nips-ts"), seeds=2)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The n-th detector has a VUS-PR of n thousandths, more on the second set; not to change."""
    found = Results(tmp_path_factory.mktemp("results"))
    for number, variant in enumerate(VARIANTS):
        for more, dataset in enumerate(BOTH.datasets):
            for run in variant.runs(dataset, CLEAN, BOTH):
                found.add(
                    run,
                    {
                        "vus_pr_tsb_ad": number / 1000 + 0.2 * more + 0.1 * run.seed,
                        "average_precision": number / 1000,
                        "event_f1": 0.5,
                        "fit_seconds": 0.0 if number == 0 else 1.5**number,
                    },
                )
            if PUBLISHED in variant.protocols:
                for run in variant.runs(dataset, PUBLISHED, BOTH):
                    found.add(run, {"oracle_point_adjusted_f1": 0.9 + number / 1000})
    return found


def test_every_system_of_the_registry_has_a_row() -> None:
    shown = {variant.detector for variant in VARIANTS}
    measured = {name for name in RIVALS if (RESULTS / f"{name}.csv").is_file()}
    assert len(measured) > 20
    assert {one.detector for one in (*PAPERS_RIVALS, *OTHERS)} - {HEURISTICS} == measured
    assert measured < shown <= set(METHODS)
    assert len({label_of(one) for one in VARIANTS}) == len(VARIANTS)


def test_a_detector_that_lacks_a_dataset_has_no_mean_and_stands_last(tmp_path: Path) -> None:
    results = Results(tmp_path)
    for variant in VARIANTS[:2]:
        for run in variant.runs("msl", CLEAN, BOTH):
            results.add(run, {"vus_pr_tsb_ad": 0.5})
    for run in VARIANTS[0].runs("nips-ts", CLEAN, BOTH):
        results.add(run, {"vus_pr_tsb_ad": 0.1})
    table = TABLE.result_tables(results, BOTH)[0]
    assert table.rows[0][0] == label_of(VARIANTS[0])
    assert all(math.isnan(cells[0].mean) for _, cells in table.rows[1:])
    assert table.rows[1][1][0].missing == "not run"


def test_the_picture_names_every_row_and_marks_controls_and_the_random_score(
    results: Results,
) -> None:
    figure = leaderboard_figure.draw(results, BOTH)
    ranked = sorted(VARIANTS, key=VARIANTS.index, reverse=True)
    first = figure.axes[0]
    assert [one.get_text() for one in first.get_yticklabels()] == [label_of(one) for one in ranked]
    number = next(n for n, one in enumerate(VARIANTS) if one.detector == "random")
    (across,) = [one for one in first.lines if one.get_linestyle() == "--"]
    assert across.get_xdata() == pytest.approx([number / 10, number / 10])
    marks = [one for one in first.lines if one.get_linestyle() != "--"]
    hollow = {
        label_of(variant)
        for variant, mark in zip(ranked, marks, strict=True)
        if mark.get_markerfacecolor() == "white"
    }
    controls = {"random score", "untrained network", "input magnitude", "PCA error", "Sub-PCA"}
    assert hollow == controls


def test_a_system_ten_points_from_its_printed_number_is_named_with_the_reason(
    tmp_path: Path,
) -> None:
    found = Results(tmp_path)
    # the paper prints 91.1 for USAD on MSL, 93.7 for THOC and 70.1 for DAGMM
    values = {"USAD": 81.2, "THOC": 83.7, "DAGMM": 80.2}
    for variant in VARIANTS:
        if variant.label in values:
            for run in variant.runs("msl", PUBLISHED, BOTH):
                found.add(run, {"oracle_point_adjusted_f1": values[variant.label] / 100})
    text = leaderboard_words.far_from_the_paper(found, BOTH)
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    far = {name: told for name, *told in lines[1:]}
    assert far.keys() == {"THOC", "DAGMM"}
    assert far["THOC"] == ["MSL 83.7 (93.7)", leaderboard_words.REASONS["THOC"]]
    assert "is 10 points or more from" in text
    assert "A random score has" not in text


def test_every_system_that_the_paper_prints_has_a_reason_at_hand() -> None:
    printed = {
        label_of(one)
        for one in VARIANTS
        for dataset in ("msl", "smap", "smd", "nips-ts")
        if published_cell(one, dataset, Results(Path("nowhere")), BOTH).paper is not None
    }
    assert printed == set(leaderboard_words.REASONS)
