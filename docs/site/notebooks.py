"""Executes the notebooks of docs/notebooks: the tree has their sources, the site what they print.

    write(folder)       executes each notebook into the folder
    executed(path)      the notebook with its outputs; raises where a cell fails

Invariant: outputs hold no time of the day and nothing of this host, so that each build of the site
shows the same.
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
    """Runs the notebook in a folder of its own, which is gone afterwards."""
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
