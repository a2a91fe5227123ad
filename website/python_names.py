"""Reference pages of the Python names: what the package exports, and what docs import besides."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Iterable, Mapping

import subadjacent
from subadjacent.errors import MissingPackage

PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# folder or module that a public name lives in → heading; the first that fits
GROUPS = {
    "rivals": "Other detectors and controls",
    "detectors": "Detectors",
    "adapters": "Other libraries' shapes",
    "decision": "Thresholds, alarms and causes",
    "streaming": "Rows as they come",
    "data": "Series and made-up data",
    "training": "Progress",
    "runtime": "Progress",
    "errors": "Errors",
}
ORDER = ("Detectors", *dict.fromkeys(GROUPS.values()), "Others")


def public_pages() -> dict[str, str]:
    """Docname → text of a page for every name that the package exports, and of their list."""
    groups: dict[str, list[str]] = {title: [] for title in ORDER}
    for name in subadjacent.__all__:
        groups[_group(getattr(subadjacent, name).__module__)].append(name)
    pages = {f"reference/{name}": _name_page(name) for name in subadjacent.__all__}
    index = [
        "# Python",
        "",
        "What `import subadjacent` gives. Each name has a page of its own.",
        "",
    ]
    for title, names in groups.items():
        if names:
            index += [f"## {title}", "", "| name | what it is |", "|---|---|"]
            index += [f"| [`{name}`]({name}.md) | {summary(name)} |" for name in names]
            index += ["", toctree(names), ""]
    pages["reference/python"] = "\n".join(index)
    return pages


def exported() -> frozenset[str]:
    """The public names."""
    return frozenset(subadjacent.__all__)


def summary(name: str) -> str:
    """The first sentence about a public name, as a cell of a table."""
    first = (inspect.getdoc(getattr(subadjacent, name)) or "").split("\n\n")[0]
    return first.replace("\n", " ").replace("``", "`").replace("|", "\\|")


def imported(texts: Iterable[str]) -> dict[str, list[str]]:
    """Module → names that code on pages imports from it, without what the package exports."""
    found: dict[str, set[str]] = {}
    for text in texts:
        for block in PYTHON.findall(text):
            for node in ast.walk(ast.parse(block)):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
                    "subadjacent."
                ):
                    found.setdefault(str(node.module), set()).update(
                        alias.name for alias in node.names
                    )
    exported = {getattr(subadjacent, name) for name in subadjacent.__all__}
    return {
        module: own
        for module, names in sorted(found.items())
        if _is_importable(module)
        and (own := [name for name in sorted(names) if not _among(module, name, exported)])
    }


def submodule_page(found: Mapping[str, Iterable[str]]) -> str:
    """The page about names of submodules."""
    lines = [
        "# Submodules",
        "",
        "What these pages import from submodules, besides [what the package exports](python.md).",
        "",
    ]
    for module, names in found.items():
        lines += [f"## {module.removeprefix('subadjacent.')}", "", "```{eval-rst}"]
        lines += [f".. currentmodule:: {module}", ""]
        for name in names:
            lines += [_directive(module, name), ""]
        lines += ["```", ""]
    return "\n".join(lines)


def toctree(pages: Iterable[str], hidden: bool = True) -> str:
    """The directive that puts ``pages`` below this one."""
    options = ":hidden:\n" if hidden else ""
    return "\n".join(["```{toctree}", f"{options}:maxdepth: 1", "", *pages, "```"])


def _is_importable(module: str) -> bool:
    """Whether all that a module needs is installed; what wraps another library may lack it."""
    try:
        importlib.import_module(module)
    except MissingPackage:
        return False
    return True


def _among(module: str, name: str, exported: set[object]) -> bool:
    one = getattr(importlib.import_module(module), name)
    return inspect.ismodule(one) or (one.__hash__ is not None and one in exported)


def _group(module: str) -> str:
    home = module.removeprefix("subadjacent.")
    return next((title for start, title in GROUPS.items() if home.startswith(start)), "Others")


def _name_page(name: str) -> str:
    one = getattr(subadjacent, name)
    if not inspect.isclass(one):
        directive = f".. autofunction:: {name}"
    else:
        directive = f".. autoclass:: {name}\n   :members:\n   :show-inheritance:"
        # what a rival inherits is on the page of its base
        if one.__module__ == "subadjacent.detectors.default":
            directive += "\n   :inherited-members: BaseEstimator"
    return f"# {name}\n\n```{{eval-rst}}\n.. currentmodule:: subadjacent\n\n{directive}\n```\n"


def _directive(module: str, name: str) -> str:
    one = getattr(importlib.import_module(module), name)
    if inspect.isclass(one):
        return f".. autoclass:: {name}\n   :members:"
    # a constant has no docstring but that of its type
    return f".. {'autofunction' if callable(one) else 'py:data'}:: {name}"
