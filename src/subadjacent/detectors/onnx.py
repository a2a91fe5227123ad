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
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.graph import GraphOutput, ScoringGraph
from subadjacent.errors import InputError, require_number
from subadjacent.methods.neural.model import NeuralModel

if TYPE_CHECKING:
    from onnx import ModelProto

INPUTS = ("rows", "threshold")
# one names a package for images that nothing here needs, the other guesses right at an empty list
TALKATIVE = ("torch.onnx._internal.exporter._registration", "onnx_ir._convenience")


def to_onnx(detector: BaseDetector, *, entity: str | None = None) -> bytes:
    """A fitted network, with all that leads from rows to alarms, as an ONNX model.

    Inputs are ``rows`` (T, C), float32, of one entity in its own units, and ``threshold``,
    float64, which may be left out. Outputs are ``score`` (T,), float64, ``expected`` (T, C),
    float32, and ``alarm`` (T,), whether a score is above the threshold. Scores are those of
    ``decision_function``, for rows without a gap: nothing is filled in. What a series did lately,
    or does later, is nothing that a file knows: ``predict`` judges by that too.

    Parameters
    ----------
    detector
        One whose score is that of a network that expects values, such as
        ``SubAdjacentTransformerDetector``.
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
    model = _model(detector, entity)
    require_number("threshold_", detector.threshold_)
    exported = _traced(ScoringGraph(model).eval(), model.entity.window, len(detector.channels_))
    _default_threshold(exported, float(detector.threshold_))
    _describe(exported, facts(detector, model, entity))
    return bytes(exported.SerializeToString())


def facts(detector: BaseDetector, model: NeuralModel, entity: str | None) -> dict[str, str]:
    """What the file says of itself, as text; lists are JSON."""
    told: dict[str, Any] = {
        "subadjacent": subadjacent.__version__,
        "kind": type(detector).__name__,
        "entity": entity,
        "channels": json.dumps(list(detector.channels_), ensure_ascii=False),
        "window": model.entity.window,
        "scoring_stride": model.entity.stride,
        "block": model.paper.block,
        "temperature": float(model.paper.temperature),
        "smoothing": model.paper.smoothing,
        "dynamic": model.paper.dynamic,
        "threshold": float(detector.threshold_),
        "typical_score": detector.normal_scores_.of(entity).typical,
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


def _model(detector: BaseDetector, entity: str | None) -> NeuralModel:
    model = getattr(detector, "models_", None)
    if model is None or not isinstance(model.pooled, NeuralModel):
        raise InputError(
            f"detector must score by a network alone, as SubAdjacentTransformerDetector does; "
            f"got {type(detector).__name__}"
        )
    known = detector.entities_
    if entity is None and len(known) > 1:
        raise InputError(
            f"entity must be named, for each has a scale of its own: one of {', '.join(known)}"
        )
    if entity is not None and entity not in known:
        names = ", ".join(known) or "none, for fit saw one series without a name"
        raise InputError(f"entity must be one seen in fitting ({names}); got {entity!r}")
    found: NeuralModel = model.of(entity)
    return found


def _traced(graph: ScoringGraph, window: int, channels: int) -> ModelProto:
    # some rows to follow, with windows on the grid and one moved back from it
    rows = torch.zeros(3 * window + 1, channels)
    threshold = torch.tensor(0.0, dtype=torch.float64)
    with _quietly(), torch.no_grad():
        program = torch.onnx.export(
            graph,
            (rows, threshold),
            dynamo=True,
            dynamic_shapes={"rows": {0: torch.export.Dim("rows", min=2)}, "threshold": None},
            input_names=INPUTS,
            output_names=GraphOutput._fields,
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
