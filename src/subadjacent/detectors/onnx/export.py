"""A fitted detector as an ONNX file, which scores without this package."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

import subadjacent
from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.onnx.default import THRESHOLD, views_model
from subadjacent.detectors.onnx.extra import needs_onnx, needs_tracer
from subadjacent.errors import InputError, require_number
from subadjacent.methods.method import Model
from subadjacent.methods.views.entity import ViewsModel

if TYPE_CHECKING:
    from onnx import ModelProto


def to_onnx(detector: BaseDetector, *, entity: str | None = None) -> bytes:
    """A fitted detector, with all that leads from rows to alarms, as an ONNX model.

    Inputs are ``rows`` (T, C) of one entity in its own units, unbroken in time, and ``threshold``,
    float64, which may be left out. Outputs are ``score`` (T,), float64, that of
    ``decision_function``, and ``alarm`` (T,), whether it is above the threshold. ``predict`` may
    differ: it also considers the recent and later rows of a series, which the file does not.

    Of the default, ``rows`` are float64 and values may be missing; there is also ``by_channel``
    (T, C), float32, that of ``explain``, and a row with a value that is missing for long is an
    alarm. Of a network, ``rows`` are float32 and complete, and there is ``expected`` (T, C).

    Parameters
    ----------
    detector
        ``SubAdjacentDetector`` without a network, or one whose score is that of a network that
        expects values, such as ``SubAdjacentTransformerDetector``.
    entity
        Whose model to use; needed where fitting saw several.

    Raises
    ------
    InputError
        When the detector is another, or the entity is missing or unknown.
    MissingPackage
        When the extra ``onnx``, or for a network ``onnx-network``, is not installed.
    """
    check_is_fitted(detector)
    model = _model(detector, entity)
    require_number("threshold_", detector.threshold_)
    if isinstance(model, ViewsModel):
        needs_onnx()
        exported = views_model(model, detector.fill_limit)
        facts = _facts_of_views(model, detector.fill_limit)
    else:
        needs_tracer()
        # torch is imported for networks, and only for them
        from subadjacent.detectors.onnx.network import facts_of_network, network_model
        from subadjacent.methods.neural.model import NeuralModel

        assert isinstance(model, NeuralModel)
        exported, facts = network_model(model), facts_of_network(model)
    _default_threshold(exported, float(detector.threshold_))
    _describe(exported, _facts(detector, entity) | facts)
    return bytes(exported.SerializeToString())


def _model(detector: BaseDetector, entity: str | None) -> Model:
    models = detector.models_
    if not isinstance(models.pooled, ViewsModel) and not _is_network(models.pooled):
        raise InputError(
            f"detector must be SubAdjacentDetector, or score by a network alone as "
            f"SubAdjacentTransformerDetector does; got {type(detector).__name__}"
        )
    known = detector.entities_
    if entity is None and len(known) > 1:
        raise InputError(
            f"entity must be named, for each has a model of its own: one of {', '.join(known)}"
        )
    if entity is not None and entity not in known:
        names = ", ".join(known) or "none, for fit saw one series without a name"
        raise InputError(f"entity must be one seen in fitting ({names}); got {entity!r}")
    return models.of(entity)


def _is_network(model: Model) -> bool:
    # without torch there is no network, and nothing to import
    if "torch" not in sys.modules:
        return False
    from subadjacent.methods.neural.model import NeuralModel

    return isinstance(model, NeuralModel)


def _facts(detector: BaseDetector, entity: str | None) -> dict[str, Any]:
    """The metadata of a file of any detector."""
    return {
        "subadjacent": subadjacent.__version__,
        "kind": type(detector).__name__,
        "entity": entity,
        "channels": json.dumps(list(detector.channels_), ensure_ascii=False),
        "threshold": float(detector.threshold_),
        "typical_score": detector.normal_scores_.of(entity).typical,
    }


def _facts_of_views(model: ViewsModel, fill_limit: int) -> dict[str, Any]:
    """The metadata of the default: how far around a row it looks, among others."""
    before, after, every = model.reach
    return {
        "before": before,
        "after": after,
        "every": every,
        "unit": model.unit,
        "smoothing": model.settings.smoothing,
        "fill_limit": fill_limit,
    }


def _default_threshold(model: ModelProto, threshold: float) -> None:
    """Make the threshold optional, as an input is that is also an initialiser."""
    from onnx import TensorProto, helper

    value = helper.make_tensor(THRESHOLD, TensorProto.DOUBLE, [], [threshold])
    model.graph.initializer.append(value)


def _describe(model: ModelProto, facts: dict[str, Any]) -> None:
    from onnx import helper

    model.producer_name, model.producer_version = "subadjacent", subadjacent.__version__
    helper.set_model_props(
        model, {name: str(value) for name, value in facts.items() if value is not None}
    )
