"""The default's evidence on a segment, in a graph: score, and each channel's.

Shapes: T rows of a segment, C channels, V views that expect values, P parts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from subadjacent.detectors.onnx.moving import Window, row_counts, window_sums
from subadjacent.detectors.onnx.novelty import NoveltyOutput, shape_novelty, state_novelty
from subadjacent.detectors.onnx.ridge import ResidualsOutput, SegmentGraph, ridge_residuals
from subadjacent.detectors.onnx.surprise import Averages, channel_surprise, joint_surprise
from subadjacent.detectors.onnx.value import Value
from subadjacent.methods.views.combine import DECIMALS, smoothing_lengths
from subadjacent.methods.views.entity import EntityViews, Seeking, ViewsModel
from subadjacent.methods.views.novelty import WEIGHTS
from subadjacent.methods.views.states import StateView
from subadjacent.methods.views.view import ACROSS, WHOLE, View, parts_of
from subadjacent.ridge.companions import CLIP
from subadjacent.scoring.usual import SOFTNESS, ChannelScale


class EvidenceOutput(NamedTuple):
    """The score of each row, (T,), and how unusual each channel is, (T, C), in float32."""

    score: Value
    by_channel: Value


class CombinedOutput(NamedTuple):
    """The combined surprise of rows, (T,), and of their values, (T, C)."""

    rows: Value
    values: Value


def evidence(rows: Value, model: ViewsModel) -> EvidenceOutput:
    """The evidence of ``ViewsModel.assess`` on an unbroken segment of complete rows, (T, C)."""
    scaler, channels = model.scaler, len(model.scaler.center)
    standardised = (rows - scaler.center) / scaler.deviation
    segment = SegmentGraph(standardised.clip(-scaler.clip, scaler.clip).float32())
    combined = _expected(segment, model, channels)
    for name, seeking in model.entity.seeking.items():
        weight = WEIGHTS[name] * seeking.weight
        novelty = _novelty(segment, seeking, channels)
        combined = CombinedOutput(
            combined.rows + novelty.rows * weight, combined.values + novelty.values * weight
        )
    return EvidenceOutput(
        _smoothed(combined.rows, segment, model) / model.unit,
        _unusual(combined.values.float32(), segment, model),
    )


def _novelty(segment: SegmentGraph, seeking: Seeking, channels: int) -> NoveltyOutput:
    view = seeking.view
    if isinstance(view, StateView):
        return state_novelty(segment, view, channels)
    return shape_novelty(segment, view, channels)


def _expected(segment: SegmentGraph, model: ViewsModel, channels: int) -> CombinedOutput:
    """The mean over the parts that judge a row, of all views that expect values.

    Their residuals stand side by side: by themselves, given the other channels, then rows as a
    whole.
    """
    write, views = segment.write, list(model.entity.expecting.values())
    if not views:
        return CombinedOutput(write.zeros(segment.count), write.zeros(segment.count, channels))
    over = Averages(segment.here, model.settings.ahead.residuals)
    left = [_look(segment, view) for view in views]
    across = [
        (look.residuals.clip(-CLIP, CLIP) @ view.companions.weights.T).float32()
        for look, view in zip(left, views, strict=True)
    ]
    table = write.concat([*(look.residuals for look in left), *across], axis=1)  # (T, 2 V C)
    surprise = channel_surprise(table, _side_by_side(views, channels), over)
    surprises = [surprise.reshape(-1, 2 * len(views), channels)]
    for look, view in zip(left, views, strict=True):
        # a single channel has been judged by itself
        if view.joint is not None and channels > 1:
            whole = joint_surprise(look.residuals, view.joint, channels, over)
            surprises.append(whole.column())
    shares = _shares(model.entity, left, whole=channels > 1)
    values = (write.concat(surprises, axis=1) * shares.column(2)).sum(1)
    return CombinedOutput(values.sum(1) / float(channels), values)


def _look(segment: SegmentGraph, view: View) -> ResidualsOutput:
    """A view's residuals; those of one that expects nothing are the clipped rows."""
    if view.ridge is None:
        return ResidualsOutput(segment.within, segment.here >= 0)
    return ridge_residuals(segment, view.ridge)


def _side_by_side(views: list[View], channels: int) -> ChannelScale:
    scales = [view.alone for view in views] + [view.across for view in views]
    return ChannelScale(
        np.concatenate([scale.squares for scale in scales], axis=1),
        np.concatenate([scale.spread for scale in scales]),
        np.concatenate([np.broadcast_to(scale.floor, channels) for scale in scales]),
    )


def _shares(entity: EntityViews, left: list[ResidualsOutput], *, whole: bool) -> Value:
    """The share of each part in the mean, (T, P); 0 at rows that it does not judge.

    The weight of rows as a whole counts even where that part is left out.
    """
    write, names = left[0].judged.writer, list(entity.expecting)
    kinds = [part for name in names for part in parts_of(name)]
    factors = entity.weights.factors()
    order = sorted(range(len(kinds)), key=lambda n: {ACROSS: 1, WHOLE: 2}.get(kinds[n].form, 0))
    view_of = np.array([names.index(kinds[n].view) for n in order])
    weights = np.array([kinds[n].weight for n in order])
    judged = write.concat([look.judged.column().cast(np.float64) for look in left], axis=1)
    total = judged.take(view_of, axis=1) @ weights[:, None]  # (T, 1)
    kept = [place for place, n in enumerate(order) if whole or kinds[n].form != WHOLE]
    part_weights = np.array([kinds[order[place]].weight * factors[order[place]] for place in kept])
    # where no part judges a row, the least weight stands for none: nothing is divided by 0
    return judged.take(view_of[kept], axis=1) * part_weights / total.at_least(weights.min())


def _smoothed(rows: Value, segment: SegmentGraph, model: ViewsModel) -> Value:
    """The mean of averages over rows, rounded, as ``combine.smoothed``, (T,)."""
    lengths = smoothing_lengths(model.settings.smoothing)
    windows = [Window.around(length, model.settings.ahead.score) for length in lengths]
    means = [
        total
        / row_counts(segment.here, segment.count, window)
        .at_least((window.length + 1) // 2)
        .cast(np.float64)
        for total, window in zip(window_sums(rows, windows), windows, strict=True)
    ]
    total = sum(means[1:], start=means[0]) / float(len(lengths))
    return segment.write.op("Round", total * 10.0**DECIMALS) / 10.0**DECIMALS


def _unusual(values: Value, segment: SegmentGraph, model: ViewsModel) -> Value:
    """Averaged over rows, as squares in units of the usual one, as ``combine.unusual``, (T, C)."""
    window = Window.around(model.settings.smoothing, model.settings.ahead.score)
    (total,) = window_sums(values, [window])
    row_count = row_counts(segment.here, segment.count, window)
    mean = total / row_count.column().cast(np.float64)
    return ((segment.write.op("Exp", mean) - 1.0) * SOFTNESS).cast(np.float32)
