"""The report in a real browser: opened from disk, watched for complaints, asked what it drew."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Route

import subadjacent

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)

PACKAGE = Path(subadjacent.__file__).parent
FOLDERS = (PACKAGE / "report/charts", PACKAGE / "report/page_files", PACKAGE / "service/page")
Call = Callable[..., Any]


def modules(browser: Browser) -> Callable[[str], Call]:
    """Gives a function that calls code with a module: ``(m, …) => …`` and its arguments."""
    tab = browser.new_page()

    def send(route: Route) -> None:
        name = route.request.url.rpartition("/")[2]
        files = [folder / name for folder in FOLDERS if name and (folder / name).is_file()]
        if files:
            route.fulfill(path=files[0], content_type="text/javascript")
        else:
            route.fulfill(body="<title>modules</title>", content_type="text/html")

    tab.route("http://modules.test/**", send)
    tab.goto("http://modules.test/")

    def of(name: str) -> Call:
        def call(code: str, *arguments: Any) -> Any:
            script = f"async given => ({code})(await import('/{name}'), ...given)"
            return tab.evaluate(script, list(arguments))

        return call

    return of


class Tabs:
    """Opens tabs, and collects every error, warning and request to another address."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.browser, self.address = browser, address
        self.complaints: list[str] = []
        self.contexts: list[BrowserContext] = []

    def new(self, width: int, scheme: Any, **others: Any) -> Page:
        """A tab of its own context."""
        context = self.browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, **others
        )
        self.contexts.append(context)
        tab = context.new_page()
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.on("console", self.read_message)
        tab.on("request", self.check_address)
        return tab

    def read_message(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def check_address(self, request: Request) -> None:
        if not request.url.startswith(f"{self.address}/"):
            self.complaints.append(request.url)

    def close(self) -> None:
        for context in self.contexts:
            context.close()


class Opener(Tabs):
    """Opens reports from disk."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        super().__init__(browser, "file://")
        self.folder = folder

    def __call__(self, text: str, *, width: int = 1280, scheme: Any = "light") -> Page:
        path = self.folder / "report.html"
        path.write_text(text, encoding="utf-8")
        tab = self.new(width, scheme, reduced_motion="reduce", has_touch=width < 500)
        tab.goto(path.as_uri())
        tab.wait_for_selector("html[data-ready]")
        frame(tab)
        return tab

    def close(self) -> None:
        """Close what was opened, and fail where anything complained."""
        super().close()
        assert not self.complaints, self.complaints


def frame(tab: Page) -> None:
    """Wait until all that was planned is drawn."""
    tab.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def view(tab: Page) -> list[float]:
    """From where to where the charts show."""
    return list(tab.evaluate("[report.view.from, report.view.to]"))


def whole(tab: Page) -> list[float]:
    """From where to where the series goes."""
    return list(tab.evaluate("report.view.whole"))


def channels(tab: Page) -> list[str]:
    """Names of the channels that are drawn, from the top."""
    return tab.locator(".channel .name").all_inner_texts()


def chosen(tab: Page) -> str | None:
    """The number of the chosen alarm."""
    row = tab.locator("tr[aria-current]")
    return row.get_attribute("data-alarm") if row.count() else None


def drawn(tab: Page, panel: int, name: str) -> Any:
    """What a chart drew last: ``points`` of the data, ``band``, ``ring``, ``limits``, ``roles``."""
    return tab.evaluate(
        """([place, name]) => {
          const {lines, ...others} = report.charts.panels[place].content;
          const found = {points: lines.at(-1).points, roles: lines.map(one => one.role), ...others};
          return JSON.parse(JSON.stringify(found[name] ?? null));
        }""",
        [panel, name],
    )


def spans(tab: Page) -> list[tuple[int, int, bool]]:
    """Shaded alarms: the first row, the row after the last, and whether it is the chosen one."""
    return [
        (round(first), round(last), one)
        for first, last, one in tab.evaluate(
            "(half => report.charts.spans.map(one => [report.charts.series.row(one.from) + half,"
            " report.charts.series.row(one.to) + half, one.chosen]))(0.5)"
        )
    ]


def pixels(tab: Page, selector: str, *color: int) -> int:
    """Pixels of a canvas in a colour, opaque unless a fourth part says otherwise."""
    return int(
        tab.evaluate(
            """([selector, color]) => {
              const canvas = document.querySelector(selector);
              // of a copy: a canvas that is read often is slow, and the browser says so
              const copy = new OffscreenCanvas(canvas.width, canvas.height);
              const paper = copy.getContext("2d", {willReadFrequently: true});
              paper.drawImage(canvas, 0, 0);
              const {data} = paper.getImageData(0, 0, canvas.width, canvas.height);
              let count = 0;
              for (let at = 0; at < data.length; at += 4)
                if (color.every((one, i) => Math.abs(data[at + i] - one) < 4))
                  count++;
              return count;
            }""",
            [selector, [*color, *(() if len(color) == 4 else (255,))]],
        )
    )


def point(tab: Page, at: float, panel: int = 0) -> str:
    """Move the mouse to a place of a chart along the axis; what is then written there."""
    canvas = tab.locator("#charts canvas").nth(panel)
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box
    left, start, end = tab.evaluate("[report.charts.left, report.view.from, report.view.to]")
    across = left + (at - start) / (end - start) * (box["width"] - left - 10)
    tab.mouse.move(box["x"] + across, box["y"] + box["height"] / 2)
    frame(tab)
    return tab.locator("#charts .read").nth(panel).inner_text()
