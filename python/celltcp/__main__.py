"""Entry point of `python -m celltcp`, which is the command `celltcp`."""

from celltcp.cli import main

main()
