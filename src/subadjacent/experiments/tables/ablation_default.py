"""Parts of the default detector, left out in turn; not a table of the paper."""

from subadjacent.experiments.comparison import Comparison, ShownMetric, Variant
from subadjacent.experiments.plan import REAL, SYNTHETIC
from subadjacent.experiments.run import ABLATION, CLEAN
from subadjacent.experiments.tables.table2 import DEFAULT

# what is left out, in words
LEFT_OUT = {
    "network": "without the network",
    "level": "without the level",
    "ridge": "without the ridge",
    "local": "without the local ridge",
    "wide": "without the wide ridge",
    "companions": "without residuals given the other channels",
    "together": "without rows as a whole",
    "restlessness": "without restlessness",
    "weights": "without learned weights",
    "other lengths": "averaged over 20 rows alone",
    "smoothing": "not averaged at all",
    "all but the level": "the level alone, in units of what is usual",
}

TABLE = Comparison(
    "ablation-default",
    "The default detector, each part left out in turn",
    "variant",
    (
        DEFAULT,
        *(
            Variant(words, ABLATION, settings=(("without", part),), protocols=(CLEAN,))
            for part, words in LEFT_OUT.items()
        ),
    ),
    datasets=(*REAL, SYNTHETIC),
    published=(),
    clean=(
        ShownMetric("average_precision", "average precision"),
        ShownMetric("vus_pr_tsb_ad", "VUS-PR (TSB-AD)"),
    ),
    ablation=False,
)
