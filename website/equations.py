"""A Sphinx extension: equations become MathML when the site is built, so that no script is needed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docutils import nodes
from latex2mathml.converter import convert

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

TAG = re.compile(r"\\tag\{([^}]*)\}")


def setup(app: Sphinx) -> dict[str, bool]:
    """Say to Sphinx that ``mathml`` renders equations."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def inline(latex: str) -> str:
    """An equation in a line."""
    return convert(latex)


def block(latex: str) -> str:
    """An equation by itself, with the number that its ``\\tag`` says."""
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
