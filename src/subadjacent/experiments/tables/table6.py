"""Table 6: linear attention and dynamic scoring, added in turn to two networks."""

from subadjacent.experiments.comparison import Comparison, Variant
from subadjacent.experiments.tables.table2 import ANOMALY_TRANSFORMER

# Eq. 6 as it is, in place of the clean protocol's own score
WEIGHTED = (("temperature", 50.0), ("smoothing", 1), ("dynamic", "none"))
DYNAMIC = (("temperature", 50.0), ("smoothing", 1), ("dynamic", "trailing"))
VANILLA = (("attention", "vanilla"),)
LINEAR = (("attention", "linear"),)


def _sub_adjacent(step: str, **others: object) -> Variant:
    return Variant(f"sub-adjacent: {step}", **others)  # type: ignore[arg-type]


def _anomaly(step: str, **others: object) -> Variant:
    return Variant(
        f"Anomaly Transformer: {step}",
        "anomaly-transformer",
        **others,  # type: ignore[arg-type]
    )


TABLE = Comparison(
    "table6",
    "Modules",
    "method",
    (
        _sub_adjacent("baseline", settings=VANILLA, clean=WEIGHTED, score="weighted"),
        _sub_adjacent("+ linear attention", clean=WEIGHTED, score="weighted"),
        _sub_adjacent("+ dynamic scoring", clean=DYNAMIC),
        _anomaly(
            "baseline", published=ANOMALY_TRANSFORMER.published, clean=VANILLA + WEIGHTED,
            score="weighted",
        ),
        _anomaly("+ linear attention", clean=LINEAR + WEIGHTED, score="weighted"),
        _anomaly("+ dynamic scoring", clean=LINEAR + DYNAMIC),
    ),
    notes=("The clean protocol's dynamic score looks back, not ahead (the trailing form).",),
)  # fmt: skip
