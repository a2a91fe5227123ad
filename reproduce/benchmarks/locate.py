"""Find a dataset under the root folder, and load it."""

from __future__ import annotations

import os
from pathlib import Path

from reproduce.benchmarks.benchmark import Benchmark, Layout, Source
from reproduce.benchmarks.sources import source_named
from subadjacent.errors import DataNotFound, InputError

VARIABLE = "SUBADJACENT_DATA"
DEFAULT = "~/.cache/subadjacent"


def data_root(root: Path | str | None = None) -> Path:
    """The root folder of datasets: the one given, else $SUBADJACENT_DATA, else a default."""
    return Path(root or os.environ.get(VARIABLE) or DEFAULT).expanduser()


def find(source: Source, root: Path) -> tuple[Path, Layout] | None:
    """The first layout whose files are all under the root, and the path to read."""
    for layout in source.layouts:
        for folder in source.folders:
            if all((root / folder / file).exists() for file in layout.files):
                return layout.path(root / folder), layout
    return None


def load_benchmark(
    name: str, root: Path | str | None = None, *, contaminated: bool = False
) -> Benchmark:
    """Load a public dataset.

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
    if located := find(source, folder):
        path, layout = located
        return layout.read(path, source, **options)
    if source.generate is not None:
        return source.generate(source, **options)
    raise absence(source, folder)


def absence(source: Source, root: Path) -> DataNotFound:
    """The error for a missing dataset: which files are there, and how to get the others."""
    incomplete = []
    for layout in source.layouts:
        for folder in source.folders:
            present = [file for file in layout.files if (root / folder / file).exists()]
            missing = [file for file in layout.files if file not in present]
            if present and missing and len(layout.files) > 1:
                incomplete.append(
                    f"{root / folder / present[0]} is there, {missing[0]} beside it is not"
                )
    detail = f" ({'; '.join(dict.fromkeys(incomplete))})" if incomplete else ""
    return DataNotFound(f"{source.title} is not in {root}{detail}. {source.instructions}")
