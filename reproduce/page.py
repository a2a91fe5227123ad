"""All results on one page of Markdown, rendered from the rows of results alone."""

from __future__ import annotations

from dataclasses import replace

from reproduce.catalogue import (
    FIGURES,
    PAPERS,
    TABLES,
    TableDefinition,
    figure,
    table,
)
from reproduce.comparison import ADJUSTED, ResultTable
from reproduce.figures import needs_matplotlib, png, read_arrays
from reproduce.plan import DATASETS, SYNTHETIC, Selection
from reproduce.progress import in_words
from reproduce.render import comma_separated, latex, markdown
from reproduce.results import Results
from reproduce.run import CLEAN, RETIRED
from reproduce.summary_text import SummaryText
from reproduce.tables import leaderboard_words
from reproduce.tables.leaderboard import OF_ALARMS

HEAD = """# Results

Nothing on this page is typed. It is rendered from the rows in `results/` by

```
python -m reproduce all --no-run --output docs/results --page docs/results.md
```

How the numbers are made: [experiments](../reproduce/README.md). {rows} rows, {hours}.
"""
TRIAL = "*A trial on a few rows, with a small network: these numbers mean nothing.*\n\n"
LEGEND = """## How to read the tables

**97.5 ± 0.2 (98.2)** is the mean and standard deviation over seeds, and the paper's number. Without
± it is one seed; in brackets alone, the paper's number and none of ours; *not run*, a run that is
still to be made; *no data*, a dataset that was not at hand; such a dataset has no column where the
paper prints nothing for it either. `published` is the paper's protocol, label leaks and all;
`clean` is what a user would get. A random score and an untrained network stand in every comparison:
a row that does not beat them says nothing. The clean protocol's average precision, VUS-PR and ROC
area of all detectors are on the [leaderboard](leaderboard.md). The CSV and LaTeX files have a few
tables more than this page.
"""

# table → how to read it
READING = {
    "decisions": """What a person who answers every alarm would see, at the threshold that each
detector learned from training rows. [Evaluation](evaluation.md#alarms-and-anomalies) says what a
right alarm, a found anomaly, the delay and the oracle are. Counts of all entities are added up
before anything is divided. False alarms are those of one entity: a day where the time between rows
is known, else in 1,000 rows. Read F1 beside the share of **normal rows in alarms** and beside the
F1 of a random score: one alarm that never ends is right, and finds everything.""",
}

# tables that are in the files alone: the leaderboard, or a table before, has the same numbers,
# or they say nothing
ONLY_IN_FILES = (
    *(
        f"{name}-{CLEAN}-{metric}"
        for name in ("table2", "table3")
        for metric in ("average-precision", "vus-pr-tsb-ad", "auroc")
    ),
    *(f"table{number}-{CLEAN}-{ADJUSTED.replace('_', '-')}" for number in range(4, 10)),
    f"table10-{CLEAN}-oracle-f1",
    f"table10-{CLEAN}-f1",
    f"decisions-{SYNTHETIC}",
)
LEADERBOARD = "leaderboard"


def shown(results: Results) -> Selection:
    """The selection for a page of some results: the datasets that have rows."""
    with_rows = results.datasets()
    return Selection(datasets=tuple(name for name in DATASETS if name in with_rows))


def page(results: Results, selection: Selection, files: str) -> str:
    """The page; ``files`` is the folder of the rendered tables, relative to it."""
    hours = ", ".join(
        f"{in_words(3600 * hours)} on {name}" for name, hours in results.hours().items()
    )
    head = HEAD.format(rows=len(results), hours=hours or "no time at all")
    sections = [head, SummaryText(results).text(), LEGEND]
    # the leaderboard has a page of its own
    for name, words in TABLES.items():
        if name == LEADERBOARD:
            continue
        sections.append(_section(table(name), words, results, selection, files))
    sections += [_figure(name, words, results, files) for name, words in FIGURES.items()]
    return "\n".join(sections)


def leaderboard_page(results: Results, selection: Selection, files: str) -> str:
    """The leaderboard alone; ``files`` as for ``page``."""
    definition = table(LEADERBOARD)
    return "\n".join(
        [
            leaderboard_words.opening(results, selection, files)
            + missing_words(definition, results, selection),
            *(
                markdown(_with_telling_columns(result_table))
                for result_table in definition.result_tables(results, selection)
            ),
            leaderboard_words.far_from_the_paper(results, selection),
        ]
    )


def _with_telling_columns(result_table: ResultTable) -> ResultTable:
    """A table less its counts of alarms where anomalies are so close that each touches one."""
    if result_table.name != f"{LEADERBOARD}-{SYNTHETIC}":
        return result_table
    empty = [column.heading for column in OF_ALARMS]
    kept = [n for n, heading in enumerate(result_table.columns) if heading not in empty]
    return replace(
        result_table,
        columns=tuple(result_table.columns[n] for n in kept),
        rows=tuple((label, tuple(cells[n] for n in kept)) for label, cells in result_table.rows),
    )


def table_images(
    definition: TableDefinition, results: Results, selection: Selection
) -> dict[str, bytes]:
    """Pictures of a table, by file name; the leaderboard alone has one."""
    if definition.name != LEADERBOARD:
        return {}
    from reproduce.tables import leaderboard_figure

    with needs_matplotlib():
        return {f"{LEADERBOARD}.png": png(leaderboard_figure.draw(results, selection))}


def table_text(definition: TableDefinition, results: Results, selection: Selection) -> str:
    """A table as Markdown."""
    tables = definition.result_tables(results, selection)
    return (TRIAL if selection.quick else "") + "\n".join(map(markdown, tables))


def table_files(
    definition: TableDefinition, results: Results, selection: Selection
) -> dict[str, str]:
    """A table as CSV and LaTeX, by file name."""
    tables = definition.result_tables(results, selection)
    csv_texts = [comma_separated(result_table) for result_table in tables]
    return {
        # one header for all
        f"{definition.name}.csv": csv_texts[0]
        + "".join(text.partition("\n")[2] for text in csv_texts[1:]),
        f"{definition.name}.tex": "\n".join(latex(result_table) for result_table in tables),
    }


def missing_words(definition: TableDefinition, results: Results, selection: Selection) -> str:
    """A sentence on runs of a table that were not made; empty when all are there."""
    runs = [run for run in set(definition.runs(selection)) if run.detector not in RETIRED]
    missing = len(results.missing(runs))
    if not missing:
        return ""
    return f"{missing} of the {len(runs)} runs of this table are still to be made.\n\n"


def _section(
    definition: TableDefinition, words: str, results: Results, selection: Selection, files: str
) -> str:
    # tables of our own have no number
    heading = (
        definition.name.replace("table", "Table ")
        if definition.name in PAPERS
        else "Beyond the paper"
    )
    links = f"[CSV]({files}/{definition.name}.csv) · [LaTeX]({files}/{definition.name}.tex)"
    tables = [
        result_table
        for result_table in definition.result_tables(results, selection)
        if result_table.name not in ONLY_IN_FILES
    ]
    body = "\n".join(map(markdown, tables))
    missing = missing_words(definition, results, selection)
    reading = f"{READING[definition.name]}\n\n" if definition.name in READING else ""
    return f"## {heading}: {words}\n\n{links}\n\n{reading}{missing}{body}"


def _figure(name: str, words: str, results: Results, files: str) -> str:
    heading = f"## Figure {name.removeprefix('figure')}: {words}\n\n{figure(name).title}.\n"
    arrays = read_arrays(results.folder, name)
    if arrays is None:
        return f"{heading}\nNot computed yet.\n"
    drawings = "\n".join(
        f"![{figure(name).title}]({files}/{stem}.png)" for stem in figure(name).stems
    )
    return f"{heading}\n{drawings}\n"
