"""SST, the Structural Simulation Toolkit, as an engine: engine.py, told by options.py."""
