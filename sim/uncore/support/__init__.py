"""Support for every other room: paths, output files, printable text, signals, plugins."""
