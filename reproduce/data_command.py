"""`python -m reproduce data`: the public benchmark sets, where they are, and how to get them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from subadjacent.cli import options as option
from subadjacent.cli.output import ListFormat, print_json, print_list, print_text
from subadjacent.cli.progress import Bar, say
from subadjacent.errors import InputError, SubAdjacentError

if TYPE_CHECKING:
    from reproduce.benchmarks import Source

data = typer.Typer(
    name="data",
    help="Public benchmark sets: list them, find them, get them.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _known(name: str) -> str:
    from reproduce.benchmarks import source_named

    try:
        return source_named(name).name
    except InputError as error:
        raise typer.BadParameter(str(error)) from error


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
    check: Annotated[
        bool, typer.Option(help="Read every set that is there and compare it with Table 1.")
    ] = True,
    format: Annotated[  # noqa: A002 — the option's name
        ListFormat, typer.Option(help="A table for people, a JSON object a line, or CSV.")
    ] = ListFormat.table,
    quiet: option.Quiet = False,
) -> None:
    """List the sets: what each is, its licence, whether it is there and whole."""
    from reproduce.benchmarks import SOURCES, data_root

    rows = []
    with Bar("reading", quiet=quiet) as bar:
        for number, source in enumerate(SOURCES.values()):
            bar.update(number, len(SOURCES), source.title)
            rows.append(_line(source, data_root(root), check=check))
    print_list(rows, ("name", "about", "licence", "there", "verdict"), format)


@data.command()
def info(name: Name, root: Root = None) -> None:
    """Show all about one set: sizes, origin, where it must lie, how to get it, its state."""
    from reproduce.benchmarks import SOURCES, data_root

    source, folder = SOURCES[name], data_root(root)
    line = _line(source, folder, check=True)
    print_json(
        {
            "name": source.name,
            "title": source.title,
            "about": source.about,
            "channels": source.channels,
            "entities": source.entities,
            "train_rows": source.train_rows,
            "test_rows": source.test_rows,
            "anomaly_rate": source.anomaly_rate,
            "segments": source.segments,
            "licence": source.licence,
            "origin": source.origin,
            "how_to_get": source.instructions,
            "root": str(folder),
            "looked_in": [str(folder / place) for place in source.folders],
            "files": [list(layout.files) for layout in source.layouts],
            "path": line["path"],
            "verdict": line["verdict"],
            "fingerprint": line["fingerprint"],
        }
    )


@data.command()
def path(name: Name, root: Root = None) -> None:
    """Print where a set was found."""
    from reproduce.benchmarks import SOURCES, data_root, find
    from reproduce.benchmarks.locate import absence

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
    from reproduce.benchmarks import (
        SOURCES,
        check,
        data_root,
        find,
        fingerprint,
        load_benchmark,
    )
    from reproduce.benchmarks.obtain import obtain

    wanted, folder = SOURCES[name], data_root(root)
    with Bar(f"getting {wanted.title}", quiet=quiet) as bar:

        def watch(file: str, number: int, files: int, done: int, total: int | None) -> None:
            share = done / total if total else 0.0
            bar.update(number - 1 + share, files, f"{Path(file).name}, {done / 1e6:,.1f} MB")

        obtain(wanted, folder, base=source, watch=watch)
    benchmark = load_benchmark(name, folder)
    verdict = check(benchmark)
    if wanted.downloads and not any(file.sha256 for file in wanted.downloads):
        say("no checksums are published: judged by its content against Table 1", quiet=quiet)
    say(f"{benchmark.title}: {verdict}, in {benchmark.origin}", quiet=quiet)
    located = find(wanted, folder)
    print_json(
        {
            "name": wanted.name,
            "path": str(located[0]) if located else None,
            "verdict": verdict,
            "fingerprint": fingerprint(benchmark),
        }
    )


def _line(source: Source, root: Path, *, check: bool) -> dict[str, Any]:
    """The line of one set in the list."""
    from reproduce.benchmarks import find

    located = find(source, root)
    generated = located is None and source.generate is not None
    verdict, mark = _judge(source, root) if check and (located or generated) else ("", None)
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


def _judge(source: Source, root: Path) -> tuple[str, str | None]:
    """Verdict and fingerprint of a set that is there."""
    from reproduce.benchmarks import check, fingerprint, load_benchmark

    try:
        benchmark = load_benchmark(source.name, root)
    except SubAdjacentError as error:
        return f"cannot be read: {error}", None
    return check(benchmark), fingerprint(benchmark)
