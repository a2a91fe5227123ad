"""The benchmarks of live use: by hand where they compute, and whole at a tiny size."""

from __future__ import annotations

import csv
import importlib
import logging
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from reproduce.cases.streams import LiveStream, live_stream

FOLDER = Path(__file__).parents[2] / "benchmarks"
REPORTS = FOLDER / "reports"
OWN = ("live", "live_data", "lookahead", "stream_state", "streaming")

Load = Callable[[str], ModuleType]
Run = Callable[..., str]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """Imports a script as it is when it is run: its folder comes first."""
    monkeypatch.syspath_prepend(str(FOLDER))
    before = {name: sys.modules.pop(name) for name in OWN if name in sys.modules}
    yield importlib.import_module
    for name in OWN:
        sys.modules.pop(name, None)
    sys.modules.update(before)


@pytest.fixture
def run(load: Load, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a script, and gives what it printed."""

    def run(name: str, *arguments: object) -> str:
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        load(name).main()
        return capsys.readouterr().out

    return run


def page_with(mark: str, folder: Path) -> Path:
    page = folder / "page.md"
    page.write_text(f"before\n<!-- {mark} -->\nold\n<!-- /{mark} -->\nafter\n", encoding="utf-8")
    return page


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_stream_begins_with_what_is_not_judged(load: Load) -> None:
    values = np.arange(100.0)[:, None]
    entity = load("live_data").of_stream(LiveStream("idle", 0, values, ((40, 42), (99, 100))))
    assert (len(entity.train), entity.train[-1, 0], entity.test[0, 0]) == (15, 14, 15)
    assert np.flatnonzero(entity.labels).tolist() == [25, 26, 84]
    watched = entity.watched(np.ones(85))
    assert watched.spans == [(40, 42), (99, 100)]
    assert np.asarray(watched.scores).tolist() == [0.0] * 15 + [1.0] * 85
    assert watched.unjudged == 15
    # training rows of a set are another series
    apart = entity._replace(whole=False).watched(np.ones(85))
    assert apart.spans == [(25, 27), (84, 85)]
    assert (len(np.asarray(apart.scores)), apart.unjudged) == (85, 0)
    long = LiveStream("idle", 0, np.zeros((20_000, 1)), ())
    assert len(load("live_data").of_stream(long).train) == 750


def test_tables_replace_what_is_between_the_marks(load: Load, tmp_path: Path) -> None:
    page = page_with("live", tmp_path)
    table = load("live_data").markdown([["of", "came"], ["rows", "3"]])
    assert table == "| of | came |\n|---|--:|\n| rows | 3 |"
    load("live_data").put_between(page, "live", table)
    expected = f"before\n<!-- live -->\n{table}\n<!-- /live -->\nafter\n"
    assert page.read_text() == expected
    load("live_data").put_between(page, "live", table)
    assert page.read_text() == expected
    with pytest.raises(SystemExit, match="must have <!-- other -->"):
        load("live_data").put_between(page, "other", table)


def test_the_log_is_given_back_as_it_was(load: Load) -> None:
    before = logging.root.manager.disable
    with load("live_data").quiet():
        assert logging.root.manager.disable == logging.WARNING
    assert logging.root.manager.disable == before


def test_a_running_mean_by_hand(load: Load) -> None:
    live = load("live")
    rows = np.array([[1.0], [3.0], [np.nan], [8.0]])
    entity = load("live_data").Entity("g", "k", rows[:1], rows[1:], np.zeros(3), True)
    # mean 1, then 2 with variance 1, then the same over one row more
    said = live.running(entity)
    first, missing, far = said.severity * live.FAR
    assert first == pytest.approx(2 / 1e-9)
    assert missing == 0
    assert far == pytest.approx(6 / np.sqrt(1 - 1 / 3))


def test_rows_at_one_or_above_are_alarms_joined_over_ten_rows(load: Load) -> None:
    severity = np.zeros(40)
    severity[[3, 14, 30]] = [1.0, 2.0, 0.99]
    assert np.flatnonzero(load("live").flagged(severity).anomalous).tolist() == list(range(3, 15))


def test_the_first_answer_to_a_row_counts(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    live = load("live")
    entity = load("live_data").of_stream(live_stream("cost of a click", 0))
    said = live.streamed(entity)
    monkeypatch.setattr(live, "TOGETHER", 333)
    again = live.streamed(entity)
    np.testing.assert_array_equal(said.severity, again.severity)
    np.testing.assert_array_equal(said.anomalous, again.anomalous)
    assert len(said.severity) == len(entity.test)
    assert said.severity.max() > 1


def test_an_alarm_counts_once_by_the_row_that_opens_it(load: Load) -> None:
    live, data = load("live"), load("live_data")
    labels = np.zeros(100, int)
    labels[50:60] = 1
    entity = data.Entity("g", "k", np.zeros((0, 1)), np.zeros((100, 1)), labels, False)
    severity = np.zeros(100)
    severity[45:100] = 2.0  # from the first row of the window to the end
    found = live.measured([(entity, live.flagged(severity))])
    assert found["own alarms"] == pytest.approx(100)
    assert found["standard"] < 50  # each of the rows behind the window costs
    assert (found["alarms"], found["right"], found["found"], found["delay"]) == (1, 1, 1, 0)
    assert found["alarms in 1,000 rows"] == 10
    assert found["normal rows alarmed"] == pytest.approx(45 / 90)
    at_most = live.measured([(entity, live.flagged(severity))], threshold=3.0)
    assert (at_most["standard"], at_most["threshold"]) == (0, 3.0)


def test_live_measures_every_detector_on_streams(
    run: Run, load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found, page = tmp_path / "live.csv", page_with("live", tmp_path)
    whole = live_stream("cost of a click", 0)
    few = LiveStream(whole.kind, 0, whole.values[:600], whole.spans[:1])
    assert few.spans[0][1] < 600
    monkeypatch.setattr(load("live"), "live_streams", lambda _seeds: iter([few]))
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


def test_what_was_not_measured_anew_stays(load: Load) -> None:
    def row(group: str, detector: str, alarms: int) -> dict[str, object]:
        return {"group": group, "detector": detector, "alarms": alarms}

    streams = "generated streams"
    alone, _, fixed, _, chance = load("live").WAYS
    before = [row("MSL", chance, 1), row(streams, chance, 2), row(streams, fixed, 3)]
    anew = [row("MSL", alone, 4), row("MSL", chance, 5)]
    assert load("live").merged(before, anew) == [
        row(streams, fixed, 3),
        row(streams, chance, 2),
        row("MSL", alone, 4),
        row("MSL", chance, 5),
    ]


def test_what_is_kept_back_has_seeds_and_marks_of_its_own(
    run: Run, load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # a development kind stands in: nothing that is kept back is measured here
    drawn = [live_stream("cost of a click", 1)]
    monkeypatch.setattr(load("live"), "kept_back_streams", lambda: iter(drawn))
    page = page_with("live kept back", tmp_path)
    only = ("--detectors", "random numbers", "--jobs", 1)
    run("live", "--output", tmp_path / "live.csv", "--page", page, "--kept-back", *only)
    assert [row["group"] for row in rows_of(tmp_path / "live.csv")] == ["generated streams"] * 2
    assert "| generated streams | random numbers |" in page.read_text()


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
    said = subprocess.run(
        [sys.executable, FOLDER / "streaming.py", *small, "--write", report],
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
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


def test_sizes_of_saved_streams_on_the_page_are_those_of_the_report(
    run: Run, tmp_path: Path
) -> None:
    report = tmp_path / "sizes.csv"
    small = ["--channels", "2", "--rows", "100", "80"]
    said = run("stream_state", *small, "--write", str(report))
    assert report.read_text(encoding="utf-8") == said
    written = [(row["model"], row["rows"]) for row in rows_of(report)]
    assert written == [("no", "80"), ("no", "100"), ("yes", "80"), ("yes", "100")]
    page = (FOLDER.parent / "docs" / "streaming.md").read_text(encoding="utf-8")
    most = {"no": 0, "yes": 0}
    for row in rows_of(REPORTS / "stream_state.csv"):
        if row["channels"] == "5":
            most[row["model"]] = max(most[row["model"]], int(row["bytes"]))
    without, with_model = (round(size / 1000) for size in most.values())
    wanted = f"{without} kB at most without a model, {with_model} kB with the default"
    assert wanted in " ".join(page.split())


@pytest.mark.parametrize(("script", "mark"), [("live", "live"), ("lookahead", "lookahead")])
def test_tables_on_the_page_are_those_of_the_reports(load: Load, script: str, mark: str) -> None:
    page = (FOLDER.parent / "docs" / "streaming.md").read_text(encoding="utf-8")
    table = load(script).summary(rows_of(REPORTS / f"{script}.csv"))
    assert f"<!-- {mark} -->\n{table}\n<!-- /{mark} -->" in page
