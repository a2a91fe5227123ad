"""The built site in a real browser, opened from disk, at the width of a desk and of a phone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from report.browsing import CHROMIUM

pytestmark = [
    pytest.mark.sweep,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine's path"),
]

DESK, PHONE = 1280, 390
PAGES = (
    "index.html",
    "how-to.html",
    "maths.html",
    "leaderboard.html",
    "results.html",
    "reference/SubAdjacentDetector.html",
    "reference/command.html",
    "reference/http.html",
)
Opener = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser, site: Path) -> Iterator[Opener]:
    """Opens a page; whatever goes wrong on it, or is asked of another machine, fails the test."""
    wrong: list[str] = []
    contexts = []

    def opened(
        name: str, width: int = DESK, scheme: str = "light", root: str | None = None
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 850}, color_scheme=scheme, reduced_motion="reduce"
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda one: wrong.append(one.text) if one.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        base = root or f"{site.as_uri()}/"
        page.on(
            "request",
            lambda one: None if one.url.startswith((base, "data:")) else wrong.append(one.url),
        )
        page.goto(base + name)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def test_a_page_fits_its_window(open_page: Opener) -> None:
    for name in PAGES:
        page = open_page(name)
        for width in (DESK, PHONE):
            page.set_viewport_size({"width": width, "height": 850})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert page.locator("h1").count() == 1
        page.context.close()


def test_the_first_page_has_what_the_readme_has_and_leads_on(open_page: Opener) -> None:
    page = open_page("index.html")
    expect(page.locator(".opening")).to_contain_text("finds anomalies in multivariate time series")
    expect(page.locator("#start pre").first).to_contain_text("SubAdjacentDetector()")
    for target in ("cli.html", "detectors.html", "streaming.html", "adapters.html"):
        expect(page.locator(f".opening a[href='{target}']")).to_be_visible()
    page.locator(".way", has_text="Results").click()
    expect(page.locator("h1")).to_contain_text("Results")


def test_wide_tables_scroll_and_names_break_on_a_phone(open_page: Opener) -> None:
    table = open_page("leaderboard.html", PHONE).locator("table").nth(1)
    inner, outer = (
        table.evaluate(f"table => table{parent}.getBoundingClientRect().width")
        for parent in ("", ".parentElement")
    )
    assert inner > PHONE > outer
    table = open_page("changelog.html", PHONE).locator("table").first
    assert table.evaluate("table => table.getBoundingClientRect().right") <= PHONE
    said = open_page("gallery/pump.html", PHONE).locator(".highlight-console pre")
    assert said.evaluate("pre => pre.scrollWidth <= pre.clientWidth")


def test_a_phone_has_the_menu_behind_a_button(open_page: Opener) -> None:
    page = open_page("maths.html", PHONE)
    menu = page.locator("dialog .navbar-nav a", has_text="Reference").first
    expect(menu).not_to_be_visible()
    page.locator("button.primary-toggle").click()
    expect(menu).to_be_visible()
    menu.click()
    expect(page.locator("h1")).to_contain_text("Reference")


def test_the_theme_follows_the_machine_and_then_the_reader(open_page: Opener) -> None:
    page = open_page("index.html", scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    dark = page.evaluate(ground)
    expect(page.locator("img.only-dark").first).to_be_visible()
    expect(page.locator("img.only-light").first).to_be_hidden()
    page.locator(".theme-switch-button:visible").first.click()
    page.locator("[data-mode='light']:visible, [data-bs-theme-value='light']:visible").last.click()
    page.wait_for_function("document.documentElement.dataset.theme === 'light'")
    assert page.evaluate(ground) != dark
    # it is remembered on the next page
    page.goto(page.url.replace("index.html", "maths.html"))
    assert page.evaluate("document.documentElement.dataset.theme") == "light"


def test_search_shows_pages_while_one_types(open_page: Opener) -> None:
    page = open_page("maths.html", scheme="dark")
    page.locator("button.search-button__button:visible").first.click()
    page.keyboard.type("budget")
    found = page.locator("dialog #search-results li a", has_text="AlarmBudget").first
    expect(found).to_be_visible()
    found.click()
    expect(page.locator("h1")).to_contain_text("AlarmBudget")


def test_all_equations_are_drawn_and_numbered(open_page: Opener) -> None:
    page = open_page("maths.html")
    assert page.locator(".equation .number").all_text_contents() == [f"({n})" for n in range(1, 8)]
    heights = page.locator("math").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().height)"
    )
    assert len(heights) > 30
    assert min(heights) > 5
    # the sum of Eq. 1 is drawn larger than text, which takes the font that comes with the site
    page.wait_for_function("document.fonts.check('16px \"Site Math\"')")
    size = "one => one.getBoundingClientRect().height"
    assert page.locator("#equation-1 mo", has_text="∑").evaluate(size) > 22


def test_charts_are_drawn_change_with_the_choice_and_have_the_colours_of_the_theme(
    open_page: Opener,
) -> None:
    colors = {}
    for width, scheme in ((DESK, "light"), (PHONE, "dark")):
        page = open_page("leaderboard.html", width, scheme)
        chart = page.locator("figure.chart[data-points]").first
        ours = chart.locator(".mark.ours")
        expect(ours).to_have_count(2)
        places = "marks => marks.map(one => one.getAttribute('transform'))"
        seen = [ours.evaluate_all(places)]
        for place, choice in ((0, "MSL"), (1, "F1 of events, %")):
            chart.locator("select").nth(place).select_option(label=choice)
            seen.append(ours.evaluate_all(places))
        assert len({str(one) for one in seen}) == 3
        assert chart.locator(".mark").count() == int(chart.get_attribute("data-points") or 0) > 10
        # within the picture, with a name where there is room for it
        box, first = chart.locator("svg").bounding_box(), ours.first.bounding_box()
        assert box
        assert first
        assert box["x"] < first["x"] < box["x"] + box["width"]
        assert chart.locator("text").count() > 12
        assert ours.first.locator("title").text_content()
        colors[scheme] = ours.first.evaluate("one => getComputedStyle(one).fill")
    assert colors["light"] != colors["dark"]
    page.evaluate("document.documentElement.dataset.theme = 'light'")
    expect(ours.first).to_have_css("fill", colors["light"])


def test_a_table_of_numbers_is_sorted_by_a_click(open_page: Opener) -> None:
    page = open_page("leaderboard.html")
    table = page.locator("table").first
    head = table.locator("th", has_text="training, s")

    def numbers() -> list[float]:
        cells = table.locator("tbody td:last-child").all_text_contents()
        return [float(one) for one in cells if re.fullmatch(r"[\d.]+", one)]

    head.click()
    assert numbers() == sorted(numbers(), reverse=True)
    head.click()
    assert numbers() == sorted(numbers())
    assert head.get_attribute("aria-sort") == "ascending"
