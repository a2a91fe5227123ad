"""The library's warnings, held back until a person can read the most important ones."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


class HeldWarnings(logging.Filter):
    """A log filter that collects warnings, and with ``hold`` keeps them from being shown.

    Errors are shown as they come.
    """

    def __init__(self, *, hold: bool) -> None:
        super().__init__()
        self.hold = hold
        self.records: list[logging.LogRecord] = []
        self.messages: list[str] = []

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to show a record now."""
        if record.levelno != logging.WARNING:
            return True
        # once, however many handlers there are
        if record not in self.records:
            self.records.append(record)
            self.messages += record.getMessage().splitlines()
        return not self.hold


@contextmanager
def held_warnings(*, hold: bool) -> Iterator[list[str]]:
    """The warnings that are logged meanwhile; those held back are shown if the work fails."""
    handlers = logging.getLogger().handlers
    # with --debug every line is shown when it is logged
    held = HeldWarnings(hold=hold and not logging.getLogger().isEnabledFor(logging.DEBUG))
    for handler in handlers:
        handler.addFilter(held)
    try:
        yield held.messages
    except BaseException:
        for handler in handlers if held.hold else ():
            for record in held.records:
                handler.emit(record)
        raise
    finally:
        for handler in handlers:
            handler.removeFilter(held)
