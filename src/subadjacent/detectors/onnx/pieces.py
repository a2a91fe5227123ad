"""A graph that scores rows piece by piece, so that its memory does not grow with the rows.

As in ``detectors.pieces``, a piece comes with the rows around it that its scores depend on, so that
the scores are those of the whole. Rows in which a value is missing for long are scored separately.

Shapes: T rows of a series, C channels.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from subadjacent.detectors.onnx.missing import FilledRows
from subadjacent.detectors.onnx.value import Value
from subadjacent.detectors.onnx.views import EvidenceOutput
from subadjacent.detectors.onnx.writer import sequence, tensor
from subadjacent.scoring.evidence import Reach

ROWS = 4_096
"""Rows of a piece: twice as many are no quicker, and take twice the memory."""

TIMES = 2
"""A piece has so many times the rows around it at least: those are scored twice."""


def in_pieces(
    filled: FilledRows, channels: int, reach: Reach, assess: Callable[[Value], EvidenceOutput]
) -> EvidenceOutput:
    """Apply ``assess`` to pieces of rows, each with as many rows around it as a model's reach."""
    write, count = filled.rows.writer, filled.rows.count
    before, after, every = reach
    assert after is not None
    size = max(ROWS, TIMES * (before + after))
    size, before = (-(-rows // every) * every for rows in (size, before))
    edges = _edges(filled.missing, count)

    def piece(
        _number: Value, _go_on: Value, first: Value, scores: Value, by_channel: Value
    ) -> list[Value]:
        begins = write.where(edges <= first, edges, 0).most(0).reshape(1)
        ends = write.where(edges > first, edges, count).least(0).reshape(1)
        last = (first + size).at_most(ends)
        begin, end = (first - before).at_least(begins), (last + after).at_most(ends)
        evidence = assess(filled.rows.rows(begin, end))
        own_rows = (first - begin, last - begin)
        return [
            write.op("Squeeze", last < count),
            last,
            write.op("SequenceInsert", scores, evidence.score.rows(*own_rows)),
            write.op("SequenceInsert", by_channel, evidence.by_channel.rows(*own_rows)),
        ]

    number, go_on, row = tensor(np.int64, ()), tensor(np.bool_, ()), tensor(np.int64, (1,))
    kept = [sequence(np.float64), sequence(np.float32)]
    body = write.inner(piece, [go_on, row, *kept], [number, go_on, row, *kept])
    _, *sequences = write.ops(
        "Loop",
        3,
        None,
        write.op("Squeeze", count > 0),
        np.array([0]),
        write.op("SequenceConstruct", write.zeros(0)),
        write.op("SequenceConstruct", write.zeros(0, channels).cast(np.float32)),
        body=body,
    )
    return EvidenceOutput(*(write.op("ConcatFromSequence", pieces, axis=0) for pieces in sequences))


def _edges(missing: Value, count: Value) -> Value:
    """Where segments begin that are scored separately, and where the last one ends."""
    write = missing.writer
    changes = write.op("Xor", missing.rows(1), missing.rows(0, -1))
    return write.concat([np.array([0]), write.op("NonZero", changes).reshape(-1) + 1, count])
