"""Table 6: linear attention and dynamic scoring, added in turn to two networks."""

from reproduce.comparison import Comparison, Variant
from reproduce.tables.table2 import ANOMALY_TRANSFORMER

# Eq. 6 as it is, in place of the clean protocol's own score
WEIGHTED = (("temperature", 50.0), ("smoothing", 1), ("dynamic", "none"))
DYNAMIC = (("temperature", 50.0), ("smoothing", 1), ("dynamic", "trailing"))
VANILLA = (("attention", "vanilla"),)
LINEAR = (("attention", "linear"),)
# as the paper's rows begin
OURS, THEIRS = "sub-adjacent", "Anomaly Transformer"
RIVAL = ANOMALY_TRANSFORMER.detector

TABLE = Comparison(
    "table6",
    "Modules",
    "method",
    (
        Variant(f"{OURS}: baseline", settings=VANILLA, clean=WEIGHTED, score="weighted"),
        Variant(f"{OURS}: + linear attention", clean=WEIGHTED, score="weighted"),
        Variant(f"{OURS}: + dynamic scoring", clean=DYNAMIC),
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
