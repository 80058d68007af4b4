"""Do the notebooks of docs/notebooks do what they show?"""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from tests.notebooks.execution import FOLDER, executed, shown

NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LARGEST = 150_000  # bytes: pictures are small, and no table is endless


def test_there_are_notebooks_of_a_lock_a_machine_and_a_sweep() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["lock", "machine", "sweep"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_executes_and_shows_what_it_showed(path: Path) -> None:
    kept = nbformat.read(path, as_version=4)
    nbformat.validate(kept)
    assert any(shown(kept)), "not executed: python -m tests.notebooks.execution"
    assert shown(executed(path)) == shown(kept)
    assert path.stat().st_size < LARGEST
