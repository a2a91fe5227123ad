"""The pages of the gallery are what its command writes."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from running import call

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "docs" / "gallery"
PAGES = sorted(page.name for page in GALLERY.glob("*.md"))
LARGEST = 80_000
"""Bytes of an image."""
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)\)")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A gallery as the command makes it, all of it: that takes a quarter of a minute."""
    folder = tmp_path_factory.mktemp("gallery")
    call([sys.executable, "-W", "error", "-m", "examples.gallery", "--output", folder], ROOT)
    return folder


@pytest.mark.sweep
def test_pages_and_images_are_those_that_the_command_makes(made: Path) -> None:
    assert sorted(page.name for page in made.glob("*.md")) == PAGES
    assert len(PAGES) == 7
    for name in PAGES:
        assert (made / name).read_text(encoding="utf-8") == (GALLERY / name).read_text(
            encoding="utf-8"
        ), name
    drawn = sorted(image.name for image in (made / "images").iterdir())
    assert drawn == sorted(image.name for image in (GALLERY / "images").iterdir())
    assert len(drawn) == 12


def test_images_are_small_and_stand_on_a_page_and_links_lead_to_files() -> None:
    for image in (GALLERY / "images").iterdir():
        assert image.read_bytes().startswith(b"\x89PNG")
        assert image.stat().st_size < LARGEST
        assert any(f"(images/{image.name})" in (GALLERY / page).read_text() for page in PAGES)
    for page in PAGES:
        targets = LINK.findall((GALLERY / page).read_text(encoding="utf-8"))
        assert targets
        assert [one for one in targets if not (GALLERY / one).is_file()] == []


def test_counts_are_those_of_ten_draws_none_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from examples.gallery.cases import CASES, HEARTBEAT
    from examples.gallery.draws import count, read_counts, write_counts

    counts = read_counts(GALLERY / "draws.csv")
    assert [(one.case, one.seed) for one in counts] == [
        (case.name, seed) for case in CASES for seed in range(1, 11)
    ]
    assert all(one.found <= one.planted and one.false <= one.alarms for one in counts)
    # one of them, drawn and run again
    (again,) = count([HEARTBEAT], [7])
    assert again in counts
    # counts come back as they were written
    write_counts(tmp_path / "draws.csv", counts)
    assert (tmp_path / "draws.csv").read_bytes() == (GALLERY / "draws.csv").read_bytes()


def test_an_alarm_is_right_up_to_five_rows_beside_what_was_planted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from examples.gallery.case import Planted
    from examples.gallery.run import touches

    planted = Planted.over("a fault", slice(100, 110))
    assert (planted.first, planted.last) == (100, 109)
    for first, last, meets in (
        (90, 95, 1),
        (90, 94, 0),
        (114, 120, 1),
        (115, 120, 0),
        (105, 105, 1),
    ):
        assert touches({"first": first, "last": last}, planted) == bool(meets)
