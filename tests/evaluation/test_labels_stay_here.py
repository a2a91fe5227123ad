"""Nothing that fits, scores or chooses a threshold can reach the code that uses labels."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import subadjacent

SOURCE = Path(subadjacent.__file__).parent
# itself, and what stands above the detectors and shows results to people
MAY = {"evaluation", "report", "workflow", "experiments", "service", "cli"}
# a module by its full name, or as the package's own table of names has it
NAME = re.compile(r"(subadjacent\.)?evaluation(\.\w+)*")


def names_evaluation(code: str) -> bool:
    """Whether some code imports the folder, or has its name ready for doing so."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = [node.value]
        else:
            continue
        if any(NAME.fullmatch(name) for name in names):
            return True
    return False


def test_no_code_below_imports_evaluation() -> None:
    files = list(SOURCE.rglob("*.py"))
    assert len(files) > 20
    guilty = [
        str(file.relative_to(SOURCE))
        for file in files
        if file.relative_to(SOURCE).parts[0] not in MAY
        and names_evaluation(file.read_text(encoding="utf-8"))
    ]
    assert guilty == []


def test_evaluation_imports_no_detector_and_no_training() -> None:
    below = re.compile(r"subadjacent\.(detectors|methods|training|networks|ridge)")
    for file in (SOURCE / "evaluation").glob("*.py"):
        assert not below.search(file.read_text(encoding="utf-8")), file.name
