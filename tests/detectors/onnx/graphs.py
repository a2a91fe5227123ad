"""Graphs that are written and run at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnxruntime

from subadjacent.detectors.onnx.value import Value
from subadjacent.detectors.onnx.writer import GraphWriter, tensor


def session(content: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    # else it remarks that the threshold may be given
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(content, options)


def run(build: Callable[..., Sequence[Value]], kinds: Sequence[Any], *inputs: Any) -> list[Any]:
    """What ``build`` makes of inputs, as results of these types, in ONNX Runtime."""
    write = GraphWriter()
    arrays = {f"input{n}": np.asarray(one) for n, one in enumerate(inputs)}
    found = build(*(Value(write, name) for name in arrays))
    types = [tensor(kind, None) for kind in kinds]
    outputs = {f"output{n}": pair for n, pair in enumerate(zip(found, types, strict=True))}
    model = write.model(
        "test", {name: tensor(one.dtype, one.shape) for name, one in arrays.items()}, outputs
    )
    return session(model.SerializeToString()).run(None, arrays)
