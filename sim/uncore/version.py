"""The version, where pyproject.toml and results find it."""

__version__ = "0.1.0"
