"""The default detector with each of its parts left out in turn; not a table of the paper."""

from reproduce.comparison import Comparison, ShownMetric, Variant
from reproduce.plan import REAL, SYNTHETIC
from reproduce.run import ABLATION, CLEAN
from reproduce.tables.table2 import DEFAULT, WITH_NETWORK

# what is left out, in words
LEFT_OUT = {
    "level": "without the level",
    "rhythm": "without the rhythm",
    "local rhythm": "without the local rhythm",
    "slow rhythm": "without the slow rhythm",
    "state": "without the state",
    "shape": "without the shape",
    "state and shape": "without state and shape",
    "other channels": "without residuals given the other channels",
    "all channels": "without all channels of a row together",
    "spread": "without the spread of residuals",
    "learned weights": "with fixed weights",
    "other lengths": "averaged over 20 rows only",
    "smoothing": "not averaged",
    "all but the level": "the level alone",
}

# the causal form: no score depends on later rows
LOOKING_BACK = Variant(
    "looking back only", "default", settings=(("lookahead", 0),), protocols=(CLEAN,)
)

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
        WITH_NETWORK,
        LOOKING_BACK,
    ),
    datasets=(*REAL, SYNTHETIC),
    published=(),
    clean=(
        ShownMetric("average_precision", "average precision"),
        ShownMetric("vus_pr_tsb_ad", "VUS-PR (TSB-AD)"),
    ),
    ablation=False,
)
