"""A fitted network as an ONNX model, traced by torch."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from subadjacent.detectors.onnx.default import INPUTS
from subadjacent.detectors.onnx.network_graph import GraphOutput, ScoringGraph
from subadjacent.methods.neural.model import NeuralModel

if TYPE_CHECKING:
    from onnx import ModelProto

# one names a package for images that nothing here needs, the other guesses right at an empty list
TALKATIVE = ("torch.onnx._internal.exporter._registration", "onnx_ir._convenience")


def network_model(model: NeuralModel) -> ModelProto:
    """The graph of one entity's model.

    Inputs are ``rows`` (T, C), float32, and ``threshold``; outputs ``score`` (T,), ``expected``
    (T, C), float32, and ``alarm`` (T,). Rows must be complete: nothing is filled in.
    """
    graph = ScoringGraph(model).eval()
    exported = _traced(graph, model.entity.window, len(model.entity.scaler.center))
    # the tracer writes paths of this machine, which do not belong in a file for others
    inner = exported.graph
    for element in (inner, *inner.node, *inner.value_info, *inner.initializer):
        del element.metadata_props[:]
        element.doc_string = ""
    return exported


def facts_of_network(model: NeuralModel) -> dict[str, Any]:
    """The metadata of a file of a network."""
    return {
        "window": model.entity.window,
        "scoring_stride": model.entity.stride,
        "block": model.paper.block,
        "temperature": float(model.paper.temperature),
        "smoothing": model.paper.smoothing,
        "dynamic": model.paper.dynamic,
    }


def _traced(graph: ScoringGraph, window: int, channels: int) -> ModelProto:
    # example rows for the tracer: windows on the grid, and one moved back from it
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
    """Silence messages of torch and its tracer that do not concern users of this package."""
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
