"""Table 8: how much the contribution weighs in the loss."""

from subadjacent.experiments.comparison import Comparison, Variant

WEIGHTS = (0, 4, 6, 8, 10, 12, 14)

TABLE = Comparison(
    "table8",
    "Attention's weight λ",
    "λ",
    tuple(
        Variant(
            str(weight), settings=() if weight == 10 else (("attention_weight", float(weight)),)
        )
        for weight in WEIGHTS
    ),
)
