"""What Sphinx reads, from a small repository."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest
from website.gather import Gathering, first_sentence, readme_parts


@pytest.fixture
def gathering(tmp_path: Path) -> Gathering:
    root = tmp_path / "repository"
    for name, text in {
        "README.md": "# name\n",
        "src/a.py": '"""Code with ``` in it."""\n',
        "src/.hidden": "",
        "data/b.csv": "1\n",
        "docs/c.md": "# c: words\n",
        "docs/images/d-light.png": "",
        "docs/images/d-dark.png": "",
        "docs/images/e-light.png": "",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return Gathering(root, tmp_path / "source")


@pytest.mark.parametrize(
    ("link", "at_place"),
    [
        ("c.md#d", "c.md#d"),
        ("../README.md", "index.md"),
        ("../src/a.py", "source/src/a.py.md"),
        ("../src", "source/src/index.md"),
        ("../data/b.csv", "source/data/b.csv"),
    ],
)
def test_a_link_leads_to_its_place_on_the_site(
    gathering: Gathering, link: str, at_place: str
) -> None:
    page, place = PurePosixPath("docs/f.md"), PurePosixPath("f.md")
    assert gathering.mended(f"[x]({link})", page, place) == f"[x]({at_place})"


def test_a_link_to_nothing_is_refused(gathering: Gathering) -> None:
    with pytest.raises(FileNotFoundError, match=r"docs/f\.md links to g\.md, which is not there"):
        gathering.mended("[x](g.md)", PurePosixPath("docs/f.md"), PurePosixPath("f.md"))


def test_a_picture_comes_in_light_and_dark_where_there_are_both(gathering: Gathering) -> None:
    page, place = PurePosixPath("docs/f.md"), PurePosixPath("f.md")
    assert gathering.mended("![x](images/d-light.png)", page, place) == (
        "![x](images/d-light.png){.only-light}![x](images/d-dark.png){.only-dark}"
    )
    assert gathering.mended("![x](images/e-light.png)", page, place) == "![x](images/e-light.png)"


@pytest.mark.parametrize(
    ("file", "place"),
    [
        ("docs/cli.md", "cli.md"),
        ("docs/README.md", "architecture.md"),
        ("docs/gallery/README.md", "gallery/index.md"),
        ("docs/tutorials/plant.ipynb", "tutorials/plant.md"),
        ("CHANGELOG.md", "changelog.md"),
    ],
)
def test_a_page_has_its_place(gathering: Gathering, file: str, place: str) -> None:
    assert gathering.place(PurePosixPath(file)) == PurePosixPath(place)


def test_parts_of_the_readme_are_between_comments() -> None:
    text = "a\n<!-- lead -->\nb\n\nc\n<!-- /lead -->\nd\n<!-- start -->\ne\n<!-- /start -->\n"
    assert readme_parts(text) == {"lead": "b\n\nc", "start": "e"}


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        ("# a\n\nB [c](d.md) e. F.\n", "B c e."),
        ("# a\n\n```\nb. c\n\ng. h\n```\n\nD\ne:\n\n- f\n", "D e"),
        ("# a\n", ""),
    ],
)
def test_a_page_is_told_by_its_first_sentence(page: str, sentence: str) -> None:
    assert first_sentence(page) == sentence
