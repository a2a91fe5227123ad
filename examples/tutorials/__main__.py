"""Run the tutorials: `python -m examples.tutorials` writes docs/tutorials anew.

Every notebook is run in an empty folder, and what differs from run to run is taken out, so that
only changes of a tutorial change its file.
"""

from __future__ import annotations

import argparse
import base64
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from examples.gallery.small_png import small_png
from nbclient import NotebookClient

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
# seconds after which a cell hangs: never reached on a busy machine
LONGEST = 600
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def executed(path: Path) -> Any:
    """A notebook with the outputs of its cells, run from the first to the last."""
    book: Any = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as profile:
        # with the command, for cells of shell lines
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        NotebookClient(
            book,
            timeout=LONGEST,
            kernel_name="python3",
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": folder}},
        ).execute(env=os.environ | {"PATH": path, "IPYTHONDIR": profile})
    return tidied(book)


def tidied(book: Any) -> Any:
    """The notebook without what a run leaves behind: names of cells, metadata, large images."""
    book.metadata = nbformat.from_dict(METADATA)
    for number, cell in enumerate(book.cells):
        cell.id = f"cell-{number}"
        alt = cell.metadata.get("alt")
        cell.metadata = nbformat.from_dict({} if alt is None else {"alt": alt})
        if cell.cell_type == "code":
            cell.outputs = [*_one_stream(cell.outputs), *_with_images(cell.outputs, alt)]
    return book


def _one_stream(outputs: list[Any]) -> list[Any]:
    """What was written, as one text: which of two streams comes first is left to chance."""
    streams = [output for output in outputs if output.output_type == "stream"]
    text = "".join(
        output.text for name in ("stdout", "stderr") for output in streams if output.name == name
    )
    return [nbformat.v4.new_output("stream", name="stdout", text=text)] if text else []


def _with_images(outputs: list[Any], alt: str | None) -> list[Any]:
    """All other outputs; images small, and with words for those who do not see them."""
    others = [output for output in outputs if output.output_type != "stream"]
    for output in others:
        data = output.get("data", {})
        if "image/png" not in data:
            continue
        if alt is None:
            raise ValueError("a cell with an image needs 'alt' in its metadata: what is to be seen")
        png = small_png(base64.b64decode(data["image/png"]))
        data["image/png"] = base64.b64encode(png).decode() + "\n"
        # else shown beside the image: "<Figure size …>"
        data.pop("text/plain", None)
        output.metadata = nbformat.from_dict({"image/png": {"alt": alt}})
    return others


def main() -> None:
    """Run every notebook, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="such as plant; all when left out")
    parser.add_argument("--output", type=Path, default=TUTORIALS, help="folder to write")
    asked = parser.parse_args()
    names = asked.names or sorted(path.stem for path in TUTORIALS.glob("*.ipynb"))
    for name in names:
        book = executed(TUTORIALS / f"{name}.ipynb")
        nbformat.write(book, asked.output / f"{name}.ipynb")
        print(f"ran {name}")


if __name__ == "__main__":
    main()
