"""Prints the version and the build options of a gem5 as one line of JSON; gem5 executes it.

gem5 -q about.py
"""

import json

import _m5.core
from m5.defines import buildEnv

print("uncore: " + json.dumps({"version": _m5.core.gem5Version, "build": buildEnv}, default=str))
