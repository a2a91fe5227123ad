"""All results on one page of Markdown, rendered from the rows of results alone."""

from __future__ import annotations

from subadjacent.experiments.catalogue import (
    FIGURES,
    PAPERS,
    TABLES,
    TableDefinition,
    figure,
    table,
)
from subadjacent.experiments.figures import read_arrays
from subadjacent.experiments.plan import DATASETS, Selection
from subadjacent.experiments.render import comma_separated, latex, markdown
from subadjacent.experiments.results import Results
from subadjacent.experiments.summary_text import SummaryText
from subadjacent.experiments.time_left import in_words

HEAD = """# Results

Nothing on this page is typed. It is rendered from the rows in `results/` by

```
subadjacent reproduce all --no-run --output docs/results --page docs/results.md
```

How the numbers are made: [experiments](experiments.md). {rows} rows, {hours}.
"""
TRIAL = "*A trial on a few rows, with a small network: these numbers mean nothing.*\n\n"
LEGEND = """## How to read the tables

**97.5 ± 0.2 (98.2)** is the mean and standard deviation over seeds, and the paper's number. Without
± it is one seed; in brackets alone, the paper's number and none of ours; *not run*, a run that is
still to be made; *no data*, a dataset that was not at hand. `published` is the paper's protocol,
label leaks and all; `clean` is what a user would get. A random score and an untrained network stand
in every comparison: a row that does not beat them says nothing.
"""


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
    for name, words in TABLES.items():
        sections.append(_section(table(name), words, results, selection, files))
    sections += [_figure(name, words, results, files) for name, words in FIGURES.items()]
    return "\n".join(sections)


def table_files(
    definition: TableDefinition, results: Results, selection: Selection
) -> dict[str, str]:
    """A table as Markdown, CSV and LaTeX, by file name."""
    tables = definition.result_tables(results, selection)
    csv_texts = [comma_separated(each) for each in tables]
    return {
        f"{definition.name}.md": (TRIAL if selection.quick else "")
        + "\n".join(markdown(each) for each in tables),
        # one header for all
        f"{definition.name}.csv": csv_texts[0]
        + "".join(text.partition("\n")[2] for text in csv_texts[1:]),
        f"{definition.name}.tex": "\n".join(latex(each) for each in tables),
    }


def missing_words(definition: TableDefinition, results: Results, selection: Selection) -> str:
    """A sentence on runs of a table that were not made; empty when all were."""
    runs = dict.fromkeys(definition.runs(selection))
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
    tables = definition.result_tables(results, selection)
    body = "\n".join(markdown(each) for each in tables)
    missing = missing_words(definition, results, selection)
    return f"## {heading}: {words}\n\n{links}\n\n{missing}{body}"


def _figure(name: str, words: str, results: Results, files: str) -> str:
    heading = f"## Figure {name.removeprefix('figure')}: {words}\n\n{figure(name).title}.\n"
    arrays = read_arrays(results.folder, name)
    if arrays is None:
        return f"{heading}\nNot computed yet.\n"
    drawings = "\n".join(
        f"![{figure(name).title}]({files}/{stem}.png)" for stem in figure(name).stems
    )
    return f"{heading}\n{drawings}\n"
