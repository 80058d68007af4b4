"""Runs jobs in gem5. engine.py is the engine, and options.py has the user's options for it."""
