"""SST, the Structural Simulation Toolkit, as an engine: engine.py, configured by options.py."""
