"""What pages say of the paper's method and protocol is what the code does."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

from reproduce.benchmarks import SOURCES
from reproduce.methods import METHODS
from reproduce.protocols import published, unadjusted
from reproduce.protocols.scaling import RULES
from reproduce.run import PUBLISHED, Run
from subadjacent.detectors.registry import REGISTRY, create

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def nearest_settings() -> tuple[str, dict[str, Any]]:
    """Class and arguments of the detector that the page on maths calls nearest to the paper."""
    page = (DOCS / "maths.md").read_text(encoding="utf-8")
    after = page[page.index("The settings nearest to the paper") :]
    code = after[after.index("```python\n") + len("```python\n") : after.index("\n```\n")]
    (call,) = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call))
    assert isinstance(call.func, ast.Name)
    return call.func.id, {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}


def test_the_nearest_detector_is_the_one_that_tables_run_as_the_papers() -> None:
    name, arguments = nearest_settings()
    registered = METHODS["sub-adjacent"][0]
    assert name == REGISTRY[registered].class_name
    assert create(registered, **arguments).get_params()["size"] == "paper"


def test_the_nearest_settings_and_score_are_written_out_and_those_of_the_protocol() -> None:
    _, arguments = nearest_settings()
    released = published._settings(Run("msl", "sub-adjacent", PUBLISHED))
    # the authors' number of epochs is that of their scripts; the paper says at most 10
    del released["epochs"]
    assert {name: arguments[name] for name in released} == released
    assert arguments["block"] == published.FIXED_BLOCK
    assert arguments["temperature"] == published.FIXED_TEMPERATURE
    assert (arguments["dynamic"], arguments["smoothing"]) == ("released", 1)
    assert (arguments["learning_rate"], arguments["decay"], arguments["epochs"]) == (1e-4, 0.5, 10)


def test_scaling_on_the_page_of_experiments_is_that_of_the_code() -> None:
    page = (ROOT / "reproduce" / "README.md").read_text(encoding="utf-8")
    line = next(line for line in page.splitlines() if line.startswith("| scaling |"))
    clauses = re.split(r"[;:] ", line.split("|")[2].strip())
    said: dict[str, str] = {}
    for clause in clauses:
        # "SMAP by test rows, SMD train and test each by itself, both entity by entity"
        for part in clause.split(", test rows of ")[0].split(", SMD "):
            part = f"SMD {part}" if part.startswith("train and") else part
            how = "each by itself" if "each by itself" in part else part.split(" by ")[-1]
            for source in SOURCES.values():
                if source.title in part:
                    said[source.name] = how.split(" rows")[0].removeprefix("the ")
    done = {
        name: "each by itself" if rule.train_by != rule.test_by
        else {"train": "training", "test": "test"}[rule.test_by]
        for name, rule in RULES.items()
    }  # fmt: skip
    assert said == done
    assert [name for name, rule in RULES.items() if rule.robust] == ["msl"]
    assert "test rows of MSL by the median and quartiles of these" in line
    assert [name for name, rule in RULES.items() if rule.per_entity] == ["smap", "smd"]
    assert "both entity by entity" in line


def test_what_is_said_of_table_10_is_what_is_run() -> None:
    page = (ROOT / "reproduce" / "README.md").read_text(encoding="utf-8")
    assert f"among {len(unadjusted.LENGTHS)} (the" in page
    assert "cut off at three deviations" in page
    assert unadjusted.DEVIATIONS == 3
