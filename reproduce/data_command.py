"""`python -m reproduce data`: the public benchmark sets, where they are, and how to get them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from reproduce.benchmarks import (
    SOURCES,
    Source,
    check,
    data_root,
    find,
    fingerprint,
    load_benchmark,
    source_named,
)
from reproduce.benchmarks.locate import absence
from subadjacent.cli import options as option
from subadjacent.cli.output import ListFormat, print_json, print_list, print_text, tell
from subadjacent.cli.progress import Bar
from subadjacent.errors import SubAdjacentError

data = typer.Typer(
    name="data",
    help="Public benchmark sets: list them, find them, get them.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


FACTS = (
    "name", "title", "about", "channels", "entities", "train_rows", "test_rows", "anomaly_rate",
    "segments", "licence", "origin",
)  # fmt: skip


def _known(name: str) -> str:
    with option.bad_usage():
        return source_named(name).name


Name = Annotated[
    str, typer.Argument(callback=_known, help="Of the set, such as msl; 'data list' has them all.")
]
Root = Annotated[
    Path | None,
    typer.Option(help="Folder of the sets; else $SUBADJACENT_DATA, else ~/.cache/subadjacent."),
]


@data.command("list")
def list_sets(
    root: Root = None,
    compare: Annotated[
        bool,
        typer.Option(
            "--check/--no-check", help="Read every set that is there and compare it with Table 1."
        ),
    ] = True,
    format: Annotated[  # noqa: A002 — the option's name
        ListFormat, typer.Option(help="A table for people, a JSON object a line, or CSV.")
    ] = ListFormat.table,
    quiet: option.Quiet = False,
) -> None:
    """List the sets: what each is, its licence, whether it is there and whole."""
    rows = []
    with Bar("reading", quiet=quiet) as bar:
        for number, source in enumerate(SOURCES.values()):
            bar.update(number, len(SOURCES), source.title)
            rows.append(_line(source, data_root(root), compare=compare))
    print_list(rows, ("name", "about", "licence", "there", "verdict"), format)


@data.command()
def info(name: Name, root: Root = None) -> None:
    """Show all about one set: sizes, origin, where it must lie, how to get it, its state."""
    source, folder = SOURCES[name], data_root(root)
    line = _line(source, folder, compare=True)
    print_json(
        {
            **{fact: getattr(source, fact) for fact in FACTS},
            "how_to_get": source.instructions,
            "root": str(folder),
            "looked_in": [str(folder / place) for place in source.folders],
            "files": [list(layout.files) for layout in source.layouts],
            **{key: line[key] for key in ("path", "verdict", "fingerprint")},
        }
    )


@data.command()
def path(name: Name, root: Root = None) -> None:
    """Print where a set was found."""
    located = find(SOURCES[name], data_root(root))
    if located is None:
        raise absence(SOURCES[name], data_root(root))
    print_text(str(located[0]))


@data.command()
def get(
    name: Name,
    root: Root = None,
    source: Annotated[
        str | None,
        typer.Option("--from", help="Address of a copy with the same file names; https only."),
    ] = None,
    quiet: option.Quiet = False,
) -> None:
    """Download a set, or generate it, and check it against Table 1."""
    # pooch is needed from here on, and not before
    from reproduce.benchmarks.obtain import obtain

    wanted, folder = SOURCES[name], data_root(root)
    with Bar(f"getting {wanted.title}", quiet=quiet) as bar:

        def watch(number: int, files: int, file: str) -> None:
            bar.update(number - 1, files, Path(file).name)

        obtain(wanted, folder, base=source, watch=watch)
    benchmark = load_benchmark(name, folder)
    verdict = check(benchmark)
    if wanted.downloads and not any(file.sha256 for file in wanted.downloads):
        tell("no checksums are published: compared by its content with Table 1", quiet=quiet)
    tell(f"{benchmark.title}: {verdict}, in {benchmark.origin}", quiet=quiet)
    print_json(
        {
            "name": name,
            "path": benchmark.origin,
            "verdict": verdict,
            "fingerprint": fingerprint(benchmark),
        }
    )


def _line(source: Source, root: Path, *, compare: bool) -> dict[str, Any]:
    """The line of one set in the list."""
    located = find(source, root)
    generated = located is None and source.generate is not None
    verdict, mark = _assess(source, root) if compare and (located or generated) else ("", None)
    return {
        "name": source.name,
        "title": source.title,
        "about": source.about,
        "channels": source.channels,
        "entities": source.entities,
        "licence": source.licence,
        "there": "yes" if located else "generated" if generated else "no",
        "verdict": verdict,
        "path": str(located[0]) if located else "",
        "fingerprint": mark,
    }


def _assess(source: Source, root: Path) -> tuple[str, str | None]:
    """Verdict and fingerprint of a set that is there."""
    try:
        benchmark = load_benchmark(source.name, root)
    except SubAdjacentError as error:
        return f"cannot be read: {error}", None
    return check(benchmark), fingerprint(benchmark)
