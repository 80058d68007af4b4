"""Runs jobs in SST, the Structural Simulation Toolkit. engine.py is the engine, and options.py has
the user's options for it.
"""
