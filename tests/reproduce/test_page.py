"""What is committed is what the rows give; sentences follow the numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from committed import PAGE, RENDERED, RESULTS
from reproduce.catalogue import FIGURES, TABLES, figure, table
from reproduce.comparison import (
    ADJUSTED,
    CLEAN_CONTROLS,
    PUBLISHED_CONTROLS,
    Variant,
    facts_of,
)
from reproduce.figures import draw, read_arrays, write_arrays
from reproduce.page import (
    leaderboard_page,
    missing_words,
    page,
    shown,
    table_files,
)
from reproduce.results import Results
from reproduce.run import CLEAN, PUBLISHED, RETIRED
from reproduce.summary_text import SummaryText
from reproduce.tables.main_results import ANOMALY_TRANSFORMER, OURS
from subadjacent.errors import InputError


@pytest.fixture(scope="module")
def results() -> Results:
    return Results(RESULTS)


def test_the_committed_pages_are_what_the_rows_give(results: Results) -> None:
    for render, file in ((page, "results.md"), (leaderboard_page, "leaderboard.md")):
        committed = (PAGE.parent / file).read_text(encoding="utf-8")
        assert render(results, shown(results), "results") == committed, "run: make reproduce"


def test_the_committed_files_of_every_table_are_what_the_rows_give(results: Results) -> None:
    for name in TABLES:
        for file, text in table_files(table(name), results, shown(results)).items():
            assert (RENDERED / file).read_text(encoding="utf-8") == text, "run: make reproduce"
    tables = {f"{name}.{kind}" for name in TABLES for kind in ("csv", "tex")}
    figures = {f"{stem}.png" for name in FIGURES for stem in figure(name).stems}
    assert {file.name for file in RENDERED.iterdir()} == tables | figures | {"leaderboard.png"}


def test_the_committed_arrays_can_be_drawn() -> None:
    for name in FIGURES:
        arrays = read_arrays(RESULTS, name)
        assert arrays is not None
        assert all(np.isfinite(one).all() for one in arrays.values())
        drawn = draw(name, arrays)
        assert list(drawn) == [f"{stem}.png" for stem in figure(name).stems]
        for image in drawn.values():
            assert image.startswith(b"\x89PNG")
            assert len(image) > 10_000


def test_arrays_are_kept_as_they_are(tmp_path: Path) -> None:
    write_arrays(tmp_path / "rows", "figure3", {"softmax": np.eye(3)})
    found = read_arrays(tmp_path / "rows", "figure3")
    assert found is not None
    np.testing.assert_array_equal(found["softmax"], np.eye(3))
    assert read_arrays(tmp_path, "figure3") is None
    (tmp_path / "figure3.npz").write_bytes(b"PK\x03\x04 cut")
    with pytest.raises(InputError, match=r"figure3.npz must be an archive of arrays"):
        read_arrays(tmp_path, "figure3")


def made_up(folder: Path, values: dict[str, float], ours: float, clean: float) -> Results:
    """Rows of one dataset in which every control has its own value."""
    results = Results(folder)
    for seed in range(3):
        for variant in (OURS, ANOMALY_TRANSFORMER, *PUBLISHED_CONTROLS):
            results.add(
                variant.run("msl", PUBLISHED, seed, quick=False),
                {ADJUSTED: values.get(variant.label, ours), "fixed_point_adjusted_f1": 0.5,
                 "tries": 46},
            )  # fmt: skip
        for variant in (Variant("Ours"), *CLEAN_CONTROLS):
            score = clean if variant.label == "Ours" else 0.4
            # a spread of 0.01
            score += 0.01 * (seed - 1)
            results.add(
                variant.run("msl", CLEAN, seed, quick=False),
                {"average_precision": score, "vus_pr_tsb_ad": score},
            )
    return results


def test_a_better_method_is_called_better(tmp_path: Path) -> None:
    rows = made_up(tmp_path, {"random score": 0.5, "untrained network": 0.6}, 0.97, 0.9)
    text = SummaryText(rows).text()
    assert "reached to within 1 point on MSL" in text
    assert "missed" not in text
    assert "is behind by 37.0 on MSL" in text
    assert "- beside its untrained self: better on MSL;" in text
    assert "it is better than all 5 controls on MSL (1 of 1 datasets)" in text
    assert "hardly sets it apart" not in text


def test_one_that_is_not_is_not(tmp_path: Path) -> None:
    rows = made_up(tmp_path, {"random score": 0.95, "untrained network": 0.89}, 0.9, 0.43)
    text = SummaryText(rows).text()
    assert "It is missed on MSL by 6.7 points" in text
    assert "is ahead of the trained one on MSL (by 5.0)" in text
    # 3 points apart, at deviations of 1 each: not more than twice both
    assert "- beside Sub-PCA: no different on MSL;" in text
    assert "on none of the 1 datasets" in text
    assert "on MSL a score without training comes within 2 points" in text


def test_a_part_of_the_rows_gives_a_page_too(tmp_path: Path) -> None:
    assert "Nothing was run yet" in page(Results(tmp_path), shown(Results(tmp_path)), "results")
    rows = Results(tmp_path)
    rows.add(OURS.run("smd", PUBLISHED, 0, quick=False), {ADJUSTED: 0.96, "tries": 46})
    rows.add(facts_of("smd"), {"entities": 19})
    text = page(Results(tmp_path), shown(rows), "results")
    assert "It is missed on SMD (19 of 28) by 1.7 points." in text
    assert "nan" not in text
    assert "Not computed yet." in text


def test_runs_still_to_be_made_are_counted(results: Results, tmp_path: Path) -> None:
    selection = shown(results)
    assert missing_words(table("table2"), results, selection) == ""
    every = len({run for run in table("table3").runs(selection) if run.detector not in RETIRED})
    assert missing_words(table("table3"), Results(tmp_path), selection) == (
        f"{every} of the {every} runs of this table are still to be made.\n\n"
    )
