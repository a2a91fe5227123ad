"""What the command writes about the gallery's files stays as it was."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
from examples.gallery.case import SEED, Case
from examples.gallery.cases import CASES

from characterisation import adapter
from characterisation.records import Near, check
from running import runner

NEAR: Near = {"rtol": 2e-3, "atol": 5e-4}
EVERY = 40
"""Of so many rows of the scores, one is recorded."""


def test_the_command_writes_what_it_did(tmp_path: Path) -> None:
    document: dict[str, Any] = {}
    arrays: dict[str, np.ndarray] = {}
    for case in CASES:
        alarms, scores = _detect(case, tmp_path)
        document[case.name] = {
            "alarms": [{name: _number(text) for name, text in row.items()} for row in alarms],
            "columns": list(scores[0]),
            "rows": len(scores),
            "some": [
                [text for name, text in row.items() if name not in ("score", "normalized_score")]
                for row in scores[:: EVERY * 10]
            ],
        }
        arrays[f"{case.name}/score"] = np.array([float(row["score"]) for row in scores[::EVERY]])
        arrays[f"{case.name}/severity"] = np.array(
            [float(row["normalized_score"]) for row in scores[::EVERY]]
        )
        arrays[f"{case.name}/anomalous"] = np.packbits([row["anomalous"] == "1" for row in scores])
    check("command", NEAR, document, arrays)


def _detect(case: Case, folder: Path) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """The rows of the two tables, under recorded names."""
    drawn = case.draw(SEED)
    (folder / case.file).write_text(drawn.text, encoding=drawn.encoding)
    done = runner(folder)("detect", case.file, *case.options, "--quiet", "--format", "csv")
    found = folder / f"{case.name}-anomalies"
    assert sorted(path.name for path in found.iterdir()) == [
        "alarms.csv",
        "model",
        "report.html",
        "scores.csv",
    ]
    alarms = (found / "alarms.csv").read_text(encoding="utf-8")
    assert done.stdout == alarms
    return _rows(alarms), _rows((found / "scores.csv").read_text(encoding="utf-8"))


def _rows(text: str) -> list[dict[str, str]]:
    return [
        {adapter.recorded_name(name): value for name, value in row.items()}
        for row in csv.DictReader(io.StringIO(text))
    ]


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
