"""A row and the rows before it as one vector, and a sample of such vectors to compare with.

Shapes: T rows of a segment, C channels, L rows in a window, D = L·C, R vectors of a sample.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from subadjacent.data.scaling import chunks
from subadjacent.methods.per_entity import Task
from subadjacent.methods.residuals import Rows

# vectors handled at a time
CHUNK = 4096
# values that a sample holds at most: 160 MB
MAX_SAMPLE_VALUES = 20_000_000


def trailing(scaled: Rows, length: int) -> Iterator[tuple[slice, Rows]]:
    """The rows of a segment, each with those before it as one vector, chunk by chunk, (…, D).

    Rows before the first are taken to have been like it. So a vector depends on no later row.
    """
    padded = np.pad(scaled, ((length - 1, 0), (0, 0)), mode="edge")
    view = np.lib.stride_tricks.sliding_window_view(padded, length, axis=0)  # (T, C, L)
    for chunk in chunks(len(scaled), CHUNK):
        windows = view[chunk].transpose(0, 2, 1)
        yield chunk, np.ascontiguousarray(windows.reshape(len(windows), -1))


def windows_of(scaled: Rows, length: int) -> Iterator[Rows]:
    """Every window of a segment, flattened, some at a time, (W, D)."""
    view = np.lib.stride_tricks.sliding_window_view(scaled, length, axis=0)  # (W, C, L)
    for chunk in chunks(len(scaled) - length + 1, CHUNK):
        windows = view[chunk].transpose(0, 2, 1)
        # a copy: rows of the view overlap in memory, which BLAS does not take
        yield np.ascontiguousarray(windows.reshape(len(windows), -1))


def by_channel(vectors: Rows, channels: int) -> Rows:
    """Entries of vectors added up over the rows of their windows, (…, D) to (…, C)."""
    return np.asarray(vectors.reshape(*vectors.shape[:-1], -1, channels).sum(axis=-2))


def sample(task: Task, length: int, most: int) -> Rows:
    """Windows of training rows as vectors: all, or ``most`` of them drawn by chance, (R, D).

    This bounds the time and memory of comparisons, however long the training series is; of very
    long vectors fewer are drawn. The same seed draws the same ones.
    """
    segments = list(task.segments(length))
    most = min(most, max(MAX_SAMPLE_VALUES // (length * segments[0].shape[1]), 1))
    counts = [len(segment) - length + 1 for segment in segments]
    total = sum(counts)
    chosen = np.arange(total)
    if total > most:
        draw = np.random.default_rng(task.seed)
        chosen = np.sort(draw.choice(total, most, replace=False))
    vectors, first = [], 0
    for segment, count in zip(segments, counts, strict=True):
        first_rows = chosen[(chosen >= first) & (chosen < first + count)] - first
        view = np.lib.stride_tricks.sliding_window_view(segment, length, axis=0)  # (T, C, L)
        vectors.append(view[first_rows].transpose(0, 2, 1).reshape(len(first_rows), -1))
        first += count
    return np.concatenate(vectors)
