"""The version: a module without imports, so that every layer may ask for it."""

__version__ = "0.2.0"
