"""Each command as a person would type it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import subadjacent
from running import Run, json_lines, runner
from subadjacent import load
from subadjacent.cli.options import parse_false_alarms

QUICK = "smoothing = 3\n"


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A made-up plant in a CSV file, with labels; quick settings; a model. Not to be changed."""
    folder = tmp_path_factory.mktemp("prepared")
    (folder / "quick.toml").write_text(QUICK)
    command = runner(folder)
    command("generate", "plant", "--rows", "1200", "--label", "-o", "plant.csv")
    command(
        "fit", "plant.csv", "-o", "model", "--label", "label", "--train-fraction", "0.5",
        "--config", "quick.toml",
    )  # fmt: skip
    return folder


@pytest.fixture
def plant(prepared: Path, tmp_path: Path) -> Path:
    shutil.copy(prepared / "plant.csv", tmp_path)
    shutil.copy(prepared / "quick.toml", tmp_path)
    return tmp_path / "plant.csv"


@pytest.fixture
def model(prepared: Path) -> Path:
    return prepared / "model"


def test_generate_writes_what_the_seed_decides(command: Run, tmp_path: Path) -> None:
    first, again, other = (
        command("generate", "plant", "--rows", "200", "--seed", seed).stdout for seed in (3, 3, 4)
    )
    assert first == again != other
    assert first.splitlines()[0] == "time,sensor_1,sensor_2,sensor_3,sensor_4,sensor_5,sensor_6"
    assert len(first.splitlines()) == 201
    command("generate", "plant", "--channels", "1", "--label", "-o", "series.parquet")
    assert pl.read_parquet(tmp_path / "series.parquet").columns == ["time", "sensor_1", "label"]


def test_detect_goes_from_a_file_to_explained_alarms(
    command: Run, plant: Path, tmp_path: Path
) -> None:
    done = command("detect", plant, "--config", "quick.toml", "--label", "label")
    alarms = json_lines(done.stdout)
    folder = tmp_path / "plant-anomalies"
    assert alarms
    assert alarms[0]["causes"][0]["channel"].startswith("sensor_")
    assert f"{len(alarms)} alarms in 1,200 rows" in done.stderr
    worst = max(alarms, key=lambda alarm: alarm["severity"])
    assert worst["view"]
    # one sentence an alarm, the same in every output
    assert f": {worst['sentence']}\n" in done.stderr
    assert worst["causes"][0]["kind"] == worst["kind"]
    table = pl.read_csv(folder / "alarms.csv").to_dicts()
    assert [(row["kind"], row["sentence"]) for row in table] == [
        (alarm["kind"], alarm["sentence"]) for alarm in alarms
    ]
    scores = pl.read_csv(folder / "scores.csv")
    assert scores.columns == ["time", "score", "normalized_score", "anomalous", "label"]
    assert len(scores) == 1200
    assert len(pl.read_csv(folder / "alarms.csv")) == len(alarms)
    assert "<html" in (folder / "report.html").read_text()[:500]
    assert load(folder / "model").channels_ == tuple(f"sensor_{n}" for n in range(1, 7))


def test_repeats_are_folded_and_what_stays_is_called_permanent(
    command: Run, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    values = {name: rng.normal(size=2_000) for name in ("pump", "fan")}
    for start in (1_200, 1_500, 1_800):
        values["pump"][start : start + 5] += 30
    values["fan"][1_100:] += 50
    rows = [f"{name},{value:.4f}\n" for name, column in values.items() for value in column]
    (tmp_path / "two.csv").write_text("unique_id,flow\n" + "".join(rows))
    told = command("detect", "two.csv", "-o", "out", "--format", "table", "-q").stdout
    alarms = pl.read_csv(tmp_path / "out" / "alarms.csv").to_dicts()
    last = max(alarm["start"] for alarm in alarms if alarm["entity"] == "pump")
    assert f"more until row {last:,}" in " ".join(told.split())
    stayed = next(alarm for alarm in alarms if alarm["entity"] == "fan" and alarm["permanent"])
    (line,) = [line for line in told.splitlines() if ", permanent" in line]
    assert line.startswith(f"fan: rows {stayed['start']:,} to ")


def test_alarms_are_those_of_the_scores_and_of_the_library(
    command: Run, tmp_path: Path, plant: Path, model: Path
) -> None:
    done = command("alarms", model, plant, "--label", "label")
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    assert f"{len(printed)} alarm" in done.stderr
    detector = load(model)
    frame = pl.read_csv(plant, try_parse_dates=True).drop("label")
    expected = detector.alarms(frame)
    assert printed
    assert [alarm["sentence"] for alarm in printed] == [alarm.sentence for alarm in expected]
    command("alarms", model, plant, "--label", "label", "-o", "alarms.csv")
    written = (tmp_path / "alarms.csv").read_text()
    assert written == command("alarms", model, plant, "--format", "csv", "-q").stdout
    scores = pl.read_csv(command("score", model, plant, "--label", "label").stdout.encode())
    np.testing.assert_allclose(
        scores["score"], detector.decision_function(frame), rtol=1e-3, atol=1e-9
    )
    # an alarm is where its channels depart; anomalous are the rows where scores stand out
    for alarm in expected:
        assert scores["anomalous"][alarm.first : alarm.last + 1].sum()


def test_a_file_in_the_model_s_place_is_bad_usage(command: Run, plant: Path, model: Path) -> None:
    for verb in ("score", "alarms", "report"):
        assert "model folder, named before the files" in command(verb, plant, model, code=2).stderr


def test_the_false_alarm_rate_has_three_forms() -> None:
    assert parse_false_alarms("auto") == "auto"
    assert parse_false_alarms("0.002") == 0.002
    assert parse_false_alarms(" 0.2% ") == 0.002
    assert parse_false_alarms("1/week") == "1/week"
    assert parse_false_alarms("2 per day") == "2 per day"


def test_evaluate_takes_what_score_wrote_and_puts_a_random_score_beside(
    command: Run, plant: Path, model: Path
) -> None:
    command("score", model, plant, "--label", "label", "-o", "scores.csv")
    metrics = json.loads(command("evaluate", "scores.csv", "--label", "label").stdout)
    ours, random = metrics["this detector"], metrics["random score"]
    assert ours["average_precision"] > random["average_precision"]
    at_zero = command("evaluate", "scores.csv", "--label", "label", "--threshold", "0").stdout
    assert json.loads(at_zero)["this detector"]["recall"] == 1
    alarms, by_chance = (metrics["alarms"][name] for name in ("this detector", "random score"))
    assert 0 < alarms["alarms_right"] <= alarms["alarms"]
    assert 1 >= alarms["oracle_event_f1"] >= alarms["event_f1"] > by_chance["event_f1"]


def test_rows_that_hardly_move_give_no_warnings(command: Run, tmp_path: Path) -> None:
    # warnings of libraries are errors here
    for values in ((3, 3), (0, 1), (1e-310, 0)):
        lines = [f"{values[row // 3 % 2]},{values[row // 70 % 2]}\n" for row in range(200)]
        (tmp_path / "still.csv").write_text("".join(["a,b\n", *lines]))
        assert "Warning" not in command("detect", "still.csv", "-o", "found").stderr


def test_demo_shows_the_whole_way(command: Run, tmp_path: Path) -> None:
    done = command("demo", "--rows", "1600", "-o", "shown")
    facts = json.loads(done.stdout)
    assert facts["rows"] == 800
    counted = "1 alarm" if facts["alarms"] == 1 else f"{facts['alarms']} alarms"
    assert f"\n{counted} in 800 rows. The worst on " in done.stderr
    assert {file.name for file in (tmp_path / "shown").iterdir()} == {
        "report.html",
        "scores.csv",
        "alarms.csv",
    }


def test_a_detector_with_a_network_takes_its_options(command: Run, plant: Path) -> None:
    options = ("--max-training-time", "1s", "--seed", "5", "--device", "cpu")
    command("fit", plant, "-o", "model", "--detector", "usad", *options)
    parameters = json.loads(command("info", "model").stdout)["parameters"]
    assert (parameters["random_state"], parameters["max_training_time"]) == (5, "1s")


def test_info_tells_what_a_model_holds_and_quiet_says_nothing(
    command: Run, plant: Path, model: Path
) -> None:
    told, detector = json.loads(command("info", model).stdout), load(model)
    assert (told["kind"], len(told["channels"])) == ("SubAdjacentDetector", 6)
    assert (told["threshold"], told["parameters"]) == (detector.threshold_, detector.get_params())
    assert told["weights"] > 0
    assert command("fit", plant, "-o", "again", "--config", "quick.toml", "--quiet").stderr == ""


def test_bad_usage_exits_with_two(command: Run) -> None:
    for line in ("", "nonsense", "fit x.csv", "score x.csv", "evaluate x.csv", "generate sine"):
        done = command(*line.split(), code=2)
        assert done.stderr or done.stdout
    assert command("--version").stdout == f"subadjacent {subadjacent.__version__}\n"


FIT, SCORE = ["fit", "x.csv", "-o", "m"], ["score", "m", "x.csv"]
DETECT, REPORT = ["detect", "x.csv"], ["report", "m", "x.csv"]
EVALUATE = ["evaluate", "x.csv", "--label", "y"]
FLEET = ["fleet", "x.csv", "-o", "out"]
BAD_VALUES = {
    "--device": (("tpu", "meta", "cuda:99"), (FIT, DETECT, SCORE, REPORT)),
    "--detector": (("knnn", "SubAdjacentDetector", ""), (FIT, DETECT)),
    "--max-training-time": (("soon", "0s", "-5m", ""), (FIT, DETECT)),
    "--false-alarms": (
        ("lots", "0/week", "1/never", "conformal", "0", "0%", "60%", "0.7", "1% adaptive", ""),
        (FIT, DETECT),
    ),
    "--train-fraction": (("0", "-1", "2", "nan", "half"), (FIT, DETECT)),
    "--train-until": (
        ("noon", "nan", "2026-13-01", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00+12:00"),
        (FIT, DETECT),
    ),
    "--time-format": (("%Q", "", "%d/%m", "%I:%M"), (FIT, DETECT, SCORE, REPORT, EVALUATE)),
    "--seed": (
        ("-1", "many", str(2**32)),
        (FIT, DETECT, EVALUATE, ["generate", "plant"]),
    ),
    "--output": (("scores.xlsx", "scores", ""), (SCORE, ["generate", "plant"])),
    "--threshold": (("nan", "high"), (EVALUATE,)),
    "--rows": (("199", "-1", "few"), (["generate", "plant"], ["demo"])),
    "--channels": (("0", "-3", "six"), (["generate", "plant"],)),
    "--format": (("xml",), (DETECT,)),
    "--engine": (("abacus",), (FLEET, SCORE)),
}


def test_every_bad_value_of_an_option_is_bad_usage(command: Run, tmp_path: Path) -> None:
    """None of them reads the file, which is not there."""
    cases = [
        [*verb, option, value]
        for option, (values, verbs) in BAD_VALUES.items()
        for verb in verbs
        for value in values
    ]
    for case in cases:
        assert case[-2] in command(*case, code=2).stderr, case
    assert list(tmp_path.iterdir()) == []


def test_settings_of_the_file_hold_where_no_option_is_given(
    command: Run, plant: Path, tmp_path: Path
) -> None:
    (tmp_path / "daily.toml").write_text(QUICK + 'contamination = "1/day"\n')
    for option, budget in (([], "1/day"), (["--false-alarms", "1/week"], "1/week")):
        command("fit", plant, "-o", "model", "--config", "daily.toml", *option)
        parameters = json.loads(command("info", "model").stdout)["parameters"]
        assert (parameters["contamination"], parameters["smoothing"]) == (budget, 3)
    # standard input gets a folder with a plain name
    command("detect", "-", "--config", "daily.toml", "-q", input=plant.read_text())
    assert (tmp_path / "input-anomalies" / "report.html").exists()


def test_a_file_without_times_is_counted_in_rows(command: Run, plant: Path, tmp_path: Path) -> None:
    pl.read_csv(plant).drop("time").write_csv(tmp_path / "untimed.csv")
    (tmp_path / "quick.toml").write_text(QUICK + "contamination = 0.02\n")
    done = command("detect", "untimed.csv", "--config", "quick.toml", "-o", "out")
    worst = max(json_lines(done.stdout), key=lambda alarm: alarm["severity"])
    assert f". The worst at row {worst['start']:,}: " in done.stderr
    scores = pl.read_csv(tmp_path / "out" / "scores.csv")
    assert scores.columns == ["score", "normalized_score", "anomalous", "label"]
    assert len(scores) == 1200


def test_a_place_that_cannot_be_written_is_refused_before_the_work(
    command: Run, plant: Path, model: Path, tmp_path: Path
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    told = command("fit", plant, "-o", "full", code=1).stderr
    assert "path must be new or a model folder" in told
    # under /proc nothing can be made, not even by root
    for verb in (("fit", plant), ("score", model, plant), ("report", model, plant)):
        told = command(*verb, "-o", "/proc/nowhere/out.csv", code=1).stderr
        assert told.count("\n") == 1
        assert told.startswith("error: /proc/nowhere/out.csv cannot be written")
    assert "must be a new folder" in command("detect", plant, "-o", plant, code=1).stderr
    assert "must be a file" in command("report", model, plant, "-o", "-", code=2).stderr
    assert "got an empty one" in command("score", model, "", code=1).stderr
