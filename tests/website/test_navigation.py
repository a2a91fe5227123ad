"""Every page has one place in the menu."""

from __future__ import annotations

from website.navigation import ABOUTS, SECTIONS, TITLES, sections


def placed(*pages: str) -> dict[str, tuple[str, ...]]:
    return {one.title: one.pages for one in sections(pages)}


def test_a_section_lists_its_pages_in_reading_order() -> None:
    assert placed("maths", "method", "cli") == {
        "How-to": ("cli",),
        "Explanation": ("method", "maths"),
    }


def test_tutorials_and_gallery_appear_when_they_are_there() -> None:
    found = placed("tutorials/live", "tutorials/plant", "gallery/index", "gallery/pump", "index")
    assert found == {
        "Tutorials": ("tutorials/plant", "tutorials/live"),
        "Gallery": ("gallery/pump",),
    }


def test_a_page_that_nobody_placed_is_a_how_to() -> None:
    assert placed("cli", "new", "tutorials/more") == {
        "Tutorials": ("tutorials/more",),
        "How-to": ("cli", "new"),
    }


def test_no_page_is_in_two_sections() -> None:
    named = [page for section in SECTIONS for page in (section.name, *section.pages)]
    assert len(named) == len(set(named))


def test_every_title_is_of_a_page_in_the_menu() -> None:
    assert set(TITLES) <= {page for section in SECTIONS for page in section.pages}


def test_what_a_page_is_for_is_said_of_pages_in_the_menu_in_one_sentence() -> None:
    assert set(ABOUTS) <= {page for section in SECTIONS for page in section.pages}
    assert all(about.endswith(".") and about.count(". ") == 0 for about in ABOUTS.values())
