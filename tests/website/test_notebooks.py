"""Notebooks as pages."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from website.notebooks import as_markdown


def notebook(*cells: dict[str, Any]) -> str:
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def code(source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": source.splitlines(keepends=True), "outputs": outputs}


def shown(**data: Any) -> dict[str, Any]:
    return {
        "output_type": "display_data",
        "data": {name.replace("_", "/"): one for name, one in data.items()},
    }


def test_text_code_and_output_come_in_order() -> None:
    printed = {"output_type": "stream", "name": "stdout", "text": ["\x1b[1m2\x1b[0m\n"]}
    text = {"cell_type": "markdown", "source": ["# Title\n", "\n", "Words."]}
    assert as_markdown(notebook(text, code("print(1 + 1)", printed))) == (
        "# Title\n\nWords.\n\n"
        "```python\nprint(1 + 1)\n```\n\n"
        "```{code-block} text\n:class: output\n\n2\n```\n"
    )


def test_what_went_to_standard_error_is_left_out() -> None:
    warned = {"output_type": "stream", "name": "stderr", "text": ["careful\n"]}
    assert "careful" not in as_markdown(notebook(code("1", warned)))


def test_a_table_is_shown_as_a_table_and_not_as_text() -> None:
    page = as_markdown(
        notebook(code("frame", shown(text_html="<table></table>", text_plain="a b")))
    )
    assert "<table></table>" in page
    assert "a b" not in page


def test_a_picture_is_in_the_page() -> None:
    encoded = base64.b64encode(b"picture").decode()
    page = as_markdown(
        notebook(code("draw()", shown(image_png=encoded + "\n", text_plain="<Figure>")))
    )
    assert f'src="data:image/png;base64,{encoded}"' in page
    assert "Figure" not in page


def test_code_with_a_fence_in_it_stays_one_block() -> None:
    assert "````python\nx = '''\n```\n'''\n````" in as_markdown(notebook(code("x = '''\n```\n'''")))


def test_an_empty_cell_is_left_out() -> None:
    assert as_markdown(notebook(code(""))).strip() == ""


def test_a_notebook_that_failed_is_refused() -> None:
    failed = {"output_type": "error", "ename": "KeyError", "evalue": "'flow'", "traceback": []}
    with pytest.raises(ValueError, match="a cell of the notebook failed: KeyError: 'flow'"):
        as_markdown(notebook(code("x", failed)))
