"""``python -m website.pictures``: take the pictures of the report and the live page anew."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright
from tests.report.taxi import taxi_trips

IMAGES = Path(__file__).parents[1] / "docs" / "images"
COMMAND = [sys.executable, "-m", "subadjacent"]
WIDTH = 1280
# pixels of the dark picture; the light one goes down to the end of the charts, that of the trips to
# the end of their chart
DARK_HEIGHT, TRIPS_HEIGHT = 1536, 862
# width and height of the live page on a screen and on a phone
SCREEN, PHONE = (1440, 1120), (390, 1400)
# milliseconds until the demo's page has its series and alarms
SETTLES = 4_000


def save(tab: Page, name: str) -> None:
    """Save what is seen in few colours."""
    # what was planned is drawn
    tab.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    path = IMAGES / f"{name}.png"
    tab.screenshot(path=path)
    Image.open(path).convert("P", palette=Image.Palette.ADAPTIVE).save(path, optimize=True)


def opened(browser: Any, address: str, size: tuple[int, int], *, dark: bool = False) -> Page:
    """A tab with a page."""
    width, height = size
    scheme = "dark" if dark else "light"
    tab: Page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    tab.goto(address)
    return tab


def of_report(browser: Any, folder: Path) -> None:
    """The report of the README's file in both themes, and that of a busy night."""
    taxi_trips().to_csv(folder / "taxi.csv")
    for line in ("generate plant --rows 4000 -o plant.csv", "detect plant.csv", "detect taxi.csv"):
        subprocess.run([*COMMAND, *line.split()], cwd=folder, check=True, capture_output=True)
    plant, trips = (folder / f"{name}-anomalies" / "report.html" for name in ("plant", "taxi"))
    for name, page, height in (
        ("report-light", plant, DARK_HEIGHT),
        ("report-dark", plant, DARK_HEIGHT),
        ("report-trips", trips, TRIPS_HEIGHT),
    ):
        tab = opened(browser, page.as_uri(), (WIDTH, height), dark="dark" in name)
        tab.wait_for_selector("html[data-ready]")
        if name == "report-light":
            end = "document.getElementById('detail').getBoundingClientRect().bottom"
            tab.set_viewport_size({"width": WIDTH, "height": round(tab.evaluate(end)) + 16})
        save(tab, name)


@contextmanager
def demo() -> Iterator[str]:
    """The address of the service on demo data, while it runs."""
    words = ["serve", "--demo", "--listen", "127.0.0.1:0"]
    with subprocess.Popen([*COMMAND, *words], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = None
        while found is None:
            found = re.search(r"http://\S+", process.stderr.readline())
        try:
            yield found[0]
        finally:
            process.terminate()


def of_live_page(browser: Any) -> None:
    """The page on demo data: light, dark and on a phone."""
    with demo() as address:
        # its pump breaks soon
        first = opened(browser, address, SCREEN)
        first.get_by_text("open alarm, pump").first.wait_for(timeout=60_000)
        first.close()
        for name, size in (("live-light", SCREEN), ("live-dark", SCREEN), ("live-phone", PHONE)):
            tab = opened(browser, address, size, dark="dark" in name)
            tab.wait_for_selector(".alarm-card")
            tab.wait_for_timeout(SETTLES)
            save(tab, name)


def main() -> None:
    """Take all of them with Chromium."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        of_report(browser, Path(folder))
        of_live_page(browser)
        browser.close()


if __name__ == "__main__":
    main()
