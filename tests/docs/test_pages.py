"""The documentation is true: its code runs, its links lead somewhere, nothing is missing."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

import subadjacent
from subadjacent import SubAdjacentDetector
from subadjacent.detectors.registry import REGISTRY

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "subadjacent"
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("start/*.md")])
TOP_LEVEL = [
    ROOT / name
    for name in (
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "reproduce/README.md",
        "reproduce/log.md",
    )
]
ALL_PAGES = [*PAGES, *TOP_LEVEL]

FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
MODULE = re.compile(r"`([a-z_]+(?:/[a-z_]+)*\.py)`")

every_page = pytest.mark.parametrize(
    "page", ALL_PAGES, ids=[str(page.relative_to(ROOT)) for page in ALL_PAGES]
)


def blocks(page: Path) -> list[tuple[int, str, str]]:
    """Line of the first line of code, info string, and code of every fenced block."""
    text = page.read_text(encoding="utf-8")
    return [
        (text[: found.start("body")].count("\n") + 1, found["info"].strip(), found["body"])
        for found in FENCE.finditer(text)
    ]


def prose(page: Path) -> str:
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def code(page: Path) -> str:
    """All that is set as code on a page, in blocks and between backticks."""
    fenced = [body for _, _, body in blocks(page)]
    return "\n".join(fenced + re.findall(r"`([^`\n]+)`", prose(page)))


def table_rows(page: Path) -> list[list[str]]:
    """Cells of every row of every table."""
    lines = [line for line in prose(page).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


@every_page
def test_the_python_blocks_of_a_page_run_in_order(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": page.stem}
    for line, info, body in blocks(page):
        if info == "python":
            # as many empty lines before it as there are on the page: tracebacks then fit
            source = "\n" * (line - 1) + body
            # as a user would run it, without what this file imports from the future
            exec(compile(source, str(page), "exec", dont_inherit=True), namespace)


@every_page
def test_no_python_block_is_missed_or_left_out_without_a_reason_and_links_lead_to_files(
    page: Path,
) -> None:
    infos = [info for _, info, _ in blocks(page) if re.match(r"(?i)py", info)]
    assert all(re.fullmatch(r"python(?: no-run \S.*)?", info) for info in infos)
    lines = page.read_text(encoding="utf-8").splitlines()
    opened = [line for line in lines if re.match(r"\s*(```|~~~)\s*py", line)]
    assert len(opened) == sum(info.startswith("py") for info in infos)
    assert sum(line.lstrip().startswith("```") for line in lines) == 2 * len(blocks(page))
    targets = [link.partition("#")[0] for link in LINK.findall(prose(page)) if "://" not in link]
    missing = [target for target in targets if target and not (page.parent / target).exists()]
    assert missing == []


def test_every_folder_has_its_page_and_the_first_page_links_to_every_other() -> None:
    folders = {file.parent.name for file in SOURCE.glob("*/__init__.py")}
    assert folders <= {page.stem for page in PAGES}
    start = (DOCS / "README.md").read_text(encoding="utf-8")
    paths = {page.relative_to(DOCS).as_posix() for page in PAGES} - {"README.md"}
    assert {path for path in paths if f"({path})" not in start} == set()


def test_every_public_name_is_documented() -> None:
    words = set(re.findall(r"\w+", "\n".join(map(code, PAGES))))
    rivals = {entry.class_name for entry in REGISTRY.values() if entry.module.startswith("rivals.")}
    # rivals are described by their docstrings, of which the reference is made
    assert set(subadjacent.__all__) - rivals <= words


def test_the_parameters_of_the_detector_are_documented_with_their_defaults() -> None:
    parameters = inspect.signature(SubAdjacentDetector).parameters.values()
    known = [
        [f"`{one.name}`", "`{}`".format(repr(one.default).replace("'", '"'))] for one in parameters
    ]
    rows = [row[:2] for row in table_rows(DOCS / "detectors.md")]
    first = next(number for number, row in enumerate(rows) if row[0] == "parameter")
    assert rows[first + 2 : first + 2 + len(known)] == known


def test_every_equation_is_in_the_maths_and_every_name_in_the_file_beside_it() -> None:
    page = DOCS / "maths.md"
    modules = MODULE.findall(page.read_text(encoding="utf-8"))
    assert [module for module in modules if not (SOURCE / module).is_file()] == []
    rows = table_rows(page)
    named = [(found[1], row[-1].strip("`")) for row in rows if (found := MODULE.fullmatch(row[-2]))]
    assert len(modules) >= len(named) > 10
    for module, name in named:
        dotted = "subadjacent." + module.removesuffix(".py").replace("/", ".")
        assert hasattr(importlib.import_module(dotted), name), f"{name} is not in {module}"
    assert [row[0] for row in rows if row[0].isdigit()] == list("1234567")
