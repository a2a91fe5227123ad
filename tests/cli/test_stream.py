"""`subadjacent stream`: rows in as they come, answers out at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from live_plant import CHANNELS, looked_new, plant
from running import COMMAND, GENEROUS, Run, json_lines
from subadjacent import StreamScorer, SubAdjacentDetector


def rows_of(values: np.ndarray, first: int = 0) -> str:
    """NDJSON with a row a minute."""
    return "".join(
        json.dumps({"time": 60 * number, **dict(zip(CHANNELS, row, strict=True))}) + "\n"
        for number, row in enumerate(values.tolist(), first)
    )


def spiked(rows: int = 700) -> np.ndarray:
    values = plant(rows)
    values[500:503, 2] += 60
    return values


def test_rows_are_answered_one_by_one(command: Run) -> None:
    done = command("stream", "--learn", input=rows_of(spiked()))
    answers = json_lines(done.stdout)
    assert [one["row"] for one in answers] == list(range(700))
    assert answers[3]["time"] == 180
    assert answers[500]["anomalous"]
    assert answers[500]["alarm"]["sentence"].startswith("speed jumped")
    assert done.stderr == "700 rows, 1 alarm\n"


def test_csv_in_a_file_and_alarms_alone(command: Run, tmp_path: Path) -> None:
    rows = np.column_stack([np.arange(1000), spiked(1000)])
    header = ",".join(["time", *CHANNELS])
    np.savetxt(tmp_path / "rows.csv", rows, delimiter=",", header=header, comments="")
    done = command("stream", "rows.csv", "--learn", "--alarms-only", "--quiet")
    alarms = json_lines(done.stdout)
    assert {alarm["number"] for alarm in alarms} == {1}
    assert (alarms[0]["state"], alarms[-1]["state"]) == ("opened", "closed")
    assert done.stderr == ""


def test_with_a_model_there_is_an_answer_at_once_and_a_final_one(
    command: Run, tmp_path: Path
) -> None:
    import pandas as pd

    frame = pd.DataFrame(plant(1000, seed=2), columns=list(CHANNELS))
    SubAdjacentDetector(views=["level"]).fit(frame).save(tmp_path / "model")
    rows = rows_of(spiked(600))
    both = json_lines(command("stream", "-m", "model", input=rows).stdout)
    first = json_lines(command("stream", "-m", "model", "--provisional", input=rows).stdout)
    final = json_lines(command("stream", "-m", "model", "--final", input=rows).stdout)
    assert [one["row"] for one in first] == [one["row"] for one in final] == list(range(600))
    assert not any(one["final"] for one in first)
    assert all(one["final"] for one in final)
    key = lambda one: (one["row"], one["final"])  # noqa: E731
    assert sorted(both, key=key) == sorted(first + final, key=key)
    scorer = SubAdjacentDetector.load(tmp_path / "model")
    expected = scorer.decision_function(pd.DataFrame(spiked(600), columns=list(CHANNELS)))
    np.testing.assert_allclose([one["score"] for one in final], expected, rtol=1e-5)


def test_the_status_of_an_alarm_is_told_until_it_is_settled(command: Run, tmp_path: Path) -> None:
    train, test = looked_new()
    SubAdjacentDetector(views=["level"]).fit(train).save(tmp_path / "model")
    rows = "".join(json.dumps({"channel_0": value}) + "\n" for value in test[:, 0].tolist())
    for options in ((), ("--alarms-only",)):
        answers = json_lines(command("stream", "-m", "model", *options, input=rows).stdout)
        alarms = answers if options else [one["alarm"] for one in answers if one["alarm"]]
        told = [(one["number"], one["state"], one["status"]) for one in alarms]
        assert [one for one in told if one[0] == 1] == [
            (1, "opened", "provisional"),
            (1, "closed", "provisional"),
            (1, "withdrawn", "withdrawn"),
        ]
        assert (told[-1], len(told)) == ((2, "confirmed", "confirmed"), 6)


def test_a_stop_with_a_state_is_no_stop(command: Run) -> None:
    rows = rows_of(spiked()).splitlines(keepends=True)
    whole = json_lines(command("stream", "--learn", input="".join(rows)).stdout)
    options = ("stream", "--learn", "--state", "state", "--save-every", "100")
    first = command(*options, input="".join(rows[:501])).stdout
    # some rows come again: they were answered
    second = command(*options, input="".join(rows[490:]))
    parts = json_lines(first + second.stdout)
    for name in ("row", "time", "anomalous", "final"):
        assert [one[name] for one in parts] == [one[name] for one in whole]
    # processors round a product of matrices by their sizes: rows that come together by their number
    severities = ([one["severity"] for one in answers] for answers in (parts, whole))
    np.testing.assert_allclose(*severities, rtol=1e-9)
    assert "10 late" in second.stderr
    assert "1 duplicate, " in second.stderr


def test_bad_lines_are_left_out_and_what_is_something_else_is_refused(command: Run) -> None:
    done = command("stream", "--learn", input='{"a": 1}\n{"a": "x"}\nnonsense\n{"a": 2}\n')
    assert len(json_lines(done.stdout)) == 2
    assert done.stderr.splitlines() == [
        'line 3 is left out: must be a JSON object such as {"a": 1.0}',
        "line 2 is left out: rows must hold numbers; 'a' is 'x' in row 0",
        "2 rows, 2 lines left out",
    ]
    done = command("stream", "--learn", input="{}x\n" * 200, code=1)
    assert "error: input must hold rows as JSON objects or CSV" in done.stderr
    assert command("stream", "missing.csv", "--learn", code=1).stderr.startswith("error: missing")


def test_bad_usage_is_refused(command: Run) -> None:
    for options in (
        "",
        "--learn -m model",
        "--learn --false-alarms often",
        "--learn --save-every 0",
    ):
        command("stream", *options.split(), code=2)


def test_a_budget_that_needs_dates_is_refused_once_where_rows_have_none(command: Run) -> None:
    done = command(
        "stream", "--learn", "--false-alarms", "1/week", input=rows_of(plant(300)), code=1
    )
    assert done.stderr == (
        "error: --false-alarms must be a share of the rows where rows have no dates; got '1/week': "
        "give a share of the rows, or rows with dates\n"
    )


def test_a_state_that_cannot_be_written_is_refused_before_any_row_is_read(
    command: Run, tmp_path: Path
) -> None:
    (tmp_path / "state").mkdir()
    done = command("stream", "--learn", "--state", "state", input='{"a": 1}\n', code=1)
    assert done.stdout == ""
    (tmp_path / "text").write_text("x")
    done = command("stream", "--learn", "--state", "text", input='{"a": 1}\n', code=1)
    assert "text is damaged" in done.stderr
    assert (tmp_path / "text").read_text() == "x"


def test_labels_are_no_channels(command: Run, tmp_path: Path) -> None:
    command("stream", "--learn", "--state", "s", input='{"a": 1, "is_anomaly": 1}\n')
    assert StreamScorer.restore(tmp_path / "s").series[None].channels == ("a",)


def start(folder: Path, *options: str) -> Any:
    return subprocess.Popen(
        [COMMAND, "stream", "--learn", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
    )


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGTERM, 143, ""),
        pytest.param(
            *(signal.SIGINT, 130, "interrupted; nothing was half-written\n"),
            marks=pytest.mark.sweep,
        ),
    ],
)
def test_answers_come_while_the_input_pauses_and_a_signal_saves_the_state(
    number: signal.Signals, code: int, said: str, tmp_path: Path
) -> None:
    rows = rows_of(spiked()).splitlines(keepends=True)
    with start(tmp_path, "--state", "state") as process:
        process.stdin.write("".join(rows[:300]))
        process.stdin.flush()
        # no more input comes, and all is answered
        assert all(json.loads(process.stdout.readline()) for _ in range(300))
        process.send_signal(number)
        assert process.wait(GENEROUS) == code
        assert process.stderr.read() == said
    assert StreamScorer.restore(tmp_path / "state").counts[None].accepted == 300


@pytest.mark.sweep
def test_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    with start(tmp_path, "--state", "state") as process:
        process.stdout.close()
        process.stdin.write(rows_of(plant(300)))
        process.stdin.close()
        assert process.wait(GENEROUS) == 0
        assert process.stderr.read() == ""
    assert StreamScorer.restore(tmp_path / "state").counts[None].accepted == 300


def test_a_kill_leaves_the_last_state_whole(tmp_path: Path) -> None:
    rows = rows_of(plant(600)).splitlines(keepends=True)
    with start(tmp_path, "--state", "state", "--save-every", "50") as process:
        for begin in range(0, 600, 100):
            process.stdin.write("".join(rows[begin : begin + 100]))
            process.stdin.flush()
            for _ in range(100):
                process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
        process.wait(GENEROUS)
    assert 400 <= StreamScorer.restore(tmp_path / "state").counts[None].accepted <= 600
