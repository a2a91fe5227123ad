"""`python -m reproduce`: the paper's tables and figures, made anew."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reproduce.data_command import Root
from subadjacent.cli import options as option
from subadjacent.cli.output import print_text, tell
from subadjacent.cli.progress import Bar
from subadjacent.errors import SubAdjacentError
from subadjacent.workflow.writing import whole_file, write_text

if TYPE_CHECKING:
    from reproduce.plan import Plan
    from reproduce.results import Results
    from reproduce.runner import RunContext

# with more tables than these, where they were written is said instead of what is in them
MAX_PRINTED_TABLES = 3


class ProtocolChoice(StrEnum):
    """The protocols to run."""

    published = "published"
    clean = "clean"
    both = "both"


def _check_names(wanted: list[str]) -> list[str]:
    from reproduce.catalogue import names

    with option.bad_usage():
        return names(wanted)


def _check_datasets(text: str | None) -> str | None:
    from reproduce.datasets import dataset_named

    with option.bad_usage():
        return text and ",".join(dataset_named(name.strip()) for name in text.split(","))


def reproduce(
    what: Annotated[
        list[str],
        typer.Argument(
            callback=_check_names,
            help="table1 to table11, figure3, figure5, leaderboard, decisions, nips-ts-kinds, "
            "ablation-default, ablation-kinds, or all.",
        ),
    ],
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A trial on a few rows: shows in a minute that all works."),
    ] = False,
    protocol: Annotated[
        ProtocolChoice, typer.Option(help="The paper's, one without label leaks, or both.")
    ] = ProtocolChoice.both,
    datasets: Annotated[
        str | None,
        typer.Option(
            callback=_check_datasets,
            help="Such as msl,smd; all that are there if left out.",
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each cell.")] = 3,
    device: option.Device = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes that make runs.")] = 1,
    engine: option.EngineOption = option.Engine.local,
    root: Root = None,
    results: Annotated[
        Path | None,
        typer.Option(help="Folder of rows, to read and to add to; ./results if left out."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder to render to; ./reproduced if left out."),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            help="File for one page of all results, or of the leaderboard alone, as Markdown."
        ),
    ] = None,
    no_run: Annotated[
        bool, typer.Option("--no-run", help="Make no runs: render the rows that are there.")
    ] = False,
    quiet: option.Quiet = False,
) -> None:
    """Reproduce tables and figures of the paper; runs that have a row are not made again."""
    from reproduce.plan import Selection, make_plan
    from reproduce.results import Results
    from reproduce.run import PROTOCOLS

    if quick and (page or no_run):
        raise typer.BadParameter("a trial takes no --page and no --no-run", param_hint="'--quick'")
    if engine is option.Engine.ray and jobs > 1:
        raise typer.BadParameter(
            "is for this machine: a cluster runs as many as it has cores", param_hint="'--jobs'"
        )
    selection = Selection(
        tuple(datasets.split(",")) if datasets else (),
        seeds,
        PROTOCOLS if protocol is ProtocolChoice.both else (protocol.value,),
        quick,
    )
    with ExitStack() as stack:
        if results is None and quick:
            # nobody wants the rows of a trial, and the next one should do its work anew
            results = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="subadjacent-")))
        rows = Results(results or Path("results"))
        if quick and rows.datasets():
            raise typer.BadParameter(
                f"{rows.folder} holds rows that are of no trial", param_hint="'--results'"
            )
        plan = make_plan(what, selection, rows, root, run=not no_run)
        if plan.lacking:
            tell(f"neither data nor rows are there for {', '.join(plan.lacking)}", quiet=quiet)
        failed = []
        if not no_run:
            # torch is needed from here on, and not before
            from reproduce.runner import RunContext

            place = RunContext(None if root is None else str(root), device or "auto", jobs)
            if engine is option.Engine.ray:
                place = stack.enter_context(_cluster(place))
            failed = _make(plan, rows, place, quiet=quiet)
        folder = output or Path("reproduced", *(["quick"] if quick else []))
        _render(plan, rows, folder, page)
    for reason in failed:
        tell(f"failed: {reason}")
    if failed:
        raise typer.Exit(1)


@contextmanager
def _cluster(place: RunContext) -> Iterator[RunContext]:
    """The workers of a cluster, which may run in other folders than this process."""
    from subadjacent.workflow.cluster import connected

    root = None if place.root is None else str(Path(place.root).absolute())
    with connected() as workers:
        yield replace(place, root=root, jobs=workers, on_cluster=True)


def _make(plan: Plan, rows: Results, place: RunContext, *, quiet: bool) -> list[str]:
    """Make runs and compute figures; return what failed, and why."""
    from reproduce.figures import write_arrays
    from reproduce.progress import RunProgress
    from reproduce.runner import make

    tell(f"{len(plan.runs)} runs to make, {plan.there} are there", quiet=quiet)
    with Bar("running", quiet=quiet) as bar:
        watch = RunProgress(bar, quiet=quiet)
        steps = make(plan.runs, rows, place, watch)
    failed = [f"{step.run.describe()}: {step.error}" for step in steps]
    for figure in plan.compute:
        with Bar(f"computing {figure.name}", quiet=quiet) as bar:
            bar.wait()
            try:
                write_arrays(rows.folder, figure.name, figure.compute(place, plan.shown.quick))
            except (SubAdjacentError, RuntimeError, MemoryError) as error:
                failed.append(f"{figure.name}: {error}")
    return failed


def _render(plan: Plan, rows: Results, folder: Path, page: Path | None) -> None:
    """Write every file; print tables if they are few, and the paths of the others."""
    from reproduce import page as pages
    from reproduce.figures import draw, read_arrays

    few = len(plan.tables) <= MAX_PRINTED_TABLES
    for table in plan.tables:
        files = pages.table_files(table, rows, plan.shown)
        markdown = pages.table_text(table, rows, plan.shown)
        if page is None:
            # one page of all has the others
            files = {f"{table.name}.md": markdown} | files
        for name, text in files.items():
            write_text(text, folder / name)
            if not few:
                print_text(str(folder / name))
        for name, image in pages.table_images(table, rows, plan.shown).items():
            _write_image(image, folder / name)
        if few:
            print_text(markdown)
    for figure in plan.figures:
        # one whose computing failed has none
        if (arrays := read_arrays(rows.folder, figure.name)) is None:
            continue
        for name, image in draw(figure.name, arrays).items():
            _write_image(image, folder / name)
    if page is not None:
        beside = Path(os.path.relpath(folder, page.parent)).as_posix()
        alone = [table.name for table in plan.tables] == [pages.LEADERBOARD]
        rendered = pages.leaderboard_page if alone and not plan.figures else pages.page
        write_text(rendered(rows, plan.shown, beside), page)
        print_text(str(page))


def _write_image(image: bytes, path: Path) -> None:
    with whole_file(path) as unfinished:
        unfinished.write_bytes(image)
    print_text(str(path))
