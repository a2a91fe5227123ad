"""Table 7: the window's length."""

from subadjacent.experiments.comparison import Comparison, Variant

WINDOWS = (50, 100, 150, 200, 250, 300)

TABLE = Comparison(
    "table7",
    "Window",
    "points",
    tuple(
        Variant(str(window), settings=() if window == 100 else (("window", window),))
        for window in WINDOWS
    ),
)
