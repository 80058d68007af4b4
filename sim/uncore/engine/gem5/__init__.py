"""gem5 as an engine: engine.py, told by options.py."""
