"""`subadjacent export`: a fitted network as a file that scores without torch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from subadjacent.cli import options as option
from subadjacent.cli.output import STANDARD_OUTPUT, check_writable, print_json, whole_file
from subadjacent.cli.progress import Bar, say
from subadjacent.errors import InputError


def _check_format(wanted: bool) -> bool:
    if not wanted:
        raise typer.BadParameter("must be given: ONNX is the one format there is")
    return wanted


def _check_file(path: Path | None) -> Path | None:
    if str(path) == STANDARD_OUTPUT:
        raise typer.BadParameter("must be a file; standard output gets the list of files written")
    return path


def export(
    model: Annotated[Path, typer.Argument(help="Model folder.")],
    onnx: Annotated[  # noqa: ARG001 — the one format there is
        bool,
        typer.Option(
            "--onnx",
            callback=_check_format,
            help="Write an ONNX file (must be given: the one format).",
        ),
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
        typer.Option(help="Whose scale to use, where the model was fitted on several entities."),
    ] = None,
    quiet: option.Quiet = False,
) -> None:
    """Write a model's network as a file that scores rows without torch.

    For models whose score is that of a network, such as the paper's.
    """
    from subadjacent.detectors.onnx import to_onnx
    from subadjacent.detectors.registry import load

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
