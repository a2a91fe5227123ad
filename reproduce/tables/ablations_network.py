"""Tables 4, 5, 7, 8 and 9: one setting of the paper's network changed at a time.

A variant with the paper's own value has no settings: its runs are those of Table 2.
"""

from reproduce.comparison import Comparison, Variant

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

TABLES = {table.name: table for table in (TABLE4, TABLE5, TABLE7, TABLE8, TABLE9)}
