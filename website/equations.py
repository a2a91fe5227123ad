"""A Sphinx extension: equations become MathML when the site is built, so that no script is needed.

Brackets and sums grow with what they hold only in a font with a table for it. Not every machine
has one, so part of STIX Two Math comes with the site.
"""

from __future__ import annotations

import re
from importlib.metadata import distribution
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from fontTools import subset
from latex2mathml.converter import convert

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

FONT = "math.woff"
# characters that equations may have: Latin, Greek, accents, arrows, operators, brackets, and the
# upright, bold, slanted and script letters of mathematics
CHARACTERS = (
    (0x20, 0x7E), (0xA0, 0xFF), (0x2C6, 0x2DC), (0x300, 0x338), (0x391, 0x3F5), (0x2010, 0x2044),
    (0x2100, 0x214F), (0x2190, 0x21D4), (0x2200, 0x22FF), (0x2308, 0x230B), (0x27E6, 0x27EB),
    (0x1D400, 0x1D4CF), (0x1D6A4, 0x1D71B),
)  # fmt: skip

TAG = re.compile(r"\\tag\{([^}]*)\}")


def setup(app: Sphinx) -> dict[str, bool]:
    """Say to Sphinx that ``mathml`` renders equations."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("build-finished", _add_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_font(target: Path) -> None:
    """Write the part of the font that equations may need."""
    whole = distribution("ziamath").locate_file("ziamath/fonts/STIXTwoMath-Regular.ttf")
    options = subset.Options(flavor="woff", layout_features=["ssty"], hinting=False)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[code for a, b in CHARACTERS for code in range(a, b + 1)])
    with subset.load_font(str(whole), options) as font:
        subsetter.subset(font)
        subset.save_font(font, str(target), options)


def _add_font(app: Sphinx, failure: Exception | None) -> None:
    if failure is None:
        write_font(Path(app.outdir) / "_static" / FONT)


def inline(latex: str) -> str:
    """An equation in a line."""
    return convert(latex)


def block(latex: str) -> str:
    r"""An equation by itself, with the number that its ``\\tag`` says."""
    number = TAG.search(latex)
    drawn = convert(TAG.sub("", latex).strip(), display="block")
    if not number:
        return f'<div class="equation">{drawn}</div>'
    name = number[1]
    return (
        f'<div class="equation" id="equation-{name}">{drawn}'
        f'<a class="number" href="#equation-{name}">({name})</a></div>'
    )


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write an equation in a line."""
    self.body.append(inline(node.astext()))
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write an equation by itself."""
    self.body.append(block(node.astext()))
    raise nodes.SkipNode
