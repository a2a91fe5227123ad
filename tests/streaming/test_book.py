"""What is told of an alarm: once when it opens, then only what is news."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from live_plant import CHANNELS, plant
from subadjacent import InputError
from subadjacent.streaming.alarms import CLOSED, OPENED, UPDATED, Event, LiveAlarm, Notice
from subadjacent.streaming.book import REMEMBERED, AlarmBook
from subadjacent.streaming.recent import Recent, RecentRows


def spiked() -> Recent:
    """600 rows, with a jump of the third channel in the last but 10 of them."""
    values = plant(600)
    values[590:592, 2] += 50
    by_channel = np.where(np.abs(values) > 40, 2500.0, 1.0)
    none, rows = np.zeros(values.shape, bool), np.zeros(600, bool)
    recent = Recent(3)
    recent.add(RecentRows(values, by_channel, none, none, rows, rows), None)
    return recent


def tell(book: AlarmBook, row: int, what: str, severity: float = 2.0, **more: Any) -> Any:
    event = Event(590, min(row, 591), severity, number=len(book.alarms) or 1)
    return book.tell(Notice(row, what, event, **more), spiked(), None)


def test_an_alarm_says_what_happened_in_the_words_of_a_batch() -> None:
    book = AlarmBook(CHANNELS, "pump")
    alarm = tell(book, 590, OPENED)
    assert isinstance(alarm, LiveAlarm)
    assert (alarm.entity, alarm.first, alarm.kind) == ("pump", 590, "spike")
    assert alarm.sentence == alarm.causes[0].sentence
    assert alarm.sentence.startswith("speed jumped to ")
    assert [cause.at for cause in alarm.causes[:1]] == [590]
    assert book.alarms == [alarm]


def test_only_what_is_news_is_told_again() -> None:
    book = AlarmBook(CHANNELS, None)
    opened = tell(book, 590, OPENED)
    assert tell(book, 591, UPDATED, severity=3.9) is None
    assert book.alarms == [opened]
    assert tell(book, 592, UPDATED, severity=4.0).severity == 4.0
    closed = tell(book, 599, CLOSED, severity=4.0, for_good=True)
    assert (closed.state, closed.last, closed.for_good) == (CLOSED, 591, True)
    assert book.alarms == [closed]


def test_an_alarm_does_not_become_vaguer() -> None:
    book = AlarmBook(CHANNELS, None)
    opened = tell(book, 590, OPENED)
    quiet = spiked()
    for column in (quiet._room.values, quiet._room.by_channel):
        column[:600] = plant(600) if column is quiet._room.values else 1.0
    event = Event(590, 599, 2.0, number=1)
    closed = book.tell(Notice(599, CLOSED, event), quiet, None)
    assert closed is not None
    assert (closed.kind, closed.sentence) == (opened.kind, opened.sentence)


def test_what_is_usual_is_learned_before_each_alarm_or_known() -> None:
    book = AlarmBook(CHANNELS, None)
    tell(book, 590, OPENED)
    learned = book._learned
    assert learned is not None
    known = AlarmBook(CHANNELS, None, learned)
    assert tell(known, 590, OPENED).sentence == book.alarms[0].sentence
    assert known._learned is None
    again = AlarmBook(CHANNELS, None)
    again.restore(*book.state())
    assert again.alarms == book.alarms
    np.testing.assert_array_equal(again._learned.table, learned.table)


def test_the_last_hundred_are_remembered_and_found_by_number() -> None:
    book = AlarmBook(CHANNELS, None)
    for number in range(1, REMEMBERED + 3):
        event = Event(590, 590, 2.0, number=number)
        book.tell(Notice(590, OPENED, event), spiked(), None)
    assert len(book.alarms) == REMEMBERED
    assert book.find(3).number == 3
    with pytest.raises(InputError, match=r"\(3 to 102\); got 2"):
        book.find(2)
