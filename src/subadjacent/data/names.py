"""What columns of time, entity and label are called, in frames and in files alike.

Case does not matter. Where several columns have a name of one kind, the table's order decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

TIME_NAMES = ("timestamp", "time", "datetime", "date", "ds", "ts")
ENTITY_NAMES = ("item_id", "unique_id")
LABEL_NAMES = ("label", "labels", "is_anomaly", "anomaly", "attack")


def columns_named(known: tuple[str, ...], columns: Iterable[Any]) -> list[Any]:
    """The columns whose name is one of ``known``, in the order of ``known``.

    Columns of a pandas frame may be called by something that is not text.
    """
    by_name: dict[str, list[Any]] = {}
    for column in columns:
        by_name.setdefault(str(column).lower(), []).append(column)
    return [column for name in known for column in by_name.get(name, ())]
