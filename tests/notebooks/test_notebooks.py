"""Do the notebooks of docs/notebooks run and show results?"""

from __future__ import annotations

import ast
from pathlib import Path

import nbformat
import pytest
from docs.site.notebooks import FOLDER, executed

NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MAX_BYTES = 150_000  # limit that keeps pictures small and tables short


def code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shows(source: str) -> bool:
    """True if the cell ends with a value to show, or writes a file."""
    return source.startswith("%%") or isinstance(ast.parse(source).body[-1], ast.Expr)


def test_there_are_notebooks_of_a_lock_a_machine_and_a_sweep() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["lock", "machine", "sweep"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stored_without_outputs(path: Path) -> None:
    kept = nbformat.read(path, as_version=4)
    nbformat.validate(kept)
    assert not any(cell.outputs or cell.execution_count for cell in code_cells(kept))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_executed_notebook_shows_pictures_tables_and_each_last_expression(path: Path) -> None:
    notebook = executed(path)
    kinds: set[str] = set()
    for cell in code_cells(notebook):
        assert bool(cell.outputs) == shows(cell.source), cell.source
        kinds |= {kind for output in cell.outputs for kind in output.get("data", ())}
    assert {"image/svg+xml", "text/html"} <= kinds
    assert len(nbformat.writes(notebook)) < MAX_BYTES
