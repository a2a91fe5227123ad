"""Names of files, channels and entities that would do something to a terminal or spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cli.terminal import shown
from running import COMMAND, Run, json_lines, runner
from subadjacent.showing import UNSAFE

CHANNEL = "<b>p\x9b2J\u202e</b>"
FORMULA = "=cmd|' /C calc'!A0"
QUICK = 'smoothing = 3\nviews = ["level"]\n'


def write(file: Path, entities: list[str], header: str = "machine", rows: int = 200) -> None:
    values = np.random.default_rng(0).normal(size=rows * len(entities))
    values[rows - 20 : rows - 10] += 30
    names = np.repeat(entities, rows)
    pl.DataFrame({header: names, CHANNEL: values, "other": values[::-1]}).write_csv(file)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `detect` makes of hostile names. Not to be changed."""
    folder = tmp_path_factory.mktemp("hostile")
    write(folder / "in.csv", [FORMULA, "b"], header="=machine")
    (folder / "quick.toml").write_text(QUICK)
    done = runner(folder)(
        "detect", "in.csv", "-o", "found", "--entity", "=machine", "--config", "quick.toml"
    )
    (folder / "out").write_text(done.stdout, encoding="utf-8", newline="")
    (folder / "said").write_text(done.stderr, encoding="utf-8", newline="")
    return folder


def test_neither_alarms_nor_remarks_hold_what_a_terminal_obeys(found: Path) -> None:
    out, said = ((found / name).read_text(encoding="utf-8") for name in ("out", "said"))
    assert not UNSAFE.search(out)
    assert not UNSAFE.search(said)
    assert "<b>p\\x9b2J\\u202e</b>" in said
    causes = {cause["channel"] for alarm in json_lines(out) for cause in alarm["causes"]}
    assert CHANNEL in causes


def test_no_cell_is_a_formula_and_our_own_reader_sees_the_name(found: Path) -> None:
    for name in ("scores.csv", "alarms.csv"):
        with (found / "found" / name).open(encoding="utf-8", newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert "'" + FORMULA in cells
        assert not [cell for cell in cells if cell[:1] in tuple("=+@\t\r")]
    command = runner(found)
    model = found / "found" / "model"
    printed = command("score", model, "in.csv", "--entity", "=machine", "-q").stdout
    assert printed.splitlines()[0].startswith("'=machine,")
    header, *rows = csv.reader(io.StringIO(printed))
    (found / "scored.csv").write_text(
        "\n".join([",".join([*header, "label"]), *(",".join([*row, "0"]) for row in rows[:-1]),
                   ",".join([*rows[-1], "1"])])
    )  # fmt: skip
    again = command("evaluate", "scored.csv", "--entity", "=machine", "--label", "label")
    assert json.loads(again.stdout)["alarms"]
    # the entities that the model knows: no remark about strange ones
    back = command("score", model, "in.csv", "--entity", "=machine", "-q")
    assert back.stderr == ""


def test_the_model_card_holds_no_html_and_no_control_bytes(found: Path) -> None:
    card = (found / "found" / "model" / "README.md").read_text(encoding="utf-8")
    assert not UNSAFE.search(card)
    assert "<b>" not in card
    assert "&lt;b\\>p" in card


def test_a_terminal_gets_no_escapes_of_a_table(found: Path) -> None:
    frame = pl.DataFrame({"item_id": ["a\x1b[2J"] * 200, CHANNEL: range(200), "other": range(200)})
    frame.write_parquet(found / "in.parquet")
    text = shown(found, "score", "found/model", "in.parquet", "--quiet")
    assert "a\\x1b[2J" in text
    assert "\x1b" not in text


@pytest.mark.parametrize("debug", [(), pytest.param(("--debug",), marks=pytest.mark.sweep)])
def test_errors_hold_no_escapes(command: Run, tmp_path: Path, debug: tuple[str, ...]) -> None:
    name = "a\x1b]0;x\x07\u202e\x9b.csv"
    done = subprocess.run(
        [COMMAND, *debug, "fit", name, "-o", "model"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "a\\x1b]0;x\\x07\\u202e\\x9b.csv is not there" in done.stderr
    assert not UNSAFE.search(done.stderr)
    said = command("fit", "--seed", "\x1bx", name, "-o", "m", code=2).stderr
    assert "seed" in said
    assert "\x1b" not in said


@pytest.mark.parametrize("suffix", ["csv", pytest.param("parquet", marks=pytest.mark.sweep)])
def test_a_file_name_that_is_not_utf8_works(tmp_path: Path, suffix: str) -> None:
    name = os.fsdecode(b"caf\xe9." + suffix.encode())
    frame = pl.DataFrame({"x": np.random.default_rng(0).normal(size=300)})
    with (tmp_path / name).open("wb") as file:
        (frame.write_csv if suffix == "csv" else frame.write_parquet)(file)
    (tmp_path / "quick.toml").write_text(QUICK)
    command = runner(tmp_path)
    said = command("detect", name, "--config", "quick.toml").stderr
    folder = tmp_path / os.fsdecode(b"caf\xe9-anomalies")
    assert "wrote caf\\xe9-anomalies/report.html" in said
    assert {file.name for file in folder.iterdir()} == {
        "model", "scores.csv", "alarms.csv", "report.html"
    }  # fmt: skip
    model = str(folder / "model")
    other = os.fsdecode(b"\xff.csv")
    command("score", model, name, "-o", other)
    assert len((tmp_path / other).read_text().splitlines()) - 1 == 300
    command("report", model, name, "-o", os.fsdecode(b"\xff.html"))
    page = (tmp_path / os.fsdecode(b"\xff.html")).read_text(encoding="utf-8")
    assert f"caf\\xe9.{suffix}" in page
    assert "kind" in json.loads(command("info", model).stdout)
