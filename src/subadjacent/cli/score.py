"""`subadjacent score`: one score a row, from a fitted model, in bounded memory."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subadjacent.cli import options as option
from subadjacent.cli.output import STANDARD_OUTPUT, check_writable, write_frame
from subadjacent.cli.progress import Bar, say

if TYPE_CHECKING:
    import polars as pl

    from subadjacent.data.files import Rows
    from subadjacent.detectors.base import BaseDetector

log = logging.getLogger(__name__)

CHUNK = 100_000
# rows of one entity that tell how fast its clock ticks
LEAST = 1_000


def score(
    files: option.Files,
    model: option.Model,
    output: option.Table = STANDARD_OUTPUT,
    time: option.Time = None,
    entity: option.Entity = None,
    label: option.Label = None,
    device: option.Device = None,
    quiet: option.Quiet = False,
) -> None:
    """Score files with a model: time, score, normalised score (1 = threshold), anomalous."""
    from subadjacent.cli.rows import errors_about
    from subadjacent.data.files import Columns, open_files
    from subadjacent.detectors.piecewise import grid_of
    from subadjacent.detectors.registry import load

    detector = load(model, device=device or "auto")
    if output != STANDARD_OUTPUT:
        check_writable(Path(output))
    rows = open_files(files, Columns(time=time, entity=entity, label=label))
    for note in rows.notes:
        say(note, quiet=quiet)
    with errors_about(files), Bar("scoring", quiet=quiet) as bar:
        if grid_of(detector) is None:
            say("this model scores all rows at once: all are held in memory", quiet=quiet)
            table = score_whole(detector, rows, bar)
        else:
            table = score_in_parts(detector, rows, bar)
    write_frame(table, output)
    counted = f"{len(table):,} {'row' if len(table) == 1 else 'rows'}"
    say(f"{counted}, {int(table['anomalous'].sum()):,} anomalous", quiet=quiet)


def score_whole(detector: BaseDetector, rows: Rows, bar: Bar) -> pl.DataFrame:
    """Score all rows at once, for a detector that compares each with all others."""
    from subadjacent.cli.rows import scores_table

    bar.wait()
    part = rows.whole()
    scores = detector.decision_function(part.frame)
    return scores_table(part.frame, scores, detector, rows.named, part.labels)


def score_in_parts(detector: BaseDetector, rows: Rows, bar: Bar) -> pl.DataFrame:
    """Score chunk by chunk; of each row only its time, entity and score stay in memory."""
    import numpy as np
    import polars as pl

    from subadjacent.cli.rows import scores_table
    from subadjacent.data.files import ENTITY, TIME
    from subadjacent.detectors.piecewise import PiecewiseScorer

    scorers: dict[Any, PiecewiseScorer] = {}
    found: dict[Any, list[Any]] = {}
    keys, labels = [], []
    done, total = 0, rows.count
    for part in rows.chunks(CHUNK):
        frame = part.frame
        keys.append(frame.select([one for one in (TIME, ENTITY) if one in frame.columns]))
        if part.labels is not None:
            labels.append(part.labels)
        for name, group in _by_entity(frame):
            scorer = scorers.setdefault(name, PiecewiseScorer(detector, least=LEAST))
            found.setdefault(name, []).append(scorer.push(group))
        done += len(frame)
        bar.update(done, total, f"{done:,} rows")
    for name, scorer in scorers.items():
        found[name].append(scorer.finish())

    unknown = sorted(set(found) - {*detector.entities_, None})
    if detector.entities_ and len(unknown) > 1:
        # each is scored by itself, and only the first was named on the way
        log.warning("%d entities in all were not seen in fitting: %s", len(unknown), unknown)

    index = pl.concat(keys)
    scores = np.empty(done)
    if ENTITY in index.columns:
        names = index[ENTITY].cast(pl.String).to_numpy()
        for name, parts in found.items():
            scores[names == name] = np.concatenate(parts)
    else:
        scores[:] = np.concatenate(found[None])
    known = np.concatenate(labels) if labels else None
    return scores_table(index, scores, detector, rows.named, known)


def _by_entity(frame: pl.DataFrame) -> list[tuple[Any, pl.DataFrame]]:
    from subadjacent.data.files import ENTITY

    if ENTITY not in frame.columns:
        return [(None, frame)]
    parts = frame.partition_by(ENTITY, maintain_order=True)
    return [(str(part[ENTITY][0]), part) for part in parts]
