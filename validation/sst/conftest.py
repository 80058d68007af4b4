"""Lets the suites of outside simulators share `outside_runs.py` and `outside_errors.py`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
