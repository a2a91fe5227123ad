"""The detector classes by name, each imported when it is looked up: not all need torch."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

from subadjacent.detectors.base import BaseDetector
from subadjacent.detectors.entries import ENTRIES
from subadjacent.detectors.folder import read_kind
from subadjacent.durable import read_whole
from subadjacent.errors import ModelFileError
from subadjacent.runtime import needs_torch


class _Detectors(Mapping[str, type[BaseDetector]]):
    """The classes of ``ENTRIES`` by their names, in its order."""

    def __getitem__(self, name: str) -> type[BaseDetector]:
        entry = ENTRIES[name]
        with needs_torch(name):
            module = import_module(f"subadjacent.detectors.{entry.module}")
        detector: type[BaseDetector] = getattr(module, name)
        return detector

    def __iter__(self) -> Iterator[str]:
        return iter(ENTRIES)

    def __len__(self) -> int:
        return len(ENTRIES)


DETECTORS: Mapping[str, type[BaseDetector]] = _Detectors()


def load(path: str | os.PathLike[str], *, device: str = "auto") -> BaseDetector:
    """Load whatever detector a model folder holds, onto any device."""

    def load_any(folder: Path) -> BaseDetector:
        kind = read_kind(folder)
        if kind not in ENTRIES:
            raise ModelFileError(
                f"{path} holds a {kind!r}; this version knows {', '.join(ENTRIES)}"
            )
        return DETECTORS[kind].load(folder, device=device)

    # another kind of model may be saved there between the two reads
    return read_whole(Path(path), load_any)
