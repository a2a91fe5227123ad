"""The clean protocol: no label reaches fit, score or threshold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from subadjacent.data.series import TestSeries
from subadjacent.errors import InputError
from subadjacent.experiments.datasets import load
from subadjacent.experiments.methods import METHODS, build
from subadjacent.experiments.protocols import clean
from subadjacent.experiments.run import CLEAN, Run

RUN = Run("nips-ts", "sub-adjacent", CLEAN, quick=True)


@pytest.mark.parametrize("detector", METHODS)
def test_other_labels_give_the_same_scores_and_the_same_threshold(detector: str) -> None:
    run = replace(RUN, detector=detector)
    benchmark = load(run, None)
    turned = replace(
        benchmark, test=tuple(TestSeries(one.rows, 1 - one.labels) for one in benchmark.test)
    )
    one, other = (clean._one_model(run, part, "cpu") for part in (benchmark, turned))
    np.testing.assert_array_equal(one.scores, other.scores)
    # the share of rows above it, on the same scores
    assert [found["alarm_rate"] for found in one.metrics] == [
        found["alarm_rate"] for found in other.metrics
    ]
    assert [found["auroc"] for found in one.metrics] == pytest.approx(
        [1 - found["auroc"] for found in other.metrics]
    )


def test_measures_are_means_over_entities_where_they_are_defined() -> None:
    assert clean._mean_defined([0.2, np.nan, 0.4]) == pytest.approx(0.3)
    assert np.isnan(clean._mean_defined([np.nan]))


def test_a_row_has_every_measure_the_tables_show() -> None:
    row = clean.execute(replace(RUN, detector="magnitude"), None, "cpu")
    wanted = {"average_precision", "vus_pr_tsb_ad", "auroc", "oracle_f1", "f1",
              "oracle_point_adjusted_f1", "pooled_auroc", "fit_seconds"}  # fmt: skip
    assert wanted <= row.keys()


def test_the_untrained_network_is_the_trained_one_without_training() -> None:
    trained, untrained = (build(replace(RUN, detector=name, quick=False), "cpu").get_params()
                          for name in ("sub-adjacent", "untrained"))  # fmt: skip
    assert untrained["epochs"] == 0
    assert {k: v for k, v in trained.items() if k != "epochs"} == {
        k: v for k, v in untrained.items() if k != "epochs"
    }


def test_seed_settings_and_device_reach_the_detector() -> None:
    detector = build(replace(RUN, seed=7, settings=(("window", 50),)), "cpu")
    assert (detector.random_state, detector.window, detector.device) == (7, 50, "cpu")


def test_an_unknown_detector_is_refused() -> None:
    with pytest.raises(InputError, match=r"detector must be one of default, .*; got 'oracle'"):
        build(replace(RUN, detector="oracle"), "cpu")
