"""The real process is killed in the middle of a load: nothing that was answered is lost.

What comes after is compared with a service that was never disturbed.
"""

from __future__ import annotations

import os
import signal
import threading
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from live_service import LiveService, alike, as_csv, children_of, live, rows_of, until, with_a_jump
from running import runner

SERIES = 4
AT_ONCE = 7
"""Rows of a request; a snapshot is due in the middle of one."""


def rows_for(number: int) -> list[dict[str, Any]]:
    # one of them is in an alarm at every moment that matters
    rows = with_a_jump(calm=300 + 20 * number, jump=30, after=80)
    return rows[:400]


def push_all(service: LiveService, number: int, answers: list[dict[str, Any]]) -> None:
    """Push in order; what was not acknowledged is sent again, as a client does."""
    rows = rows_for(number)
    for start in range(0, len(rows), AT_ONCE):
        part = rows[start : start + AT_ONCE]
        while True:
            try:
                taken = service.push(f"s{number}", part)
            except (OSError, HTTPException):
                # the process may end between the head and the body of an answer
                until(lambda: service.process.poll() is None)
                continue
            assert taken["late"] == 0
            answers += taken["answers"]
            break


def has_come(answers: list[dict[str, Any]], count: float) -> bool:
    return len(answers) >= count


def all_told(service: LiveService) -> dict[str, Any]:
    """Everything a client can read, but for what depends on the clock or on the order of series."""
    told: dict[str, Any] = {}
    for number in range(SERIES):
        alarms = service.get(f"/api/alarms?series=s{number}")["alarms"]
        series = service.get(f"/api/series/s{number}")
        told[f"s{number}"] = [
            service.get(f"/api/series/s{number}/history?limit=1000"),
            [{**alarm, "id": None} for alarm in alarms],
            {**series, "open_alarm": series["open_alarm"] is not None},
        ]
    return told


@pytest.mark.parametrize(
    "shares", [(0.6,), pytest.param((0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9), marks=pytest.mark.sweep)]
)
def test_nothing_that_was_answered_is_lost_when_the_process_is_killed(
    tmp_path: Path, shares: tuple[float, ...]
) -> None:
    answers: dict[str, list[list[dict[str, Any]]]] = {"undisturbed": [], "killed": []}
    told = {}
    for kind, found in answers.items():
        with live(tmp_path / kind) as service:
            found += [[] for _ in range(SERIES)]
            threads = [
                threading.Thread(target=push_all, args=(service, number, found[number]))
                for number in range(SERIES)
            ]
            for thread in threads:
                thread.start()
            if kind == "killed":
                for share in shares:
                    until(partial(has_come, found[0], share * 400))
                    service.kill()
                    service.start()
            for thread in threads:
                thread.join()
            told[kind] = all_told(service)
    assert alike(told["killed"], told["undisturbed"])
    for killed, undisturbed in zip(answers["killed"], answers["undisturbed"], strict=True):
        rows = {answer["row"]: answer for answer in killed}
        # a row that was kept but not acknowledged is a duplicate when it comes again
        for answer in undisturbed:
            if answer["row"] in rows:
                found = rows[answer["row"]]
                assert alike({**found, "alarm": None}, {**answer, "alarm": None})
        assert len(rows) >= len(undisturbed) - len(shares) * AT_ONCE
    assert any(alarms for _, alarms, _ in told["killed"].values())


def test_what_people_said_survives_a_kill(tmp_path: Path) -> None:
    with live(tmp_path) as service:
        service.push("pump", with_a_jump())
        first, *_ = service.get("/api/alarms")["alarms"]
        service.post(f"/api/alarms/{first['id']}/acknowledge", {"note": "seen"})
        service.post(f"/api/alarms/{first['id']}/normal")
        muted = service.post("/api/series/pump/mute", {"for": "1 day"})
        service.kill()
        service.start()
        again = service.get(f"/api/alarms/{first['id']}")
        assert (again["acknowledged"], again["note"], again["normal"]) == (True, "seen", True)
        assert service.get("/api/series/pump") == muted


@pytest.mark.sweep
def test_a_stream_goes_on_after_a_switch_of_models_and_a_kill(tmp_path: Path) -> None:
    rows = rows_of(700)
    found = []
    for kill in (False, True):
        with live(tmp_path / str(kill)) as service:
            service.push("pump", rows[:300])
            job = service.fit("model", as_csv(rows[:600]))
            assert job["state"] == "done"
            service.ask("PUT", "/api/series/pump/model", {"model": "model"})
            service.push("pump", rows[300:400])
            if kill:
                service.kill()
                service.start()
            found.append(service.push("pump", rows[400:500])["answers"])
            assert service.get("/api/series/pump")["model"] == "model"
            assert service.get("/api/series/model")["rows"] == 600
            service.ask("PUT", "/api/series/pump/model", {"model": None})
            if kill:
                service.kill()
                service.start()
            found.append(service.push("pump", rows[500:510])["answers"])
    assert alike(found[:2], found[2:])
    assert found[0][0]["score"] is not None
    assert found[1][0]["score"] is None


def test_a_fit_that_was_killed_has_failed(tmp_path: Path) -> None:
    with live(tmp_path) as service:
        service.ask("POST", "/api/models?name=m", as_csv(rows_of(20_000)), "text/csv")
        until(lambda: service.get("/api/jobs/1")["step"] != "waiting")
        service.kill()
        service.start()
        job = service.get("/api/jobs/1")
        assert (job["state"], job["model"]) == ("failed", None)
        assert "send the file again" in job["error"]
        assert list((tmp_path / "uploads").iterdir()) == []


def test_a_service_that_is_ended_starts_where_it_was(tmp_path: Path) -> None:
    rows = with_a_jump()
    with (
        live(tmp_path / "ended", start_new_session=True) as service,
        live(tmp_path / "other") as other,
    ):
        service.push("pump", rows[:405])
        other.push("pump", rows[:405])
        # as Ctrl-C does: to all processes that a terminal has in front
        os.killpg(service.process.pid, signal.SIGINT)
        assert service.close() == "interrupted; nothing was half-written\n"
        service.start()
        assert alike(service.push("pump", rows[405:]), other.push("pump", rows[405:]))


def test_two_services_do_not_share_a_folder(tmp_path: Path) -> None:
    with live(tmp_path) as service:
        service.push("pump", rows_of(1))
        done = runner(tmp_path)("serve", "--listen", "127.0.0.1:0", "--data", tmp_path, code=1)
        assert "must be a folder that no other service uses" in done.stderr
        assert service.get("/health")


def test_when_the_process_that_scores_is_killed_answers_go_on_as_before(tmp_path: Path) -> None:
    rows = with_a_jump(calm=150, jump=10, after=40)
    found = []
    for kill in (False, True):
        with live(tmp_path / str(kill)) as service:
            service.push("pump", rows[:155])
            if kill:
                (scores,) = children_of(service)
                os.kill(scores, signal.SIGKILL)
                answer = service.ask("POST", "/api/series/pump/rows", {"rows": rows[155:]})
                assert answer.status == 503
                assert answer.headers["retry-after"] == "1"
                assert "send this again" in answer.json["error"]
            found.append(service.push("pump", rows[155:]))
    assert alike(found[0], found[1])


def test_a_folder_that_replicas_shared_is_refused_and_says_how_to_get_the_series_back(
    tmp_path: Path,
) -> None:
    (tmp_path / "replica-1").mkdir()
    (tmp_path / "replica-1" / "service.sqlite").touch()
    done = runner(tmp_path)("serve", "--listen", "127.0.0.1:0", "--data", tmp_path, code=1)
    assert "start subadjacent 0.2 once without --replicas" in done.stderr
