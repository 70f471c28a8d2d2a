"""Writes a man page of each command of celltcp, made from its options by click-man."""

import sys
from pathlib import Path

from click_man.core import write_man_pages

from celltcp import __version__
from celltcp.cli import celltcp

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
write_man_pages("celltcp", celltcp, version=__version__, target_dir=str(folder))
