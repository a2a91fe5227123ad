"""The default as an ONNX model: raw rows in; score, channels' shares and alarm out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from subadjacent.detectors.onnx.missing import fill
from subadjacent.detectors.onnx.pieces import in_pieces
from subadjacent.detectors.onnx.value import Value
from subadjacent.detectors.onnx.views import EvidenceOutput, evidence
from subadjacent.detectors.onnx.writer import GraphWriter, tensor
from subadjacent.errors import InputError
from subadjacent.methods.views.entity import ViewsModel

if TYPE_CHECKING:
    from onnx import ModelProto

INPUTS = ROWS, THRESHOLD = "rows", "threshold"
"""What the inputs of a file are called."""


def views_model(model: ViewsModel, fill_limit: int) -> ModelProto:
    """The graph of one entity's model.

    Inputs are ``rows`` (T, C) and ``threshold``, outputs ``score`` (T,), ``by_channel`` (T, C) and
    ``alarm`` (T,): whether the score is above the threshold, or a value is missing for long.
    """
    if model.network is not None:
        raise InputError(
            "network must be None to export the default, whose views alone can be written; "
            "fit it without a network"
        )
    write, channels = GraphWriter(), len(model.scaler.center)
    rows, threshold = Value(write, ROWS), Value(write, THRESHOLD)
    filled = fill(rows, fill_limit, model.typical_values)

    def assess(some: Value) -> EvidenceOutput:
        return evidence(some, model)

    evidence_output = in_pieces(filled, channels, model.reach, assess)
    return write.model(
        "default",
        {ROWS: tensor(np.float64, ("time", channels)), THRESHOLD: tensor(np.float64, ())},
        {
            "score": (evidence_output.score, tensor(np.float64, ("time",))),
            "by_channel": (evidence_output.by_channel, tensor(np.float32, ("time", channels))),
            "alarm": (
                (evidence_output.score > threshold) | filled.missing,
                tensor(np.bool_, ("time",)),
            ),
        },
    )
