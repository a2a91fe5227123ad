"""The words around the leaderboard: how to read it, and who is far from the paper's numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from reproduce.comparison import RANDOM, Cell, Variant, dataset_title
from reproduce.plan import PAPER, Selection
from reproduce.results import Results
from reproduce.tables.leaderboard import (
    TABLE,
    VARIANTS,
    label_of,
    published_cell,
)

# percentage points between our number and the printed one that ask for a reason: several times
# what the seeds of any detector differ by
FAR = 10.0

HEAD = """# Leaderboard

No number on this page is typed. It is rendered from the rows in `results/` by

```
python -m reproduce leaderboard --no-run --output docs/results --page docs/leaderboard.md
```

Every detector of the registry with its own defaults, fitted on training rows, scored and assessed
without labels ([the clean protocol](../reproduce/README.md)); means over three seeds where chance
plays a part, and one where it does not. The order is that of VUS-PR.

![Average precision, F1 of events and training time of every detector]({files}/leaderboard.png)

## How to read it

- **VUS-PR** is the area under precision and recall, averaged over how many rows beside an anomaly
  are forgiven, as TSB-AD has it. **Average precision** and the **ROC area** forgive none. All three
  need no threshold, and are means over entities ([evaluation](evaluation.md)).
- **F1 of events**, **alarms right**, **anomalies found**, **false alarms** and **delay** are of the
  detector's own alarms, at a threshold that it chose without labels
  ([decisions](evaluation.md#alarms-and-anomalies)). An alarm that covers half a series touches many
  anomalies: read F1 beside the false alarms, and beside that of a random score. Where anomalies
  follow each other closely, as in NeurIPS-TS, counts of events say nothing (its table has none),
  and VUS-PR hardly tells a detector from chance.
- **Training** and **scoring** are seconds of a run over all entities. Fourteen jobs shared one GPU
  when the rows of other systems were made: seconds tell tens from ones, not one from two.
  {hardware}
- **Point-adjusted F1** is the field's favourite, with a threshold picked on the labels and a whole
  anomaly counted as found for one row of it; the number that the paper prints is in brackets. **A
  random score stands beside it**: a row below that one may still be of the better detector, since
  one spike in a long anomaly is enough, and a score that moves slowly has few spikes.
- The random score, the untrained network, the input's magnitude and both PCAs are **controls**. A
  detector that does not beat them has learned nothing that matters on that set.
- *not run* is a run that is still to be made; where one is missing there is no mean over the sets.

## Tables

"""

FAR_HEAD = """## Far from what the paper prints

Systems whose point-adjusted F1 is {far:g} points or more from the number that the paper prints for
them. Three likely reasons are common to all. The paper copied its numbers from other papers, whose
runs had settings of their own for each set; here a system has those of its own paper for all sets,
and one seed. It is fitted once on all entities joined to one series, as the paper's network is,
where most of these systems were trained on each entity by itself. And the training series of
NeurIPS-TS is not known, so that its numbers are of another draw of the same kinds
([what is known](../reproduce/README.md)). What is known to differ in the system itself is in the
last column.{random}

| system | ours (the paper's), % | what is known to differ |
|---|---|---|
"""

# what each network's own docstring says of it; shown where it is far
REASONS = {
    "DAGMM": "a sample is five rows, not one; variances of the mixture have a floor",
    "LSTM-VAE": "widths are ours, the prior stands still, and so does the threshold",
    "MSCRED": "the rows between two moments share a score, which leaves few spikes; held-out rows "
    "say what a bad pair is",
    "OmniAnomaly": "scores are those of the mean of the latent chain, not averaged over draws",
    "MAD-GAN": "the search for the nearest window starts from the middle and compares by squared "
    "errors, not by a kernel",
    "MTAD-GAT": "a simpler decoder, and one deviation a channel",
    "USAD": "values are bounded by a hyperbolic tangent, not squeezed between 0 and 1; the best "
    "epoch on held-out rows is kept, often one of the first",
    "THOC": "distances are means over all scales, since at the last alone every point came to lie "
    "at the centres; widths, skips and centres are ours",
    "UAE": "errors are compared with those of held-out rows, once for all, where its best form "
    "moves along",
    "GDN": "errors are scaled by held-out rows, where its paper takes the test rows themselves",
    "GTA": "an encoder without a decoder, and influences are averaged, not added",
    "TranAD": "what came before a window is left out, and so is the step of meta-learning",
    "NPSR": "plain layers and exact attention in place of Performers; scores spread within a "
    "window alone, and are smooth",
    "TimesNet": "periods in scoring are those of training, not of the batch that is scored",
    "Anomaly Transformer": "nothing that we know of but the set",
    "the paper's network": "nothing that we know of but the set",
}


def opening(results: Results, selection: Selection, files: str) -> str:
    """The text before the tables; ``files`` is the folder of the picture."""
    return HEAD.format(files=files, hardware=_hardware(results, selection))


def _hardware(results: Results, selection: Selection) -> str:
    """On what the rows were made, as they say themselves."""
    rows = [results.get(run) for run in TABLE.runs(selection)]
    counts = Counter(row["hardware"] for row in rows if row is not None and row.get("hardware"))
    if not counts:
        return "No row says where it was made."
    words = ", ".join(f"{name} ({count:,} rows)" for name, count in counts.most_common())
    return f"Rows were made on: {words}."


def far_from_the_paper(results: Results, selection: Selection) -> str:
    """A table of the systems that are far from their printed number; empty where none is."""
    lines = []
    for variant in VARIANTS:
        far = [
            f"{title} {cell.mean:.1f} ({cell.paper:.1f})"
            for title, cell in _published(variant, results, selection)
            if cell.paper is not None and abs(cell.mean - cell.paper) >= FAR
        ]
        if far:
            label = label_of(variant)
            lines.append(f"| {label} | {' · '.join(far)} | {REASONS[label]} |\n")
    if not lines:
        return ""
    random = " · ".join(
        f"{title} {cell.mean:.1f}"
        for title, cell in _published(RANDOM, results, selection)
        if not math.isnan(cell.mean)
    )
    words = f" A random score has {random}." if random else ""
    return FAR_HEAD.format(far=FAR, random=words) + "".join(lines)


def _published(
    variant: Variant, results: Results, selection: Selection
) -> Iterator[tuple[str, Cell]]:
    """The point-adjusted F1 on each dataset, by its title."""
    for dataset in selection.among(PAPER):
        title = dataset_title(dataset, results, selection.quick)
        yield title, published_cell(variant, dataset, results, selection)
