"""``python -m website.pictures``: take the pictures of the report in docs/images anew."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parents[1] / "docs" / "images"
WIDTH = 1280
# pixels of the dark picture; the light one goes down to the end of the charts
DARK_HEIGHT = 1536


def report(folder: Path) -> Path:
    """The report of the README's file."""
    command = [sys.executable, "-m", "subadjacent"]
    for line in ("generate plant --rows 4000 -o plant.csv", "detect plant.csv --quiet"):
        subprocess.run([*command, *line.split()], cwd=folder, check=True)
    return folder / "plant-anomalies" / "report.html"


def main() -> None:
    """Open the report in both themes, and save what is seen in few colours."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = report(Path(folder)).as_uri()
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        for scheme in ("light", "dark"):
            tab = browser.new_page(
                viewport={"width": WIDTH, "height": DARK_HEIGHT}, color_scheme=scheme
            )
            tab.goto(page)
            tab.wait_for_selector("html[data-ready]")
            if scheme == "light":
                end = "document.getElementById('detail').getBoundingClientRect().bottom"
                tab.set_viewport_size({"width": WIDTH, "height": round(tab.evaluate(end)) + 16})
            # what was planned is drawn
            tab.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
            path = IMAGES / f"report-{scheme}.png"
            tab.screenshot(path=path)
            Image.open(path).convert("P", palette=Image.Palette.ADAPTIVE).save(path, optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
