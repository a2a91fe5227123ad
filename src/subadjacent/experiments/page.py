"""All results on one page of Markdown, rendered from the files and from nothing else."""

from __future__ import annotations

from subadjacent.experiments.asked import PAPER, Asked
from subadjacent.experiments.catalogue import FIGURES, PAPERS, TABLES, Table, figure, table
from subadjacent.experiments.figures import read_arrays
from subadjacent.experiments.opening import Opening
from subadjacent.experiments.render import comma_separated, latex, markdown
from subadjacent.experiments.results import Results
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


def shown(results: Results) -> Asked:
    """What a page of some results has: the datasets that anything was run on."""
    there = results.datasets()
    return Asked(datasets=tuple(name for name in PAPER if name in there))


def page(results: Results, asked: Asked, files: str) -> str:
    """The page; ``files`` is where the rendered files lie, seen from it."""
    hours = ", ".join(
        f"{in_words(3600 * hours)} on {name}" for name, hours in results.hours().items()
    )
    head = HEAD.format(rows=len(results), hours=hours or "no time at all")
    parts = [head, Opening(results).text(), LEGEND]
    for name, words in TABLES.items():
        parts.append(_section(table(name), words, results, asked, files))
    parts += [_figure(name, words, results, files) for name, words in FIGURES.items()]
    return "\n".join(parts)


def table_files(found: Table, results: Results, asked: Asked) -> dict[str, str]:
    """A table as Markdown, CSV and LaTeX, by file name."""
    grids = found.grids(results, asked)
    cells = [comma_separated(grid) for grid in grids]
    return {
        f"{found.name}.md": (TRIAL if asked.quick else "")
        + "\n".join(markdown(grid) for grid in grids),
        # one header for all
        f"{found.name}.csv": cells[0] + "".join(one.partition("\n")[2] for one in cells[1:]),
        f"{found.name}.tex": "\n".join(latex(grid) for grid in grids),
    }


def missing_words(found: Table, results: Results, asked: Asked) -> str:
    """How many runs of a table are still to be made; nothing when none is."""
    runs = dict.fromkeys(found.runs(asked))
    lacking = len(results.missing(runs))
    if not lacking:
        return ""
    return f"{lacking} of the {len(runs)} runs of this table are still to be made.\n\n"


def _section(found: Table, words: str, results: Results, asked: Asked, files: str) -> str:
    # ours have no number
    heading = found.name.replace("table", "Table ") if found.name in PAPERS else "Beyond the paper"
    links = f"[CSV]({files}/{found.name}.csv) · [LaTeX]({files}/{found.name}.tex)"
    grids = "\n".join(markdown(grid) for grid in found.grids(results, asked))
    lacking = missing_words(found, results, asked)
    return f"## {heading}: {words}\n\n{links}\n\n{lacking}{grids}"


def _figure(name: str, words: str, results: Results, files: str) -> str:
    heading = f"## Figure {name.removeprefix('figure')}: {words}\n\n{figure(name).title}.\n"
    arrays = read_arrays(results.folder, name)
    if arrays is None:
        return f"{heading}\nNot computed yet.\n"
    drawings = "\n".join(
        f"![{figure(name).title}]({files}/{stem}.png)" for stem in figure(name).stems
    )
    return f"{heading}\n{drawings}\n"
