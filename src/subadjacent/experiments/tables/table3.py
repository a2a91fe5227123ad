"""Table 3: NeurIPS-TS, the synthetic dataset."""

from subadjacent.experiments.comparison import Comparison, Variant
from subadjacent.experiments.plan import SYNTHETIC
from subadjacent.experiments.tables.rivals import PAPERS_RIVALS
from subadjacent.experiments.tables.table2 import (
    ANOMALY_TRANSFORMER,
    DEFAULT,
    NUMBERS_IN_BRACKETS,
    OURS,
    WITH_NETWORK,
    auc_metric,
)
from subadjacent.experiments.tables.table2 import TABLE as MAIN

# nobody has published the paper's training series
CONTAMINATED = Variant("Ours, trained on anomalies too", settings=(("train", "contaminated"),))

TABLE = Comparison(
    "table3",
    "NeurIPS-TS",
    "method",
    (*PAPERS_RIVALS, ANOMALY_TRANSFORMER, OURS, CONTAMINATED, DEFAULT, WITH_NETWORK),
    datasets=(SYNTHETIC,),
    published=(*MAIN.published[:-1], auc_metric("table3")),
    clean=MAIN.clean,
    ablation=False,
    notes=(NUMBERS_IN_BRACKETS,),
)
