"""Formulas become graphs that come to what the formulas say."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from detectors.onnx.graphs import run
from subadjacent.detectors.onnx.value import Value
from subadjacent.detectors.onnx.writer import GraphWriter, tensor


def test_a_formula_becomes_nodes_that_come_to_the_same() -> None:
    def formula(x: Value) -> list[Value]:
        return [2.0 * (x - 1.0) / 4.0 + x.square(), 6.0 - x, x.clip(1.5, 2.5)]

    found = run(formula, [float] * 3, [1.0, 2.0, 3.0])
    assert [one.tolist() for one in found] == [[1.0, 4.5, 10.0], [5.0, 4.0, 3.0], [1.5, 2.0, 2.5]]


def test_an_array_may_stand_on_either_side() -> None:
    weights = np.array([[1.0], [10.0]])

    def formula(x: Value) -> list[Value]:
        return [x @ weights, np.array([1.0, 2.0]) * x, np.array([5.0, 5.0]) - x]

    product, right, less = run(formula, [float] * 3, [[1.0, 2.0], [3.0, 4.0]])
    assert product.tolist() == [[21.0], [43.0]]
    assert right.tolist() == [[1.0, 4.0], [3.0, 8.0]]
    assert less.tolist() == [[4.0, 3.0], [2.0, 1.0]]


@pytest.mark.parametrize(
    ("compared", "expected"),
    [
        (lambda x: x < 2, [True, False, False]),
        (lambda x: x <= 2, [True, True, False]),
        (lambda x: x > 2, [False, False, True]),
        (lambda x: x >= 2, [False, True, True]),
        (lambda x: (x > 1) & ~(x > 2), [False, True, False]),
        (lambda x: (x < 2) | (x > 2), [True, False, True]),
    ],
)
def test_values_are_compared(compared: object, expected: list[bool]) -> None:
    assert callable(compared)
    (found,) = run(lambda x: [compared(x)], [bool], np.array([1, 2, 3]))
    assert found.tolist() == expected


def test_rows_are_cut_where_values_say() -> None:
    def cut(x: Value) -> list[Value]:
        return [x.rows(1), x.rows(x.count - 2, x.count - 1), x.rows(0, -1), x.take(np.array([-1]))]

    found = run(cut, [float] * 4, [1.0, 2.0, 3.0])
    assert [one.tolist() for one in found] == [[2.0, 3.0], [2.0], [1.0, 2.0], [3.0]]


def test_numbers_may_be_none_at_all() -> None:
    def numbers(x: Value) -> list[Value]:
        return [x.writer.numbers(1, x.count), x.writer.numbers(x.count, 2)]

    found = run(numbers, [int] * 2, [1.0, 2.0, 3.0])
    assert [one.tolist() for one in found] == [[1, 2], []]


def test_a_scan_sees_one_entry_after_the_other() -> None:
    def scan(x: Value) -> list[Value]:
        return [x.writer.scan(lambda row, factor: row * factor, x, np.array([1.0, 10.0]))]

    (found,) = run(scan, [float], [[1.0, 2.0], [3.0, 4.0]])
    assert found.tolist() == [[1.0, 2.0], [30.0, 40.0]]


@pytest.mark.parametrize(("first", "expected"), [(0.5, [9.0, 8.0]), (-0.5, [-0.5, 2.0])])
def test_one_of_two_graphs_is_chosen(first: float, expected: list[float]) -> None:
    def choose(x: Value) -> list[Value]:
        above = x.writer.op("Squeeze", x.rows(0, 1) > 0.0)
        other = np.array([9.0, 8.0])
        return x.writer.choose(above, lambda: [x.writer.value(other)], lambda: [x], [float])

    (found,) = run(choose, [float], [first, 2.0])
    assert found.tolist() == expected


def test_a_constant_is_kept_once_and_no_longer_than_it_is() -> None:
    write = GraphWriter()
    x, half = Value(write, "x"), np.array([0.5, 0.25], dtype=np.float16)
    # twice the same, once in whole numbers that are shorter on some systems
    total = x * half + half + np.array([1, 2], dtype=np.int32).astype(np.float64)
    total += write.value(np.array([1, 2], dtype=np.int32)).cast(np.float64)
    model = write.model("test", {"x": tensor(float, (2,))}, {"y": (total, tensor(float, (2,)))})
    kinds = [one.data_type for one in model.graph.initializer]
    assert kinds == [
        onnx.TensorProto.FLOAT16,
        onnx.TensorProto.DOUBLE,
        onnx.TensorProto.INT64,
    ]
    assert [node.op_type for node in model.graph.node].count("Cast") == 2


def test_what_is_float32_in_the_library_has_its_digits() -> None:
    (found,) = run(lambda x: [x.float32()], [float], [0.1, 1 + 1e-12])
    assert found.tolist() == [float(np.float32(0.1)), 1.0]
