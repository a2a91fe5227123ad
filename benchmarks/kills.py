"""What is left when saving is killed, or done by several processes at once.

    python benchmarks/kills.py --output benchmarks/reports/kills.csv

Two versions of a model, or of what `detect` writes, replace each other again and again. Each time
the writer is a process of its own, and is killed (SIGKILL): before a line of the modules that
write, drawn at random, or at a moment drawn at random. Then what lies under the name must be the
old version or the new one, whole. Savers that run at once, with readers, must meet no error.
"""

from __future__ import annotations

import argparse
import csv
import logging
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

import subadjacent
from subadjacent.detectors.registry import load
from subadjacent.durable import read_whole
from subadjacent.rivals.pca import PCADetector

POINTS = ("line", "moment")
ROWS, CHANNELS = 240, 3
# modules that write: the writer is killed before a line of theirs
WRITING = ("durable.py", "detectors/folder.py", "workflow/writing.py")
FILES = {str(Path(subadjacent.__file__).parent / name) for name in WRITING}

Work = Callable[[], object]


class Counts(NamedTuple):
    """One line of the table; of ``tries`` writers or readings, what was found afterwards."""

    what: str
    tries: int
    killed: int
    old: int
    new: int
    none: int
    mixed: int
    errors: int
    left_overs: int


def forked(work: Work, *, delay: float | None = None) -> int:
    """The exit status of a process that does the work, killed after ``delay`` seconds if given."""
    pid = os.fork()
    if not pid:
        try:
            work()
        except BaseException as error:
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            os._exit(1)
        os._exit(0)
    if delay is not None:
        time.sleep(delay)
        os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


def until_line(work: Work, limit: int) -> int:
    """Do the work, and kill this process before line ``limit`` of the modules that write.

    Gives the number of lines, where it is not reached.
    """
    lines = 0

    def in_module(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal lines
        if event == "line":
            lines += 1
            if lines == limit:
                os.kill(os.getpid(), signal.SIGKILL)
        return in_module

    def anywhere(frame: FrameType, _event: str, _argument: Any) -> Any:
        return in_module if frame.f_code.co_filename in FILES else None

    sys.settrace(anywhere)
    try:
        work()
    finally:
        sys.settrace(None)
    return lines


def lines_of(work: Work) -> int:
    """How many lines of the modules that write the work takes."""
    reading, writing = os.pipe()
    forked(lambda: os.write(writing, str(until_line(work, 0)).encode()))
    os.close(writing)
    with open(reading) as found:  # noqa: PTH123 — a handle has no path
        return int(found.read())


def kill_again_and_again(
    write: Callable[[int], object],
    version: Callable[[], int | None],
    place: Path,
    *,
    tries: int,
    by: str,
    rng: random.Random,
) -> Counter[str]:
    """Let versions 0 and 1 replace each other, each time by a process that is killed.

    ``write`` writes a version, and ``version`` says which one is there whole; -1 stands for a mix.
    """
    found: Counter[str] = Counter()
    forked(lambda: write(0))
    lines, took = 0, 0.0
    if by == "line":
        lines = lines_of(lambda: write(0))
    else:
        started = time.perf_counter()
        forked(lambda: write(0))
        took = time.perf_counter() - started
    for _ in range(tries):
        old = version()
        new = 1 - (old or 0)
        if by == "line":
            limit = rng.randint(1, lines)
            status = forked(lambda new=new, limit=limit: until_line(lambda: write(new), limit))
        else:
            status = forked(lambda new=new: write(new), delay=rng.uniform(0, took))
        found["killed"] += os.WIFSIGNALED(status)
        found["errors"] += os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0
        now = version()
        found[{None: "none", -1: "mixed", old: "old", new: "new"}[now]] += 1
    found["errors"] += forked(lambda: write(0)) != 0
    found["left_overs"] = sum(one.name.startswith(".") for one in place.parent.iterdir())
    return found


def rows_of(version: int) -> np.ndarray:
    """Different rows for each version, with something to find in each."""
    time_ = np.arange(ROWS)[:, None]
    rows = np.sin(time_ / np.arange(3, 3 + CHANNELS)) + 1_000 * version
    rows[200 + 10 * version] += 50
    return rows


def models() -> list[PCADetector]:
    """Two models that differ in every file."""
    fitted = [PCADetector(smoothing=1 + number).fit(rows_of(number)) for number in (0, 1)]
    for number, detector in enumerate(fitted):
        detector.threshold_ = float(number)
    return fitted


def model_version(folder: Path) -> int | None:
    """Which of the two models lies there; -1 where its files are not of one."""
    try:
        detector = load(folder)
    except FileNotFoundError:
        return None
    center = float(np.mean(detector.models_.pooled.state().arrays["center"]))
    found = {detector.smoothing - 1, round(detector.threshold_), round(center / 1_000)}
    return found.pop() if len(found) == 1 else -1


def detect_into(folder: Path, source: Path, version: int) -> None:
    """What the command does; the first version has figures too."""
    from subadjacent.data.files import open_files
    from subadjacent.workflow.detect import detect

    detector = PCADetector(smoothing=1 + version)
    rows = open_files([str(source)])
    detect(detector, rows, folder, title=f"version {version}", png=not version)


def output_version(folder: Path, references: Sequence[Path]) -> int | None:
    """Which run all the files are of; -1 where they are of two."""
    return read_whole(folder, partial(_output_version, references))


def _output_version(references: Sequence[Path], folder: Path) -> int | None:
    if not folder.exists():
        return None
    found = set()
    for number, reference in enumerate(references):
        same = {one.name for one in folder.iterdir()} == {one.name for one in reference.iterdir()}
        for name in ("scores.csv", "alarms.csv"):
            same = same and (folder / name).read_bytes() == (reference / name).read_bytes()
        same = same and f"version {number}" in (folder / "report.html").read_text()
        if same and load(folder / "model").smoothing == 1 + number:
            found.add(number)
    return found.pop() if len(found) == 1 else -1


def kills_of_save(folder: Path, tries: int, by: str, rng: random.Random) -> Counter[str]:
    """Kill `save` over an older model."""
    both = models()
    place = folder / "model"
    return kill_again_and_again(
        lambda version: both[version].save(place),
        lambda: model_version(place),
        place,
        tries=tries,
        by=by,
        rng=rng,
    )


class Detected:
    """What `detect` makes of both versions of the rows when nobody kills it."""

    def __init__(self, folder: Path) -> None:
        self.sources = [folder / f"{number}.csv" for number in (0, 1)]
        self.references = [folder / f"reference-{number}" for number in (0, 1)]
        for number, (source, reference) in enumerate(
            zip(self.sources, self.references, strict=True)
        ):
            np.savetxt(source, rows_of(number), "%.6f", ",", header="a,b,c", comments="")
            # polars must not be used in this process: those that it forks could not use it
            forked(partial(detect_into, reference, source, number))

    def kills(self, folder: Path, tries: int, by: str, rng: random.Random) -> Counter[str]:
        """Kill `detect` over an older folder."""
        place = folder / "out"
        return kill_again_and_again(
            lambda version: detect_into(place, self.sources[version], version),
            lambda: output_version(place, self.references),
            place,
            tries=tries,
            by=by,
            rng=rng,
        )


def at_once(folder: Path, savers: int, saves: int, readers: int) -> Counter[str]:
    """Save from several processes at once, while others read until all have ended."""
    both, place, done = models(), folder / "model", folder / "done"
    both[0].save(place)

    def save(number: int) -> None:
        for turn in range(saves):
            both[(number + turn) % 2].save(place)

    def read(tally: Path) -> None:
        found: Counter[Any] = Counter()
        while not found or not done.exists():
            try:
                found[model_version(place)] += 1
            except Exception as error:
                sys.stderr.write(f"{type(error).__name__}: {error}\n")
                found["errors"] += 1
        tally.write_text(",".join(str(found[name]) for name in (0, 1, None, -1, "errors")))

    tallies = [folder / f"reader-{number}" for number in range(readers)]
    works: list[Work] = [lambda number=number: save(number) for number in range(savers)]
    saving = [_start(work) for work in works]
    reading = [_start(lambda tally=tally: read(tally)) for tally in tallies]
    failed = sum(os.waitpid(pid, 0)[1] != 0 for pid in saving)
    done.touch()
    failed += sum(os.waitpid(pid, 0)[1] != 0 for pid in reading)
    counts = np.sum([list(map(int, tally.read_text().split(","))) for tally in tallies], axis=0)
    found = Counter(dict(zip(("old", "new", "none", "mixed", "errors"), counts, strict=True)))
    found["errors"] += failed
    found["left_overs"] = sum(one.name.startswith(".") for one in folder.iterdir())
    return found


def _start(work: Work) -> int:
    pid = os.fork()
    if not pid:
        os._exit(forked(work) != 0)
    return pid


def measure(options: argparse.Namespace) -> list[Counts]:
    """All parts."""
    with tempfile.TemporaryDirectory() as folder:
        return _measure(options, Detected(Path(folder)))


def _measure(options: argparse.Namespace, detected: Detected) -> list[Counts]:
    found = []
    for what, part, tries in (
        ("save", kills_of_save, options.saves),
        ("detect", detected.kills, options.detects),
    ):
        for by in POINTS:
            with tempfile.TemporaryDirectory() as folder:
                rng = random.Random(f"{options.seed} {what} {by}")
                counts = part(Path(folder), tries, by, rng)
            found.append(_line(f"{what}, killed at a {by}", tries, counts))
    with tempfile.TemporaryDirectory() as folder:
        each = options.saves // options.savers
        counts = at_once(Path(folder), options.savers, each, options.readers)
    readings = sum(counts[name] for name in ("old", "new", "none", "mixed"))
    found.append(_line(f"readings, {options.savers} savers at once", readings, counts))
    return found


def _line(what: str, tries: int, counts: Counter[str]) -> Counts:
    return Counts(what, tries, *(int(counts[name]) for name in Counts._fields[2:]))


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--saves", type=int, default=300, help="kills of save, at each point")
    parser.add_argument("--detects", type=int, default=50, help="kills of detect, at each point")
    parser.add_argument("--savers", type=int, default=3, help="processes that save at once")
    parser.add_argument("--readers", type=int, default=2, help="processes that read meanwhile")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, help="CSV file to write")
    options = parser.parse_args()
    # what is said of the rows is of no interest here
    logging.disable()
    lines = measure(options)
    with options.output.open("w", newline="") if options.output else sys.stdout as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(Counts._fields)
        writer.writerows(lines)


if __name__ == "__main__":
    main()
