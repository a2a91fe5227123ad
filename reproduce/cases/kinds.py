"""Generated series whose anomalies are of one kind each: a state or a shape never seen before."""

# Shapes: n rows, C channels.

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from reproduce.cases import development, kept_back
from reproduce.cases.drawing import Draft, Span
from subadjacent.data.plant import Event, Floats, Plant
from subadjacent.errors import InputError, require_whole

Drawing = Callable[[np.random.Generator, int], Draft]

# the first half of each mapping are states never seen, the second half shapes
DEVELOPMENT: dict[str, Drawing] = {
    "unseen combination": development.unseen_combination,
    "off the ring": development.off_the_ring,
    "reversed beat": development.reversed_beat,
    "other wave": development.other_wave,
}
# to be measured once, when nothing about a detector will be decided any more
KEPT_BACK: dict[str, Drawing] = {
    "hole in a torus": kept_back.hole_in_a_torus,
    "valve at another load": kept_back.valve_at_another_load,
    "fold lost": kept_back.fold_lost,
    "inverted wave": kept_back.inverted_wave,
    "swapped order": kept_back.swapped_order,
    "stretched cycle": kept_back.stretched_cycle,
}

SHORTEST = 5_000  # rows; with fewer, three events would be more than MOST_ANOMALOUS
FEWEST_EVENTS, MOST_EVENTS = 3, 8  # for every SHORTEST rows
MOST_ANOMALOUS = 0.04  # share of the test rows
GAP = 60  # normal rows between two events, at least


def case(kind: str, seed: int = 0, n: int = SHORTEST) -> Plant:
    """A series with anomalies of one kind, 1 to 4 % of the test rows.

    Within an anomaly no channel leaves the range of its training rows, nor
    moves further from one row to the next than it did there.

    Parameters
    ----------
    kind
        A name in ``DEVELOPMENT``, or in ``KEPT_BACK`` for a final measurement.
    seed
        Same seed, same series.
    n
        Rows of the training part, and again of the test part.

    Examples
    --------
    >>> drawn = case("off the ring", seed=1)
    >>> drawn.train.shape, drawn.test.shape, drawn.labels.shape
    ((5000, 5), (5000, 5), (5000,))
    >>> {event.channels for event in drawn.events}
    {(0, 1)}
    """
    kinds = {**DEVELOPMENT, **KEPT_BACK}
    if kind not in kinds:
        raise InputError(f"kind must be one of {', '.join(map(repr, kinds))}; got {kind!r}")
    require_whole("seed", seed, least=0)
    require_whole("n", n, least=SHORTEST, why="three events in 4 % of the rows")

    rng = np.random.default_rng(seed)
    draft = kinds[kind](rng, 2 * n)
    channels = draft.values.shape[1]
    level, spread = rng.uniform(10, 100, channels), rng.uniform(0.5, 5, channels)
    changed = draft.values.copy()
    events = []
    for (start, stop), rows in _anomalies(rng, draft, n):
        touched = np.flatnonzero((rows != changed[start:stop]).any(axis=0))
        changed[start:stop] = rows
        events.append(Event(start - n, stop - n, kind, tuple(touched.tolist())))
    clean, changed = level + spread * draft.values, level + spread * changed
    return Plant(clean[:n], changed[n:], clean[n:], tuple(events))


def _anomalies(rng: np.random.Generator, draft: Draft, n: int) -> list[tuple[Span, Floats]]:
    """Spans of test rows, drawn in random order, and their values: in range, with gaps."""
    low, high = draft.values[:n].min(axis=0), draft.values[:n].max(axis=0)
    largest_step = np.abs(np.diff(draft.values[:n], axis=0)).max(axis=0)
    spans = [(start, stop) for start, stop in draft.spans if n < start and stop < 2 * n]
    # not the shortest: a span that must still come may be out of range or too near
    short = int(np.quantile([stop - start for start, stop in spans], 0.2))
    fewest, most = (count * n // SHORTEST for count in (FEWEST_EVENTS, MOST_EVENTS))
    wanted = int(rng.integers(fewest, most, endpoint=True))
    rows_left = int(MOST_ANOMALOUS * n)
    chosen: dict[Span, Floats] = {}
    for position in rng.permutation(len(spans)):
        start, stop = spans[position]
        # what the events that must still come need at the least
        reserved = short * max(0, fewest - len(chosen) - 1)
        apart = all(stop + GAP <= first or last + GAP <= start for first, last in chosen)
        if len(chosen) == wanted or not apart or stop - start + reserved > rows_left:
            continue
        rows = draft.change(rng, slice(start, stop))
        around = np.vstack([draft.values[start - 1], rows, draft.values[stop]])
        in_range = ((low <= rows) & (rows <= high)).all()
        if in_range and (np.abs(np.diff(around, axis=0)) <= largest_step).all():
            chosen[start, stop] = rows
            rows_left -= stop - start
    return sorted(chosen.items(), key=lambda item: item[0])
