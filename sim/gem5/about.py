"""Says what a gem5 can do, as one line of JSON; for gem5, in its own Python.

gem5 -q about.py
"""

import json

import _m5.core
from m5.defines import buildEnv

print("uncore: " + json.dumps({"version": _m5.core.gem5Version, "build": buildEnv}, default=str))
