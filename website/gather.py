"""Writes what Sphinx reads: pages of the repository with their links mended, and generated ones.

A link to a page leads to that page on the site. A link to code leads to a page that shows the
code, one to a folder to a list of its files, and one to any other file to a copy of it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from website import charts, command, http_routes, python_names, source_links
from website.links import outside_code, relative, resolve, rewrite
from website.navigation import ABOUTS, TITLES, Section, sections
from website.notebooks import as_markdown

ROOT = Path(__file__).parents[1]
PAGES = Path(__file__).parent / "pages"

# pages of the repository that have another place, or name, on the site
PLACES = {
    "README.md": "index.md",
    "docs/README.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
# suffix → language of files that are shown, not copied
CODE = {
    ".py": "python",
    ".toml": "toml",
    ".yml": "yaml",
    ".yaml": "yaml",
    ".json": "json",
    ".sh": "sh",
}
# files of the repository that come without being linked to
STARTS = ("docs/*.md", "docs/tutorials/*.ipynb", "docs/tutorials/*.md", "docs/gallery/*.md")
HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
FENCE = re.compile(r"^ *(`{3,}).*?^ *\1`* *$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
PART = re.compile(r"\{\{ *readme (\w+) *\}\}")
IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)\s]*)-light\.png\)")


class Gathering:
    """The pages of ``root``, written to ``target`` one after the other, with all they lead to."""

    def __init__(self, root: Path, target: Path) -> None:
        self.root, self.target = root, target
        self.waiting: list[PurePosixPath] = []
        self.taken: set[PurePosixPath] = set()
        self.titles: dict[str, str] = {}
        self.abouts: dict[str, str] = {}

    def place(self, file: PurePosixPath) -> PurePosixPath:
        """Where a file of the repository is among what Sphinx reads; it will be written there."""
        if file not in self.taken:
            self.taken.add(file)
            self.waiting.append(file)
        if str(file) in PLACES:
            return PurePosixPath(PLACES[str(file)])
        if file.parts[0] == "docs":
            inside = file.relative_to("docs")
            if file.name == "README.md":
                return inside.with_name("index.md")
            return inside.with_suffix(".md") if file.suffix == ".ipynb" else inside
        inside = PurePosixPath("source") / file
        if (self.root / file).is_dir():
            return inside / "index.md"
        return inside.with_name(f"{file.name}.md") if file.suffix in CODE else inside

    def run(self) -> None:
        """Write all."""
        for pattern in STARTS:
            for file in sorted(self.root.glob(pattern)):
                self.place(PurePosixPath(file.relative_to(self.root).as_posix()))
        self.place(PurePosixPath("CONTRIBUTING.md"))
        self.place(PurePosixPath("CHANGELOG.md"))
        self._generate()
        # README.md is shown as parts of the first page
        self.taken.add(PurePosixPath("README.md"))
        while self.waiting:
            self._take(self.waiting.pop())
        navigation = sections(self.titles)
        for section in navigation:
            self._section(section)
        self._first_page(navigation)
        while self.waiting:
            self._take(self.waiting.pop())

    def _take(self, file: PurePosixPath) -> None:
        path, place = self.root / file, self.place(file)
        if path.is_dir():
            self._write(place, self._listing(file, place), hidden=True)
        elif file.suffix in CODE:
            self._write(place, _shown(file, path.read_text(encoding="utf-8")), hidden=True)
        elif file.suffix in (".md", ".ipynb"):
            text = path.read_text(encoding="utf-8")
            text = as_markdown(text) if file.suffix == ".ipynb" else text
            text = self.mended(text, file, place)
            if str(file) == "docs/leaderboard.md":
                text = _with_charts(text, self.root)
            self._write(place, text, hidden=place.parts[0] == "source")
        else:
            (self.target / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, self.target / place)

    def mended(self, text: str, file: PurePosixPath, place: PurePosixPath) -> str:
        """The text of ``file`` with links that are right at ``place``, and dark pictures."""

        def at_place(target: str) -> str:
            path, anchor = resolve(file, target)
            if not (self.root / path).exists():
                raise FileNotFoundError(f"{file} links to {target}, which is not there")
            return relative(place, self.place(path), anchor)

        def in_the_dark(found: re.Match[str]) -> str:
            dark, _ = resolve(file, f"{found[2]}-dark.png")
            if not (self.root / dark).exists():
                return found[0]
            pair = (("light", "only-light"), ("dark", "only-dark"))
            return "".join(f"![{found[1]}]({found[2]}-{one}.png){{.{css}}}" for one, css in pair)

        return rewrite(outside_code(text, lambda prose: IMAGE.sub(in_the_dark, prose)), at_place)

    def _listing(self, folder: PurePosixPath, place: PurePosixPath) -> str:
        inside = sorted(
            one.name
            for one in (self.root / folder).iterdir()
            if one.is_file() and not one.name.startswith((".", "_"))
        )
        links = (f"- [{name}]({relative(place, self.place(folder / name))})" for name in inside)
        return f"# {folder}\n\n" + "\n".join(links) + "\n"

    def _write(self, place: PurePosixPath, text: str, *, hidden: bool = False) -> None:
        """Write a page; a hidden one is in no menu and is not searched."""
        if hidden:
            text = f"---\norphan: true\nnosearch: true\n---\n{text}"
        else:
            name = str(place.with_suffix(""))
            heading = HEADING.search(text)
            if heading is None:
                raise ValueError(f"{place} has no heading")
            self.abouts[name] = ABOUTS.get(name) or first_sentence(text)
            self.titles[name] = TITLES.get(name, heading[1])
            text = HEADING.sub(lambda _: f"# {self.titles[name]}", text, count=1)
        (self.target / place).parent.mkdir(parents=True, exist_ok=True)
        (self.target / place).write_text(text, encoding="utf-8")

    def _generate(self) -> None:
        pages = python_names.public_pages()
        texts = [one.read_text(encoding="utf-8") for one in sorted(self.root.glob("docs/*.md"))]
        imported = python_names.imported(texts)
        pages["reference/submodules"] = python_names.submodule_page(imported)
        pages["reference/command"] = command.page()
        pages["reference/http"] = http_routes.page(http_routes.description())
        documented = {"subadjacent": python_names.exported(), **imported}
        for module, names in documented.items():
            for name in sorted(names):
                for file in source_links.files(module, name):
                    self.place(file)
        for name, text in pages.items():
            self._write(PurePosixPath(f"{name}.md"), text)
            # a public name is below the list of names, not in the section
            if name.rpartition("/")[2] in python_names.exported():
                del self.titles[name]

    def _section(self, section: Section) -> None:
        """The section's first page: what its pages are about; or the page that there is."""
        place = PurePosixPath(f"{section.name}.md")
        below = [relative(place, PurePosixPath(page)) for page in section.pages]
        if section.name in self.titles:
            text = (self.target / place).read_text(encoding="utf-8")
            # in the order of its own links
            below.sort(key=lambda page: text.find(f"({page}.md") % len(text))
            self._write(place, f"{text}\n{python_names.toctree(below)}\n")
            return
        lines = [f"# {section.title}", "", section.about, ""]
        for page in section.pages:
            link = relative(place, PurePosixPath(f"{page}.md"))
            lines.append(f"- **[{self.titles[page]}]({link})**\\\n  {self.abouts[page]}")
        self._write(place, "\n".join([*lines, "", python_names.toctree(below), ""]))

    def _first_page(self, navigation: list[Section]) -> None:
        readme = (self.root / "README.md").read_text(encoding="utf-8")
        place = PurePosixPath("index.md")
        parts = readme_parts(readme)
        text = (PAGES / "index.md").read_text(encoding="utf-8")
        text = PART.sub(lambda found: parts[found[1]], text)
        text = self.mended(text, PurePosixPath("README.md"), place)
        menu = python_names.toctree(f"{one.title} <{one.name}>" for one in navigation)
        self._write(place, f"{text}\n{menu}\n")


def readme_parts(readme: str) -> Mapping[str, str]:
    """Name → text of what stands between <!-- name --> and <!-- /name -->."""
    found = re.findall(r"<!-- (\w+) -->\n(.*?)<!-- /\1 -->", readme, re.DOTALL)
    return {name: text.strip("\n") for name, text in found}


def first_sentence(text: str) -> str:
    """What a page begins with below its heading, without links."""
    prose = LINK.sub(r"\1", FENCE.sub("", HEADING.split(text, maxsplit=1)[-1]))
    paragraphs = (one.strip() for one in prose.split("\n\n"))
    first = next((one for one in paragraphs if one and one[0] not in "#`|<!$:-"), "")
    return re.split(r"(?<=[.:])\s", first, maxsplit=1)[0].removesuffix(":").replace("\n", " ")


def _shown(file: PurePosixPath, code: str) -> str:
    longest = max((len(found) for found in re.findall(r"`{3,}", code)), default=2)
    ticks = "`" * (longest + 1)
    return f"# {file}\n\n{ticks}{{code-block}} {CODE[file.suffix]}\n:linenos:\n\n{code}\n{ticks}\n"


def _with_charts(text: str, root: Path) -> str:
    """The leaderboard with a chart where its picture is, and one for the field's favourite."""
    picture = re.compile(r"^!\[[^\]]*\]\(results/leaderboard\.png\)$", re.MULTILINE)
    cost, favourite = (charts.block(one, root) for one in (charts.COST, charts.FAVOURITE))
    changed, count = picture.subn(lambda _: cost, text)
    if count != 1:
        raise ValueError("docs/leaderboard.md has no picture that the chart can stand for")
    words = "## The field's favourite metric, and a plain one"
    return changed.replace("\n## Tables\n", f"\n{words}\n\n{favourite}\n\n## Tables\n", 1)
