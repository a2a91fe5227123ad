"""Follows every link, anchor, image and script of the built site; asks no other machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# what a browser fetches by itself, as against what a reader may follow
FETCHED = {
    ("script", "src"),
    ("img", "src"),
    ("link", "href"),
    ("source", "src"),
    ("iframe", "src"),
}
# kinds of <link> that name a place and fetch nothing
NAMED = {"canonical", "search", "next", "prev", "index", "author", "genindex"}


@dataclass(slots=True)
class Found:
    """What a page can be asked for, and what it asks for."""

    anchors: set[str] = field(default_factory=lambda: {"", "top"})
    followed: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found = Found()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.found.anchors |= {values[name] for name in ("id", "name") if name in values}
        for name, value in values.items():
            named = tag == "link" and NAMED & set(values.get("rel", "").split())
            if (tag, name) in FETCHED and not named:
                self.found.fetched.append(value)
            elif name == "href":
                self.found.followed.append(value)


def read(html: str) -> Found:
    """The anchors and links of a page."""
    reader = _Reader()
    reader.feed(html)
    return reader.found


def problems(site: Path) -> Iterator[str]:
    """A sentence for every link that leads nowhere, and for all that comes from another machine."""
    site = site.resolve()
    # what is in _static belongs to the theme, which keeps templates there
    files = (file for file in sorted(site.rglob("*.html")) if "_static" not in file.parts)
    pages = {file: read(file.read_text(encoding="utf-8")) for file in files}
    if not pages:
        yield f"{site} has no pages"
    for page, found in pages.items():
        name = page.relative_to(site)
        for link in found.fetched:
            if urlsplit(link).scheme not in ("", "data") or urlsplit(link).netloc:
                yield f"{name}: {link} would come from another machine"
        for link in dict.fromkeys([*found.followed, *found.fetched]):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                yield f"{name}: {link} leads to no file"
            # what comes after :~: are words that the browser looks for
            anchor = unquote(parts.fragment.partition(":~:")[0])
            if target in pages and anchor not in pages[target].anchors:
                yield f"{name}: {link} has no such anchor"
