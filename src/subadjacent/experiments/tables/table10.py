"""Table 10: F1 without point adjustment, one model for each entity."""

from subadjacent.experiments.comparison import Comparison, ShownMetric, Variant

TABLE = Comparison(
    "table10",
    "F1 without point adjustment",
    "method",
    (Variant("Ours", score="error", per_entity=True),),
    published=(
        ShownMetric("oracle_f1", "best F1 of rows as they are, threshold picked on labels", "F1"),
    ),
    clean=(
        ShownMetric("oracle_f1", "best F1 of rows as they are, threshold picked on labels"),
        ShownMetric("f1", "F1 at the label-free threshold"),
    ),
    ablation=False,
    notes=(
        "Published: the error alone, one network for each entity, mean over entities.",
        "Controls are evaluated on all rows at once.",
    ),
)
