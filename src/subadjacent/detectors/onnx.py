"""A fitted network as an ONNX file, which scores without torch."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from sklearn.utils.validation import check_is_fitted

import subadjacent
from subadjacent.data.scaling import Scaler
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.graph import Found, ScoringGraph
from subadjacent.detectors.neural import NeuralDetector, has_network
from subadjacent.detectors.subadjacent import ADDED_UP, RECIPES
from subadjacent.errors import InputError, require_number

if TYPE_CHECKING:
    from onnx import ModelProto

INPUTS = ("rows", "threshold")
# recipes whose score is the network's; the others add views of other kinds to it, or have none
EXPORTED = tuple(name for name in RECIPES if name not in ADDED_UP)
# one names a package for images that nothing here needs, the other guesses right at an empty list
TALKATIVE = ("torch.onnx._internal.exporter._registration", "onnx_ir._convenience")


def to_onnx(detector: BaseDetector, *, entity: str | None = None) -> bytes:
    """A fitted network, with all that leads from rows to alarms, as an ONNX model.

    Inputs are ``rows`` (T, C), float32, of one entity in its own units, and ``threshold``,
    float64, which may be left out. Outputs are ``score`` (T,), float64, ``expected`` (T, C),
    float32, and ``alarm`` (T,). The same numbers as ``decision_function`` and ``predict``, for
    rows without a gap: nothing is filled in.

    Parameters
    ----------
    detector
        A ``SubAdjacentDetector`` with recipe "network" or "paper", or an
        ``AnomalyTransformerDetector``.
    entity
        Whose scale to use; needed where fitting saw several.

    Raises
    ------
    InputError
        When the detector's score is not that of a network, the entity is missing or unknown,
        or the extra ``onnx`` is not installed.
    """
    check_is_fitted(detector)
    _check_extra()
    network = _with_network(detector)
    require_number("threshold_", network.threshold_)
    graph = ScoringGraph(network, _scaler(network, entity)).eval()
    model = _traced(graph, network)
    _default_threshold(model, float(network.threshold_))
    _describe(model, facts(network, entity))
    return bytes(model.SerializeToString())


def facts(detector: NeuralDetector, entity: str | None) -> dict[str, str]:
    """What the file says of itself, as text; lists are JSON."""
    told: dict[str, Any] = {
        "subadjacent": subadjacent.__version__,
        "kind": type(detector).__name__,
        "recipe": getattr(detector, "recipe", None),
        "entity": entity,
        "channels": json.dumps(list(detector.channels_), ensure_ascii=False),
        "window": detector.window_,
        "scoring_stride": detector.scoring_stride or detector.window_,
        "block": detector.block,
        "temperature": float(detector.setting("temperature")),
        "smoothing": detector.setting("smoothing"),
        "dynamic": detector.setting("dynamic"),
        "threshold": float(detector.threshold_),
        "typical_score": detector.typical_score_,
    }
    return {name: str(value) for name, value in told.items() if value is not None}


def _check_extra() -> None:
    try:
        import onnx  # noqa: F401 — what the file is written with
        import onnxscript  # noqa: F401 — what torch traces with
    except ModuleNotFoundError as error:
        raise InputError(
            f"ONNX files need {error.name}; install it with pip install 'subadjacent[onnx]'"
        ) from error


def _with_network(detector: BaseDetector) -> NeuralDetector:
    recipe = getattr(detector, "recipe", EXPORTED[0])
    if has_network(detector) and recipe in EXPORTED:
        return detector
    what = f"recipe={recipe!r}" if isinstance(detector, NeuralDetector) else type(detector).__name__
    raise InputError(
        f"detector must score by a network alone, as one fitted with "
        f"recipe={' or '.join(map(repr, EXPORTED))} does; got {what}"
    )


def _scaler(detector: NeuralDetector, entity: str | None) -> Scaler:
    known = detector.entities_
    if entity is None and len(known) > 1:
        raise InputError(
            f"entity must be named, for each has a scale of its own: one of {', '.join(known)}"
        )
    if entity is not None and entity not in known:
        names = ", ".join(known) or "none, for fit saw one series without a name"
        raise InputError(f"entity must be one seen in fitting ({names}); got {entity!r}")
    return detector.scalers_.of(entity)


def _traced(graph: ScoringGraph, detector: NeuralDetector) -> ModelProto:
    # some rows to follow, with windows on the grid and one moved back from it
    rows = torch.zeros(3 * detector.window_ + 1, len(detector.channels_))
    threshold = torch.tensor(0.0, dtype=torch.float64)
    with _quietly(), torch.no_grad():
        program = torch.onnx.export(
            graph,
            (rows, threshold),
            dynamo=True,
            dynamic_shapes={"rows": {0: torch.export.Dim("rows", min=2)}, "threshold": None},
            input_names=INPUTS,
            output_names=Found._fields,
            verbose=False,
        )
    assert program is not None
    return program.model_proto


@contextmanager
def _quietly() -> Iterator[None]:
    """Without remarks that are not for users of this package."""
    logs = [logging.getLogger(name) for name in TALKATIVE]
    levels = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            # torch copies its own description of the inputs in a form that it will give up
            warnings.filterwarnings(
                "ignore", message=r".*isinstance\(treespec, LeafSpec\)", category=FutureWarning
            )
            yield
    finally:
        for log, level in zip(logs, levels, strict=True):
            log.setLevel(level)


def _default_threshold(model: ModelProto, threshold: float) -> None:
    """Let the threshold be left out: an input that is also an initial value is optional."""
    from onnx import TensorProto, helper

    value = helper.make_tensor(INPUTS[1], TensorProto.DOUBLE, [], [threshold])
    model.graph.initializer.append(value)


def _describe(model: ModelProto, told: dict[str, str]) -> None:
    from onnx import helper

    # the tracer writes where on this machine each line of code lies, which is nobody's business
    for part in (model.graph, *model.graph.node, *model.graph.value_info, *model.graph.initializer):
        del part.metadata_props[:]
        part.doc_string = ""
    model.producer_name, model.producer_version = "subadjacent", subadjacent.__version__
    helper.set_model_props(model, told)
