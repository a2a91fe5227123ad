"""Schemas of requests and responses, for validation and OpenAPI."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Time = str | float | int | None
Key = Annotated[int, Field(ge=1, le=2**63 - 1, description="Its number, the `id` in lists.")]
SeriesState = Literal["learning", "calm", "alarm", "muted"]
AlarmState = Literal["open", "closed"]


class Problem(BaseModel):
    """Why a request was not met, in one sentence."""

    error: str = Field(examples=["there is no series 'pump'"])


class SeriesRecord(BaseModel):
    """A series and its state."""

    name: str = Field(examples=["pump"])
    channels: list[str] = Field(examples=[["pressure", "flow"]])
    rows: int = Field(description="Rows accepted so far; the next one has this number.")
    state: SeriesState
    severity: float = Field(description="Of the newest row; 1.0 opens an alarm.")
    warm_up: float = Field(description="0 to 1: the share of the warm-up that is done.")
    model: str | None = Field(
        description="The model that assesses it; null: it learns from its rows alone."
    )
    last_time: Time
    open_alarm: int | None
    muted_until: str | None


class SeriesList(BaseModel):
    """All series, the worst first."""

    series: list[SeriesRecord]


class RowAnswer(BaseModel):
    """The answer to one row."""

    row: int
    time: Time
    final: bool = Field(description="Whether later rows can no longer change the score.")
    score: float | None = Field(description="In the model's own unit; null without a model.")
    severity: float
    anomalous: bool = Field(description="Whether the row belongs to an alarm.")
    warm_up: float
    alarm: int | None = Field(description="The alarm that opened, changed or closed at this row.")


class PushRecord(BaseModel):
    """The result of a push."""

    taken: int
    late: int = Field(description="Rows older than the newest one, which are dropped.")
    duplicates: int = Field(description="Rows at the time of an accepted one, which are dropped.")
    left_out: list[str] = Field(description="Columns that are not channels of the series.")
    answers: list[RowAnswer]


class CauseRecord(BaseModel):
    """A channel's part in an alarm."""

    channel: str
    score: float | None
    at: Time
    expected: float | None
    seen: float | None
    low: float | None
    high: float | None
    kind: str
    sentence: str
    partner: str | None = Field(None, description="The channel that it decoupled from.")


class AlarmRecord(BaseModel):
    """An alarm: opened once, updated, closed, and with a model confirmed or withdrawn."""

    id: int
    series: str
    number: int = Field(description="Counts the alarms of its series from 1.")
    state: AlarmState
    start: Time
    end: Time
    first: int
    last: int
    severity: float
    kind: str
    sentence: str
    causes: list[CauseRecord]
    permanent: bool = Field(
        description="Whether the series stays as it is, so that this is normal now."
    )
    status: str = Field(
        description="provisional until final evidence has come, then confirmed or withdrawn."
    )
    repeat: int = Field(description="1 for the first alarm of its kind, 2 for the next, and so on.")
    repeat_of: int | None = Field(description="Number of the first alarm of its kind.")
    normal: bool = Field(description="Marked as normal by somebody.")
    acknowledged: bool
    note: str


class AlarmList(BaseModel):
    """Alarms, the newest first."""

    alarms: list[AlarmRecord]


class HistoryRecord(BaseModel):
    """Rows in columns; a missing number is null."""

    rows: list[int]
    times: list[Time]
    values: dict[str, list[float | None]]
    expected: dict[str, list[float | None]]
    low: dict[str, list[float | None]]
    high: dict[str, list[float | None]]
    severity: list[float]
    anomalous: list[bool]
    final: list[bool]


class Mute(BaseModel):
    """How long the alarms of a series are muted."""

    model_config = ConfigDict(extra="forbid")

    length: str | float | None = Field(
        alias="for",
        description="Such as '1h' or '30min', or seconds; null ends it.",
        examples=["1h"],
    )


class Acknowledge(BaseModel):
    """A note on an alarm that somebody has seen."""

    model_config = ConfigDict(extra="forbid")

    note: str = Field("", max_length=2_000, examples=["valve replaced"])


class Switch(BaseModel):
    """The model to assess a series with."""

    model_config = ConfigDict(extra="forbid")

    model: str | None = Field(description="Null: it learns from its rows alone.")


class ModelRecord(BaseModel):
    """A fitted detector."""

    name: str
    detector: str
    channels: tuple[str, ...]
    fitted_at: str
    rows: int | None = Field(description="Rows that it was fitted on, if that is known.")


class JobRecord(BaseModel):
    """A fit in the background, and how far it is."""

    id: int
    name: str
    state: Literal["running", "done", "failed"] = "running"
    step: str = "waiting"
    done: int = 0
    total: int = 0
    error: str | None = None
    model: str | None = Field(default=None, description="The model that came of it.")


class ModelList(BaseModel):
    """All models, and the latest fits."""

    models: list[ModelRecord]
    jobs: list[JobRecord]


class ScoresRecord(BaseModel):
    """Scores of rows that were scored in one go; severity 1.0 is the threshold."""

    times: list[Time] | None
    scores: list[float | None]
    severity: list[float | None]
    anomalous: list[bool]
    alarms: list[dict[str, Any]]


class JobStarted(BaseModel):
    """A fit was begun."""

    job: int


class Health(BaseModel):
    """The answer of a running service."""

    status: Literal["ok"]


ROWS_EXAMPLE: dict[str, Any] = {
    "rows": [{"time": "2026-01-31T12:00:00Z", "pressure": 2.1, "flow": 13.0}]
}
