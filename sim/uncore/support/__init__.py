"""Utilities for all other packages: paths, output files, printable text, signals, plugins."""
