"""Models that judge series: given at the start, switched, shared, replaced, and lost."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from weakref import ref

import numpy as np
import polars as pl
import pytest

from live_service import CHANNELS, LiveService, alike, as_csv, live, rows_of
from running import runner
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.registry import load
from subadjacent.service import scoring
from subadjacent.service.scoring import StreamStart

ROWS = [*rows_of(900), *rows_of(10, first=900, jump=40.0), *rows_of(90, first=910)]
FITTED = 600


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder, as the command writes it."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "rows.csv").write_bytes(as_csv(ROWS[:FITTED]))
    runner(folder)("fit", "rows.csv", "--train-fraction", 1, "-o", "plant")
    return folder


@pytest.fixture(scope="module")
def assessed(folder: Path) -> Iterator[LiveService]:
    with live(folder / "data", "-m", str(folder / "plant")) as service:
        yield service


@pytest.fixture(scope="module")
def detector(folder: Path) -> BaseDetector:
    return load(folder / "plant")


def frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    times = pl.col("time").str.to_datetime(time_zone="UTC")
    return pl.DataFrame(rows).with_columns(times)


def switch(service: LiveService, name: str, model: str | None) -> None:
    answer = service.ask("PUT", f"/api/series/{name}/model", {"model": model})
    assert (answer.status, answer.json["model"]) == (200, model)


def scores(answers: list[dict[str, Any]], *, final: bool) -> dict[int, float]:
    return {one["row"]: one["score"] for one in answers if one["final"] is final}


def test_a_series_that_a_model_knows_is_scored_as_in_one_go(
    assessed: LiveService, detector: BaseDetector
) -> None:
    answers = []
    for start in range(0, len(ROWS), 250):
        answers += assessed.push("pump", ROWS[start : start + 250])["answers"]
    assert assessed.get("/api/series/pump")["model"] == "plant"
    expected = detector.assess(frame(ROWS)).scores
    final = scores(answers, final=True)
    assert len(final) >= 400
    np.testing.assert_allclose(list(final.values()), expected[list(final)], rtol=1e-9)
    # each row has an answer at once, from the past alone
    assert set(scores(answers, final=False)) | set(final) == set(range(len(ROWS)))
    (alarm,) = [
        one for one in assessed.get("/api/alarms?series=pump")["alarms"] if one["first"] >= 890
    ]
    assert 898 <= alarm["first"] <= 902


def test_rows_that_are_scored_in_one_go_get_what_the_library_says(
    assessed: LiveService, detector: BaseDetector
) -> None:
    found = assessed.ask("POST", "/api/score?model=plant", as_csv(ROWS), "text/csv").json
    expected = detector.assess(frame(ROWS))
    np.testing.assert_allclose(found["scores"], expected.scores, rtol=1e-12)
    assert [one["first"] for one in found["alarms"]] == [one.first for one in expected.alarms()]


def test_series_that_share_a_model_are_told_apart_and_are_not_disturbed_by_a_switch(
    assessed: LiveService,
) -> None:
    for name in ("left", "right", "calm"):
        assessed.push(name, ROWS[:100])
    switch(assessed, "left", None)
    alone = assessed.push("left", ROWS[100:110])["answers"]
    # by the online method alone, whose word is final
    assert {one["final"] for one in alone} == {True}
    switch(assessed, "left", "plant")
    switch(assessed, "right", "plant")
    found = {name: assessed.push(name, ROWS[100:120])["answers"] for name in ("right", "calm")}
    # a stream that is begun anew knows the rows before
    pairs = zip(*(scores(found[name], final=False).values() for name in found), strict=True)
    assert all(one == pytest.approx(other, rel=1e-9) for one, other in pairs)
    far = [{**row, "pressure": 50.0} for row in ROWS[120:130]]
    assert max(one["severity"] for one in assessed.push("right", far)["answers"]) > 1
    assessed.push("left", ROWS[110:120])
    left, calm = (assessed.push(name, ROWS[120:130])["answers"] for name in ("left", "calm"))
    assert alike(left, calm)
    assert assessed.get("/api/series/left")["open_alarm"] is None


def test_an_alarm_of_a_model_that_was_switched_off_is_closed_and_is_history(
    assessed: LiveService,
) -> None:
    assessed.push("switched", [*ROWS[:100], *rows_of(1, first=100, jump=40.0)])
    opened = assessed.get("/api/series/switched")["open_alarm"]
    assert assessed.get(f"/api/alarms/{opened}")["state"] == "open"
    # as severe as its last row is
    assert assessed.get("/api/series/switched")["severity"] > 1
    switch(assessed, "switched", None)
    assert assessed.get(f"/api/alarms/{opened}")["state"] == "closed"
    assert assessed.get("/api/series/switched")["open_alarm"] is None
    # the stream that judges now knows nothing of it
    normal = assessed.post(f"/api/alarms/{opened}/normal")
    assert (normal["normal"], normal["acknowledged"], normal["state"]) == (True, True, "closed")


def test_a_detector_that_no_stream_uses_is_not_kept_in_memory(folder: Path, tmp_path: Path) -> None:
    places = [folder / "plant", tmp_path / "newer"]
    shutil.copytree(*places)

    def begin(key: int, model: Path | None) -> list[Path]:
        scoring.begin(key, StreamStart(CHANNELS, "pump", model))
        return list(scoring._detectors)

    assert begin(1, places[0]) == begin(2, places[0]) == places[:1]
    shared = ref(scoring._detectors[places[0]])
    assert begin(2, places[1]) == places
    assert begin(3, None) == places
    assert begin(1, places[1]) == places[1:]
    assert shared() is None
    assert begin(1, None) == places[1:]
    for key in (1, 2, 3):
        scoring.drop(key)
    assert list(scoring._detectors) == []


def test_a_model_that_is_replaced_is_replaced_for_all_its_series_and_its_folder_goes(
    assessed: LiveService, folder: Path
) -> None:
    for name in ("one", "two"):
        assessed.push(name, ROWS[:50])
    before = {place.name for place in (folder / "data" / "models").iterdir()}
    assert assessed.fit("plant", as_csv(ROWS[100:FITTED]))["state"] == "done"
    after = {place.name for place in (folder / "data" / "models").iterdir()}
    assert len(after) == len(before)
    assert len(after - before) == 1
    (model,) = assessed.get("/api/models")["models"]
    assert (model["name"], model["rows"]) == ("plant", 250)
    for name in ("one", "two"):
        assert assessed.get(f"/api/series/{name}")["model"] == "plant"
        assert assessed.push(name, ROWS[50:60])["answers"][0]["score"] is not None


def test_a_model_whose_channels_have_changed_leaves_its_series_to_themselves(
    assessed: LiveService,
) -> None:
    assessed.push("before", ROWS[:30])
    renamed = [{"time": row["time"], "heat": row["flow"]} for row in ROWS[:FITTED]]
    assert assessed.fit("heat", as_csv(renamed))["state"] == "done"
    assessed.push("warm", renamed[:10])
    assert assessed.get("/api/series/warm")["model"] == "heat"
    turned = [{"time": row["time"], "cold": row["flow"]} for row in ROWS[:FITTED]]
    assert assessed.fit("heat", as_csv(turned))["state"] == "done"
    found = assessed.get("/api/series/warm")
    assert (found["model"], found["rows"]) == (None, 10)
    assert assessed.push("warm", renamed[10:11])["answers"][0]["final"]
    assert assessed.get("/api/series/before")["model"] == "plant"


def test_a_model_folder_that_is_gone_is_told_of_and_nothing_is_lost(
    assessed: LiveService, folder: Path
) -> None:
    assessed.push("orphan", ROWS[:30])
    assessed.kill()
    shutil.move(folder / "data" / "models", folder / "away")
    options, assessed.options = assessed.options, ()
    assessed.start()
    refused = assessed.ask("POST", "/api/series/orphan/rows", {"rows": ROWS[30:31]})
    assert (refused.status, refused.headers["retry-after"]) == (503, "1")
    assert refused.json["error"] == (
        "the model 'plant' of this series cannot be loaded: switch the series to another, or to "
        "none, then send this again"
    )
    assert assessed.get("/api/series/orphan")["rows"] == 30
    switch(assessed, "orphan", None)
    assert assessed.push("orphan", ROWS[30:31])["taken"] == 1
    # given at the start once more, the model is there again
    said = assessed.end()
    assert "the model of 'orphan' cannot be loaded" in said
    assessed.options = options
    assessed.start()
    switch(assessed, "orphan", "plant")
    assert assessed.push("orphan", ROWS[31:32])["answers"][0]["score"] is not None
