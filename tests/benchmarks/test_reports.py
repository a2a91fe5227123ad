"""Tables on the pages are those of the committed reports."""

from __future__ import annotations

import statistics

import pytest

from benchmark_scripts import BAD_OUTCOMES, FOLDER, REPORTS, SCRIPTS, Load, rows_of


def test_planted_departures_in_the_docs_are_those_of_the_report_and_told_as_promised(
    load: Load,
) -> None:
    page = (FOLDER.parent / "docs" / "decision.md").read_text(encoding="utf-8")
    script = load("planted")
    kept_back = script.read_report(REPORTS / "planted_kept_back.csv")
    for mark, table in (
        ("planted", script.summary(kept_back)),
        ("confusions", script.confusions(kept_back)),
    ):
        assert f"<!-- {mark} -->\n{table}\n<!-- /{mark} -->" in page
    developed = script.read_report(REPORTS / "planted.csv")
    assert {row.seed for row in developed} == set(range(10))
    # no seed that was developed on
    assert min(row.seed for row in kept_back) >= script.FIRST_KEPT_BACK_SEED
    for rows in (developed, kept_back):
        found = [row for row in rows if row.found]
        assert sum(row.right_channel for row in found) >= 0.95 * len(found)
        assert sum(row.right_kind for row in found) >= 0.85 * len(found)


def test_the_committed_count_of_tampered_folders_is_that_of_every_kind(
    load: Load,
) -> None:
    rows = rows_of(REPORTS / "tampering.csv")
    kinds = load("tampering").KINDS
    # those that were registered since the count come last
    assert [row["kind"] for row in rows] == list(kinds)[: len(rows)]
    assert all(row[name] == "0" for row in rows for name in BAD_OUTCOMES)
    page = (FOLDER.parent / "docs" / "reliability.md").read_text(encoding="utf-8")
    counts = (sum(int(row[name]) for row in rows) for name in ("tampered", "refused", "scored"))
    total, refused, scored = (f"{count:,}" for count in counts)
    assert f"Of {total} folders of {len(rows)} kinds, {refused} were refused and {scored} " in page


def test_what_the_tests_noticed_before_they_notice_after() -> None:
    rows = rows_of(REPORTS / "mutants.csv")
    assert len(rows) == 60
    assert [row for row in rows if row["before"] == "yes" and row["after"] == "no"] == []


def test_the_page_names_every_script() -> None:
    page = (FOLDER.parent / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert [name for name in SCRIPTS if f"`{name}.py`" not in page] == []


@pytest.mark.parametrize(("script", "mark"), [("live", "live"), ("lookahead", "lookahead")])
def test_tables_on_the_page_are_those_of_the_reports(load: Load, script: str, mark: str) -> None:
    page = (FOLDER.parent / "docs" / "streaming.md").read_text(encoding="utf-8")
    table = load(script).summary(rows_of(REPORTS / f"{script}.csv"))
    assert f"<!-- {mark} -->\n{table}\n<!-- /{mark} -->" in page


def test_odd_files_on_the_page_are_those_of_the_report() -> None:
    page = (FOLDER.parent / "docs" / "reliability.md").read_text(encoding="utf-8")
    rows = rows_of(REPORTS / "odd_files.csv")
    # none ended otherwise
    assert all(int(row["fitted"]) + int(row["refused"]) == int(row["files"]) >= 20 for row in rows)
    files, fitted, refused = (
        sum(int(row[name]) for row in rows) for name in ("files", "fitted", "refused")
    )
    wanted = f"Of {files} files in {len(rows)} forms, {fitted} were fitted on and {refused} refused"
    assert wanted in page


def test_sizes_of_saved_streams_on_the_page_are_those_of_the_report() -> None:
    page = (FOLDER.parent / "docs" / "streaming.md").read_text(encoding="utf-8")
    most = {"no": 0, "yes": 0}
    for row in rows_of(REPORTS / "stream_state.csv"):
        if row["channels"] == "5":
            most[row["model"]] = max(most[row["model"]], int(row["bytes"]))
    without, with_model = (round(size / 1000) for size in most.values())
    wanted = f"{without} kB at most without a model, {with_model} kB with the default"
    assert wanted in " ".join(page.split())


def test_rows_in_their_expected_range_on_the_page_are_those_of_the_report() -> None:
    page = (FOLDER.parent / "docs" / "decision.md").read_text(encoding="utf-8")
    shares: dict[str, list[float]] = {}
    for row in rows_of(REPORTS / "ranges.csv"):
        shares.setdefault(row["source"], []).append(100 * float(row["inside"]))
    for source, found in shares.items():
        held = sum(share >= 95 for share in found)
        line = f"| {source} | {len(found)} | {held} | {statistics.median(found):.1f} % |"
        assert f"{line} {min(found):.1f} % |" in page
