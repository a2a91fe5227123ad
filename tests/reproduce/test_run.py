"""A run's key names all that decides its row, today as when the rows were made."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import pytest

from committed import RESULTS
from reproduce.run import CLEAN, PUBLISHED, Run
from subadjacent.errors import InputError

RUN = Run("msl", "sub-adjacent", CLEAN)


def test_the_key_of_a_run_is_what_it_was_when_rows_were_made() -> None:
    assert replace(RUN, settings=(("attention", "elu"),)).key == "03ac5db67583"


def test_every_committed_row_has_the_key_of_its_run() -> None:
    count = 0
    for file in RESULTS.glob("*.csv"):
        with file.open(newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                run = Run(
                    row["dataset"], row["detector"], row["protocol"], int(row["seed"]),
                    tuple(json.loads(row["settings"]).items()), row["score"],
                    float(row["train_share"]), row["per_entity"] == "True", row["quick"] == "True",
                )  # fmt: skip
                assert run.key == row["key"], f"{file.name}: {row['key']}"
                assert file.stem == run.detector
                count += 1
    assert count > 300


def test_any_change_changes_the_key_but_the_order_of_settings_does_not() -> None:
    changes = (
        {"dataset": "smd"}, {"detector": "random"}, {"protocol": PUBLISHED}, {"seed": 1},
        {"settings": (("window", 50),)}, {"score": "error"}, {"train_share": 0.5},
        {"per_entity": True}, {"quick": True},
    )  # fmt: skip
    for change in changes:
        assert replace(RUN, **change).key != RUN.key, change
    one = replace(RUN, settings=(("near", 0), ("far", 5)))
    other = replace(RUN, settings=(("far", 5), ("near", 0)))
    assert one == other
    assert one.key == other.key


def test_runs_that_share_training_are_of_one_family() -> None:
    assert replace(RUN, score="error", seed=2, dataset="smd").family == RUN.family
    assert replace(RUN, settings=(("window", 50),)).family != RUN.family
    # with a model for each entity they can be made side by side
    many = replace(RUN, per_entity=True)
    assert replace(many, score="error").family == many.family
    families = {replace(many, seed=seed, dataset=name).family for seed in (0, 1) for name in "ab"}
    assert len(families | {RUN.family}) == 5


def test_a_bad_value_is_refused() -> None:
    for change, rule in (
        ({"protocol": "fair"}, "protocol must be one of published, clean; got 'fair'"),
        ({"score": "best"}, "score must be one of error, smoothed, weighted, dynamic; got 'best'"),
        ({"train_share": 0.0}, r"train_share must be in \(0, 1\]; got 0.0"),
        ({"train_share": 1.1}, r"train_share must be in \(0, 1\]; got 1.1"),
    ):
        with pytest.raises(InputError, match=rule):
            replace(RUN, **change)
