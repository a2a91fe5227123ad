"""Values of an ONNX graph with the operators of formulas, each of which writes a node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from subadjacent.detectors.onnx.writer import GraphWriter

LAST = np.iinfo(np.int64).max
"""The end of a slice that goes on to the end."""


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A result in a graph, by its name; operators write nodes where the writer stands."""

    writer: GraphWriter
    name: str
    # an array on the left leaves the operation to the value
    __array_ufunc__: ClassVar[None] = None

    def __add__(self, other: Any) -> Value:
        return self.writer.op("Add", self, other)

    def __radd__(self, other: Any) -> Value:
        return self.writer.op("Add", other, self)

    def __sub__(self, other: Any) -> Value:
        return self.writer.op("Sub", self, other)

    def __rsub__(self, other: Any) -> Value:
        return self.writer.op("Sub", other, self)

    def __mul__(self, other: Any) -> Value:
        return self.writer.op("Mul", self, other)

    def __rmul__(self, other: Any) -> Value:
        return self.writer.op("Mul", other, self)

    def __truediv__(self, other: Any) -> Value:
        return self.writer.op("Div", self, other)

    def __floordiv__(self, other: Any) -> Value:
        """Divide whole numbers of one sign: ONNX truncates, it does not round down."""
        return self.writer.op("Div", self, other)

    def __matmul__(self, other: Any) -> Value:
        return self.writer.op("MatMul", self, other)

    def __lt__(self, other: Any) -> Value:
        return self.writer.op("Less", self, other)

    def __le__(self, other: Any) -> Value:
        return self.writer.op("LessOrEqual", self, other)

    def __gt__(self, other: Any) -> Value:
        return self.writer.op("Greater", self, other)

    def __ge__(self, other: Any) -> Value:
        return self.writer.op("GreaterOrEqual", self, other)

    def __and__(self, other: Any) -> Value:
        return self.writer.op("And", self, other)

    def __or__(self, other: Any) -> Value:
        return self.writer.op("Or", self, other)

    def __invert__(self) -> Value:
        return self.writer.op("Not", self)

    def rows(self, start: Any = 0, stop: Any = LAST) -> Value:
        """Rows ``start`` to ``stop``, which may be values: one-element vectors."""
        return self.writer.op("Slice", self, vector(start), vector(stop), np.array([0]))

    def take(self, places: Any, axis: int = 0) -> Value:
        """Elements at some places along an axis; negative places count from the end."""
        return self.writer.op("Gather", self, places, axis=axis)

    def clip(self, least: float, most: float) -> Value:
        """No less than one bound and no more than the other."""
        return self.writer.op("Clip", self, least, most)

    def at_least(self, least: Any) -> Value:
        """The elementwise maximum."""
        return self.writer.op("Max", self, least)

    def at_most(self, most: Any) -> Value:
        """The elementwise minimum."""
        return self.writer.op("Min", self, most)

    def sum(self, axis: int, *, keep: bool = False) -> Value:
        """The sum over an axis, which may be kept with a length of 1."""
        return self.writer.op("ReduceSum", self, np.array([axis]), keepdims=int(keep))

    def least(self, axis: int) -> Value:
        """The least along an axis."""
        return self.writer.op("ReduceMin", self, np.array([axis]), keepdims=0)

    def most(self, axis: int) -> Value:
        """The largest along an axis."""
        return self.writer.op("ReduceMax", self, np.array([axis]), keepdims=0)

    def square(self) -> Value:
        """Times itself."""
        return self * self

    def log(self) -> Value:
        """The natural logarithm."""
        return self.writer.op("Log", self)

    def column(self, axis: int = 1) -> Value:
        """The value with one more axis, of length 1."""
        return self.writer.op("Unsqueeze", self, np.array([axis]))

    def reshape(self, *shape: Any) -> Value:
        """Reshape to numbers and one-element vectors; -1 stands for the remaining length."""
        return self.writer.op("Reshape", self, self.writer.shape(*shape))

    def swap(self, *axes: int) -> Value:
        """The value with its axes in another order."""
        return self.writer.op("Transpose", self, perm=list(axes))

    def float32(self) -> Value:
        """Rounded to float32, as float64: what the library keeps in float32."""
        return self.cast(np.float32).cast(np.float64)

    def cast(self, dtype: type[np.generic]) -> Value:
        """In another type."""
        from onnx import helper

        return self.writer.op("Cast", self, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    @property
    def count(self) -> Value:
        """The number of rows, as a vector of one element."""
        return self.writer.op("Shape", self, start=0, end=1)


def vector(size: Any) -> Any:
    """A number as a vector of one element; a value is one already."""
    return size if isinstance(size, Value) else np.array([size])
