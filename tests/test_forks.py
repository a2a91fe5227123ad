"""Forked processes: what they compute is what their parent would, and nothing hangs.

The parents are processes of their own: in this one other tests have started threads of all kinds.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from running import GENEROUS

# a process that forks another once it has worked, and shows what comes of it there
FORK = """
import logging, multiprocessing, os
import numpy as np
from subadjacent import SubAdjacentDetector, SubAdjacentTransformerDetector, multivariate

logging.disable()
plant = multivariate(n=400, channels=3)

def in_fork(work):
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()

    def answer():
        try:
            answers.put(work())
        except Exception as error:
            answers.put(f"{type(error).__name__}: {error}")

    child = context.Process(target=answer)
    child.start()
    child.join(%d)
    if child.is_alive():
        child.kill()
        raise SystemExit("the forked process hangs")
    return answers.get()
"""


def forking(script: str) -> str:
    code = FORK % (GENEROUS // 4) + textwrap.dedent(script)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=GENEROUS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "detector",
    [
        'SubAdjacentTransformerDetector(size="tiny", epochs=1, window=50, device="cpu")',
        "SubAdjacentDetector()",
    ],
)
def test_a_fork_scores_and_trains_as_its_parent_does(detector: str) -> None:
    pytest.importorskip("torch")
    said = forking(f"""
        import torch
        torch.set_num_threads(2)
        detector = {detector}.fit(plant.train)
        scores = detector.decision_function(plant.test)
        again = in_fork(lambda: detector.decision_function(plant.test))
        np.testing.assert_array_equal(again, scores)
        assert len(in_fork(lambda: {detector}.fit(plant.train).decision_scores_)) == 400
        print(in_fork(torch.get_num_threads), torch.get_num_threads())
    """)
    assert said.split() == ["1", "2"]


def test_a_fork_of_a_process_whose_other_threads_compute_does_not_wait_for_them() -> None:
    assert (
        forking("""
        from subadjacent import runtime
        with runtime._ONE_THREAD_EACH._lock:
            print(in_fork(lambda: len(SubAdjacentDetector().fit(plant.train).decision_scores_)))
    """)
        == "400\n"
    )


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_are_read_in_a_fork_or_refused_at_once(suffix: str, tmp_path: Path) -> None:
    said = forking(f"""
        import polars as pl
        from pathlib import Path
        from subadjacent.data.files import open_files

        file = Path({str(tmp_path)!r}) / "plant.{suffix}"
        frame = pl.DataFrame(plant.train, schema=["a", "b", "c"])
        in_fork(lambda: frame.write_{suffix}(file))
        read = lambda: len(open_files([str(file)]).whole())
        # nothing was done by polars here yet
        print(in_fork(read), read())
        rows = open_files([str(file)])
        for work in (
            read,
            lambda: len(rows.whole()),
            lambda: len(SubAdjacentDetector().fit(frame).decision_scores_),
        ):
            print(in_fork(work))
        print(in_fork(lambda: len(SubAdjacentDetector().fit(plant.train).decision_scores_)))
        # its process for Parquet is still there, although a fork of it has ended
        pid = os.fork()
        if not pid:
            raise SystemExit
        os.waitpid(pid, 0)
        print(read())
    """)
    counts, *refusals, arrays, again = said.splitlines()
    assert (counts, arrays, again) == ("400 400", "400", "400")
    assert len(refusals) == 3
    for refusal in refusals:
        assert refusal.startswith("SubAdjacentError: polars, which reads files and polars frames,")
        assert 'multiprocessing.get_context("spawn"), or hand them NumPy arrays' in refusal
