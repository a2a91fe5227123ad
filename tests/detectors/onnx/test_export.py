"""What a file says of itself, what it takes, and what cannot be exported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument

import subadjacent
from detectors.onnx.graphs import session
from subadjacent import (
    BaseDetector,
    InputError,
    PCADetector,
    SubAdjacentDetector,
    SubAdjacentTransformerDetector,
    multivariate,
)
from subadjacent.detectors.onnx import to_onnx
from subadjacent.errors import MissingPackage

QUICK: dict[str, Any] = {"epochs": 1, "window": 20, "size": "tiny", "contamination": 0.05}
PLANT = multivariate(n=600, channels=2)
FLEET = {"near": PLANT.train, "far": 100 * PLANT.train + 1000}


@pytest.fixture(scope="module")
def fleet() -> SubAdjacentDetector:
    return SubAdjacentDetector(fill_limit=3).fit(FLEET)


@pytest.fixture(scope="module")
def content(fleet: SubAdjacentDetector) -> bytes:
    return to_onnx(fleet, entity="far")


@pytest.fixture(scope="module")
def far(content: bytes) -> onnxruntime.InferenceSession:
    return session(content)


def test_an_entity_is_scored_by_its_own_model(
    fleet: SubAdjacentDetector, far: onnxruntime.InferenceSession
) -> None:
    rows = 100 * PLANT.test + 1000
    (score,) = far.run(["score"], {"rows": rows})
    np.testing.assert_allclose(score, fleet.decision_function({"far": rows})["far"], atol=1e-4)


def test_the_threshold_may_be_given(
    fleet: SubAdjacentDetector, far: onnxruntime.InferenceSession
) -> None:
    rows = 100 * PLANT.test + 1000
    score, usual = far.run(["score", "alarm"], {"rows": rows})
    assert (usual == (score > fleet.threshold_)).all()
    middle = float(np.median(score))
    (alarm,) = far.run(["alarm"], {"rows": rows, "threshold": np.array(middle)})
    assert (alarm == (score > middle)).all()
    assert alarm.sum() > usual.sum()


def test_the_file_is_sound_and_says_what_it_is(
    fleet: SubAdjacentDetector, far: onnxruntime.InferenceSession, content: bytes
) -> None:
    onnx.checker.check_model(content, full_check=True)
    told = far.get_modelmeta().custom_metadata_map
    assert told["subadjacent"] == subadjacent.__version__
    assert (told["kind"], told["entity"]) == ("SubAdjacentDetector", "far")
    assert json.loads(told["channels"]) == list(fleet.channels_)
    assert float(told["threshold"]) == fleet.threshold_
    assert float(told["typical_score"]) == fleet.normal_scores_.of("far").typical
    model = fleet.models_.of("far")
    reach = tuple(int(told[name]) for name in ("before", "after", "every"))
    assert reach == model.reach
    assert float(told["unit"]) == model.unit  # type: ignore[attr-defined]
    assert (told["smoothing"], told["fill_limit"]) == ("20", "3")


def test_rows_are_needed_and_the_threshold_is_not(far: onnxruntime.InferenceSession) -> None:
    (rows,) = far.get_inputs()
    (threshold,) = far.get_overridable_initializers()
    assert (rows.name, rows.shape, rows.type) == ("rows", ["time", 2], "tensor(double)")
    assert (threshold.name, threshold.type) == ("threshold", "tensor(double)")
    assert [one.name for one in far.get_outputs()] == ["score", "by_channel", "alarm"]
    with pytest.raises(InvalidArgument):
        far.run(None, {"rows": np.zeros((5, 3))})


def test_the_newest_of_the_rows_that_a_score_depends_on_is_scored_as_in_all() -> None:
    detector = SubAdjacentDetector(lookahead=0).fit(PLANT.train)
    model = session(to_onnx(detector))
    told = model.get_modelmeta().custom_metadata_map
    before, every = int(told["before"]), int(told["every"])
    whole = detector.decision_function(PLANT.test)
    for row in (3, 599):
        # windows begin at multiples of a few rows
        begin = max(row - before, 0) // every * every
        (score,) = model.run(["score"], {"rows": PLANT.test[begin : row + 1]})
        assert score[-1] == pytest.approx(whole[row], abs=1e-4)


def test_exporting_and_scoring_load_no_torch(tmp_path: Path) -> None:
    SubAdjacentDetector().fit(PLANT.train).save(tmp_path / "model")
    code = """
import sys
import numpy as np, onnxruntime, subadjacent
from subadjacent.detectors.onnx import to_onnx
detector = subadjacent.load("model")
options = onnxruntime.SessionOptions()
options.log_severity_level = 3
session = onnxruntime.InferenceSession(to_onnx(detector), options)
rows = np.arange(80.0).reshape(40, 2)
(score,) = session.run(["score"], {"rows": rows})
assert np.allclose(score, detector.decision_function(rows), atol=1e-4)
print([name for name in ("torch", "onnxscript") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_detector_of_another_kind_is_refused() -> None:
    with pytest.raises(InputError, match=r"must be SubAdjacentDetector, or .*; got PCADetector"):
        to_onnx(PCADetector().fit(PLANT.train))


def test_the_default_with_a_network_is_refused() -> None:
    detector = SubAdjacentDetector(network="small", budget=0.01).fit(PLANT.train)
    with pytest.raises(InputError, match=r"network must be None .*; fit it without a network"):
        to_onnx(detector)


def test_an_entity_must_be_one_that_was_fitted(fleet: SubAdjacentDetector) -> None:
    with pytest.raises(InputError, match=r"entity must be named, .*one of near, far"):
        to_onnx(fleet)
    with pytest.raises(InputError, match=r"seen in fitting \(near, far\); got 'afar'"):
        to_onnx(fleet, entity="afar")
    alone = SubAdjacentDetector().fit(PLANT.train)
    with pytest.raises(InputError, match=r"one series without a name.*; got 'near'"):
        to_onnx(alone, entity="near")


@pytest.mark.parametrize("wrong", [np.nan, np.inf, "high"])
def test_a_threshold_that_is_no_number_is_refused(wrong: Any) -> None:
    detector = SubAdjacentDetector(views=("level",)).fit(PLANT.train)
    detector.threshold_ = wrong
    with pytest.raises(InputError, match="threshold_"):
        to_onnx(detector)


@pytest.mark.parametrize(
    ("detector", "package", "extra"),
    [
        (SubAdjacentDetector(views=("level",)), "onnx", "onnx"),
        (SubAdjacentTransformerDetector(**QUICK, stride=4), "onnx", "onnx-network"),
        (SubAdjacentTransformerDetector(**QUICK, stride=4), "onnxscript", "onnx-network"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(
    detector: BaseDetector, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    detector.fit(PLANT.train)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=rf"need {package}; .*'subadjacent\[{extra}\]'"):
        to_onnx(detector)
