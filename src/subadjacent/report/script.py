"""The report's JavaScript modules as one script: a page on disk may import no other file."""

from __future__ import annotations

import re
from importlib.resources import files

FOLDERS = ("page_files", "charts")
MAIN = "report.js"
IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.]+)";\n', re.MULTILINE)


def script() -> str:
    """Each module as a function that returns what others import from it, used ones first."""
    modules: dict[str, str] = {}
    imported: dict[str, set[str]] = {}

    def add(name: str) -> None:
        source = _read(name)
        for names, other in IMPORT.findall(source):
            imported.setdefault(other, set()).update(map(str.strip, names.split(",")))
            if other not in modules:
                add(other)
        body = IMPORT.sub(r'const {\1} = modules["\2"];\n', source)
        modules[name] = re.sub("^export ", "", body, flags=re.MULTILINE)

    add(MAIN)
    script = '"use strict";\nconst modules = {};\n'
    for name, body in modules.items():
        names = ", ".join(sorted(imported.get(name, ())))
        script += f'modules["{name}"] = (() => {{\n{body}return {{{names}}};\n}})();\n'
    return script


def _read(name: str) -> str:
    places = (files("subadjacent.report") / folder / name for folder in FOLDERS)
    return next(place for place in places if place.is_file()).read_text(encoding="utf-8")
