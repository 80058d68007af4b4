"""Lets this suite share `outside_runs.py` and `outside_errors.py` with SST's, and its tests
`played.py`."""

import sys
from pathlib import Path

here = Path(__file__).parent
sys.path[:0] = [str(here.parent), str(here)]
