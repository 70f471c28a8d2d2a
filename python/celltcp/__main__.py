"""python -m celltcp, as celltcp."""

from celltcp.cli import main

main()
