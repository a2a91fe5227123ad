"""Table 5: softmax attention, and five mappings of linear attention."""

from subadjacent.experiments.comparison import Comparison, Variant

MAPPINGS = ("vanilla", "softmax-column", "power", "relu", "elu", "softmax")

TABLE = Comparison(
    "table5",
    "Attention and its mapping",
    "attention",
    tuple(
        Variant(mapping, settings=() if mapping == "softmax" else (("attention", mapping),))
        for mapping in MAPPINGS
    ),
    notes=("softmax is the paper's own, with a learned temperature; vanilla is no mapping.",),
)
