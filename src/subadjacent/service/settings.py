"""Settings of the service: options and a TOML file; unknown names are refused."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, HttpUrl, ValidationError

from subadjacent.data.documents import read_toml
from subadjacent.errors import InputError

MIB = 1 << 20

Count = Annotated[int, Field(ge=1)]


class Section(BaseModel):
    """A part of the settings; it never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Limits(Section):
    """Limits of requests; beyond one the status is 413 or 429."""

    body_bytes: Count = 16 * MIB
    """Of a request with rows."""
    upload_bytes: Count = 256 * MIB
    """Of a file to fit a model on, or to score."""
    rows: Count = 5_000
    """In one request; they are scored in one go, and others wait meanwhile."""
    scored_rows: Count = 200_000
    """In one request to score a file; nothing of them is kept."""
    channels: Count = 500
    """Of one series."""
    series: Count = 2_000
    """In all; one of five channels holds 1 megabyte at first, 3 after some thousand rows."""
    models: Count = 100
    """In all; each is a folder."""
    queue: Count = 20_000
    """Rows that wait to be scored; two cores score that many in some seconds."""
    queue_seconds: Annotated[float, Field(gt=0)] = 20.0
    """That the first of them may wait; then no more are taken. Most clients wait for 30 s."""
    listeners: Count = 100
    """Clients that listen to events."""
    jobs: Count = 4
    """Fits that wait or run; one runs at a time."""
    connections: Count = 5_000
    """Open ones; those beyond are answered with 503."""
    days_ahead: Annotated[float, Field(gt=0)] = 1.0
    """That a row may be dated ahead of the service's clock."""
    seconds: Annotated[float, Field(gt=0)] = 30.0
    """That a client may take to send the body of a request."""


class Retention(Section):
    """How long history is kept: the newest ``rows`` of a series, none older than ``days``."""

    rows: Annotated[int, Field(ge=100)] | None = 100_000
    days: Annotated[float, Field(gt=0)] | None = None


class Webhook(Section):
    """An address that alarms are posted to when they open and close."""

    url: HttpUrl
    token: str | None = None
    """Sent as ``Authorization: Bearer``."""
    severity: float = 1.0
    """The least severity of an alarm that is sent."""


class Settings(Section):
    """All settings of the service."""

    listen: str = "127.0.0.1:8080"
    data: Path = Path("subadjacent-data")
    model: Path | None = None
    token_file: Path | None = None
    demo: bool = False
    read_only: bool = False
    """Refuse all but GET: for an address that others reach, without tokens."""
    limits: Limits = Limits()
    retention: Retention = Retention()
    webhooks: tuple[Webhook, ...] = ()

    @property
    def address(self) -> tuple[str, int]:
        """Host and port to listen on."""
        host, _, port = self.listen.rpartition(":")
        if not host or not port.isdigit() or int(port) > 65535:
            raise InputError.of(
                "listen", "must be HOST:PORT such as 127.0.0.1:8080", f"got {self.listen!r}"
            )
        return host.strip("[]"), int(port)

    @property
    def is_loopback(self) -> bool:
        """Whether only programs of this machine can reach it."""
        host = self.address[0]
        if host == "localhost":
            return True
        try:
            return ip_address(host).is_loopback
        except ValueError:
            return False

    def check(self) -> None:
        """Refuse to be reached by others without a token."""
        if not self.is_loopback and self.token_file is None and not self.read_only:
            raise InputError.of(
                "listen",
                "must be an address of this machine such as 127.0.0.1 where there are no tokens",
                f"got {self.listen!r}",
                "name a file of tokens with --token-file",
            )


def read_settings(path: Path | None, **options: object) -> Settings:
    """Settings of a TOML file; options that are not None win."""
    found = {} if path is None else read_toml(path)
    found |= {name: value for name, value in options.items() if value is not None}
    try:
        return Settings.model_validate(found)
    except ValidationError as error:
        where = "" if path is None else f"{path}: "
        raise InputError(where + first_fault(error, "docs/service.md")) from error


def first_fault(error: ValidationError, page: str, queries: Sequence[str] = ()) -> str:
    """The first wrong setting in one sentence; ``page`` lists the settings."""
    found = error.errors()[0]
    place = list(found["loc"])
    if place[:1] == ["queries"] and len(place) > 1:
        place[1] = queries[int(place[1])]
    named = ".".join(str(part) for part in place if not str(part).startswith("function-"))
    kind, message = found["type"], rule_of(found)
    if kind == "missing":
        return f"{named} must be given" + (" (--prometheus URL)" if named == "prometheus" else "")
    if kind == "extra_forbidden":
        return f"{named} is no setting; {page} lists them"
    if kind == "value_error" and isinstance(found["input"], dict):
        # of several settings together: the sentence names them
        return f"{named}.{message}".lstrip(".")
    # of a time or a rate, which has a name of its own there
    message = message.removeprefix("duration ").removeprefix("contamination ")
    shown = "got " not in message and "password" not in message
    came = f"; got {found['input']!r}" if shown else ""
    return f"{named} {message}{came}"


def rule_of(fault: Mapping[str, Any]) -> str:
    """The rule that a value breaks, in our words: it "must be" what pydantic says it should."""
    rule = str(fault["msg"]).removeprefix("Value error, ")
    return re.sub("^(Input|String|Tuple|Value) should ", "must ", rule)
