"""An exported network scores in ONNX Runtime as its detector does, and needs no torch for it."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument

import subadjacent
from detectors.onnx.graphs import session
from subadjacent import (
    AnomalyTransformerDetector,
    StrictTransformerDetector,
    SubAdjacentTransformerDetector,
    multivariate,
)
from subadjacent.detectors.network import NetworkDetector
from subadjacent.detectors.onnx import to_onnx
from subadjacent.detectors.onnx.network import TALKATIVE

QUICK: dict[str, Any] = {"epochs": 1, "window": 20, "size": "tiny", "contamination": 0.05}
PLANT = multivariate(n=400, channels=3)
ROWS = PLANT.test.astype(np.float32)
# the same plant in other units: each must be judged by a scale of its own
UNITS = {"near": (1.0, 0.0), "far": (100.0, 1000.0)}
FLEET = {name: PLANT.train * unit + zero for name, (unit, zero) in UNITS.items()}
MODELS: dict[str, tuple[NetworkDetector, Any, str | None]] = {
    "fleet": (
        SubAdjacentTransformerDetector(
            **QUICK, stride=4, temperature=0.0, smoothing=20, dynamic="none"
        ),
        FLEET,
        "far",
    ),
    "paper": (SubAdjacentTransformerDetector(**QUICK, stride=4), PLANT.train[:, :1], None),
    "strict": (StrictTransformerDetector(**QUICK), PLANT.train, None),
    "overlap": (
        AnomalyTransformerDetector(
            **QUICK, attention="linear", scoring_stride=7, block=13, dynamic="printed"
        ),
        PLANT.train,
        None,
    ),
}
# lengths around one and several windows, and primes
LENGTHS = [1, 2, 19, 20, 21, 40, 61, 397]


class Exported:
    """A detector, and the file that was made of it."""

    def __init__(self, detector: NetworkDetector, fitted: Any, entity: str | None) -> None:
        self.detector = detector.fit(fitted)
        self.entity = entity
        unit, zero = UNITS[entity or "near"]
        self.rows = (ROWS[:, : self.detector.n_features_in_] * unit + zero).astype(np.float32)
        self.said: list[logging.LogRecord] = []
        listener = logging.Handler(logging.WARNING)
        listener.emit = self.said.append  # type: ignore[method-assign]
        logging.getLogger().addHandler(listener)
        self.content = to_onnx(self.detector, entity=entity)
        logging.getLogger().removeHandler(listener)
        self.session = session(self.content)

    def given(self, rows: np.ndarray) -> Any:
        """The same rows as the detector wants them."""
        return rows if self.entity is None else {self.entity: rows}

    def asked(self, what: str, rows: np.ndarray) -> np.ndarray:
        found = getattr(self.detector, what)(self.given(rows))
        return np.asarray(found if self.entity is None else found[self.entity])


@pytest.fixture(scope="module")
def exported() -> dict[str, Exported]:
    """Each model exported once; the tests must not change them."""
    return {name: Exported(*one) for name, one in MODELS.items()}


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("name", MODELS)
def test_scores_are_those_of_the_detector(exported: dict[str, Exported], name: str, n: int) -> None:
    model = exported[name]
    rows = model.rows[:n]
    score, expected, alarm = model.session.run(None, {"rows": rows})
    # where attention cuts off at zero, rounding may decide a feature
    scores = model.asked("decision_function", rows)
    np.testing.assert_allclose(score, scores, rtol=1e-3, atol=1e-6)
    wanted = model.detector.assess(model.given(rows)).evidence[0].expected
    np.testing.assert_allclose(expected, wanted, rtol=1e-3, atol=1e-4)
    # what the rows around make of it is decided elsewhere
    assert (alarm == (scores > model.detector.threshold_)).all()
    assert (score.dtype, expected.dtype, alarm.dtype) == (np.float64, np.float32, bool)


@pytest.mark.parametrize("name", MODELS)
def test_the_threshold_may_be_given(exported: dict[str, Exported], name: str) -> None:
    model = exported[name]
    score, usual = model.session.run(["score", "alarm"], {"rows": model.rows})
    assert 0 < usual.sum() < len(usual)
    middle = float(np.median(score))
    given = {"rows": model.rows, "threshold": np.array(middle)}
    (alarm,) = model.session.run(["alarm"], given)
    assert (alarm == (score > middle)).all()
    assert alarm.sum() > usual.sum()


def test_the_file_is_sound_and_says_what_it_is(exported: dict[str, Exported]) -> None:
    onnx.checker.check_model(exported["fleet"].content, full_check=True)
    network, paper = exported["fleet"], exported["paper"]
    told = network.session.get_modelmeta().custom_metadata_map
    assert told["subadjacent"] == subadjacent.__version__
    assert (told["kind"], told["entity"]) == ("SubAdjacentTransformerDetector", "far")
    assert json.loads(told["channels"]) == list(network.detector.channels_)
    assert (told["window"], told["smoothing"], told["dynamic"]) == ("20", "20", "none")
    assert float(told["threshold"]) == network.detector.threshold_
    normal = network.detector.normal_scores_.of("far")
    assert float(told["typical_score"]) == normal.typical
    told = paper.session.get_modelmeta().custom_metadata_map
    assert (told["temperature"], told["smoothing"], told["dynamic"]) == ("50.0", "1", "trailing")
    assert "entity" not in told


def test_rows_are_needed_and_the_threshold_is_not(exported: dict[str, Exported]) -> None:
    model = exported["fleet"].session
    (rows,) = model.get_inputs()
    (threshold,) = model.get_overridable_initializers()
    assert (rows.name, rows.shape, rows.type) == ("rows", ["rows", 3], "tensor(float)")
    assert (threshold.name, threshold.type) == ("threshold", "tensor(double)")
    assert [one.name for one in model.get_outputs()] == ["score", "expected", "alarm"]


def test_the_file_tells_nothing_of_the_machine_it_was_made_on(
    exported: dict[str, Exported],
) -> None:
    for model in exported.values():
        assert str(Path(subadjacent.__file__).parent).encode() not in model.content
        assert b"stack_trace" not in model.content


def test_scoring_needs_no_torch(exported: dict[str, Exported], tmp_path: Path) -> None:
    model = exported["paper"]
    (tmp_path / "pump.onnx").write_bytes(model.content)
    np.save(tmp_path / "rows.npy", model.rows)
    code = """
import sys
import numpy as np, onnxruntime
options = onnxruntime.SessionOptions()
options.log_severity_level = 3
session = onnxruntime.InferenceSession("pump.onnx", options)
(score,) = session.run(["score"], {"rows": np.load("rows.npy")})
np.save("score.npy", score)
print("torch" in sys.modules, "subadjacent" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("False False\n", "")
    expected = model.detector.decision_function(model.rows)
    np.testing.assert_allclose(np.load(tmp_path / "score.npy"), expected, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(("missing", "first"), [(25, 20), (64, 60)])
def test_a_missing_value_shows_in_the_scores_from_its_window_on(
    exported: dict[str, Exported], missing: int, first: int
) -> None:
    model = exported["paper"]
    rows = model.rows[:65].copy()
    rows[missing] = np.nan
    given = {"rows": rows, "threshold": np.array(-1.0)}
    score, alarm = model.session.run(["score", "alarm"], given)
    # later scores are compared with those of the window, so they are unknown too
    assert np.flatnonzero(np.isnan(score)).tolist() == list(range(first, 65))
    assert (alarm == ~np.isnan(score)).all()


def test_no_rows_and_too_few_channels_are_refused(exported: dict[str, Exported]) -> None:
    model = exported["fleet"].session
    for shape in ((0, 3), (50, 2)):
        with pytest.raises(InvalidArgument):
            model.run(None, {"rows": np.zeros(shape, dtype=np.float32)})


def test_nothing_is_said_on_the_way(exported: dict[str, Exported]) -> None:
    assert [model.said for model in exported.values()] == [[]] * len(MODELS)
    assert all(logging.getLogger(name).level == logging.NOTSET for name in TALKATIVE)
