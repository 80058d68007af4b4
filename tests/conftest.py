"""What every test finds: no width of a terminal, which pytest-xdist's workers are given."""

import os

os.environ.pop("COLUMNS", None)
