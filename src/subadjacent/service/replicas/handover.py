"""Series go to the replicas that they belong to, with all that is known of them.

Done while no replica works. A series is copied in one transaction and deleted in the next: where
that was cut short, it is at both places and the same at both, for nobody took rows meanwhile, and
the next time only deletes it. Every replica has every model.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from subadjacent.detectors.folder import CONFIG, WEIGHTS
from subadjacent.errors import InputError
from subadjacent.service.replicas.placing import LOCK, alone_in, home, homes, owner
from subadjacent.service.schema import FILE, connect
from subadjacent.service.watched import REPLAYED_AT_ONCE

OF_SERIES = ("rows", "alarms", "snapshots")
"""Tables with a column ``series``."""

KEY = "(select id from source.series where name = ?)"


def hand_over(folder: Path, count: int) -> int:
    """Have every series where it belongs among so many replicas; how many were moved."""
    before = homes(folder)
    if count == 1 and set(before) <= {0} and not (folder / LOCK).exists():
        return 0
    wanted = {replica: home(folder, replica) for replica in range(count)}
    places = before | wanted
    with ExitStack() as stack:
        for place in places.values():
            stack.enter_context(alone_in(place))
            connect(place).close()
        _agree_on_models(list(places.values()))
        moved = sum(
            _move(source, wanted[to], name)
            for replica, source in before.items()
            for name in _names(source)
            if (to := owner(name, count)) != replica
        )
        for replica, place in before.items():
            if replica not in wanted:
                _leave_the_rest(place, folder)
                _delete(place)
    return moved


def _names(place: Path) -> list[str]:
    with closing(connect(place)) as tables:
        return [name for (name,) in tables.execute("select name from series order by id")]


def _move(source: Path, target: Path, name: str) -> int:
    with closing(connect(target)) as tables:
        tables.execute("attach ? as source", (str(source / FILE),))
        if not _has_copy(tables, name, source):
            with _transaction(tables):
                _copy(tables, name)
        with _transaction(tables):
            for table in OF_SERIES:
                tables.execute(f"delete from source.{table} where series = {KEY}", (name,))
            tables.execute("delete from source.series where name = ?", (name,))
    return 1


def _has_copy(tables: sqlite3.Connection, name: str, source: Path) -> bool:
    """Whether a series was copied before this was cut short."""
    known = "select rows, last_time, first_row, first_number from {}.series where name = ?"
    here, there = (_one(tables, known.format(place), name) for place in ("main", "source"))
    if here is not None and here != there:
        raise InputError.of(
            "data",
            "must have every series once",
            f"{name!r} is in {source} and in another replica's folder, with other rows",
            "delete it in one of them with a service of that folder alone",
        )
    return here is not None


def _copy(tables: sqlite3.Connection, name: str) -> None:
    columns = [column for column in _columns(tables, "series") if column not in ("id", "model")]
    model = _one(
        tables,
        "select main.models.id from source.series "
        "join source.models on source.models.id = source.series.model "
        "join main.models on main.models.name = source.models.name where source.series.name = ?",
        name,
    )
    listed = ", ".join(columns)
    (key,) = tables.execute(
        f"insert into main.series ({listed}, model) "
        f"select {listed}, ? from source.series where name = ? returning id",
        (None if model is None else model[0], name),
    ).fetchone()
    for table in OF_SERIES:
        columns = [column for column in _columns(tables, table) if column != "series"]
        listed = ", ".join(columns)
        tables.execute(
            f"insert into main.{table} (series, {listed}) select ?, {listed} from source.{table} "
            f"where series = {KEY}",
            (key, name),
        )


def _leave_the_rest(source: Path, target: Path) -> None:
    """Give what is not of a series to another; what was given before is not given again."""
    with closing(connect(target)) as tables:
        tables.execute("attach ? as source", (str(source / FILE),))
        with _transaction(tables):
            jobs = ", ".join(_columns(tables, "jobs"))
            tables.execute(
                f"insert or ignore into main.jobs ({jobs}) select {jobs} from source.jobs"
            )
            tables.execute(
                "insert into main.outbox (address, body) "
                "select address, body from source.outbox order by id"
            )


def _delete(place: Path) -> None:
    # under another name first: what is deleted in part must not be taken for a replica's
    gone = place.with_name(f".{place.name}.gone")
    shutil.rmtree(gone, ignore_errors=True)
    place.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


class _Model(NamedTuple):
    fitted_at: float
    place: Path
    key: int
    columns: dict[str, Any]

    @property
    def folder(self) -> Path:
        return self.place / "models" / str(self.key)


def _agree_on_models(places: list[Path]) -> None:
    """Where replicas differ in the model of a name, for one was killed, the newest one is it."""
    newest: dict[str, _Model] = {}
    for place in places:
        for model in _models(place):
            known = newest.get(name := model.columns["name"])
            if known is None or known.fitted_at < model.fitted_at:
                newest[name] = model
    for model in sorted(newest.values(), key=lambda one: one.fitted_at):
        for place in places:
            own = {one.columns["name"]: one for one in _models(place)}.get(model.columns["name"])
            if own is None or not _same(own, model):
                _enter(place, model, own)


def _models(place: Path) -> list[_Model]:
    with closing(connect(place)) as tables:
        columns = [column for column in _columns(tables, "models") if column != "id"]
        found = tables.execute(f"select id, {', '.join(columns)} from models").fetchall()
    named = [(key, dict(zip(columns, values, strict=True))) for key, *values in found]
    return [_Model(values["fitted_at"], place, key, values) for key, values in named]


def _same(one: _Model, other: _Model) -> bool:
    return one.place == other.place or all(
        (one.folder / file).read_bytes() == (other.folder / file).read_bytes()
        for file in (CONFIG, WEIGHTS)
    )


def _enter(place: Path, model: _Model, older: _Model | None) -> None:
    with closing(connect(place)) as tables, _transaction(tables):
        if older is not None:
            tables.execute("update models set name = '/' || id where id = ?", (older.key,))
        names = ", ".join(model.columns)
        (key,) = tables.execute(
            f"insert into models ({names}) values ({', '.join('?' * len(model.columns))}) "
            "returning id",
            tuple(model.columns.values()),
        ).fetchone()
        own = model._replace(place=place, key=key)
        shutil.rmtree(own.folder, ignore_errors=True)
        shutil.copytree(model.folder, own.folder)
        if older is not None:
            _judge_anew(tables, older.key, own)
            tables.execute("delete from models where id = ?", (older.key,))


def _judge_anew(tables: sqlite3.Connection, older: int, model: _Model) -> None:
    """Series of a model that was replaced begin anew with the one in its place, as they would live.

    Their streams are made from the latest rows when the first new one comes.
    """
    found = tables.execute("select id, channels from series where model = ?", (older,)).fetchall()
    for key, channels in found:
        fits = set(json.loads(channels)) == set(json.loads(model.columns["channels"]))
        tables.execute("update alarms set state = 'closed' where series = ?", (key,))
        tables.execute("delete from snapshots where series = ?", (key,))
        oldest = "select min(row) from rows where rows.series = series.id"
        newest = "select max(number) from alarms where alarms.series = series.id"
        tables.execute(
            f"update series set model = ?, open_alarm = null, "
            f"first_row = max(rows - ?, coalesce(({oldest}), rows)), "
            f"first_number = coalesce(({newest}), 0) where id = ?",
            (model.key if fits else None, REPLAYED_AT_ONCE, key),
        )


@contextmanager
def _transaction(tables: sqlite3.Connection) -> Iterator[None]:
    """All or nothing: a connection that is closed without ``commit`` takes back what it did."""
    tables.execute("begin immediate")
    yield
    tables.execute("commit")


def _columns(tables: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in tables.execute(f"pragma main.table_info({table})")]


def _one(tables: sqlite3.Connection, question: str, name: str) -> tuple[Any, ...] | None:
    found: tuple[Any, ...] | None = tables.execute(question, (name,)).fetchone()
    return found
