"""Every benchmark that needs no GPU, no browser and no data from outside runs, at a tiny size."""

from __future__ import annotations

import csv
import importlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import torch

from reproduce.cases.departures import DepartureCase
from subadjacent.detectors.registry import REGISTRY
from subadjacent.networks.subadjacent import SubAdjacentConfig, SubAdjacentTransformer

FOLDER = Path(__file__).parents[2] / "benchmarks"
SCRIPTS = sorted(file.stem for file in FOLDER.glob("*.py"))

Run = Callable[..., str]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Imports a script as it is when it is run: its folder comes first."""
    monkeypatch.syspath_prepend(str(FOLDER))
    before = {name: sys.modules.pop(name) for name in SCRIPTS if name in sys.modules}
    yield importlib.import_module
    for name in SCRIPTS:
        sys.modules.pop(name, None)
    sys.modules.update(before)


@pytest.fixture
def run(
    load: Callable[[str], ModuleType],
    monkeypatch: pytest.MonkeyPatch,
    # of the file, not of Python's streams: processes that a script starts print too
    capfd: pytest.CaptureFixture[str],
) -> Run:
    """Runs a script, and gives what it printed."""

    def run(name: str, *arguments: object) -> str:
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        load(name).main()
        return capfd.readouterr().out

    return run


def test_false_alarms_are_a_row_for_each_promise(run: Run, tmp_path: Path) -> None:
    found = tmp_path / "false_alarms.csv"
    small = ("--processes", "white", "AR 0.5", "--sizes", "200x2", "--seeds", 2, "--jobs", 1)
    run("false_alarms", "--output", found, *small)
    with found.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["process"], row["promise"]) for row in rows] == [
        (process, promise)
        for process in ("white", "AR 0.5")
        for promise in ("1 %", "auto", "1 in n rows")
    ]
    assert {(row["rows"], row["channels"], row["seeds"]) for row in rows} == {("200", "2", "2")}
    assert all(0 <= float(row["mean"]) <= float(row["most"]) <= 100 for row in rows)


def test_conformal_promises_are_a_row_each(
    run: Run, load: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = tmp_path / "conformal.csv"
    for page, mark in (("scoring", "conformal"), ("distributed", "fleets")):
        text = f"before\n<!-- {mark} -->\nold\n<!-- /{mark} -->\nafter\n"
        (tmp_path / f"{page}.md").write_text(text)
    monkeypatch.setattr(load("conformal"), "DOCS", tmp_path)
    small = ("--runs", 1, "--fits", 1, "--entities", 6, "--rows", 250, "--pages")
    run("conformal", "--output", found, *small)
    with found.open(newline="") as file:
        rows = list(csv.DictReader(file))
    counts = {about: [row["about"] for row in rows].count(about) for about in CONFORMAL}
    assert counts == CONFORMAL
    assert all(0 <= float(row["mean"]) <= 1 for row in rows)
    fleets = [row for row in rows if row["about"].startswith("fleet")]
    assert all((row["power"] == "") == ("0 stand out" in row["data"]) for row in fleets)
    # where no row can be an alarm, none is
    silent = [float(row["mean"]) for row in rows if row["no alarm"] == "1.0"]
    assert silent == [0.0] * len(silent) != []
    before, *table, after = (tmp_path / "scoring.md").read_text().splitlines()
    assert (before, after) == ("before", "after")
    columns = ("data", "form", "asked", "mean", "one in ten", "no alarm", "warned")
    lines = {f"| {' | '.join(row[name] for name in columns)} |": row for row in rows}
    # two marks and two lines of a head
    shown = [lines[line] for line in table[3:-1]]
    assert {row["about"] for row in shown} == {"rows", "blocks", "drift", "default"}
    assert len([row for row in shown if row["about"] == "drift"]) == 8


# lines of the table on each promise
CONFORMAL = {
    "rows": 48,
    "blocks": 12,
    "constants": 48,
    "drift": 8,
    "default": 20,
    "fleet": 80,
    "fleet of defaults": 6,
}


def departed(kind: str, start: int, stop: int, others: tuple[int, ...] = ()) -> DepartureCase:
    rows = np.zeros((100, 3))
    return DepartureCase(rows, rows, kind, 1, start, stop, others)


def said(first: int, last: int, *causes: tuple[str, str], **more: object) -> SimpleNamespace:
    """An alarm as far as the script looks at it."""
    found = [SimpleNamespace(channel=channel, kind=kind) for channel, kind in causes]
    fields = {"first": first, "last": last, "causes": found, "severity": 1.5, "occurrences": ()}
    return SimpleNamespace(**fields | more)


def test_the_alarm_that_shares_most_rows_with_a_departure_is_judged_by_hand(
    load: Callable[[str], ModuleType],
) -> None:
    explanations = load("explanations")
    case = departed("drift", 40, 60, others=(0, 2))
    before = said(30, 40, ("channel_1", "drift"))  # row 40 only
    within = said(41, 42, ("channel_2", "spike"), ("channel_1", "drift"), severity=3.456)
    again = said(0, 99, ("channel_1", "drift"), occurrences=((0, 38), (60, 99)))
    assert [explanations.shared(case, alarm) for alarm in (before, within, again)] == [1, 2, 0]
    assert explanations.compared(case, 7, [before, within, again]) == (
        *("drift", 7, 1, 2, 1),
        *("channel_2", 0, "spike", 0, 3.46, 2),
    )
    assert explanations.compared(case, 7, [again, before]) == (
        *("drift", 7, 1, 2, 1),
        *("channel_1", 1, "drift", 1, 1.5, 1),
    )
    nothing = ("drift", 7, 1, 2, 0, "", 0, "", 0, 0.0)
    assert explanations.compared(case, 7, [again]) == (*nothing, 1)
    assert explanations.compared(case, 7, []) == (*nothing, 0)
    # of two that share as many, the more severe
    mild = said(50, 50, ("channel_0", "stuck"))
    severe = said(51, 51, ("channel_1", "drift"), severity=2.0)
    assert explanations.compared(case, 7, [severe, mild]).severity == 2.0
    # what it decoupled from is not reached later
    parted = departed("decoupled", 40, 60, others=(0,))
    assert explanations.compared(parted, 7, []).reached == 0


def test_explanations_are_counted_by_kind_by_hand(load: Callable[[str], ModuleType]) -> None:
    explanations = load("explanations")
    none = explanations.Judged("spike", 0, 1, 0, 0, "", 0, "", 0, 0.0, 1)
    results = [
        none,
        none,
        none._replace(found=1, named_kind="spike", right_kind=1, right_channel=1, reached=2),
        none._replace(found=1, named_kind="drift", right_channel=1),
        none._replace(found=1, named_kind="unusual", other_alarms=4),
        none._replace(kind="stuck", found=1, named_kind="missing"),
    ]
    lines = explanations.summary(results).splitlines()
    assert "| spike | 5 | 60 % | 67 % | 33 % | 1.6 |" in lines
    assert "| stuck | 1 | 100 % | 0 % | 0 % | 1.0 |" in lines
    assert "| drift | 0 | none | none | none | 0.0 |" in lines
    assert "| reaches others later | 1 | 100 % | 100 % | 100 % | 1.0 |" in lines
    assert "| all | 6 | 67 % | 50 % | 25 % | 1.5 |" in lines
    header = next(line for line in lines if line.startswith("| planted ↓")).split(" | ")
    assert header[-3:] == ["missing", "unusual", "not found |"]
    cells = {
        line.split(" | ")[0]: dict(zip(header[1:], line.split(" | ")[1:], strict=True))
        for line in lines[lines.index(next(x for x in lines if "↓" in x)) + 2 :]
    }
    assert {name: count for name, count in cells["| spike"].items() if count.strip(" |")} == {
        "spike": "1",
        "drift": "1",
        "unusual": "1",
        "not found |": "2 |",
    }
    assert cells["| stuck"]["missing"] == "1"


def test_explanations_of_a_departure_are_a_row_each(
    run: Run, load: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    found = tmp_path / "explanations.csv"
    kinds = ("--kinds", "out of range", "missing")
    printed = run("explanations", "--seeds", "3", *kinds, "--jobs", 1, "--out", found)
    with found.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["kind"], row["seed"]) for row in rows] == [
        ("out of range", "3"),
        ("missing", "3"),
    ]
    assert rows[0]["found"] == "1"
    assert "| out of range | 1 | 100 % |" in printed
    assert list(load("explanations").seeds("3-5")) == [3, 4, 5]


def test_explanations_in_the_docs_are_those_of_the_report_and_as_good_as_is_promised(
    load: Callable[[str], ModuleType],
) -> None:
    page = (FOLDER.parent / "docs" / "scoring.md").read_text(encoding="utf-8")
    script = load("explanations")
    texts = ("kind", "named_channel", "named_kind")
    with (FOLDER / "reports" / "explanations.csv").open(newline="") as file:
        rows = [
            script.Judged(
                **{name: cell if name in texts else float(cell) for name, cell in row.items()}
            )
            for row in csv.DictReader(file)
        ]
    assert f"<!-- explanations -->\n{script.summary(rows)}\n<!-- /explanations -->" in page
    # no seed that was developed on
    assert {row.seed for row in rows} == set(range(100, 140))
    found = [row for row in rows if row.found]
    assert sum(row.right_channel for row in found) >= 0.9 * len(found)
    assert sum(row.right_kind for row in found) >= 0.8 * len(found)


def test_growth_measures_points_and_writes_a_page(run: Run, tmp_path: Path) -> None:
    found, page = tmp_path / "growth.csv", tmp_path / "growth.md"
    small = ("--axis", "rows", "--sizes", 300, "--detector", "default")
    said = run("growth", "measure", "--csv", found, *small)
    assert said.count("default, fit: ") == said.count("default, score: ") == 1
    with found.open(newline="") as file:
        machine, *rows = csv.DictReader(file)
    assert machine["axis"] == "machine"
    assert [row["state"] for row in rows] == [""] * 2
    assert all(float(row["seconds"]) > 0 and float(row["mib"]) >= 0 for row in rows)
    # scoring so few rows takes next to nothing beyond what fitting left
    assert float(rows[0]["mib"]) > 0
    # what is there is not measured again
    assert run("growth", "measure", "--csv", found, *small) == ""
    run("growth", "report", "--csv", found, "--output", page)
    assert re.search(r"\| default, fit \| [\d.]+ \|  \|", page.read_text())
    assert (tmp_path / "growth_rows.svg").stat().st_size < 50_000


def test_growth_gives_up_a_point_over_its_limit_and_tries_no_larger_one(
    run: Run, tmp_path: Path
) -> None:
    found, page = tmp_path / "growth.csv", tmp_path / "growth.md"
    small = ("--axis", "rows", "--sizes", 300, 600, "--detector", "default", "--limit", 0.05)
    run("growth", "measure", "--csv", found, *small)
    with found.open(newline="") as file:
        _, *rows = csv.DictReader(file)
    assert [(row["size"], row["phase"], row["state"]) for row in rows] == [
        ("300", "fit", "over the limit"),
        ("300", "score", "over the limit"),
    ]
    run("growth", "report", "--csv", found, "--output", page)
    assert "| default, fit | over the limit |" in page.read_text()


def test_the_order_of_growth_is_that_of_the_last_step(load: Callable[[str], ModuleType]) -> None:
    order = load("growth_page").order
    assert order([(10, 7.0), (100, 1.0), (1000, 100.0)]) == "2.00"
    assert order([(10, 7.0)]) == ""


def test_the_cost_of_a_window_is_measured(load: Callable[[str], ModuleType]) -> None:
    growth = load("growth")
    growth.STEP_POINTS, growth.SCORED_ROWS = 200, 400
    step, scoring = growth.costs_of_window(50)
    assert (step["phase"], scoring["phase"]) == ("training step", "scoring")
    assert step["seconds"] > 0
    assert scoring["seconds"] > 0


def test_latency_says_median_and_tail_of_every_way(run: Run) -> None:
    said = run("latency", "--repeats", 5, "--rows", 400, "--threads", 1, "--profile")
    found = re.findall(r"^\S.*? +\d+ +1 +([\d.]+) +([\d.]+)$", said, re.MULTILINE)
    assert len(found) == 3
    assert all(0 < float(median) <= float(slow) for median, slow in found)
    assert said.count("Ordered by: cumulative time") == 2


def test_importing_the_package_loads_nothing_heavy(run: Run) -> None:
    said = run("start", "--rounds", 1)
    assert said.endswith("loads: none\n")
    assert len(re.findall(r"[\d.]+ s\b", said)) >= 6


def test_ratios_go_on_after_a_part_that_fails(
    run: Run, load: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise RuntimeError("no such machine")

    monkeypatch.setattr(load("ratios"), "measures", broken)
    monkeypatch.setattr(load("ratios"), "LENGTHS", (200,))
    said = run("ratios", "--quick", "--rows", 300, "--parts", "metrics", "attention", "latency")
    assert "metrics: failed: RuntimeError('no such machine')" in said
    assert re.search(r"N = 200, against the matrix +[\d.]+ x", said)
    assert len(re.findall(r"^a row's score", said, re.MULTILINE)) == 3


def test_times_of_the_default_become_ratios_by_hand(
    load: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    default = load("default")

    def times(detector: object, plant: object) -> tuple[float, float]:
        # a second for every view, and half for Sub-PCA's none; twice that for twice the rows
        views = getattr(detector, "views", ())
        fit = 6.0 if views == "all" else float(len(views)) or 0.5
        return fit * len(plant.train), 2 * fit * len(plant.train)  # type: ignore[attr-defined]

    monkeypatch.setattr(default, "fit_and_score", times)
    monkeypatch.setattr(default, "seconds", lambda _work: 7_200.0)
    lines = {line.what: line for line in default.against_sub_pca(400, 2)}
    came = [
        ("fit of 400 x 25", "2400.0 s", ""),
        ("fit of 400 x 25, against Sub-PCA", "12.00 x", "at most 4 x"),
        ("fit of 400 x 25 without state, against Sub-PCA", "10.00 x", ""),
        ("fit of 400 x 25 without both, against Sub-PCA", "8.00 x", ""),
        ("decision_function, against Sub-PCA", "12.00 x", "at most 4 x"),
        ("decision_function without shape, against Sub-PCA", "10.00 x", ""),
        ("alarms, against decision_function", "1.50 x", "at most 1.3 x"),
    ]
    assert [lines[what] for what, _, _ in came] == came
    grown = list(default.growth(400, 2))
    assert grown[:2] == [
        ("fit of 200 rows, against 100", "2.00 x", "linear: 2 x"),
        ("decision_function of 200 rows, against 100", "2.00 x", "linear: 2 x"),
    ]
    assert [line.came for line in grown] == ["2.00 x"] * 2 + ["4.00 x"] * 2 + ["8.00 x"] * 2
    assert default.page(grown).count("| linear: ") == 6


def test_the_default_is_measured_beside_sub_pca(load: Callable[[str], ModuleType]) -> None:
    default = load("default")
    lines = [*default.against_sub_pca(600, 1), *default.growth(600, 1)]
    assert len(lines) == 1 + 2 * len(default.LEFT_OUT) + 1 + 6
    assert all(re.fullmatch(r"[\d.]+ [sx]", line.came) for line in lines)


def test_the_network_is_held_against_plain_pytorch(
    run: Run, load: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load("cpu"), "WINDOWS", 2)
    said = run("cpu", "--size", "tiny", "--rounds", 1)
    assert re.findall(r"^(\w+) +(\w+) +[\d,]+ +[\d.]+ x$", said, re.MULTILINE) == [
        (what, form)
        for what in ("training", "inference")
        for form in ("plain", "float32", "bfloat16")
    ]


def test_the_plain_network_is_ours_written_down_plainly(load: Callable[[str], ModuleType]) -> None:
    cpu = load("cpu")
    config = SubAdjacentConfig.sized("tiny", 3)
    ours, plain = SubAdjacentTransformer.seeded(config, 0), cpu.PlainNetwork(config)
    with torch.no_grad():
        plain.embed.weight.copy_(ours.embed.tokens.weight.unflatten(1, (3, 3)).mT)
        for one, other in zip(plain.layers, ours.layers, strict=True):
            for name, weight, bias in zip(
                ("queries", "keys", "values"),
                other.attention.project.weight.chunk(3),
                other.attention.project.bias.chunk(3),
                strict=True,
            ):
                linear = getattr(one.attention, name)
                linear.weight.copy_(weight)
                linear.bias.copy_(bias)
            one.attention.mix.load_state_dict(other.attention.mix.state_dict())
            one.first.load_state_dict(other.after_attention.state_dict())
            one.second.load_state_dict(other.after_feedforward.state_dict())
            one.maps[0].load_state_dict(other.widen.state_dict())
            one.maps[2].load_state_dict(other.narrow.state_dict())
        plain.norm.load_state_dict(ours.norm.state_dict())
        plain.reconstruct.load_state_dict(ours.reconstruct.state_dict())
    windows = torch.randn(2, 100, 3)
    torch.testing.assert_close(tuple(ours(windows)), plain(windows), rtol=1e-4, atol=1e-5)


def test_metrics_are_held_against_their_twins(
    run: Run, load: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    metrics = load("metrics")
    quick = [one for one in metrics.MEASURES if one[0] in ("affiliation", "range-based F1")]
    monkeypatch.setattr(metrics, "MEASURES", quick)
    said = run("metrics", "--rows", 500, "--output", tmp_path / "metrics.csv")
    assert all(name in said for name, *_ in quick)


def test_score_file_says_the_peak_of_every_file(run: Run) -> None:
    said = run("score_file", "--rows", 500, "--channels", 2)
    ((rows, peak),) = re.findall(r"^ +([\d,]+) +[\d.]+ +(\d+) +\d+$", said, re.MULTILINE)
    assert rows == "500"
    assert int(peak) > 50


def test_odd_files_are_counted_by_what_comes_of_them(
    run: Run, load: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    script = load("odd_files")
    assert script.made("CSV", 3) == script.made("CSV", 3) != script.made("CSV", 4)
    found = tmp_path / "odd_files.csv"
    said = run("odd_files", "--each", 1, "--forms", "CSV", "Parquet", "--output", found)
    assert said == ""
    with found.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["form"], row["files"]) for row in rows] == [("CSV", "1"), ("Parquet", "1")]
    assert all(int(row["fitted"]) + int(row["refused"]) == 1 for row in rows)
    # and of all that were tried none ended otherwise; the page has the very counts
    with (FOLDER / "reports" / "odd_files.csv").open(newline="") as file:
        counted = list(csv.DictReader(file))
    page = (FOLDER.parent / "docs" / "reliability.md").read_text(encoding="utf-8")
    for row in counted:
        assert int(row["fitted"]) + int(row["refused"]) == int(row["files"]) >= 20
        assert f"| {row['form']} | {row['files']} | {row['fitted']} | {row['refused']} |" in page


def test_files_of_every_kind_are_read_as_the_committed_table_says(run: Run, tmp_path: Path) -> None:
    found = tmp_path / "table_readers.csv"
    run("table_readers", "--readers", "ours", "--output", found)
    with (
        found.open(newline="") as file,
        (FOLDER / "reports" / "table_readers.csv").open(newline="") as committed,
    ):
        expected = [(row["kind"], row["ours"]) for row in csv.DictReader(committed)]
        assert [(row["kind"], row["ours"]) for row in csv.DictReader(file)] == expected
    assert len(expected) > 40


def test_kills_are_counted_by_part(tmp_path: Path) -> None:
    found = tmp_path / "kills.csv"
    small = ["--saves", "3", "--detects", "1", "--savers", "2", "--readers", "1"]
    # a process of its own: it forks, and this one has threads
    subprocess.run(
        [sys.executable, FOLDER / "kills.py", *small, "--output", found], check=True, timeout=600
    )
    with found.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 5
    for row in rows:
        assert [row[name] for name in ("none", "mixed", "errors", "left_overs")] == ["0"] * 4, row
        assert int(row["old"]) + int(row["new"]) == int(row["tries"])
        # a moment may come after the end
        assert not row["what"].endswith("line") or row["killed"] == row["tries"]


def test_memory_and_fit_time_run(run: Run) -> None:
    assert "x the data" in run("memory", "--rows", 400, "--channels", 2, "--budget", "1s")
    assert "of training" in run("fit_time", "--rows", 200, "--channels", 2, "--size", "tiny")


def test_the_service_loses_nothing_under_load(run: Run, tmp_path: Path) -> None:
    report = tmp_path / "load.md"
    small = ("--series", 5, "--channels", 2, "--seconds", 4)
    text = run("service_load", *small, "--kill", "--output", report)
    assert report.read_text() in text
    assert "| rows sent | 20 |" in text
    assert "| errors | 0 |" in text
    assert "| lost | 0 |" in text


def test_the_page_names_every_script() -> None:
    page = (FOLDER.parent / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert [name for name in SCRIPTS if f"`{name}.py`" not in page] == []


BAD_OUTCOMES = ("not finite", "unhandled", "memory", "time", "crashed")


def test_tampered_folders_are_refused_or_score(run: Run, tmp_path: Path) -> None:
    found = tmp_path / "tampering.csv"
    run("tampering", "--output", found, "--kinds", "default", "transformer", "--most", 60)
    with found.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["kind"] for row in rows] == ["default", "transformer"]
    for row in rows:
        assert [row[name] for name in BAD_OUTCOMES] == ["0"] * len(BAD_OUTCOMES)
        assert int(row["tampered"]) == int(row["refused"]) + int(row["scored"]) > 50


def test_the_committed_count_of_tampered_folders_is_that_of_every_kind(
    load: Callable[[str], ModuleType],
) -> None:
    with (FOLDER / "reports" / "tampering.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    kinds = load("tampering").KINDS
    assert [row["kind"] for row in rows] == list(kinds)
    # other libraries' detectors cannot be saved
    assert {name for name, _ in kinds.values()} == {
        name for name, entry in REGISTRY.items() if not entry.library
    }
    assert all(row[name] == "0" for row in rows for name in BAD_OUTCOMES)
    page = (FOLDER.parent / "docs" / "reliability.md").read_text(encoding="utf-8")
    for row in rows:
        counts = [f"{int(row[name]):,}" for name in ("tampered", "refused", "scored")]
        assert f"| {row['kind']} | {' | '.join(counts)} |" in page


def test_a_fleet_is_timed_whole_and_on_one_core_and_two(run: Run, tmp_path: Path) -> None:
    report = tmp_path / "fleet.md"
    said = run("fleet", "--entities", 6, "--scaling", 4, "--output", report)
    assert report.read_text() == said.removesuffix("\n")
    assert "6 entities of 200 rows and 3 channels, fitted on the first 50% of their rows" in said
    assert '"entities": 6, "rows": 1200' in said
    assert re.search(r"4 entities on one core: .* s; on two: .* s; efficiency \d\.\d\d\.", said)


def test_an_exported_default_is_measured_beside_the_library(run: Run, tmp_path: Path) -> None:
    found = tmp_path / "exported.md"
    small = ("--rows", 300, "--fitted", 300, "--repeats", 2, "--channels", 1, "--cores", 1, "--cpu")
    said = run("exported", *small, "--write", found)
    assert said == found.read_text() + "\n"
    one, many = (line for line in said.splitlines() if line.startswith("| 1 channel, 1 core"))
    assert len(re.findall(r"[\d.]+ \([\d.]+\)", one)) == 5
    # at most one step of what scores are rounded to
    assert float(many.split("|")[-2]) < 1e-3
    assert "Times are those of the processor" in said
