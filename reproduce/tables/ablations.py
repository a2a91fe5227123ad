"""Tables 4 to 9: settings and modules of the paper's network; and the parts of the default.

A variant with the paper's own value has no settings: its runs are those of Table 2.
"""

from __future__ import annotations

from reproduce.comparison import Comparison, ShownMetric, Variant
from reproduce.plan import REAL, SYNTHETIC
from reproduce.run import ABLATION, CLEAN
from reproduce.tables.main_results import ANOMALY_TRANSFORMER, DEFAULT, WITH_NETWORK

BANDS = ((0, 0), (0, 5), (0, 10), (10, 20), (20, 30), (30, 40), (10, 30), (20, 40), (10, 40))
MAPPINGS = ("vanilla", "softmax-column", "power", "relu", "elu", "softmax")
WINDOWS = (50, 100, 150, 200, 250, 300)
WEIGHTS = (0, 4, 6, 8, 10, 12, 14)
SHARES = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)

TABLE4 = Comparison(
    "table4",
    "Band near:far",
    "band",
    tuple(
        Variant(
            f"{near}:{far}",
            settings=() if (near, far) == (20, 30) else (("near", near), ("far", far)),
        )
        for near, far in BANDS
    ),
)
TABLE5 = Comparison(
    "table5",
    "Attention and its mapping",
    "attention",
    tuple(
        Variant(mapping, settings=() if mapping == "softmax" else (("attention", mapping),))
        for mapping in MAPPINGS
    ),
    notes=("softmax is the paper's, with a learned temperature; vanilla is softmax attention.",),
)
TABLE7 = Comparison(
    "table7",
    "Window",
    "points",
    tuple(
        Variant(str(window), settings=() if window == 100 else (("window", window),))
        for window in WINDOWS
    ),
)
TABLE8 = Comparison(
    "table8",
    "Weight λ of the attention term in the loss",
    "λ",
    tuple(
        Variant(
            str(weight), settings=() if weight == 10 else (("attention_weight", float(weight)),)
        )
        for weight in WEIGHTS
    ),
)
TABLE9 = Comparison(
    "table9",
    "Share of the training rows",
    "share",
    tuple(Variant(f"{share:.0%}", train_share=share) for share in SHARES),
    notes=("The leading share of every entity; the paper does not say which rows it took.",),
)


# Eq. 6 as it is, in place of the clean protocol's own score
WEIGHTED = (("temperature", 50.0), ("smoothing", 1), ("dynamic", "none"))
DYNAMIC = (("temperature", 50.0), ("smoothing", 1), ("dynamic", "trailing"))
VANILLA = (("attention", "vanilla"),)
LINEAR = (("attention", "linear"),)
# as the paper's rows begin
SUB_ADJACENT, THEIRS = "sub-adjacent", "Anomaly Transformer"
RIVAL = ANOMALY_TRANSFORMER.detector

TABLE6 = Comparison(
    "table6",
    "Modules",
    "method",
    (
        Variant(f"{SUB_ADJACENT}: baseline", settings=VANILLA, clean=WEIGHTED, score="weighted"),
        Variant(f"{SUB_ADJACENT}: + linear attention", clean=WEIGHTED, score="weighted"),
        Variant(f"{SUB_ADJACENT}: + dynamic scoring", clean=DYNAMIC),
        Variant(
            f"{THEIRS}: baseline", RIVAL, published=ANOMALY_TRANSFORMER.published,
            clean=VANILLA + WEIGHTED, score="weighted",
        ),
        Variant(
            f"{THEIRS}: + linear attention", RIVAL, clean=LINEAR + WEIGHTED, score="weighted"
        ),
        Variant(f"{THEIRS}: + dynamic scoring", RIVAL, clean=LINEAR + DYNAMIC),
    ),
    notes=("The clean protocol's dynamic score looks back, not ahead (the trailing form).",),
)  # fmt: skip


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

DEFAULT_PARTS = Comparison(
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

TABLES = {
    table.name: table for table in (TABLE4, TABLE5, TABLE6, TABLE7, TABLE8, TABLE9, DEFAULT_PARTS)
}
