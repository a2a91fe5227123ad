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


START = Section(
    "start/index",
    "Start",
    "One screen each: the shortest way from your data to alarms.",
    ("start/file", "start/python", "start/live", "start/timestamps", "start/threshold"),
)
TUTORIALS = Section(
    "tutorials/index",
    "Tutorials",
    "Step by step from a file to alarms. Each tutorial is a notebook that you can run.",
    ("tutorials/plant", "tutorials/fleet", "tutorials/live", "tutorials/labels"),
)
GALLERY = Section(
    "gallery/index",
    "Gallery",
    "Six realistic files, each with the command, figures, and what was found and missed.",
    (),
)
HOW_TO = Section(
    "how-to",
    "How-to",
    "How to do common tasks, with all options.",
    (
        "install",
        "cli",
        "report",
        "detectors",
        "data",
        "decision",
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
    "Every class, function, command, option and HTTP route, generated from the code.",
    ("reference/python", "reference/submodules", "reference/command", "reference/http"),
)
EXPLANATION = Section(
    "explanation",
    "Explanation",
    "How the detectors work, and why they are built this way.",
    ("method", "maths", "core", "ridge", "methods", "networks", "architecture", "decisions"),
)
RESULTS = Section(
    "outcomes",
    "Results",
    "Results on public data, how long they took, and how to reproduce them.",
    ("leaderboard", "results", "benchmarks"),
)
PROJECT = Section(
    "project", "Project", "The changelog, and how to contribute.", ("changelog", "contributing")
)

# what a page is called on the site, where its folder's name says too little
TITLES = {
    "adapters": "Use it from other libraries",
    "architecture": "Layers, reading order, glossary",
    "cli": "Find anomalies in a file",
    "core": "The paper's maths in code",
    "data": "Bring your data",
    "decision": "Choose a threshold",
    "detectors": "Find anomalies in Python",
    "distributed": "Use more than one machine",
    "evaluation": "Compare alarms with labels",
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
    "service": "Run the service",
    "streaming": "Score rows as they arrive",
    "training": "Train networks",
    "workflow": "Work with files from Python",
}

# what a page is for, in its section's list, where its first sentence does not say it
ABOUTS = {
    "changelog": "What is new, and how to migrate.",
    "contributing": "How to run tests and checks, and what a change needs.",
    "core": "The equations of the paper as small functions.",
    "data": "Files, frames, gaps, missing values, several machines, times.",
    "decision": "Severity, events, one false alarm a week and other thresholds; what an alarm has.",
    "evaluation": "Metrics by event and by row, if you have labels.",
    "install": "Python 3.11 to 3.14, extras, pipx, a container, completion.",
    "leaderboard": "Every detector on every dataset, by several metrics, with running times.",
    "maths": "What the Sub-Adjacent Transformer computes, and the names in the code.",
    "results": "The numbers of the paper, and the numbers reproduced here.",
    "service": "Send rows over HTTP, get alarms.",
    "streaming": "Row by row, with a fitted detector or with none.",
    "training": "From windows to weights: settings, checkpoints, several GPUs.",
    "workflow": "The functions behind the command.",
    "page": "The web page of the service.",
    "prometheus": "Learn from the history of metrics, and raise alerts.",
}

SECTIONS = (START, TUTORIALS, GALLERY, HOW_TO, REFERENCE, EXPLANATION, RESULTS, PROJECT)


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
