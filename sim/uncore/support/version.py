"""Defines the version, in a module without imports that every layer can import."""

__version__ = "0.2.0"
