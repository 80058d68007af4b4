"""Executes the notebooks of docs/notebooks, which are stored without outputs, for the site.

    write(folder)       executes each notebook and writes it to the folder
    executed(path)      returns the notebook with its outputs; raises an error if a cell fails

Invariant: outputs contain no times and nothing about this computer, so that all builds of the site
are equal.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
CELL_TIMEOUT_S = 120


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(FOLDER.glob("*.ipynb")):
        nbformat.write(executed(path), folder / path.name)


def executed(path: Path) -> nbformat.NotebookNode:
    """Runs the notebook in a temporary folder and returns it with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    metadata = notebook.metadata.copy()
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(
            notebook,
            timeout=CELL_TIMEOUT_S,
            resources={"metadata": {"path": folder}},
            record_timing=False,
        ).execute(env=os.environ | {"COLUMNS": "100"})
    notebook.metadata = metadata
    return notebook
