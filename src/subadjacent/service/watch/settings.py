"""What to watch, and how: from a TOML file, the command's options, or both."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationError,
    model_validator,
)

from subadjacent.data.clock import duration
from subadjacent.data.documents import read_toml
from subadjacent.errors import InputError
from subadjacent.service.settings import (
    Limits,
    Retention,
    Section,
    Settings,
    Webhook,
    first_fault,
)
from subadjacent.streaming.rules import AlarmRules

MILLISECONDS = 1_000
"""In a second; all times here are whole milliseconds."""

MIN_STEP = 1 * MILLISECONDS
"""A server scrapes once a second at most; rows between scrapes would repeat each other."""

MIN_HISTORY_ROWS, MAX_HISTORY_ROWS = 100, 100_000
"""Of history: fewer teach nothing; more take minutes a series, and the oldest count for little."""

INHERITED = ("step", "history", "offset", "forget_after", "false_alarms", "max_series")
"""Settings that may be given once for all queries; a query's own wins."""


def _milliseconds(value: Any) -> int:
    return round(duration(value) * MILLISECONDS)


def _milliseconds_or_none(value: Any) -> int:
    # "0s" is a wait that people write down; everywhere else a time must be longer than none
    return 0 if value in (0, "0", "0s") else _milliseconds(value)


def _check_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be the address of the server, such as http://127.0.0.1:9090")
    if parts.username or parts.password:
        raise ValueError(
            "must not hold a password, which would be shown: use username and password_file"
        )
    return url.rstrip("/")


def _check_false_alarms(value: str | float) -> str | float:
    AlarmRules(contamination=value)
    return value


Milliseconds = Annotated[int, BeforeValidator(_milliseconds)]
Wait = Annotated[int, BeforeValidator(_milliseconds_or_none)]


class PolledQuery(Section):
    """One query, and how its series are watched; times are in milliseconds."""

    name: str = Field(min_length=1)
    expr: str = Field(min_length=1)
    step: Milliseconds = Field(default=60 * MILLISECONDS, ge=MIN_STEP)
    history: Milliseconds = 7 * 24 * 3600 * MILLISECONDS
    offset: Wait = 0
    forget_after: Milliseconds = 3600 * MILLISECONDS
    groupby: tuple[str, ...] | None = None
    false_alarms: Annotated[str | float, AfterValidator(_check_false_alarms)] = "auto"
    max_series: int = Field(default=1_000, ge=1, le=100_000)

    @model_validator(mode="after")
    def _check_history(self) -> Self:
        rows = self.history // self.step
        if not MIN_HISTORY_ROWS <= rows <= MAX_HISTORY_ROWS:
            raise ValueError(
                f"history must be {MIN_HISTORY_ROWS} to {MAX_HISTORY_ROWS:,} times step; "
                f"it is {rows:,} times"
            )
        if self.forget_after < self.step:
            raise ValueError("forget_after must be at least step")
        return self

    @property
    def fingerprint(self) -> str:
        """Another text for every other setting."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return sha256(text.encode()).hexdigest()


class WatchSettings(Section):
    """The settings of `subadjacent watch`: what to poll, and the service that shows it."""

    prometheus: Annotated[str, AfterValidator(_check_url)]
    queries: tuple[PolledQuery, ...] = Field(min_length=1, max_length=100)
    listen: str = "127.0.0.1:9109"
    data: Path | None = None
    username: str | None = None
    password_file: Path | None = None
    token_file: Path | None = None
    timeout: Milliseconds = 30 * MILLISECONDS
    access_file: Path | None = None
    retention: Retention = Retention()
    webhooks: tuple[Webhook, ...] = ()

    @model_validator(mode="after")
    def _check_login(self) -> Self:
        if (self.username is None) != (self.password_file is None):
            raise ValueError("username and password_file must be given together")
        if self.username is not None and self.token_file is not None:
            raise ValueError("username and token_file must not be given together")
        return self

    def service(self, data: Path) -> Settings:
        """The settings of the service; only this machine may write to it without tokens."""
        label_sets = [query.max_series for query in self.queries]
        series = Limits().series + sum(label_sets)
        channels = max(Limits().channels, *label_sets)
        found = Settings(
            listen=self.listen,
            data=data,
            token_file=self.access_file,
            limits=Limits(series=series, channels=channels),
            retention=self.retention,
            webhooks=self.webhooks,
        )
        read_only = not found.is_loopback and self.access_file is None
        return found.model_copy(update={"read_only": read_only})


def read_settings(
    path: Path | None, given: Mapping[str, Any], exprs: tuple[str, ...]
) -> WatchSettings:
    """Settings of a TOML file; options that were ``given`` override it.

    ``exprs`` are queries from the command line, each named by its own text. What a file says once
    for all queries (``INHERITED``) holds for those that say nothing else.
    """
    found = {} if path is None else read_toml(path)
    where = "" if path is None else f"{path}: "
    given = {name: value for name, value in given.items() if value is not None}
    queries = found.pop("queries", {})
    if not isinstance(queries, dict) or not all(isinstance(q, dict) for q in queries.values()):
        raise InputError(f"{where}queries must be tables such as [queries.load]")
    shared = {name: found.pop(name) for name in INHERITED if name in found}
    overrides = {name: given.pop(name) for name in (*INHERITED, "groupby") if name in given}
    every = [{"name": name} | shared | query | overrides for name, query in queries.items()]
    every += [{"name": expr, "expr": expr} | shared | overrides for expr in exprs]
    if not every:
        raise InputError(
            f"{where}queries must have at least one entry: add --query, or [queries.NAME]"
        )
    if len({query["name"] for query in every}) < len(every):
        raise InputError(f"{where}queries must each be given once, under a name of their own")
    try:
        return WatchSettings.model_validate(found | given | {"queries": every})
    except ValidationError as error:
        names = [query["name"] for query in every]
        raise InputError(where + first_fault(error, "docs/prometheus.md", names)) from error
