"""Arrays of figures: computed once, kept in the folder of results, drawn as PNG."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from subadjacent.durable import whole_file
from subadjacent.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

DOTS_PER_INCH = 110


def arrays_file(folder: Path, name: str) -> Path:
    """The file of a figure's arrays."""
    return folder / f"{name}.npz"


def read_arrays(folder: Path, name: str) -> dict[str, NDArray[Any]] | None:
    """The arrays of a figure, if it was computed."""
    file = arrays_file(folder, name)
    if not file.is_file():
        return None
    try:
        with file.open("rb") as stream, np.load(stream) as archive:
            return {key: archive[key] for key in archive.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{file} must be an archive of arrays ({error}); delete it, and it is computed anew"
        ) from error


def write_arrays(folder: Path, name: str, arrays: dict[str, NDArray[Any]]) -> None:
    """Write the arrays of a figure; the file appears when it is complete."""
    with whole_file(arrays_file(folder, name)) as draft, draft.open("wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, **arrays)


def draw(name: str, arrays: dict[str, NDArray[Any]]) -> dict[str, bytes]:
    """PNG files of a figure, by file name."""
    from reproduce.catalogue import figure

    with needs_matplotlib():
        drawings = figure(name).draw(arrays)
    return {f"{stem}.png": png(drawing) for stem, drawing in drawings.items()}


@contextmanager
def needs_matplotlib() -> Iterator[None]:
    """Raise an error that names the extra, where matplotlib is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise InputError(
            f"figures need {error.name}; install it with pip install 'subadjacent[plot]'"
        ) from error


def png(drawing: Drawing) -> bytes:
    """A drawing as the bytes of a PNG file."""
    image = io.BytesIO()
    # the version of matplotlib is left out: the same arrays then give the same file
    drawing.savefig(image, format="png", dpi=DOTS_PER_INCH, metadata={"Software": None})
    return image.getvalue()
