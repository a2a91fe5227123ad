"""`python -m reproduce`, for real: without data, killed, in two processes, with failures."""

from __future__ import annotations

import csv
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.main import get_command

from reproduce.__main__ import tables
from reproduce.catalogue import FIGURES, TABLES, figure
from reproduce.data_command import data
from reproduce.run import PUBLISHED
from reproduce.run import Run as Experiment
from reproduce.runner import RunEvent
from running import Run, runner

ROOT = Path(__file__).parents[2]


@pytest.fixture
def reproduce(command: Run) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The command where no dataset is at hand."""
    return lambda *arguments, **others: command(*arguments, "--root", "none", **others)


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A trial of all tables and figures, made once: the folder, and what was said."""
    folder = tmp_path_factory.mktemp("all")
    run = runner(folder, "reproduce.__main__", "main")
    done = run("all", "--quick", "--device", "cpu", "--root", "none")
    return folder, done.stdout, done.stderr


@pytest.mark.sweep
def test_a_trial_of_all_writes_every_table_and_figure(everything: tuple[Path, str, str]) -> None:
    folder, printed, said = everything
    tables = [f"reproduced/quick/{name}.{kind}" for name in TABLES for kind in ("md", "csv", "tex")]
    drawn = [f"reproduced/quick/{stem}.png" for name in FIGURES for stem in figure(name).stems]
    # the one table with a picture
    tables.insert(
        tables.index("reproduced/quick/leaderboard.tex") + 1, "reproduced/quick/leaderboard.png"
    )
    assert printed.splitlines() == tables + drawn
    assert all((folder / file).stat().st_size > 100 for file in tables + drawn)
    assert "runs to make, 0 are there" in said
    assert "a few rows" in (folder / "reproduced/quick/table2.md").read_text().splitlines()[0]
    # and nothing else: the rows of a trial are thrown away
    assert [one.name for one in folder.iterdir()] == ["reproduced"]


OF_ALARMS = ("alarms right, %", "delay, rows")


@pytest.mark.sweep
def test_a_trial_fills_every_cell_that_it_can(everything: tuple[Path, str, str]) -> None:
    folder = everything[0] / "reproduced" / "quick"
    for name in TABLES:
        with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        empty = [(row["row"], row["column"]) for row in rows if not row["mean"]]
        # memory is known of a GPU alone, and softmax attention has one form; without alarms none
        # is right, and without an anomaly found there is no delay
        allowed = [
            (row, column)
            for row, column in empty
            if (name == "table11" and ("memory" in row or "formed" in row))
            or (name == "decisions" and column in ("right, %", "delay, rows"))
            or (name == "leaderboard" and (column in OF_ALARMS or row == "our default"))
        ]
        assert empty == allowed
        assert {row["missing"] for row in rows} == {""}


def test_rows_that_are_there_are_rendered_without_data_and_the_page_links_to_them(
    reproduce: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    rows = ("--no-run", "--results", ROOT / "results")
    done = reproduce("table2", *rows, "-o", "out")
    committed = (ROOT / "docs/results.md").read_text()
    tables = ["**Main" + text.rstrip() for text in done.stdout.split("**Main")[1:]]
    # the leaderboard has the other three
    assert [table in committed for table in tables] == [True] * 3 + [False] * 3 + [True] * 4
    assert done.stderr == ""
    written = {file.name for file in (tmp_path / "out").iterdir()}
    assert written == {"table2.csv", "table2.md", "table2.tex"}
    done = reproduce("table2", *rows, "-o", "site/files", "--page", "site/page.md")
    assert done.stdout.splitlines()[-1] == "site/page.md"
    page = (tmp_path / "site/page.md").read_text()
    assert "](files/table2.csv)" in page
    assert page == committed.replace("](results/", "](files/")


def test_bad_usage_and_missing_data_are_refused_in_a_sentence(
    reproduce: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    for line, code, words in (
        (
            "table2",
            1,
            (
                "no dataset of table2 is in none, and results has no rows of it. "
                "'python -m reproduce data get msl' fetches one"
            ),
        ),
        ("table2 --datasets smd", 1, "'python -m reproduce data get smd'"),
        ("table2 --no-run", 1, "results has no rows of table2"),
        ("table12", 2, "got 'table12'"),
        ("table2 --datasets mnist", 2, "mnist"),
        ("table2 --seeds 0", 2, "--seeds"),
        ("table2 --jobs 0", 2, "--jobs"),
        ("table2 --protocol fair", 2, "--protocol"),
        ("all --quick --no-run", 2, "a trial takes no --page"),
        ("", 2, "Missing argument"),
    ):
        done = reproduce(*line.split(), code=code)
        assert words in " ".join(done.stderr.replace("│", " ").split())
        assert done.stdout == ""
        assert list(tmp_path.iterdir()) == []


def test_a_trial_never_adds_to_full_results(
    reproduce: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    shutil.copytree(ROOT / "results", tmp_path / "results")
    before = {file.name: file.read_bytes() for file in (tmp_path / "results").iterdir()}
    done = reproduce("table1", "--quick", "--results", "results", code=2)
    assert "holds rows that are of no trial" in " ".join(done.stderr.split())
    reproduce("table1", "--quick")
    assert {file.name: file.read_bytes() for file in (tmp_path / "results").iterdir()} == before


def test_failures_are_listed_at_the_end_and_the_rest_is_there(command: Run, tmp_path: Path) -> None:
    # a file of that name, which is no archive
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "msl.npz").write_bytes(b"no archive")
    done = command("table1", "--quick", "--root", "data", code=1)
    failures = [line for line in done.stderr.splitlines() if line.startswith("failed: ")]
    assert len(failures) == 1
    assert failures[0].startswith("failed: msl facts clean, seed 0: InputError: ")
    assert "| MSL | not run (55)" in done.stdout
    assert "| NeurIPS-TS | 1 (1) |" in done.stdout


def test_progress_shows_what_is_done_and_what_is_running() -> None:
    from reproduce.progress import RunProgress, in_words
    from subadjacent.cli.progress import Bar

    runs = tuple(Experiment("msl", "random", PUBLISHED, seed) for seed in range(4))
    with Bar("running", quiet=True) as bar:
        watch = RunProgress(bar, quiet=True)
        begun = RunEvent(runs[0], 0, 4, begun=True)
        watch(begun)
        assert watch.words(begun) == "0 of 4 runs · msl random published, seed 0"
        done = RunEvent(runs[0], 1, 4)
        watch(done)
        assert watch.words(done) == "1 of 4 runs"
    words = {40: "40 s", 720: "12 min", 12_600: "3.5 h"}
    assert {seconds: in_words(seconds) for seconds in words} == words


def test_every_option_is_in_the_readme() -> None:
    page = (ROOT / "reproduce" / "README.md").read_text()
    leaves = [get_command(tables), *get_command(data).commands.values()]
    for parameter in (parameter for leaf in leaves for parameter in leaf.params):
        for name in (*parameter.opts, *parameter.secondary_opts):
            assert not name.startswith("--") or name == "--help" or f"`{name}`" in page
    for name in (*TABLES, *FIGURES):
        assert name in get_command(tables).params[0].help or name[:5] == "table"


def test_the_installed_command_says_where_research_went(tmp_path: Path) -> None:
    installed = runner(tmp_path)
    assert installed("reproduce", "table2", "--quick", code=2).stderr == (
        "'subadjacent reproduce' is now 'python -m reproduce' in the source repository\n"
    )
    assert installed("data", "get", "smd", "--help", code=2).stderr == (
        "'subadjacent data' is now 'python -m reproduce data' in the source repository\n"
    )
