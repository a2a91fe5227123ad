"""Notebooks as Markdown pages: text, code, and what the code gave when it was last run."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

# ANSI escapes, by which programs colour what they print
ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")

# what is shown of an output that comes in several forms, the best first
FORMS = ("text/html", "image/svg+xml", "image/png", "text/markdown", "text/plain")


def as_markdown(notebook: str) -> str:
    """The page that a notebook (the text of an .ipynb file) makes."""
    read: dict[str, Any] = json.loads(notebook)
    language = read["metadata"].get("language_info", {}).get("name", "python")
    parts: list[str] = []
    for cell in read["cells"]:
        source = "".join(cell["source"]).strip("\n")
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif cell["cell_type"] == "code" and source:
            parts.append(_fence(source, language))
            parts += _outputs(cell["outputs"])
    return "\n\n".join(parts) + "\n"


def _outputs(outputs: list[dict[str, Any]]) -> Iterator[str]:
    for output in outputs:
        kind = output["output_type"]
        if kind == "stream":
            if output["name"] == "stdout":
                yield _fence(ESCAPE.sub("", "".join(output["text"])).rstrip("\n"), "{.output}")
        elif kind == "error":
            raise ValueError(
                f"a cell of the notebook failed: {output['ename']}: {output['evalue']}"
            )
        else:
            yield _shown(output["data"])


def _shown(data: dict[str, Any]) -> str:
    form = next(one for one in FORMS if one in data)
    content = data[form] if isinstance(data[form], str) else "".join(data[form])
    if form == "text/plain":
        return _fence(content, "{.output}")
    if form == "text/markdown":
        return content
    if form == "image/png":
        encoded = base64.b64encode(base64.b64decode(content)).decode()
        content = f'<img alt="What the code above draws" src="data:image/png;base64,{encoded}">'
    # no empty line may end the block early
    return _fence(f'<div class="output">\n{content}\n</div>', "{raw} html")


def _fence(text: str, info: str) -> str:
    longest = max((len(found) for found in re.findall(r"`{3,}", text)), default=2)
    ticks = "`" * (longest + 1)
    if info == "{.output}":
        # a block of text with a class of its own, which the style sheet sets apart
        return f"{ticks}{{code-block}} text\n:class: output\n\n{text}\n{ticks}"
    return f"{ticks}{info}\n{text}\n{ticks}"
