"""What a user says of columns and cells on the command line, and what the command says back."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from running import Run, json_lines

N = 120


def cells(n: int) -> dict[str, str]:
    return {
        "time": f"2026-01-01T{n // 60:02}:{n % 60:02}:00",
        "flow": str(n % 7),
        "heat": "Bad Input" if n == 40 else str(n % 5),
        "comment": "pump on" if n % 2 else "",
        "attack": "attack" if n > 110 else "normal",
        "changepoint": str(int(n == 111)),
    }


@pytest.fixture
def plant(tmp_path: Path) -> str:
    rows = [cells(n) for n in range(N)]
    lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
    (tmp_path / "good plant.csv").write_text("\n".join(lines) + "\n")
    return "good plant.csv"


def channels(text: str) -> list[str]:
    return list(json.loads(text)["channels"])


def test_a_bad_cell_is_refused_and_either_way_out_works(command: Run, plant: str) -> None:
    told = command("fit", plant, "-o", "m", code=1).stderr
    assert "good plant.csv, line 42, column 'heat', must hold a number" in told
    assert "(--ignore 'heat')" in told
    assert "(--missing 'Bad Input')" in told
    done = command("fit", plant, "-o", "m", "--missing", "Bad Input")
    assert channels(done.stdout) == ["flow", "heat"]
    assert "column 'comment' is left out: it holds text" in done.stderr
    assert "column 'attack' is taken for labels and kept out of the channels" in done.stderr
    assert "column 'changepoint' is left out: it seems to hold labels" in done.stderr
    done = command("fit", plant, "-o", "m", "--ignore", "heat,comment", "--ignore", "changepoint")
    assert channels(done.stdout) == ["flow"]
    assert "left out" not in done.stderr
    done = command("fit", plant, "-o", "m", "--columns", "flow")
    assert channels(done.stdout) == ["flow"]
    for verb in ("score", "report"):
        told = command(verb, "m", plant).stderr
        assert "columns 'heat', 'comment' are left out: each is unknown to the model" in told


def test_a_pattern_gives_its_folder_the_name_of_a_file(
    command: Run, tmp_path: Path, plant: str
) -> None:
    done = command("detect", "g*d pl*.csv", "--columns", "flow", "--format", "csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good plant-anomalies", plant]
    assert "wrote good plant-anomalies/report.html" in done.stderr
    labels = pl.read_csv(tmp_path / "good plant-anomalies" / "scores.csv")["attack"]
    assert labels.sum() == 9


def test_a_blank_label_stops_only_what_needs_labels(
    command: Run, tmp_path: Path, plant: str
) -> None:
    text = (tmp_path / plant).read_text().replace("Bad Input", "3")
    (tmp_path / plant).write_text(text.replace("normal", "", 1))
    assert "labels, since" not in command("fit", plant, "-o", "m").stderr
    done = command("score", "m", plant, "-o", "scores.csv")
    assert "there are no labels, since one cannot be read: good plant.csv, line 2," in done.stderr
    assert "attack" not in pl.read_csv(tmp_path / "scores.csv").columns
    command("detect", plant, "-o", "found", "-q")
    scored = pl.read_csv(tmp_path / "scores.csv").with_columns(y=pl.Series(["no"] * N))
    scored[:119].vstack(scored[119:].with_columns(y=pl.lit("yes"))).write_csv(tmp_path / "y.csv")
    assert json_lines(command("evaluate", "y.csv", "--label", "y").stdout)
    (tmp_path / "y.csv").write_text((tmp_path / "y.csv").read_text().replace(",no\n", ",\n", 1))
    told = command("evaluate", "y.csv", "--label", "y", code=1).stderr
    assert "y.csv, line 2, column 'y', must hold 0 or 1" in told
    told = command("evaluate", "y.csv", "--label", "y", "--missing", "x", "--ignore", "t", code=1)
    assert "it has no 't': it has 'time', 'score'" in told.stderr


def test_a_device_is_refused(command: Run, tmp_path: Path) -> None:
    told = command("fit", "/dev/zero", "-o", "m", code=1).stderr
    assert told == (
        "error: /dev/zero must be a file or a pipe; it is a device, which may never end: "
        "copy its data to a file\n"
    )
    assert not list(tmp_path.iterdir())


def test_no_more_than_a_bound_is_copied_from_a_pipe(
    command: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subadjacent.data.files.paths.MAX_COPIED_BYTES", 1000)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    told = command("fit", "-", "-o", "m", input="1,2\n" * 251, code=1).stderr
    assert f"standard input must end after 1,000 bytes, for it is copied to {tmp_path}" in told
    assert not list(tmp_path.iterdir())
    assert channels(command("fit", "-", "-o", "m", input="1,2\n3,4\n" * 125).stdout) == [
        "column_1",
        "column_2",
    ]
