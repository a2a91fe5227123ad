"""Importing is quick, silent and without side effects; layers are held by import-linter."""

from __future__ import annotations

import pkgutil
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import subadjacent

SOURCE = Path(subadjacent.__file__).parent
RESEARCH = Path(__file__).parents[2] / "reproduce"
KERNELS = "subadjacent.core.kernels."
ADAPTED = ("aeon", "darts", "pyod", "river", "sktime")
MODULES = [
    name
    for _, name, _ in pkgutil.walk_packages([str(SOURCE)], prefix="subadjacent.")
    # Triton is there on Linux alone, and nothing imports the kernels elsewhere
    if (not name.startswith(KERNELS) or find_spec("triton"))
    # what another library does when it is imported is its own affair
    and name not in {f"subadjacent.adapters.{library}" for library in ADAPTED}
]


def python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_importing_every_module_prints_nothing_seeds_nothing_and_starts_no_gpu() -> None:
    imports = "; ".join(f"import {name}" for name in MODULES)
    code = f"""
import random, sys
import numpy, torch
before = random.getstate(), numpy.random.get_state()[1].tolist(), torch.get_rng_state()
threads = torch.get_num_threads()
{imports}
assert random.getstate() == before[0]
assert numpy.random.get_state()[1].tolist() == before[1]
assert torch.equal(torch.get_rng_state(), before[2])
assert torch.get_num_threads() == threads
assert not torch.cuda.is_initialized()
"""
    assert python(code) == ""


def test_the_default_detector_is_imported_without_heavy_packages() -> None:
    heavy = (
        *("torch", "sklearn", "pandas", "polars", "narwhals", "pyarrow", "joblib", "matplotlib"),
        *("bokeh", "typer", "fastapi", "ray", "scipy.stats", "scipy.signal", "scipy.optimize"),
    )
    code = f"""
import subadjacent, sys
subadjacent.SubAdjacentDetector
print([name for name in {heavy} if name in sys.modules])
"""
    assert python(code).strip() == "[]"


def test_nothing_imports_triton_before_there_is_a_gpu_to_use_it() -> None:
    folders = ("core", "networks", "ridge", "methods", "data", "training", "decision", "detectors")
    imports = "; ".join(
        f"import {name}"
        for name in MODULES
        if name.split(".")[1] in folders and not name.startswith(KERNELS)
    )
    assert python(f"import sys; {imports}; print('triton' in sys.modules)").strip() == "False"


def test_the_bare_library_needs_no_frames_and_no_files() -> None:
    """The folders that run on a GPU image import torch, NumPy, SciPy and scikit-learn only."""
    folders = ("core", "networks", "ridge", "methods", "training", "decision", "detectors")
    imports = "; ".join(f"import {name}" for name in MODULES if name.split(".")[1] in folders)
    code = f"""
import sys
import sklearn.utils.validation, sklearn.base, scipy.special, scipy.stats, torch
before = set(sys.modules)
{imports}
found = {{name.split('.')[0] for name in set(sys.modules) - before}}
print(found & {{'narwhals', 'pandas', 'polars', 'pyarrow', 'safetensors'}} or 'none')
"""
    assert python(code).strip() == "none"


def test_other_libraries_are_imported_by_their_adapter_alone() -> None:
    imports = "; ".join(f"import {name}" for name in MODULES if "adapters" in name)
    code = f"import sys; {imports}; print([one for one in {ADAPTED} if one in sys.modules])"
    assert python(code).strip() == "[]"


def test_an_adapter_says_what_to_install_where_its_library_is_missing() -> None:
    code = f"""
import importlib, sys
for library in {ADAPTED}:
    sys.modules[library] = None  # as if it were not installed
    try:
        importlib.import_module("subadjacent.adapters." + library)
    except ImportError as error:
        print(type(error).__name__, error)
"""
    assert python(code).splitlines() == [
        f"MissingPackage subadjacent.adapters.{library} needs {library}, which is not installed: "
        f"pip install 'subadjacent[{library}]'"
        for library in ADAPTED
    ]


def test_every_public_name_is_there_and_no_other() -> None:
    for name in subadjacent.__all__:
        assert getattr(subadjacent, name).__name__ == name
        assert name in dir(subadjacent)
    with pytest.raises(AttributeError, match="no attribute 'Transformer'"):
        subadjacent.Transformer  # noqa: B018


def test_only_the_device_and_what_is_recorded_on_it_name_a_gpu() -> None:
    named = {
        str(file.relative_to(SOURCE))
        for file in SOURCE.rglob("*.py")
        # docstrings may list the choices; code may not pick one
        if re.search(r"\.cuda\(|torch\.cuda|== \"cuda\"", file.read_text())
    }
    # work is recorded in a form that one kind of device has
    assert named == {"training/device.py", "training/recorded.py"}


def test_modules_stay_readable() -> None:
    long = {
        str(file): lines
        for folder in (SOURCE, RESEARCH)
        for file in folder.rglob("*.py")
        if (lines := len(file.read_text().splitlines())) > 400
    }
    assert long == {}


def test_research_uses_the_package_alone() -> None:
    others = re.compile(
        r"^\s*(?:from|import) (?:tests|website|examples|benchmarks)\b", re.MULTILINE
    )
    assert [file for file in RESEARCH.rglob("*.py") if others.search(file.read_text())] == []


def test_the_command_prints_in_one_place() -> None:
    # names that came from outside are made safe there, and nowhere else
    prints = re.compile(r"\btyper\.echo\(|(?<![.\w])print\(|\bstd(out|err)\.write\(")
    folder = SOURCE / "cli"
    printing = [file.name for file in folder.glob("*.py") if prints.search(file.read_text())]
    assert printing == ["output.py"]
