"""Table 9: how much of the training rows is used."""

from subadjacent.experiments.comparison import Comparison, Variant

SHARES = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)

TABLE = Comparison(
    "table9",
    "Share of the training rows",
    "share",
    tuple(Variant(f"{share:.0%}", train_share=share) for share in SHARES),
    notes=("The leading share of every entity; the paper does not say which part it took.",),
)
