"""The notebooks of docs/notebooks: executed anew, and written back with what they print.

    python -m tests.notebooks.execution [NAME...]     after a change of what they show

executed(path)   the notebook with new outputs; raises where a cell fails
shown(notebook)  of each cell of code, the kinds of what stands below it

Invariant: what is written holds no time of the day and nothing of this host, so that an execution
changes only what is shown otherwise.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from uncore.support.paths import CHECKOUT

assert CHECKOUT
FOLDER = CHECKOUT / "docs/notebooks"
CELL_TIMEOUT_S = 120
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def executed(path: Path) -> nbformat.NotebookNode:
    """In a folder of its own, which is gone afterwards."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(
            notebook,
            timeout=CELL_TIMEOUT_S,
            resources={"metadata": {"path": folder}},
            record_timing=False,
        ).execute(env=os.environ | {"COLUMNS": "100"})
    notebook.metadata = nbformat.from_dict(METADATA)
    return notebook


def shown(notebook: nbformat.NotebookNode) -> list[set[str]]:
    """`text/html`, or the name of a stream."""
    return [
        {kind for out in cell.outputs for kind in out.get("data", [out.get("name")])}
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def main(names: Sequence[str]) -> None:
    for path in sorted(FOLDER.glob("*.ipynb")):
        if not names or path.stem in names:
            nbformat.write(executed(path), path)
            print(path)


if __name__ == "__main__":
    main(sys.argv[1:])
