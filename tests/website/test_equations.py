"""Equations as MathML, and the paper's, all of them, on the page that has them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont
from website.equations import block, inline, write_font

pytestmark = pytest.mark.sweep

MATHS = (Path(__file__).parents[2] / "docs" / "maths.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^\$\$\n(.*?)\n\$\$$", re.MULTILINE | re.DOTALL)
# what must be in each equation of the paper, as its source has it
PAPER = {
    "1": (r"\mathrm{SACon}", "K_1", "K_2", r"\mathbf{A}_{ji}"),
    "2": (r"\mathrm{Roll}(\mathbf{Q}, i-j)", r"\mathbf{K}_{i,:}"),
    "3": (r"\mathrm{SACon}", r"\mathbf{A}_{[j]i}"),
    "4": (r"\Phi", r"\mathrm{Softmax}_{\mathrm{row}}", r"/ \tau"),
    "5": (r"\hat{\mathbf{X}}", r"- \lambda", r"\|_F^2", r"\|_1"),
    "6": (r"\mathrm{Softmax}\left( -\mathrm{SACon}", r"\odot"),
    "7": (r"-\log", r"\mathrm{cdf}", r"\mu_t", r"\sigma_t^2"),
}


def test_every_equation_of_the_paper_is_there_in_order() -> None:
    numbered = {
        found[1]: one
        for one in BLOCK.findall(MATHS)
        if (found := re.search(r"\\tag\{(\d+)\}", one))
    }
    assert list(numbered) == list(PAPER)
    for number, parts in PAPER.items():
        assert [part for part in parts if part not in numbered[number]] == []


def test_no_command_of_an_equation_is_left_over() -> None:
    spans = re.findall(r"(?<!\$)\$([^$\n]+)\$(?!\$)", MATHS)
    assert len(spans) > 5
    drawn = [inline(one) for one in spans] + [block(one) for one in BLOCK.findall(MATHS)]
    assert [one for one in drawn if "\\" in one] == []


def test_the_font_has_what_equations_need(tmp_path: Path) -> None:
    write_font(tmp_path / "math.woff")
    with TTFont(tmp_path / "math.woff") as font:
        # the table by which brackets grow, sums, slanted and bold letters
        assert "MATH" in font
        assert {ord(one) for one in "∑‖⟨𝑥𝐀𝜏λ⊙≤"} <= set(font.getBestCmap())
    assert (tmp_path / "math.woff").stat().st_size < 400_000
