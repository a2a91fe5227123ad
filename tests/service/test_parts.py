"""The parts that need no process: times, bodies, tokens, settings, thinning, sentences."""

from __future__ import annotations

import errno
import gzip
import io
import json
import sqlite3
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from subadjacent.errors import DataNotFound, InputError, ModelFileError
from subadjacent.service.body_limits import OTHER_LINES
from subadjacent.service.database import connect, connect_reader
from subadjacent.service.models import Models
from subadjacent.service.problems import Refusal, describe_error, refusal_of
from subadjacent.service.request_body import (
    CSV,
    JSON,
    LINES,
    PARQUET,
    RowBatch,
    check_name,
    check_series_name,
    read_rows,
)
from subadjacent.service.row_store import thin
from subadjacent.service.settings import Settings, read_settings
from subadjacent.service.times import (
    TimeKind,
    check_ahead,
    for_stream,
    from_stream,
    read_time,
    show_time,
)
from subadjacent.service.tokens import TokenFile, read_tokens


@pytest.fixture
def read(tmp_path: Path) -> Iterator[Callable[..., RowBatch]]:
    """Reads a body; nothing of it stays on the disk."""

    def read(
        body: str | bytes, kind: str = JSON, *, max_rows: int = 61, max_columns: int = 99
    ) -> RowBatch:
        text = body.encode() if isinstance(body, str) else body
        return read_rows(text, kind, max_rows=max_rows, max_columns=max_columns, folder=tmp_path)

    yield read
    assert list(tmp_path.iterdir()) == []


def test_a_time_is_read_passed_on_and_shown() -> None:
    for value, seconds, kind, shown in (
        (3, 3.0, TimeKind.number, 3.0),
        (1_767_225_600, 1_767_225_600.0, TimeKind.utc, "2026-01-01T00:00:00Z"),
        (1_767_225_600_500, 1_767_225_600.5, TimeKind.utc, "2026-01-01T00:00:00.500000Z"),
        ("2026-01-01T01:00:00+01:00", 1_767_225_600.0, TimeKind.utc, "2026-01-01T00:00:00Z"),
        ("2026-01-01", 1_767_225_600.0, TimeKind.local, "2026-01-01T00:00:00"),
    ):
        assert read_time(value) == (seconds, kind)
        passed = for_stream([seconds], kind)
        assert passed is not None
        assert from_stream(passed[0]) == seconds
        assert show_time(seconds, kind) == shown
    assert for_stream([], TimeKind.none) is None
    assert from_stream(None) is None
    assert show_time(None, TimeKind.utc) is None
    for wrong in (None, True, "noon", float("nan"), 10**400, [], "9999-99-99"):
        with pytest.raises(InputError, match="time must be a finite number or an ISO 8601 text"):
            read_time(wrong)


def test_rows_are_put_in_order_and_missing_values_are_nan(read: Callable[..., RowBatch]) -> None:
    batch = read('[{"time": 2, "b": 1}, {"time": 1, "a": Infinity, "b": null}]', max_rows=2)
    assert (batch.times, batch.channels) == ([1.0, 2.0], ("b", "a"))
    np.testing.assert_array_equal(batch.values, [[np.nan, np.nan], [1.0, np.nan]])
    other = batch.of_channels(("a", "c", "b"))
    np.testing.assert_array_equal(other.values[1], [np.nan, np.nan, 1.0])
    assert batch.of_channels(("b",)).left_out == ("a",)
    with pytest.raises(InputError, match=r"must have channels of the series \(x\); got b, a"):
        batch.of_channels(("x",))


def test_a_file_of_two_entities_is_two_series(read: Callable[..., RowBatch]) -> None:
    with pytest.raises(InputError, match="the body must hold one series"):
        read("item_id,time,a\nx,1,2\ny,1,2\n", CSV)
    assert read("item_id,time,a\nx,1,2\nx,2,2\n", CSV).channels == ("a",)


@given(st.lists(st.floats(-1e6, 1e6) | st.just(np.nan), min_size=1, max_size=200))
def test_thinning_keeps_every_extreme(column: list[float]) -> None:
    values = np.column_stack([column, np.arange(len(column), dtype=float)])
    kept = thin(values, 20)
    assert kept == sorted(set(kept))
    assert {0, len(column) - 1} <= set(kept)
    assert len(kept) <= max(20, 5 * 4 + 2)
    known = values[~np.isnan(values[:, 0]), 0]
    if len(known):
        found = values[kept, 0]
        assert np.nanmin(found) == known.min()
        assert np.nanmax(found) == known.max()


def test_thinning_by_hand() -> None:
    values = np.array([[0.0], [5.0], [1.0], [1.0], [-3.0], [1.0], [1.0], [1.0]])
    assert thin(values, 4) == [0, 1, 4, 5, 7]
    assert thin(values, 8) == list(range(8))


def test_names_that_cannot_be_shown_or_told_apart_are_refused() -> None:
    check_name("a name", "x" * 200)
    for name in ("", "a/b", "a\nb", "x" * 201, "\u200b"):
        with pytest.raises(InputError, match="must be 1 to 200 visible characters"):
            check_name("a name", name)
    for name in (".", "..", " ", "pump ", " pump", "p\ufffdmp"):
        check_name("a name", name)
        with pytest.raises(InputError, match="UTF-8 and more than dots, without spaces at its end"):
            check_series_name(name)


def test_a_channel_may_be_named_after_its_unit_and_a_mark_before_text_is_no_part_of_it(
    read: Callable[..., RowBatch],
) -> None:
    for kind, text in (
        (JSON, '[{"time": 1, "speed m/s": 2.5}]'),
        (LINES, '{"time": 1, "speed m/s": 2.5}'),
        (CSV, "time,speed m/s\n1,2.5\n"),
    ):
        batch = read(b"\xef\xbb\xbf" + text.encode(), kind)
        assert (batch.channels, batch.values.tolist()) == (("speed m/s",), [[2.5]])


def test_a_row_that_names_a_channel_twice_is_refused(read: Callable[..., RowBatch]) -> None:
    for kind, text, sentence in (
        (
            JSON,
            '[{"a": 1}, {"a": 1, "a": 2}]',
            "the body must name every key of an object once; 'a'",
        ),
        (JSON, '[{"time": 1, "a": 1, "time": 2}]', "once; 'time' is there more than once"),
        (JSON, '[{"a": 1, "\\u0061": 2}]', "once; 'a' is there more than once"),
        (JSON, '{"rows": [{"a": 1}], "rows": [{"a": 2}]}', "once; 'rows' is there more than"),
        (LINES, '{"a": 1}\n\n{"a": 2, "b": 1, "a": 2}\n', "line 3 must name every key"),
        (LINES, '\n{"a": 1}\n\nno\n', "line 4 must be JSON"),
    ):
        with pytest.raises(InputError, match=sentence):
            read(text, kind)


def test_rows_that_are_too_wide_are_refused_before_they_are_spread_out(
    read: Callable[..., RowBatch],
) -> None:
    # missing values are cells
    sparse = json.dumps([{str(n): 1 for n in range(100)}, *[{"0": 1}] * 200_000])
    with pytest.raises(Refusal, match=r"20,000,000 values.*200,001 rows of 100") as refused:
        read(sparse, JSON, max_rows=10**6, max_columns=100)
    assert refused.value.status == 413
    frame = pl.DataFrame({f"c{n}": [1.0] for n in range(6)})
    parquet = io.BytesIO()
    frame.write_parquet(parquet)
    aligned = "\n".join("  ".join(f"{n}" for n in range(6)) for _ in range(3))
    for body, kind in (
        (frame.write_ndjson(), LINES),
        (frame.write_csv(), CSV),
        (frame.write_csv(separator=";"), CSV),
        (aligned, CSV),
        (parquet.getvalue(), PARQUET),
    ):
        with pytest.raises(Refusal, match="rows may have 5 columns; these have 6") as refused:
            read(body, kind, max_columns=5)
        assert refused.value.status == 413
        assert len(read(body, kind, max_columns=6))


def test_small_files_of_very_many_rows_are_refused_before_they_are_read(
    read: Callable[..., RowBatch],
) -> None:
    parquet = io.BytesIO()
    pl.select(pl.repeat(1.0, 300_000).alias("a")).write_parquet(parquet)
    packed = gzip.compress(b"a\n" + b"1\n" * 300_000)
    wide = gzip.compress(f"{','.join(map(str, range(200)))}\n".encode() * 2)
    for body, kind, sentence in (
        (parquet.getvalue(), PARQUET, "may hold 298,999 rows; this one has more"),
        (packed, CSV, "may hold 298,999 rows; this one has more"),
        (wide, CSV, "rows may have 199 columns; these have 200"),
    ):
        assert len(body) < 50_000
        tracemalloc.start()
        with pytest.raises(Refusal, match=sentence) as refused:
            read(body, kind, max_rows=299_999 - OTHER_LINES, max_columns=199)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert refused.value.status == 413
        assert most < 2_000_000


def test_a_file_of_tokens_that_is_none_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    for text, sentence in (
        ("", "must hold a token"),
        ("# only a remark\n", "must hold a token"),
        ("write short\n", "line 1 must be 'read TOKEN' or 'write TOKEN'"),
        (f"\nadmin {'x' * 20}\n", "line 2 must be"),
        (f"read {'x' * 20} y\n", "line 1 must be"),
    ):
        file.write_text(text)
        with pytest.raises(InputError, match=sentence) as error:
            read_tokens(file)
        # what may be a secret is not repeated
        assert "xxx" not in str(error.value)
        assert "short" not in str(error.value)


R, W = b"r" * 16, b"w" * 16


def test_a_token_allows_what_it_is_for(tmp_path: Path) -> None:
    TokenFile(None).check(None, writes=True)
    file = tmp_path / "tokens"
    # as short as one may be
    file.write_text(f"read {R.decode()}\n\nwrite {W.decode()}\n")
    tokens = TokenFile(file)
    tokens.check(b"Bearer " + R, writes=False)
    tokens.check(b"bearer  " + W + b" ", writes=False)
    tokens.check(b"Bearer " + W, writes=True)
    for header, writes, status, sentence in (
        (None, False, 401, "a token is needed"),
        (b"Bearer ", False, 401, "a token is needed"),
        (b"Basic " + R, False, 401, "a token is needed"),
        (b"Bearer " + R + b"x", False, 401, "the token is not known"),
        (b"Bearer " + R[:-1], False, 401, "the token is not known"),
        (b"Bearer " + W[:-1], True, 401, "the token is not known"),
        (b"Bearer " + R, True, 403, "the token is for reading"),
    ):
        with pytest.raises(Refusal, match=sentence) as caught:
            tokens.check(header, writes=writes)
        assert caught.value.status == status
    # of two lines with the same token the one that allows more holds, in either order
    for lines in (("read", "write"), ("write", "read")):
        file.write_text("".join(f"{right} {R.decode()}\n" for right in lines))
        TokenFile(file).check(b"Bearer " + R, writes=True)


def allowed(tokens: TokenFile) -> list[bytes]:
    found = []
    for token in (R, W):
        with suppress(Refusal):
            tokens.check(b"Bearer " + token, writes=False)
            found.append(token)
    return found


def test_tokens_are_replaced_while_it_runs_and_a_wrong_file_changes_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file, new = tmp_path / "tokens", tmp_path / "new"
    file.write_text(f"write {W.decode()}\n")
    tokens = TokenFile(file)
    assert allowed(tokens) == [W]
    file.write_text(f"write {W.decode()}\nread {R.decode()}\n")
    assert allowed(tokens) == [R, W]
    new.write_text(f"write {R.decode()}\n")
    new.replace(file)
    assert allowed(tokens) == [R]
    for wrong in ("", "write short\n"):
        file.write_text(wrong)
        assert allowed(tokens) == [R]
    file.unlink()
    assert allowed(tokens) == [R]
    assert "the tokens stay as they were" in caplog.text
    assert "short" not in caplog.text


def test_values_as_far_as_they_may_go(read: Callable[..., RowBatch]) -> None:
    def value(text: str) -> float:
        return float(read(f'[{{"a": {text}, "b": 1}}]').values[0, 0])

    assert (value("1e100"), value("-1e100")) == (1e100, -1e100)
    for large in ("2e100", "-2e100"):
        with pytest.raises(InputError, match=r"must not exceed 1e\+100 in magnitude"):
            value(large)
    # beyond all numbers is as good as missing, below and above
    assert np.isnan([value("1" + "0" * 400), value("-1" + "0" * 400)]).all()


def test_rows_at_the_same_time_stay_in_their_order(read: Callable[..., RowBatch]) -> None:
    rows = [{"time": 5, "a": -1.0}, *({"time": n % 2, "a": float(n)} for n in range(60))]
    batch = read(json.dumps(rows), "")
    expected = [*range(0, 60, 2), *range(1, 60, 2), -1]
    assert batch.values[:, 0].tolist() == expected


def test_times_of_tables_are_seconds(read: Callable[..., RowBatch]) -> None:
    for column, seconds, kind in (
        ([datetime(2026, 1, 1)], 1_767_225_600.0, TimeKind.local),
        ([datetime(2026, 1, 1, tzinfo=UTC)], 1_767_225_600.0, TimeKind.utc),
        ([7], 7.0, TimeKind.number),
    ):
        body = io.BytesIO()
        pl.DataFrame({"time": column, "a": [1.0]}).write_parquet(body)
        batch = read(body.getvalue(), PARQUET)
        assert (batch.times, batch.kind) == ([seconds], kind)


def test_an_address_is_of_this_machine_or_not() -> None:
    for listen, address, loopback in (
        ("127.0.0.1:80", ("127.0.0.1", 80), True),
        ("[::1]:0", ("::1", 0), True),
        ("localhost:9", ("localhost", 9), True),
        ("[::]:80", ("::", 80), False),
        ("example.org:80", ("example.org", 80), False),
    ):
        settings = Settings(listen=listen)
        assert (settings.address, settings.is_loopback) == (address, loopback)
    for listen in ("", "8080", ":8080", "host:", "host:x", "host:65536"):
        with pytest.raises(InputError, match="listen must be HOST:PORT"):
            _ = Settings(listen=listen).address


def test_settings_that_are_wrong_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    for text, sentence in (
        ("limits = 3", "limits must be a valid dictionary"),
        ("[limits]\nrow = 3", "limits.row is no setting"),
        ("[limits]\nrows = 0", "limits.rows must be greater"),
        ("[[webhooks]]\nurl = 'ftp://x'", "webhooks.0.url"),
        ("= 3", "must be TOML"),
    ):
        file.write_text(text)
        with pytest.raises(InputError, match=sentence):
            read_settings(file)


def test_options_win_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('listen = "127.0.0.1:1"\ndata = "x"\n[limits]\nrows = 7\n')
    settings = read_settings(file, listen="127.0.0.1:2", data=None)
    assert (settings.listen, settings.data, settings.limits.rows) == (
        "127.0.0.1:2", Path("x"), 7,
    )  # fmt: skip


def test_a_commit_waits_for_the_disk_and_readers_only_read(tmp_path: Path) -> None:
    # a kill of the process does not tell; only the end of the power would
    with closing(connect(tmp_path)) as tables, closing(connect_reader(tmp_path)) as reader:
        assert tuple(tables.execute("pragma synchronous").fetchone()) == (2,)
        assert tuple(tables.execute("pragma journal_mode").fetchone()) == ("wal",)
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader.execute("delete from rows")


def test_models_beyond_the_bound_are_refused_but_one_in_place_of_another_is_not(
    tmp_path: Path,
) -> None:
    with closing(connect(tmp_path)) as tables:
        tables.executemany(
            "insert into models (name, detector, channels, fitted_at) values (?, '', '[]', 0)",
            [("a",), ("b",)],
        )
        models = Models(tables, tmp_path / "models")
        # whoever looks while they are read anew sees all of them
        seen: list[int] = []
        tables.set_trace_callback(lambda _: seen.append(len(models)))
        models.read(tables)
        assert seen == [2]
    models.check_room("new", 3)
    models.check_room("a", 2)
    with pytest.raises(Refusal, match="there are 2 models already") as caught:
        models.check_room("new", 2)
    assert caught.value.status == 429


def test_tables_of_another_version_are_refused(tmp_path: Path) -> None:
    tables = connect(tmp_path)
    tables.execute("pragma user_version = 99")
    tables.close()
    with pytest.raises(ModelFileError, match="written by another version"):
        connect(tmp_path)


def disk_error(code: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("why")
    error.sqlite_errorcode = code
    return error


def test_every_error_has_a_status() -> None:
    for error, status in (
        (Refusal(418, "x"), 418),
        (InputError("x"), 422),
        (ModelFileError("x"), 422),
        (DataNotFound("x"), 404),
        (sqlite3.OperationalError("locked"), 503),
        (disk_error(sqlite3.SQLITE_FULL), 507),
        (disk_error(sqlite3.SQLITE_IOERR_WRITE), 507),
        (disk_error(sqlite3.SQLITE_BUSY), 503),
        (OSError(errno.ENOSPC, "No space left on device", "/data/body-1"), 507),
        (FileNotFoundError(errno.ENOENT, "No such file"), 500),
        (KeyError("x"), 500),
    ):
        refusal = refusal_of(error)
        assert refusal.status == status
        # no file of ours is named
        assert "/data" not in str(refusal)


def test_an_error_of_the_library_is_told_of_what_was_sent() -> None:
    error = InputError.of("times of X", "must be dates", "got numbers", "name another")
    assert (
        describe_error(error, "the file")
        == "times of the file must be dates; got numbers: name another"
    )
    assert describe_error(InputError("rows must be few"), "the file") == "rows must be few"


def test_dates_too_far_ahead_are_refused() -> None:
    now, ahead = 1_767_225_600.0, 2 * 86_400
    # somebody's clock may be ahead of UTC by so much, and say nothing of it
    zone = 14 * 3_600
    for seconds, kind in ((ahead, TimeKind.utc), (ahead + zone, TimeKind.local)):
        check_ahead([now, now + seconds], kind, 2.0, now)
        check_ahead([now, now + 1e9], TimeKind.number, 2.0, now)
        with pytest.raises(InputError, match="2 days ahead of the service's clock"):
            check_ahead([now, now + seconds + 1], kind, 2.0, now)
