"""Where sets lie: a root folder, and the places under it that are looked at."""

from __future__ import annotations

import os
from pathlib import Path

from subadjacent.data.benchmarks.benchmark import Benchmark, Layout, Source
from subadjacent.data.benchmarks.sources import source_named
from subadjacent.errors import DataNotFound, InputError

VARIABLE = "SUBADJACENT_DATA"
DEFAULT = "~/.cache/subadjacent"


def data_root(root: Path | str | None = None) -> Path:
    """The folder that sets lie under: the one given, else $SUBADJACENT_DATA, else a default."""
    return Path(root or os.environ.get(VARIABLE) or DEFAULT).expanduser()


def find(source: Source, root: Path) -> tuple[Path, Layout] | None:
    """The first layout of a set that is whole under the root, and what to read of it."""
    for layout in source.layouts:
        for folder in source.folders:
            if all((root / folder / file).exists() for file in layout.files):
                return layout.path(root / folder), layout
    return None


def load_benchmark(
    name: str, root: Path | str | None = None, *, contaminated: bool = False
) -> Benchmark:
    """Read a public set.

    Parameters
    ----------
    name
        One of ``SOURCES``, in any case.
    root
        Folder to look under; see ``data_root``.
    contaminated
        NeurIPS-TS only: train on a series with anomalies instead of a clean one.

    Raises
    ------
    DataNotFound
        When no known form of its files is there; the message says what is missing.
    InputError
        When a file is damaged or of another set; the message says where.
    """
    source = source_named(name)
    options = {"contaminated": True} if contaminated else {}
    if contaminated and source.generate is None:
        raise InputError(
            f"contaminated must be left out for {source.title}: NeurIPS-TS alone has it"
        )
    folder = data_root(root)
    if found := find(source, folder):
        path, layout = found
        return layout.read(path, source, **options)
    if source.generate is not None:
        return source.generate(source, **options)
    raise absence(source, folder)


def absence(source: Source, root: Path) -> DataNotFound:
    """The error that a set is not there: what was found of it, and how to get it."""
    parts = []
    for layout in source.layouts:
        for folder in source.folders:
            there = [file for file in layout.files if (root / folder / file).exists()]
            missing = [file for file in layout.files if file not in there]
            if there and missing and len(layout.files) > 1:
                parts.append(f"{root / folder / there[0]} is there, {missing[0]} beside it is not")
    found = f" ({'; '.join(dict.fromkeys(parts))})" if parts else ""
    return DataNotFound(f"{source.title} is not in {root}{found}. {source.instructions}")
