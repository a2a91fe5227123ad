"""The command's own parts: which rows to fit on, what is shown, what goes wrong."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import typer

from running import GENEROUS
from subadjacent.cli import main
from subadjacent.cli.progress import Bar
from subadjacent.cli.wording import errors_about, missing_package
from subadjacent.data.missing import RAISE_FILL_LIMIT
from subadjacent.detectors.seen import NAME_ENTITIES
from subadjacent.errors import InputError
from subadjacent.runtime import Progress


def test_a_bar_shows_on_a_terminal_after_two_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with Bar("fitting", quiet=False) as bar:
        bar.watch(Progress("fitting", 1, 8, "entities"))
        assert bar._bar is None
        now[0] = 3.0
        bar.watch(Progress("fitting", 2, 8, "entities"))
        bar.watch(Progress("training", 3, 4, "steps", "epoch 1 of at most 2"))
    shown = capsys.readouterr().err
    assert "training" in shown
    assert "75% of 4 steps, epoch 1 of at most 2" in shown


def test_a_bar_shows_names_as_they_are_and_safe_and_goes_on_without_a_total(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("subadjacent.cli.progress.PATIENCE", 0)
    with Bar("fitting", quiet=False) as bar:
        bar.update(1, 2, "[red]\x9b", what="[bold]\x07")
    shown = capsys.readouterr().err
    assert "[bold]\\x07" in shown
    assert "[red]\\x9b" in shown
    assert "\x9b" not in shown
    with Bar("fitting", quiet=False) as bar:
        bar.watch(Progress("drawing", 0, 0, ""))
        assert bar._timer is not None
        bar._timer.join(GENEROUS)
    assert "drawing" in capsys.readouterr().err


def test_errors_of_the_library_are_said_of_the_file() -> None:
    of = InputError.of
    for error, shown in (
        (
            of("X['b']", "must be finite", "b is nan", RAISE_FILL_LIMIT),
            (
                "a.csv, b.csv['b'] must be finite; b is nan: "
                "leave the column out (--ignore), or raise fill_limit in a --config file"
            ),
        ),
        (
            of("X", "must name its entity", remedy=NAME_ENTITIES),
            "a.csv, b.csv must name its entity: name their column with --entity",
        ),
        (
            of("times of X", "must increase", "2 after 3", "sort them"),
            "times of a.csv, b.csv must increase; 2 after 3: sort them",
        ),
        (of("window", "must be 1", "got 2"), "window must be 1; got 2"),
        (of("MaX", "must be 1", "got 2"), "MaX must be 1; got 2"),
        (of("until", "must be 1", "got 2"), "--train-until must be 1; got 2"),
        (
            of("a.csv, line 2,", "must be one", "'x'", "give time_format='%Y' or 3"),
            "a.csv, line 2, must be one; 'x': give --time-format '%Y' or 3",
        ),
        (of("time_format", "must have a year"), "--time-format must have a year"),
        (InputError("fit needs more rows"), "fit needs more rows"),
    ):
        with pytest.raises(InputError) as caught, errors_about(["a.csv", "b.csv"]):
            raise error
        assert str(caught.value) == shown


def test_a_package_that_is_missing_is_named_with_its_extra() -> None:
    for package, said in (
        ("torch", "this needs torch: pip install 'subadjacent[network]'"),
        ("matplotlib.figure", "this needs matplotlib: pip install 'subadjacent[plot]'"),
        ("nonsense", "No module named 'nonsense' (--debug shows where)"),
    ):
        error = ModuleNotFoundError(f"No module named {package!r}", name=package)
        assert missing_package(error) == said


def raising(error: BaseException) -> Any:
    def app(*_: Any, **__: Any) -> None:
        raise error

    return app


def test_every_error_is_one_sentence_and_an_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["subadjacent"])
    errors: tuple[tuple[BaseException, int, str], ...] = (
        (InputError("x must be y"), 1, "error: x must be y"),
        (OSError(28, "No space left on device", "a.csv"), 1, "error: a.csv: No space left"),
        (ModuleNotFoundError("no", name="torch"), 1, "error: this needs torch: pip install"),
        (ZeroDivisionError("by zero"), 1, "error: ZeroDivisionError: by zero (--debug"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (typer.Abort(), 130, "interrupted"),
        (typer.BadParameter("no such thing"), 2, "no such thing"),
        (InputError("x" * 2_001), 1, f"error: {'x' * 2_000} … (1 characters more)\n"),
        (InputError("x" * 2_000), 1, f"error: {'x' * 2_000}\n"),
    )
    for error, code, said in errors:
        with pytest.raises(SystemExit) as caught:
            main.run(raising(error))
        assert caught.value.code == code
        assert said in capsys.readouterr().err


def test_debug_shows_the_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["subadjacent", "--debug"])
    with pytest.raises(SystemExit) as caught:
        main.run(raising(ZeroDivisionError("by zero")))
    assert caught.value.code == 1
    said = capsys.readouterr().err
    assert said.startswith("Traceback")
    assert said.rstrip().endswith("ZeroDivisionError: by zero")


def remark(text: str, *, at: float, level: int = logging.WARNING) -> logging.LogRecord:
    record = logging.LogRecord("part", level, "file.py", 1, "%s is odd", (text,), None)
    record.created = at
    return record


def test_a_remark_comes_once_or_again_after_a_while_and_errors_always() -> None:
    once, lasting = main.Once(), main.Once(again_after=60)
    for at, again in ((0, True), (59, False), (60, True), (61, False), (120, True)):
        assert lasting.filter(remark("a", at=at)) == again
        assert once.filter(remark(str(at), at=at)) == (at == 0)
        assert once.filter(remark("a", at=at, level=logging.ERROR))
