"""Every benchmark that needs no GPU, no browser and no data from outside runs, at a tiny size."""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

import pytest

from benchmark_scripts import FOLDER, REPORTS, Load, Run, page_with, rows_of
from reproduce.cases.streams import LiveStream, live_stream
from running import call

pytestmark = pytest.mark.sweep


def test_every_measure_of_alarms_is_written_once_for_a_state(
    run: Run, load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    decision, found = load("decision"), tmp_path / "decision.csv"
    small = {"WIDTHS": (1,), "PROCESSES": ("white",), "TRAIN_ROWS": 300, "TEST_ROWS": 300}
    small |= {"JUMP_AT": 100, "of_streams": lambda _: [load("live_data").of_stream(few_rows())]}
    for name, value in small.items():
        monkeypatch.setattr(decision, name, value)
    monkeypatch.setattr(load("decision_data"), "PLANT_ROWS", 1_000)
    options = ("--sets", "plants, 4 channels", "generated streams", "--quick", "--output", found)
    said = run("decision", "all", *options, "--state", "before")
    rows = rows_of(found)
    keys = [tuple(row[name] for name in decision.KEY) for row in rows]
    assert len(set(keys)) == len(keys)
    assert {row["set"].endswith(", quick") for row in rows} == {True}
    measures = {row["measure"] for row in rows}
    assert measures >= {"F1 of events, %", "agreement", "false alarms", "severity", "bounds"}
    assert said.count("| measure, set, setting | before | n |") == len(decision.MEASURES)
    # another state stands beside the first, and the same state takes its place
    said = run("decision", "severity", *options, "--state", "after")
    assert "| measure, set, setting | before | after | n |" in said
    run("decision", "severity", *options, "--state", "after")
    again = rows_of(found)
    assert again[: len(rows)] == rows
    assert len(again) == len(rows) + said.count("| severity ·")


def few_rows() -> LiveStream:
    """The beginning of a stream, with its first anomaly."""
    whole = live_stream("cost of a click", 0)
    assert whole.spans[0][1] < 600
    return LiveStream(whole.kind, 0, whole.values[:600], whole.spans[:1])


def test_conformal_promises_are_a_row_each(
    run: Run, load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = tmp_path / "conformal.csv"
    page = tmp_path / "decision.md"
    page.write_text("before\n<!-- conformal -->\nold\n<!-- /conformal -->\nafter\n")
    monkeypatch.setattr(load("conformal"), "PAGE", page)
    small = ("--runs", 1, "--fits", 1, "--rows", 250, "--page")
    run("conformal", "--output", found, *small)
    rows = rows_of(found)
    counts = {about: [row["about"] for row in rows].count(about) for about in CONFORMAL}
    assert counts == CONFORMAL
    assert all(0 <= float(row["mean"]) <= 1 for row in rows)
    # where no row can be an alarm, none is
    silent = [float(row["mean"]) for row in rows if row["no alarm"] == "1.0"]
    assert silent == [0.0] * len(silent) != []
    before, *table, after = page.read_text().splitlines()
    assert (before, after) == ("before", "after")
    columns = ("data", "form", "asked", "mean", "one in ten", "no alarm", "warned")
    lines = {f"| {' | '.join(row[name] for name in columns)} |": row for row in rows}
    # two marks and two lines of a head
    shown = [lines[line] for line in table[3:-1]]
    assert {row["about"] for row in shown} == {"drift"}
    assert len([row for row in shown if row["about"] == "drift"]) == 8


# lines of the table on each promise
CONFORMAL = {
    "rows": 48,
    "blocks": 12,
    "constants": 48,
    "drift": 8,
    "default": 20,
}


def test_what_is_said_of_a_planted_departure_is_a_row_each(
    run: Run, load: Load, tmp_path: Path
) -> None:
    found = tmp_path / "planted.csv"
    chosen = ("--kinds", "missing", "lower variance", "--backgrounds", "taxi", "web")
    options = ("--seeds", "3", "--data", tmp_path, "--jobs", 1, "--out", found, "--wrong")
    printed = run("planted", *chosen, *options)
    rows = rows_of(found)
    assert {(row["kind"], row["background"]) for row in rows} >= {("missing", "taxi")}
    assert rows[0]["found"] == rows[0]["right_kind"] == "1"
    assert "| missing | 1 | 100 % |" in printed
    assert f"web: no file {tmp_path / 'web.npz'}" in printed
    script = load("planted")
    assert script.summary(script.read_report(found)) in printed
    assert list(script.seeds("3-5")) == [3, 4, 5]


def test_false_statements_are_counted_by_rule(run: Run, tmp_path: Path) -> None:
    found = tmp_path / "truth.csv"
    printed = run("truth", "--quick", "--sources", "demo", "--jobs", 1, "--out", found)
    rows = rows_of(found)
    assert len(rows) > 5
    rejected = sum(bool(row["rules"]) for row in rows)
    assert f"| demo | {len(rows)} | {rejected} |" in printed
    assert all(bool(row["rules"]) == bool(row["why"]) for row in rows)


# arguments of a script, a pattern in what it prints or writes to {}, and how often it is there
SMALL: dict[str, tuple[str, str, int]] = {
    "start": ("--rounds 1", r"[\d.]+ s\b", 6),
    "score_file": ("--rows 500 --channels 2", r"^ +500 +[\d.]+ +\d{2,} +\d+$", 1),
    "latency": (
        "--repeats 5 --rows 400 --threads 1 --profile",
        r"^\S.*? +\d+ +1 +[\d.]+ +[\d.]+$|Ordered by: cumulative time",
        5,
    ),
    "cpu": ("--size tiny --rounds 1", r"^(training|inference) +(plain|b?float\d+) .* x$", 6),
    "metrics": ("--rows 500 --output {}", r"^(affiliation|range-based F1) ", 2),
    "odd_files": ("--each 1 --forms CSV Parquet --output {}", r"^(CSV|Parquet),1,(1,0|0,1),0", 2),
    "service_load": (
        "--series 5 --channels 2 --seconds 4 --kill --output {}",
        r"^\| (rows sent \| 20|errors \| 0|lost \| 0) \|",
        6,
    ),
    # refused or scored, and nothing else
    "tampering": (
        "--output {} --kinds default transformer --most 60",
        r"^(default|transformer)(,\d+){3}(,0){5}$",
        2,
    ),
    "fleet": (
        "--entities 6 --scaling 4 --output {}",
        r"^6 entities of 200 rows|\"entities\": 6, \"rows\": 1200|^4 entities on one core: .* s;",
        6,
    ),
    "ranges": (
        "--sources taxi --seeds 3 --jobs 1 --out {}",
        r"^taxi,3,trips,336,|^\| all \| 1 ",
        2,
    ),
    "stream_state": ("--channels 2 --rows 100 80 --write {}", r"^2,(no|yes),(80|100),\d+$", 8),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_script_gives_its_figures(
    name: str, run: Run, load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    quick = [one for one in load("metrics").MEASURES if one[0] in ("affiliation", "range-based F1")]
    monkeypatch.setattr(load("metrics"), "MEASURES", quick)
    monkeypatch.setattr(load("cpu"), "WINDOWS", 2)
    arguments, pattern, count = SMALL[name]
    written = tmp_path / "written"
    text = run(name, *arguments.format(written).split())
    text += written.read_text(encoding="utf-8") if written.exists() else ""
    assert len(re.findall(pattern, text, re.MULTILINE)) >= count, text


def test_the_default_is_measured_beside_sub_pca(load: Load) -> None:
    default = load("default")
    lines = [*default.against_sub_pca(600, 1), *default.growth(600, 1)]
    assert len(lines) == 1 + 2 * len(default.LEFT_OUT) + 1 + 6
    assert all(re.fullmatch(r"[\d.]+ [sx]", line.came) for line in lines)


def test_files_of_every_kind_are_read_as_the_committed_table_says(run: Run, tmp_path: Path) -> None:
    found = tmp_path / "table_readers.csv"
    run("table_readers", "--readers", "ours", "--output", found)
    with (
        found.open(newline="") as file,
        (REPORTS / "table_readers.csv").open(newline="") as committed,
    ):
        expected = [(row["kind"], row["ours"]) for row in csv.DictReader(committed)]
        assert [(row["kind"], row["ours"]) for row in csv.DictReader(file)] == expected
    assert len(expected) > 40


def test_kills_are_counted_by_part(tmp_path: Path) -> None:
    found = tmp_path / "kills.csv"
    small = ["--saves", "3", "--detects", "1", "--savers", "2", "--readers", "1"]
    # a process of its own: it forks, and this one has threads
    call([sys.executable, FOLDER / "kills.py", *small, "--output", found], tmp_path)
    rows = rows_of(found)
    assert len(rows) == 5
    for row in rows:
        assert [row[name] for name in ("none", "mixed", "errors", "left_overs")] == ["0"] * 4, row
        assert int(row["old"]) + int(row["new"]) == int(row["tries"])
        # a moment may come after the end
        assert not row["what"].endswith("line") or row["killed"] == row["tries"]


def test_live_measures_every_detector_on_streams(
    run: Run, load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found, page = tmp_path / "live.csv", page_with("live", tmp_path)
    monkeypatch.setattr(load("live"), "live_streams", lambda _seeds: iter([few_rows()]))
    said = run("live", "--output", found, "--page", page, "--sets", "--jobs", 1)
    rows = rows_of(found)
    assert [row["kind"] for row in rows] == ["all", "cost of a click"] * 5
    assert {row["series"] for row in rows} == {"1"}
    assert len({row["detector"] for row in rows}) == 5
    # with one kind, all is that kind, but for profiles with a best threshold of their own
    for every, kind in zip(rows[::2], rows[1::2], strict=True):
        same = ("detector", "standard", "threshold", "own alarms", "alarms", "found", "delay")
        assert [every[name] for name in same] == [kind[name] for name in same]
        assert float(every["reward low FP"]) >= float(kind["reward low FP"])
    assert page.read_text() == f"before\n<!-- live -->\n{said}<!-- /live -->\nafter\n"
    assert said.count("| generated streams |") == 5


def test_lookahead_has_a_line_for_each(run: Run, tmp_path: Path) -> None:
    found, page = tmp_path / "lookahead.csv", page_with("lookahead", tmp_path)
    small = ("--sets", "nips-ts", "--quick", "--jobs", 1)
    run("lookahead", "--output", found, "--lookaheads", "full", *small)
    (first,) = rows_of(found)
    # what is there stays as it is
    changed = found.read_text().replace(first["average_precision"], "0.5")
    found.write_text(changed)
    said = run("lookahead", "--output", found, "--page", page, "--lookaheads", "full", 0, *small)
    assert rows_of(found)[1] == {**first, "average_precision": "0.5"}
    assert [(row["set"], row["lookahead"]) for row in rows_of(found)] == [
        ("NeurIPS-TS", "0"),
        ("NeurIPS-TS", "full"),
    ]
    assert "| set | look-ahead, rows: | 0 | full |" in said
    assert re.search(
        r"^\| NeurIPS-TS \| average precision \| [\d.]+ \| 50.0 \|$", said, re.MULTILINE
    )
    assert len(re.findall(r"^\| NeurIPS-TS \|", said, re.MULTILINE)) == 3
    assert said in page.read_text()


def test_streaming_measures_one_row_many_rows_and_many_series(tmp_path: Path) -> None:
    report = tmp_path / "streaming.md"
    small = ["--rows", "20", "--entities", "3", "--entity-rows", "10", "--channels", "2"]
    small += ["--warm-up", "10", "--cpu"]
    # a process of its own: it starts others, which import it by its name
    said = call(
        [sys.executable, FOLDER / "streaming.py", *small, "--write", report], tmp_path
    ).stdout
    assert report.read_text() + "\n" == said
    for model in ("no model", "a model"):
        alone = re.search(
            rf"\| 2 channels, {model} \| ([\d.]+) \| ([\d.]+) \| [\d.]+ x \| [\d,]+ \|", said
        )
        assert alone is not None
        assert 0 < float(alone[1]) <= float(alone[2])
        assert re.search(rf"\| 2 channels, {model} \| [\d,]+ rows/s \| [\d,]+ rows/s \|", said)
    assert "| 3 series |" in said
    assert "Times are those of the processor" in said


def test_what_ray_costs(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs Ray")
    report = tmp_path / "cluster.md"
    words = ["--fits", "4", "--tasks", "20", "--workers", "1"]
    # in a process of its own, as it is run: Ray's workers import what they call by its name
    call([sys.executable, FOLDER / "cluster.py", *words, "--write", report], tmp_path)
    text = report.read_text(encoding="utf-8")
    assert "| efficiency, 1 to 1 workers | 1.00 |" in text
    assert "| a task that does nothing |" in text
