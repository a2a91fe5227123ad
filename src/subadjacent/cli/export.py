"""`subadjacent export`: a fitted model as a file that scores without this package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from subadjacent.cli import options as option
from subadjacent.cli.output import STANDARD_OUTPUT, print_json
from subadjacent.cli.progress import Bar, say
from subadjacent.errors import InputError


def _check_file(path: Path | None) -> Path | None:
    if str(path) == STANDARD_OUTPUT:
        raise typer.BadParameter("must be a file; standard output gets the list of files written")
    return path


def export(
    model: Annotated[Path, typer.Argument(help="Model folder.")],
    onnx: Annotated[  # noqa: ARG001 — the one format there is
        bool,
        typer.Option("--onnx", help="Write an ONNX file: the one format, also if left out."),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            callback=_check_file,
            help="File to write; named after the model if left out.",
        ),
    ] = None,
    entity: Annotated[
        str | None,
        typer.Option(help="Whose model to write, where several entities were fitted."),
    ] = None,
    quiet: option.Quiet = False,
) -> None:
    """Write a model as an ONNX file, which scores rows without this package.

    For the default, and for models whose score is that of a network, such as the paper's.
    """
    from subadjacent.detectors.onnx import to_onnx
    from subadjacent.detectors.registry import load
    from subadjacent.workflow.writing import check_writable, whole_file

    detector = load(model, device="cpu")
    target = output or Path(f"{model.resolve().name}.onnx")
    check_writable(target)
    with Bar("exporting", quiet=quiet) as bar:
        bar.wait()
        try:
            content = to_onnx(detector, entity=entity)
        except InputError as error:
            raise InputError(f"{model}: {error}") from error
    with whole_file(target) as unfinished:
        unfinished.write_bytes(content)
    say(f"wrote {target}", quiet=quiet)
    print_json({"written": [str(target)]})
