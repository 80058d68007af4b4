"""What every other room stands on: paths, output files, printable text, signals, plugins."""
