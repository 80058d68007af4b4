"""`python -m uncore` is the command `uncore`."""

from uncore.cli import main

main()
