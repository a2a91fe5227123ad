"""The usual names of columns of time, entity and label, in frames and files alike.

Case does not matter. Where several columns have a name of one kind, the table's order decides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

TIME_NAMES = ("timestamp", "timestamps", "time", "_time", "datetime", "date", "ds", "ts")
ENTITY_NAMES = ("item_id", "unique_id")
ROW_NAMES = ("row", "index", "no", "no.", "unnamed: 0")
"""Of columns that count rows, and measure nothing, where they do count them."""

LABEL_NAMES = (
    "label", "labels", "is_anomaly", "anomaly", "anomaly_label", "is_attack", "attack",
    "normal/attack", "attack lable (1:no attack, -1:attack)", "is_outlier", "outlier",
    "ground_truth", "changepoint",
)  # fmt: skip
"""Never the name of a channel; SWaT and WADI write the two long ones."""

MAYBE_LABEL_NAMES = ("target", "class")
"""Names of labels as well as of measurements (a set point, a class of load): values decide."""


def label_columns(
    columns: Sequence[Any], values: Callable[[Any], Iterable[Any]], known: Collection[Any] = ()
) -> list[Any]:
    """The columns that hold labels, the likeliest first.

    ``values`` gives the different values of a column, for names that may also be those of a
    measurement; not called for columns that are ``known`` to be channels.
    """
    maybe = [column for column in columns if column not in known]
    return columns_named(LABEL_NAMES, columns) + [
        column
        for column in columns_named(MAYBE_LABEL_NAMES, maybe)
        if look_like_labels(values(column))
    ]


def columns_named(known: tuple[str, ...], columns: Iterable[Any]) -> list[Any]:
    """The columns whose name is one of ``known``, in the order of ``known``.

    Columns of a pandas frame may be called by something that is not text.
    """
    by_name: dict[str, list[Any]] = {}
    for column in columns:
        by_name.setdefault(str(column).strip().lower(), []).append(column)
    return [column for name in known for column in by_name.get(name, ())]


NORMAL = ("0", "false", "no", "normal", "nominal", "benign", "inlier")
ANOMALOUS = ("1", "true", "yes", "anomaly", "anomalous", "abnormal", "attack", "outlier")
SIGN = "-1"
"""Beside 1, it calls a row anomalous and 1 calls it normal: so scikit-learn, and WADI."""


def as_word(value: Any) -> str:
    """A label as it is looked up: lower case, without spaces or zero decimals."""
    word = "".join(str(value).split()).lower().replace("\u2212", "-")
    whole = word.partition(".")
    return whole[0] if whole[1] and not whole[2].strip("0") else word


def look_like_labels(values: Iterable[Any]) -> bool:
    """Whether values are labels: at most two different ones."""
    words = set(map(as_word, values))
    return 0 < len(words) <= 2 and words <= {*NORMAL, *ANOMALOUS, SIGN}
