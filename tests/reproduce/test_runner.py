"""The runner makes what is missing, goes on after a failure, and notices a dead process."""

from __future__ import annotations

import multiprocessing
from dataclasses import replace
from pathlib import Path

import pytest

from reproduce.results import Results
from reproduce.run import CLEAN, PUBLISHED, Run
from reproduce.runner import RunContext, RunEvent, make
from subadjacent.errors import InputError

RANDOM = Run("nips-ts", "random", PUBLISHED, quick=True)
RUNS = [
    RANDOM,
    replace(RANDOM, seed=1),
    replace(RANDOM, protocol=CLEAN),
    replace(RANDOM, detector="magnitude", protocol=CLEAN),
    replace(RANDOM, detector="sub-adjacent"),
]
HERE = RunContext(device="cpu")
# what depends on the moment
TIMED = {"seconds", "fit_seconds", "score_seconds"}


def rows(folder: Path, runs: list[Run]) -> list[dict[str, str]]:
    results = Results(folder)
    found = [results.get(run) or {} for run in runs]
    return [{name: one for name, one in row.items() if name not in TIMED} for row in found]


def test_what_is_missing_is_made_once_and_what_is_there_is_not(tmp_path: Path) -> None:
    results, steps = Results(tmp_path), list[RunEvent]()
    assert make([*RUNS, *RUNS], results, HERE, steps.append) == []
    assert [step.begun for step in steps] == [True, False] * len(RUNS)
    assert [step.done for step in steps if not step.begun] == [1, 2, 3, 4, 5]
    assert all(run in Results(tmp_path) for run in RUNS)
    again = list[RunEvent]()
    assert make(RUNS, Results(tmp_path), HERE, again.append) == []
    assert again == []
    more = replace(RANDOM, seed=5)
    assert results.missing([*RUNS, more]) == [more]
    # a row says on what and how long it was made
    row = Results(tmp_path).get(RANDOM) or {}
    assert (row["hardware"], row["data"]) == ("CPU", "0bf42b48d3d8bcd3")
    assert float(row["seconds"]) > 0


def test_runs_that_fail_are_reported_and_the_others_go_on(tmp_path: Path) -> None:
    absent = Run("smd", "random", PUBLISHED, quick=True)
    wrong = replace(RANDOM, detector="sub-adjacent", settings=(("windows", 5),))
    # an error of our own, which is no InputError
    nonsense = replace(wrong, settings=(("window", "wide"),))
    place = replace(HERE, root=str(tmp_path / "no-data"))
    results = Results(tmp_path / "rows")
    failed = make([absent, wrong, nonsense, RANDOM], results, place)
    assert [step.run for step in failed] == [absent, wrong, nonsense]
    assert failed[0].error.startswith("DataNotFound: SMD is not in")
    assert failed[1].error.startswith("InputError: settings of the published protocol")
    assert RANDOM in results
    assert len(Results(tmp_path / "rows")) == 1


def test_rows_that_were_made_before_an_interruption_are_kept(tmp_path: Path) -> None:
    def stop(step: RunEvent) -> None:
        if step.done == 2 and not step.begun:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(RUNS, Results(tmp_path), HERE, stop)
    assert len(Results(tmp_path)) == 2


def test_two_processes_give_the_rows_of_one(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    # a fit of an earlier test may have left processes for the next one
    others = multiprocessing.active_children()
    assert make(RUNS, Results(one), HERE) == []
    assert make(RUNS, Results(two), replace(HERE, jobs=2)) == []
    assert rows(one, RUNS) == rows(two, RUNS)
    assert all(rows(one, RUNS))
    assert set(multiprocessing.active_children()) <= set(others)


def test_processes_that_die_fail_their_own_runs_and_the_rest_is_reported_too(
    tmp_path: Path,
) -> None:
    # more epochs than anyone waits for, in three families of which two can be under way
    first, second, third = (
        replace(RANDOM, detector="sub-adjacent", settings=(("epochs", 10**6 + number),))
        for number in range(3)
    )
    beside_first = replace(first, seed=1)
    seen = set()
    others = set(multiprocessing.active_children())

    def kill(step: RunEvent) -> None:
        seen.add((step.run, step.begun))
        if {(first, True), (second, True), (RANDOM, False)} <= seen:
            for child in set(multiprocessing.active_children()) - others:
                child.kill()

    results = Results(tmp_path)
    wanted = [RANDOM, first, beside_first, second, third]
    failed = make(wanted, results, replace(HERE, jobs=2), kill)
    died = "the process that was to make it died (exit code -9)"
    assert {step.run: step.error for step in failed} == {
        first: died, beside_first: died, second: died, third: "no process is left to make it"
    }  # fmt: skip
    assert RANDOM in results
    assert failed[-1].done == failed[-1].total == 5


def test_no_process_at_all_is_refused() -> None:
    with pytest.raises(InputError, match="jobs must be a whole number of at least 1; got 0"):
        RunContext(jobs=0)
