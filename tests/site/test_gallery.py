"""Does each example of the language have a page with its matrix, two locks and its
guessed numbers?
"""

from __future__ import annotations

from pathlib import Path

import pytest
from docs.site import gallery

SMALL = ("phone", "torus8")  # building the site makes the pages of the other examples


@pytest.mark.parametrize("name", SMALL)
def test_page_of_an_example_has_its_pictures_and_its_guesses(name: str, tmp_path: Path) -> None:
    (path,) = (path for path in gallery.EXAMPLES if path.stem == name)
    row = gallery.write_example(path, tmp_path)
    text = (tmp_path / f"{name}.md").read_text()
    assert f"[{name}]({name}.md)" in row
    for picture in (f"{name}.svg", f"{name}-matrix.png", f"{name}-locks.png"):
        assert f"({picture})" in text and (tmp_path / picture).stat().st_size > 1000
    assert path.read_text() in text
    assert "`memory.latency`" in text.partition("## What is guessed")[2]


def test_gallery_has_at_least_twelve_examples() -> None:
    assert len(gallery.EXAMPLES) >= 12
