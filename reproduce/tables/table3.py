"""Table 3: NeurIPS-TS, the synthetic dataset."""

from reproduce.comparison import Comparison, Variant
from reproduce.plan import SYNTHETIC
from reproduce.tables.rivals import PAPERS_RIVALS
from reproduce.tables.table2 import (
    ANOMALY_TRANSFORMER,
    DEFAULT,
    NUMBERS_IN_BRACKETS,
    OURS,
    WITH_NETWORK,
    auc_metric,
)
from reproduce.tables.table2 import TABLE as MAIN

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
