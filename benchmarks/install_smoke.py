"""Whether an installed package works: library, command, service or networks.

    python benchmarks/install_smoke.py library command service

Imports nothing but what is installed: copy it anywhere, and run it with the interpreter in
question. Prints a line for each part that works; the first that does not ends it with an error.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import Request, urlopen

ROWS = 600
"""Of the made-up series: enough for a fit, and soon done."""

COMMAND = Path(sysconfig.get_path("scripts")) / "subadjacent"


def library(folder: Path) -> None:
    """Fit, score, alarms, save and load, streams, in arrays: needs no extra."""
    import numpy as np

    import subadjacent
    from subadjacent import (
        PCADetector,
        StreamScorer,
        SubAdjacentDetector,
        SubPCADetector,
        multivariate,
    )

    plant = multivariate(n=ROWS, channels=3, seed=1)
    for detector in (SubAdjacentDetector(), SubPCADetector(), PCADetector()):
        detector.fit(plant.train)
        scores = detector.decision_function(plant.test)
        detector.save(folder / "model")
        loaded = subadjacent.load(folder / "model")
        np.testing.assert_array_equal(loaded.decision_function(plant.test), scores)
        assert loaded.alarms(plant.test) == detector.alarms(plant.test)
        assert scores[plant.labels == 1].mean() > scores[plant.labels == 0].mean()
    # row by row as all together, to the last digit: NumPy 1 and 2 round differently
    causal = SubAdjacentDetector(lookahead=0).fit(plant.train)
    stream = causal.stream()
    scores = [answer.score for row in plant.test for answer in stream.score_one(row)]
    np.testing.assert_array_equal(scores, causal.decision_function(plant.test))
    scorer = StreamScorer()
    answers = [answer for row in plant.train[:100] for answer in scorer.score_one(row)]
    assert len(answers) >= 100


def command(folder: Path) -> None:
    """Generate and detect from CSV, which writes a model and the report; score Parquet."""
    table, lake, out = folder / "plant.csv", folder / "plant.parquet", folder / "found"
    run("generate", "plant", "--rows", ROWS, "--output", table)
    alarms = run("detect", table, "--output", out).splitlines()
    assert alarms
    assert all(json.loads(alarm)["causes"] for alarm in alarms)
    assert "<html" in (out / "report.html").read_text(encoding="utf-8")
    run("generate", "plant", "--rows", ROWS, "--output", lake)
    scores = run("score", out / "model", lake).splitlines()
    # of the same rows: the same scores, from either kind of file
    assert [float(line.split(",")[1]) for line in scores[1:]] == [
        float(line.split(",")[1]) for line in (out / "scores.csv").read_text().splitlines()[1:]
    ]
    assert len(scores) == ROWS + 1
    assert run("--version").startswith("subadjacent ")


def service(folder: Path) -> None:
    """The service starts, takes rows, shows its page, and ends when it is told to."""
    words = (COMMAND, "serve", "--listen", "127.0.0.1:0", "--data", folder / "data")
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        said = ""
        while not (found := re.search(r"http://\S+", said)):
            line = process.stderr.readline()
            assert line, f"it ended before it listened: {said}"
            said += line
        asked(found[0])
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate()
    assert process.returncode in (0, 128 + signal.SIGTERM), process.returncode


def asked(address: str) -> None:
    """What a running service answers."""
    address = address.rstrip("/")
    assert get(f"{address}/health")
    assert b"<html" in get(f"{address}/")
    rows = [{"time": f"2026-01-31T12:{minute:02}:00Z", "flow": minute} for minute in range(50)]
    body = json.dumps({"rows": rows}).encode()
    sent = {"Content-Type": "application/json"}
    answer = json.loads(get(Request(f"{address}/api/series/pump/rows", body, sent)))
    assert answer["taken"] == len(rows), answer
    assert b"anomaly_score" in get(f"{address}/metrics")


def network(folder: Path) -> None:
    """Networks are trained, saved and loaded: needs the extra ``network``."""
    import numpy as np

    import subadjacent
    from subadjacent import SubAdjacentTransformerDetector, multivariate

    plant = multivariate(n=ROWS, channels=3, seed=1)
    detector = SubAdjacentTransformerDetector(size="tiny", stride=4, epochs=1).fit(plant.train)
    detector.save(folder / "model")
    loaded = subadjacent.load(folder / "model")
    expected = detector.decision_function(plant.test)
    np.testing.assert_allclose(loaded.decision_function(plant.test), expected, rtol=1e-5)


PARTS: dict[str, Callable[[Path], None]] = {
    part.__name__: part for part in (library, command, service, network)
}


def get(request: str | Request) -> bytes:
    with urlopen(request, timeout=600) as answer:
        body: bytes = answer.read()
    return body


def run(*words: object) -> str:
    """The command's output; it must end well and say nothing that is not asked for."""
    done = subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr, done.stderr
    return done.stdout


def main(parts: Sequence[str] | None = None) -> None:
    for name in sys.argv[1:] if parts is None else parts:
        with TemporaryDirectory(prefix="subadjacent-smoke-") as folder:
            PARTS[name](Path(folder))
        print(f"{name} works")


if __name__ == "__main__":
    main()
