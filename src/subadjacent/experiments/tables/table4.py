"""Table 4: the band, from the point itself to far away."""

from subadjacent.experiments.comparison import Comparison, Variant

BANDS = ((0, 0), (0, 5), (0, 10), (10, 20), (20, 30), (30, 40), (10, 30), (20, 40), (10, 40))

TABLE = Comparison(
    "table4",
    "Band near:far",
    "band",
    tuple(
        # the default leaves no trace, so that its runs serve every table
        Variant(
            f"{near}:{far}",
            settings=() if (near, far) == (20, 30) else (("near", near), ("far", far)),
        )
        for near, far in BANDS
    ),
)
