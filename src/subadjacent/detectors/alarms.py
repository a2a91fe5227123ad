"""The alarms of an assessment: a list that is a table in a notebook and when printed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from subadjacent.decision.alarms import Alarm

if TYPE_CHECKING:
    from subadjacent.detectors.assessment import Assessment

COLUMN_TYPES: dict[str, type | None] = {
    "entity": str, "start": None, "end": None, "peak": None, "rows": int, "repeat": int,
    "permanent": bool, "severity": float, "channel": str, "seen": float, "expected": float,
    "channels": str, "kind": str, "sentence": str, "view": str,
}  # fmt: skip
"""Columns of a table of alarms, and their types; None for that of the input's index."""


class Alarms(list[Alarm]):
    """A list of alarms that is shown as a table; a slice of it is one too.

    Parameters
    ----------
    alarms
        In time order within each entity.
    assessment
        The assessment that they are of.
    """

    def __init__(self, alarms: Iterable[Alarm], assessment: Assessment) -> None:
        super().__init__(alarms)
        self.assessment = assessment

    @overload
    def __getitem__(self, key: SupportsIndex) -> Alarm: ...
    @overload
    def __getitem__(self, key: slice) -> Alarms: ...
    def __getitem__(self, key: SupportsIndex | slice) -> Alarm | Alarms:
        if isinstance(key, slice):
            return Alarms(super().__getitem__(key), self.assessment)
        return super().__getitem__(key)

    def __repr__(self) -> str:
        """The alarms as a table of text: the worst kinds, in time order."""
        from subadjacent.report.alarm_lines import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        """The table that notebooks show."""
        from subadjacent.report.alarm_lines import as_html

        return as_html(self)

    def to_frame(self, backend: str | None = None) -> Any:
        """A data frame with one row an alarm, and the columns of ``alarms.csv``.

        ``backend`` is "pandas", "polars" or "pyarrow". By default it is the library of the input,
        where that was a frame; else pandas where it is installed, else polars.
        """
        import narwhals as nw

        library: Any = backend or self._library()
        dtypes = {str: nw.String(), int: nw.Int64(), float: nw.Float64(), bool: nw.Boolean()}
        columns = alarm_columns(self)
        if not any(columns["entity"]):
            del columns["entity"]
        # an index of no rows has no type
        types = {name: COLUMN_TYPES[name] or (object if self else str) for name in columns}
        series = [
            nw.new_series(name, values, dtypes.get(types[name]), backend=library)
            for name, values in columns.items()
        ]
        # column by column: from a dict, times would lose their zone
        return nw.concat([column.to_frame() for column in series], how="horizontal").to_native()

    def plot(self, entity: str | None = None, **options: Any) -> Any:
        """Draw one entity's rows and these alarms; parameters are those of ``Assessment.plot``."""
        return self.assessment.plot(entity, alarms=self, **options)

    def _library(self) -> Any:
        import narwhals as nw

        header = nw.from_native(self.assessment.table.header, pass_through=True)
        if isinstance(header, nw.DataFrame):
            return header.implementation
        return "pandas" if find_spec("pandas") else "polars"


def alarm_columns(alarms: Sequence[Alarm]) -> dict[str, list[Any]]:
    """The columns of a table of alarms; the channels that caused one are in one text."""
    first = [alarm.causes[0] if alarm.causes else None for alarm in alarms]
    return {
        "entity": [alarm.entity for alarm in alarms],
        "start": [alarm.start for alarm in alarms],
        "end": [alarm.end for alarm in alarms],
        "peak": [alarm.peak for alarm in alarms],
        "rows": [alarm.duration for alarm in alarms],
        "repeat": [alarm.repeat for alarm in alarms],
        "permanent": [alarm.permanent for alarm in alarms],
        "severity": [alarm.severity for alarm in alarms],
        "channel": [cause and cause.channel for cause in first],
        "seen": [cause and cause.seen for cause in first],
        "expected": [cause and cause.expected for cause in first],
        "channels": [" ".join(cause.channel for cause in alarm.causes) for alarm in alarms],
        "kind": [alarm.kind for alarm in alarms],
        "sentence": [alarm.sentence for alarm in alarms],
        "view": [alarm.view for alarm in alarms],
    }
