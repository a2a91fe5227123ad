"""Writes an ONNX graph as formulas are written, one node after the other.

Everything is float64, int64 or bool: Python's numbers and NumPy's arrays beside a value become
constants of these types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.detectors.onnx.extra import needs_onnx
from subadjacent.detectors.onnx.value import Value, vector

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, ValueInfoProto

OPSET, IR_VERSION = 18, 9
"""Of the operators and of the file: of the year 2023, which every runtime in use can read."""


class GraphWriter:
    """Nodes and constants of a graph, and of the graphs within it."""

    def __init__(self) -> None:
        needs_onnx()
        self.constants: dict[tuple[str, tuple[int, ...], bytes], Value] = {}
        self.tensors: list[TensorProto] = []
        self.first: list[NodeProto] = []
        self.nodes: list[NodeProto] = []
        self._names = 0

    def op(self, kind: str, *inputs: Any, **attributes: Any) -> Value:
        """One node with one result."""
        return self.ops(kind, 1, *inputs, **attributes)[0]

    def ops(self, kind: str, results: int, *inputs: Any, **attributes: Any) -> list[Value]:
        """One node with several results; None is for an input that is left out."""
        from onnx import helper

        names = ["" if entry is None else self.value(entry).name for entry in inputs]
        outputs = [self.new() for _ in range(results)]
        self.nodes.append(helper.make_node(kind, names, [v.name for v in outputs], **attributes))
        return outputs

    def new(self) -> Value:
        """A value that no node has made yet."""
        self._names += 1
        return Value(self, f"v{self._names}")

    def value(self, entry: Any) -> Value:
        """The entry itself where it is a value, else a constant of it."""
        return entry if isinstance(entry, Value) else self._constant(np.asarray(entry))

    def _constant(self, array: NDArray[Any]) -> Value:
        """A constant in float64, int64 or bool; one that is there already is used again.

        Arrays of lower precision are stored with that precision.
        """
        from onnx import numpy_helper

        # whole numbers are shorter on some systems
        kind = np.int64 if array.dtype.kind in "iu" else array.dtype
        array = np.ascontiguousarray(array, kind).reshape(array.shape)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self.constants:
            constant = Value(self, f"c{len(self.constants) + 1}")
            self.tensors.append(numpy_helper.from_array(array, constant.name))
            short = array.dtype in (np.float16, np.float32)
            self.constants[key] = (
                self.once(lambda: constant.cast(np.float64)) if short else constant
            )
        return self.constants[key]

    def once(self, build: Callable[[], Value]) -> Value:
        """Build a value from constants alone: at the beginning of the graph, outside of loops."""
        inner, self.nodes = self.nodes, self.first
        value = build()
        self.nodes = inner
        return value

    def shape(self, *sizes: Any) -> Value:
        """A vector of numbers and one-element vectors, for shapes and pads."""
        return self.concat([vector(size) for size in sizes])

    def concat(self, pieces: Sequence[Any], axis: int = 0) -> Value:
        """Values joined along an axis."""
        return self.op("Concat", *pieces, axis=axis)

    def where(self, condition: Value, yes: Any, no: Any) -> Value:
        """Elementwise choice between two values."""
        return self.op("Where", condition, yes, no)

    def numbers(self, start: Any, stop: Any) -> Value:
        """The whole numbers from ``start`` to ``stop``, each a number or a one-element vector."""
        ends = [self.op("Squeeze", end) if isinstance(end, Value) else end for end in (start, stop)]
        return self.op("Range", *ends, 1)

    def zeros(self, *sizes: Any) -> Value:
        """A table of zeros, of numbers and one-element vectors."""
        return self.op("Expand", 0.0, self.shape(*sizes))

    def choose(
        self,
        condition: Value,
        yes: Callable[[], Sequence[Value]],
        no: Callable[[], Sequence[Value]],
        kinds: Sequence[type],
    ) -> list[Value]:
        """The results of one of two graphs, of these types; the other is not run."""
        types = [tensor(kind) for kind in kinds]
        branches = {"then_branch": self.inner(yes, types), "else_branch": self.inner(no, types)}
        return self.ops("If", len(types), condition, **branches)

    def scan(self, body: Callable[..., Value], *tables: Any, kind: type = np.float64) -> Value:
        """Apply ``body`` to each entry of tables, and stack the resulting vectors."""
        graph = self.inner(
            lambda *entries: [body(*entries)],
            # earlier runtimes must be told how many axes it has
            [tensor(kind, (None,))],
            [tensor(np.float64)] * len(tables),
        )
        return self.op("Scan", *tables, body=graph, num_scan_inputs=len(tables))

    def inner(
        self,
        build: Callable[..., Sequence[Value]],
        outputs: Sequence[TypeProto],
        inputs: Sequence[TypeProto] = (),
    ) -> GraphProto:
        """A graph within this one: it may use all that was written before."""
        from onnx import helper

        arguments = [self.new() for _ in inputs]
        outer, self.nodes = self.nodes, []
        # an output must be made within the graph, not merely be known there
        results = [self.op("Identity", result) for result in build(*arguments)]
        graph = helper.make_graph(
            self.nodes, self.new().name, _described(arguments, inputs), _described(results, outputs)
        )
        self.nodes = outer
        return graph

    def model(
        self,
        name: str,
        inputs: Mapping[str, TypeProto],
        outputs: Mapping[str, tuple[Value, TypeProto]],
    ) -> ModelProto:
        """All that was written, as a model whose inputs and outputs have names."""
        from onnx import helper

        for output, (value, _) in outputs.items():
            self.nodes.append(helper.make_node("Identity", [value.name], [output]))
        graph = helper.make_graph(
            [*self.first, *self.nodes],
            name,
            [helper.make_value_info(label, kind) for label, kind in inputs.items()],
            [helper.make_value_info(label, kind) for label, (_, kind) in outputs.items()],
            initializer=self.tensors,
        )
        opset = helper.make_opsetid("", OPSET)
        return helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION)


def tensor(kind: Any, shape: Sequence[int | str | None] | None = None) -> TypeProto:
    """The type of a table, of any shape unless one is given; axes without number have any length.

    Axes with the same name have the same length.
    """
    from onnx import helper

    return helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(np.dtype(kind)), shape)


def sequence(kind: type) -> TypeProto:
    """The type of a list of tables."""
    from onnx import helper

    return helper.make_sequence_type_proto(tensor(kind))


def _described(values: Sequence[Value], types: Sequence[TypeProto]) -> list[ValueInfoProto]:
    from onnx import helper

    return [
        helper.make_value_info(value.name, kind) for value, kind in zip(values, types, strict=True)
    ]
