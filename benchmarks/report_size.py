"""How large the report of a long, wide series is, and how soon a browser shows it.

python benchmarks/report_size.py [--rows 500000] [--channels 40] [--chromium /usr/bin/chromium]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from subadjacent import SubAdjacentDetector, multivariate
from subadjacent.report.page import page

# drags the view along by a twentieth, again and again, and says how long a frame took
PAN = """async () => {
  const {view} = report, [start, end] = view.whole, length = (end - start) / 10, frames = [];
  for (let i = 0; i < 60; i++) {
    const from = start + i * length / 20, before = performance.now();
    view.show(from, from + length);
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    frames.push(performance.now() - before);
  }
  frames.sort((a, b) => a - b);
  return [frames[30], frames[57]];
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--channels", type=int, default=40)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    arguments = parser.parse_args()

    plant = multivariate(n=20_000, channels=arguments.channels, seed=0, ratio=0.01)
    detector = SubAdjacentDetector().fit(plant.train)
    times = -(-arguments.rows // len(plant.test))
    series = np.tile(plant.test, (times, 1))[: arguments.rows]
    # a tile repeats exactly; noise keeps it from being kinder to the page than data are
    series += np.random.default_rng(0).normal(0, 0.02, series.shape) * series.std(axis=0)

    started = time.perf_counter()
    text = page(detector, detector.assess(series), title="A long series")
    print(f"made in {time.perf_counter() - started:.1f} s, {len(text.encode()) / 1e6:.2f} MB")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "report.html"
        path.write_text(text, encoding="utf-8")
        browser = playwright.chromium.launch(
            executable_path=arguments.chromium, args=["--no-sandbox"]
        )
        opened = []
        for _ in range(5):
            tab = browser.new_page(viewport={"width": 1280, "height": 900})
            started = time.perf_counter()
            tab.goto(path.as_uri())
            tab.wait_for_selector("html[data-ready]")
            # two frames: what was asked for is on the screen
            tab.evaluate(
                "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
            )
            opened.append(time.perf_counter() - started)
            median, slow = tab.evaluate(PAN)
            tab.close()
        browser.close()
    print(f"opened in {np.median(opened):.2f} s (median of 5; slowest {max(opened):.2f} s)")
    print(f"a step of panning is drawn in {median:.0f} ms (median), {slow:.0f} ms (95 %)")


if __name__ == "__main__":
    main()
