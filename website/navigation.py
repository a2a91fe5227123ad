"""Which page is where: four kinds of pages, by what a reader wants, and the results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Section:
    """An entry of the site's first row, its page ``name``, and what is below it."""

    name: str
    title: str
    about: str
    pages: tuple[str, ...]


TUTORIALS = Section(
    "tutorials/index",
    "Tutorials",
    "From nothing to alarms, step by step. Each is a notebook that runs as it is.",
    ("tutorials/plant", "tutorials/fleet", "tutorials/live", "tutorials/labels"),
)
GALLERY = Section("gallery/index", "Gallery", "Cases, each with its command and picture.", ())
HOW_TO = Section(
    "how-to",
    "How-to",
    "How to get something done, and all that can be asked for on the way.",
    (
        "install",
        "cli",
        "report",
        "detectors",
        "data",
        "scoring",
        "streaming",
        "service",
        "page",
        "prometheus",
        "evaluation",
        "training",
        "distributed",
        "workflow",
        "adapters",
        "reliability",
    ),
)
REFERENCE = Section(
    "reference/index",
    "Reference",
    "Every name, command, option and route, from the code itself.",
    ("reference/python", "reference/submodules", "reference/command", "reference/http"),
)
EXPLANATION = Section(
    "explanation",
    "Explanation",
    "How it works, and why it is so.",
    ("method", "maths", "core", "ridge", "methods", "networks", "architecture", "decisions", "log"),
)
RESULTS = Section(
    "outcomes",
    "Results",
    "What came out, on which data, how long it took, and how to make it again.",
    ("leaderboard", "results", "experiments", "benchmarks"),
)
PROJECT = Section(
    "project", "Project", "What changed, and how to change it.", ("changelog", "contributing")
)

# what a page is called on the site, where its folder's name says too little
TITLES = {
    "adapters": "Use it from other libraries",
    "architecture": "Layers, reading order, glossary",
    "cli": "Find anomalies in a file",
    "core": "The paper's maths in code",
    "data": "Bring your data",
    "detectors": "Find anomalies in Python",
    "distributed": "Use more than one machine",
    "evaluation": "Compare alarms with labels",
    "experiments": "How results are made",
    "install": "Install",
    "maths": "The paper's equations",
    "methods": "From settings to a model",
    "networks": "Networks",
    "page": "Watch alarms on a page",
    "prometheus": "Get alarms from Prometheus",
    "reliability": "What happens when things fail",
    "report": "Read the report",
    "results": "The paper's tables",
    "ridge": "Linear models of neighbours",
    "scoring": "Choose a threshold",
    "service": "Run the service",
    "streaming": "Score rows as they come",
    "training": "Train networks",
    "workflow": "Work with files from Python",
}

# what a page is for, in its section's list, where its first sentence does not say it
ABOUTS = {
    "changelog": "What is new, and what to write instead.",
    "contributing": "How to run tests and checks, and what a change needs.",
    "core": "The equations of the paper as small functions.",
    "data": "Files, frames, gaps, missing values, several machines, times.",
    "evaluation": "Metrics by event and by row, for those who have labels.",
    "install": "Python 3.11 to 3.14, extras, pipx, a container, completion, the manual page.",
    "leaderboard": "Every detector on every dataset, by several measures, and what each costs.",
    "maths": "What the Sub-Adjacent Transformer computes, and the words that the code has for it.",
    "results": "What the paper prints, and what came out here.",
    "scoring": "One false alarm a week, conformal p-values and others; what an alarm says.",
    "service": "Rows in over HTTP, alarms out.",
    "streaming": "Row by row, with a fitted detector or with none.",
    "training": "From windows to weights: settings, checkpoints, several GPUs.",
    "workflow": "What the command does, as functions.",
    "page": "What the service shows at its own address.",
    "prometheus": "Learn from the history of metrics, and raise alerts.",
}

SECTIONS = (TUTORIALS, GALLERY, HOW_TO, REFERENCE, EXPLANATION, RESULTS, PROJECT)


def sections(pages: Iterable[str]) -> list[Section]:
    """The sections that have pages, with those only that there are.

    A page that no section names goes to the end of its folder's section, or of the how-to: a new
    page is on the site without a word here.
    """
    there = set(pages) - {"index"}
    named = {page for section in SECTIONS for page in (section.name, *section.pages)}
    others = sorted(there - named)
    found = []
    for section in SECTIONS:
        more = [page for page in others if _home(page) is section]
        listed = tuple(page for page in (*section.pages, *more) if page in there)
        if listed:
            found.append(Section(section.name, section.title, section.about, listed))
    return found


def _home(page: str) -> Section:
    folder = Path(page).parent.as_posix()
    return {"tutorials": TUTORIALS, "gallery": GALLERY, "reference": REFERENCE}.get(folder, HOW_TO)
