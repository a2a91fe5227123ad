"""The contract of every route, asked of a real process."""

from __future__ import annotations

import io
import json
import socket
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl

from live_service import (
    CHANNELS,
    LiveService,
    as_csv,
    rows_of,
    until,
    with_a_jump,
    without_keys,
)
from subadjacent.service.database import connect_reader


def test_every_format_gives_the_same_answers(service: LiveService) -> None:
    rows = rows_of(30)
    parquet = io.BytesIO()
    pl.DataFrame(rows).write_parquet(parquet)
    lines = "\n".join(map(json.dumps, rows)).encode()
    bodies = {
        "json": (json.dumps({"rows": rows}).encode(), "application/json; charset=utf-8"),
        "list": (json.dumps(rows).encode(), "application/json"),
        "lines": (lines, "application/x-ndjson"),
        "csv": (as_csv(rows), "text/csv"),
        "parquet": (parquet.getvalue(), "application/vnd.apache.parquet"),
    }
    found = []
    for name, (body, kind) in bodies.items():
        answer = service.ask("POST", f"/api/series/format-{name}/rows", body, kind)
        assert answer.status == 200, answer
        found.append(without_keys(answer.json["answers"]))
    assert all(one == found[0] for one in found)
    assert len(found[0]) == 30


def test_late_and_duplicate_rows_are_counted_and_left_out(service: LiveService) -> None:
    rows = rows_of(10)
    service.push("order", [rows[0], *rows[2:8:2]])
    again = service.push("order", [rows[0], rows[1], rows[2], rows[6], rows[9], rows[8]])
    assert (again["taken"], again["late"], again["duplicates"]) == (2, 1, 3)
    # every row that came before is known again
    service.push("again", [{"time": 2 * time, "a": 1.0} for time in range(40)])
    found = service.push("again", [{"time": time, "a": 1.0} for time in range(79)])
    assert (found["taken"], found["late"], found["duplicates"]) == (0, 39, 40)
    # within a request, rows are put in order
    assert service.get("/api/series/order/history")["times"][-2:] == [
        rows[8]["time"],
        rows[9]["time"],
    ]


def test_columns_that_are_no_channels_are_named_and_left_out(service: LiveService) -> None:
    first = service.push("columns", [{"time": 1, "a": 1.0, "label": 1}])
    assert first["left_out"] == ["label"]
    later = service.push("columns", [{"time": 2, "a": 1.0, "b": 3.0}])
    assert later["left_out"] == ["b"]
    assert service.get("/api/series/columns")["channels"] == ["a"]


def test_rows_without_times_are_counted(service: LiveService) -> None:
    for name, value in (("first", 1.0), ("second", 2.0)):
        taken = service.push("counted", [{"a": value}])
        assert taken["answers"][0]["row"] == (0 if name == "first" else 1)
    assert service.get("/api/series/counted")["last_time"] is None
    assert service.get("/api/series/counted/history")["times"] == [None, None]


def test_an_alarm_opens_closes_is_acknowledged_and_marked_as_normal(service: LiveService) -> None:
    rows = with_a_jump()
    taken = service.push("jump", rows[:410])
    (opened,) = {one["alarm"] for one in taken["answers"] if one["row"] >= 400 and one["alarm"]}
    found = service.get("/api/series/jump")
    assert (found["state"], found["open_alarm"]) == ("alarm", opened)
    assert service.get("/api/series")["series"][0]["state"] == "alarm"
    alarm = service.get(f"/api/alarms/{opened}")
    assert (alarm["state"], alarm["series"], alarm["acknowledged"]) == ("open", "jump", False)
    assert alarm["first"] == 400
    assert alarm["start"] == rows[400]["time"]
    assert alarm["severity"] > 1
    assert {cause["channel"] for cause in alarm["causes"]} == set(CHANNELS)
    assert alarm["sentence"]
    seen = service.post(f"/api/alarms/{opened}/acknowledge", {"note": "valve"})
    assert (seen["acknowledged"], seen["note"], seen["normal"]) == (True, "valve", False)
    service.push("jump", rows[410:])
    assert service.get("/api/series/jump")["state"] in ("calm", "learning")
    closed = service.get("/api/alarms?series=jump&state=closed")["alarms"]
    assert opened in [one["id"] for one in closed]
    assert service.get("/api/alarms?series=jump&state=open")["alarms"] == []
    normal = service.post(f"/api/alarms/{opened}/normal")
    assert (normal["normal"], normal["acknowledged"], normal["note"]) == (True, True, "valve")
    everything = service.get("/api/alarms?limit=1000")["alarms"]
    assert [one["id"] for one in everything] == sorted(
        (one["id"] for one in everything), reverse=True
    )
    before = service.get(f"/api/alarms?before={opened}")["alarms"]
    assert all(one["id"] < opened for one in before)


def test_an_open_alarm_that_is_normal_is_closed(service: LiveService) -> None:
    taken = service.push("accepted", with_a_jump()[:405])
    key = service.get("/api/series/accepted")["open_alarm"]
    assert key in [answer["alarm"] for answer in taken["answers"]]
    normal = service.post(f"/api/alarms/{key}/normal")
    assert (normal["state"], normal["permanent"]) == ("closed", True)
    assert service.get("/api/series/accepted")["open_alarm"] is None


def test_an_older_alarm_that_is_normal_leaves_the_open_one_open(service: LiveService) -> None:
    first = [*rows_of(300), *rows_of(3, first=300, jump=4.0), *rows_of(100, first=303)]
    rows = [*first, *rows_of(5, first=403, jump=40.0)]
    # channels of their own, which no model of another test knows
    service.push("twice", [{"one": row["pressure"], "two": row["flow"]} for row in rows])
    opened = service.get("/api/series/twice")["open_alarm"]
    (older, *_) = service.get("/api/alarms?series=twice&state=closed")["alarms"]
    assert service.get(f"/api/alarms/{opened}")["first"] == 403
    assert service.post(f"/api/alarms/{older['id']}/normal")["normal"]
    found = service.get("/api/series/twice")
    assert (found["state"], found["open_alarm"]) == ("alarm", opened)


def test_a_muted_series_says_so_until_it_is_not(service: LiveService) -> None:
    service.push("muted", rows_of(3))
    found = service.post("/api/series/muted/mute", {"for": "1h"})
    assert found["state"] == "muted"
    assert found["muted_until"].endswith("Z")
    assert service.get("/api/series")["series"][-1]["name"] == "muted"
    found = service.post("/api/series/muted/mute", {"for": None})
    assert found["state"] != "muted"
    assert found["muted_until"] is None


def test_nothing_of_a_deleted_series_stays_in_the_tables(service: LiveService) -> None:
    assert service.folder is not None
    service.push("erased", with_a_jump(calm=150, jump=5, after=5))
    with closing(connect_reader(service.folder)) as tables:
        (key,) = tables.execute("select id from series where name = 'erased'").fetchone()

        def kept() -> list[int]:
            of_series = "select count(*) from {} where series = ?"
            tables_of_series = ("rows", "alarms", "snapshots")
            found = (tables.execute(of_series.format(one), (key,)) for one in tables_of_series)
            return [count for ((count,),) in found]

        assert all(kept())
        assert service.ask("DELETE", "/api/series/erased").status == 204
        assert kept() == [0, 0, 0]


def test_a_deleted_series_is_gone_and_can_come_again(service: LiveService) -> None:
    service.push("gone", rows_of(3))
    connection, file = listen(service, "?series=gone")
    with connection, file:
        assert service.ask("DELETE", "/api/series/gone").status == 204
        while file.readline() != b"event: deleted\n":
            pass
        assert json.loads(file.readline().removeprefix(b"data: ")) == {"name": "gone"}
    assert service.ask("GET", "/api/series/gone").status == 404
    assert service.push("gone", rows_of(2))["answers"][0]["row"] == 0
    assert service.get("/api/series/gone/history")["rows"] == [0, 1]


def test_history_is_paged_and_thinned_without_losing_a_peak(service: LiveService) -> None:
    rows = rows_of(1_000)
    rows[500]["flow"] = 77.0
    service.push("long", rows)
    page = service.get("/api/series/long/history?before=600&limit=200")
    assert page["rows"] == list(range(400, 600))
    thin = service.get("/api/series/long/history?limit=1000&points=60")
    assert len(thin["rows"]) <= 70
    assert (thin["rows"][0], thin["rows"][-1]) == (0, 999)
    assert max(thin["values"]["flow"]) == 77.0
    assert {len(column) for column in (thin["times"], thin["severity"], thin["anomalous"])} == {
        len(thin["rows"])
    }


def test_a_file_is_fitted_scored_and_its_alarms_appear(service: LiveService) -> None:
    rows = [*rows_of(800), *rows_of(20, first=800, jump=40.0), *rows_of(80, first=820)]
    refused = service.ask("POST", "/api/models?name=x", b"{}", "application/x-ndjson")
    assert refused.status == 415
    # what is taken elsewhere is not said to be taken here
    assert refused.json["error"] == (
        "Content-Type must be text/csv or application/vnd.apache.parquet; "
        "got 'application/x-ndjson'"
    )
    job = service.fit("fitted", as_csv(rows))
    assert (job["state"], job["model"], job["error"]) == ("done", "fitted", None)
    listed = service.get("/api/models")
    (model,) = [one for one in listed["models"] if one["name"] == "fitted"]
    assert (model["channels"], model["rows"]) == (list(CHANNELS), 450)
    assert job in listed["jobs"]
    series = service.get("/api/series/fitted")
    assert (series["model"], series["rows"]) == ("fitted", 900)
    assert any(
        795 <= alarm["first"] <= 805 for alarm in service.get("/api/alarms?series=fitted")["alarms"]
    )
    scored = service.ask("POST", "/api/score?model=fitted", as_csv(rows), "text/csv").json
    assert len(scored["scores"]) == len(scored["severity"]) == len(scored["times"]) == 900
    assert scored["anomalous"][810]
    assert scored["alarms"][0]["causes"]
    # a series of the same channels uses it, whatever their order
    turned = [{"flow": row["flow"], "pressure": row["pressure"]} for row in rows[:5]]
    service.push("alike", turned)
    assert service.get("/api/series/alike")["model"] == "fitted"
    assert service.get("/api/series/alike/history")["values"]["flow"] == [
        row["flow"] for row in rows[:5]
    ]
    switched = service.ask("PUT", "/api/series/alike/model", {"model": None})
    assert switched.json["model"] is None
    assert service.ask("PUT", "/api/series/alike/model", {"model": "none"}).status == 404
    service.push("other", [{"a": 1.0}])
    refused = service.ask("PUT", "/api/series/other/model", {"model": "fitted"})
    assert refused.status == 422
    assert "must have the channels of the series" in refused.json["error"]


def test_a_file_that_cannot_be_fitted_fails_with_a_sentence(service: LiveService) -> None:
    job = service.fit("broken", b"a,b\n1,x\n2,y\n")
    assert job["state"] == "failed"
    assert "the file" in job["error"]
    assert "/" not in job["error"].replace("N/A", "")
    assert service.ask("GET", "/api/jobs/999").status == 404


def listen(service: LiveService, query: str = "") -> Any:
    """A connection that listens to events."""
    connection = socket.create_connection(("127.0.0.1", service.port))
    connection.sendall(f"GET /api/events{query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    file = connection.makefile("rb")
    while b": listening" not in file.readline():
        pass
    return connection, file


def test_listeners_are_told_what_happens(service: LiveService) -> None:
    connection, file = listen(service, "?series=told")
    with connection, file:
        service.push("not-told", rows_of(1))
        row = rows_of(1)[0]
        service.push("told", [row])
        events: dict[str, Any] = {}
        while len(events) < 2:
            line = file.readline().decode()
            if line.startswith("event: "):
                events[line[7:].strip()] = json.loads(file.readline().decode()[6:])
    assert events["answer"]["series"] == events["series"]["name"] == "told"
    assert events["answer"]["values"] == {name: row[name] for name in CHANNELS}
    assert (events["answer"]["row"], events["answer"]["time"]) == (0, row["time"])
    assert set(events["answer"]["expected"]) == set(CHANNELS)
    until(lambda: b"subadjacent_listeners 0.0" in service.ask("GET", "/metrics").body)


def test_requests_and_rows_are_counted_and_what_clients_make_up_is_no_label(
    service: LiveService,
) -> None:
    service.push("measured", rows_of(20))
    assert service.ask("PATCH", "/api/series").status == 405
    assert service.ask("GET", "/teapot").status == 404
    text = service.ask("GET", "/metrics").body.decode()
    for line in (
        'subadjacent_rows_total{result="taken"}',
        'anomaly_channel_score{channel="flow",series="measured"}',
        'route="/api/series/{name}/rows",status="2xx"',
        'method="other",route="/api/series",status="4xx"',
        'method="GET",route="other",status="4xx"',
    ):
        assert line in text
    assert "PATCH" not in text
    assert "teapot" not in text


def test_whoever_looks_whether_it_lives_may_ask_for_the_head_alone(service: LiveService) -> None:
    for path in ("/", "/health", "/ready", "/openapi.json", "/page/main.js"):
        whole, head = service.ask("GET", path), service.ask("HEAD", path)
        assert (head.status, head.body) == (200, b"")
        assert head.headers["content-length"] == whole.headers["content-length"]
    assert service.ask("HEAD", "/api/series").status == 405


def test_answers_carry_a_strict_policy(service: LiveService) -> None:
    headers = service.ask("GET", "/health").headers
    assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
    assert headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in headers


def test_what_cannot_be_met_is_refused_with_a_sentence(service: LiveService) -> None:
    mute = "/api/series/none/mute"
    for method, path, body, status, sentence in (
        ("GET", "/nothing", None, 404, "there is nothing at '/nothing': GET /openapi.json says"),
        ("GET", "/page/..%2Fapp.py", None, 404, "there is nothing at '/page/../app.py'"),
        ("GET", "/api/series/a%2Fb", None, 404, "there is nothing at '/api/series/a/b'"),
        ("PATCH", "/api/series", None, 405, "PATCH is not answered at '/api/series'"),
        ("GET", "/api/series/none", None, 404, "there is no series 'none'"),
        ("GET", "/api/series/none/history", None, 404, "there is no series"),
        ("DELETE", "/api/series/none", None, 404, "there is no series"),
        ("POST", mute, {"for": "1h"}, 404, "there is no series"),
        ("POST", mute, {"for": "soon"}, 422, "for must be a time"),
        ("POST", mute, {"for": "367 days"}, 422, "must be a year at most"),
        ("POST", mute, {}, 422, "for is missing"),
        ("POST", mute, {"for": None, "by": 1}, 422, "by is not known here"),
        ("POST", mute, b"{", 422, "the body must be JSON; "),
        ("POST", mute, [], 422, "the body must be a JSON object, sent with Content-Type: app"),
        ("GET", "/api/alarms/77777", None, 404, "there is no alarm 77777"),
        ("POST", "/api/alarms/77777/acknowledge", None, 404, "there is no alarm 77777"),
        ("POST", "/api/alarms/77777/normal", None, 404, "there is no alarm 77777"),
        ("GET", "/api/alarms?series=none", None, 404, "there is no series"),
        ("GET", "/api/alarms?state=odd", None, 422, "state must be 'open', 'closed' or"),
        ("GET", "/api/alarms/0", None, 422, "key must be greater than or equal to 1; got '0'"),
        ("POST", "/api/score?model=none", {"rows": [{"a": 1}]}, 404, "there is no model 'none'"),
    ):
        answer = service.ask(method, path, body)
        assert (answer.status, set(answer.json)) == (status, {"error"})
        assert sentence in answer.json["error"]
    form = "application/x-www-form-urlencoded"
    answer = service.ask("POST", mute, {"for": "1h"}, form)
    wanted = "the body must be a JSON object, sent with Content-Type: application/json"
    assert (answer.status, answer.json["error"]) == (422, wanted)


def test_rows_that_are_none_are_refused_and_nothing_is_kept(service: LiveService) -> None:
    for body, sentence in (
        (b"", "must be JSON"),
        (b"\xff\xfe garbage \x00", "must be JSON"),
        (b"[" * 100_000, "must be JSON"),
        (b"12", "must be a list of rows"),
        (b'{"rows": 3}', "must be a list of rows"),
        (b'["a"]', "must be a list of rows"),
        (b"[]", "rows must be at least one"),
        (b'[{"time": 1}]', "must have a channel beside the time"),
        (b'[{"time": true, "a": 1}]', "time must be a finite number or an ISO 8601 text"),
        (b'[{"time": 1, "a": 1}, {"a": 1}]', "must have a time each, or none"),
        (b'[{"time": 1, "ts": 1, "a": 1}]', "must have one time"),
        (b'[{"time": 1, "a": 1}, {"time": "2026-01-01", "a": 1}]', "must be of one kind"),
        (b'[{"time": "0001-01-01T00:00:00+14:00", "a": 1}]', "must be a date between the years"),
        (b'[{"time": "9999-12-31T23:59:59.999999", "a": 1}]', "must be a date between the years"),
        (b'[{"time": 1e300, "a": 1}]', "times must not exceed 1e+100 in magnitude"),
        (b'[{"a": "high"}]', "channel 'a' must hold numbers, or null; got 'high'"),
        (b'[{"a": true}]', "must hold numbers"),
        (b'[{"a\\n": 1}]', "must be 1 to 200 visible characters"),
    ):
        answer = service.ask("POST", "/api/series/refused/rows", body)
        assert (answer.status, set(answer.json)) == (422, {"error"})
        assert sentence in answer.json["error"]
    assert service.ask("GET", "/api/series/refused").status == 404


def test_times_of_a_series_stay_of_one_kind(service: LiveService) -> None:
    service.push("kinds", [{"time": "2026-01-01T00:00:00", "a": 1.0}])
    assert service.get("/api/series/kinds")["last_time"] == "2026-01-01T00:00:00"
    for row in ({"time": 1, "a": 1.0}, {"time": "2026-01-02T00:00:00Z", "a": 1.0}, {"a": 1.0}):
        answer = service.ask("POST", "/api/series/kinds/rows", [row])
        assert answer.status == 422
        assert "must be of one kind in a series" in answer.json["error"]


def test_a_clock_that_jumped_ahead_does_not_make_all_rows_late(service: LiveService) -> None:
    now = datetime.now(UTC)
    times = [(now + timedelta(seconds=second)).isoformat() for second in (-2, -1, 86_400 * 300, 0)]
    answers = [
        service.ask("POST", "/api/series/jumped/rows", [{"time": time, "a": 1.0}]) for time in times
    ]
    assert [answer.status for answer in answers] == [200, 200, 422, 200]
    assert "put the sender's clock right" in answers[2].json["error"]
    assert service.get("/api/series/jumped")["rows"] == 3
