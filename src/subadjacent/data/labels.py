"""The words and numbers that label a row as normal or as anomalous."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

NORMAL = ("0", "false", "no", "normal", "nominal", "benign", "inlier")
ANOMALOUS = ("1", "true", "yes", "anomaly", "anomalous", "abnormal", "attack", "outlier")
SIGN = "-1"
"""Beside 1, it calls a row anomalous and 1 calls it normal: so scikit-learn, and WADI."""


def as_word(value: Any) -> str:
    """A label as it is looked up: in lower case, without spaces, and whole numbers as such."""
    word = "".join(str(value).split()).lower().replace("\u2212", "-")
    whole = word.partition(".")
    return whole[0] if whole[1] and not whole[2].strip("0") else word


def look_like_labels(values: Iterable[Any]) -> bool:
    """Whether values are those of labels: two different ones at most, and each a word for one."""
    words = set(map(as_word, values))
    return 0 < len(words) <= 2 and words <= {*NORMAL, *ANOMALOUS, SIGN}
