"""gem5 as an engine: engine.py, configured by options.py."""
