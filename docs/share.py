"""Writes man pages and completions of shells, made from the commands: `python share.py FOLDER`.

The folder is one such as /usr/share: that is where man and the shells find each file.
"""

import os
import subprocess
import sys
from pathlib import Path

import click
from click_man.core import write_man_pages

from celltcp import __version__
from celltcp.cli import celltcp

#: Files of completions by the shell.
COMPLETIONS = {
    "bash": "bash-completion/completions/celltcp",
    "zsh": "zsh/site-functions/_celltcp",
    "fish": "fish/vendor_completions.d/celltcp.fish",
}


def write(folder: Path) -> None:
    """Writes all files."""
    _name_whole(celltcp)
    pages = folder / "man" / "man1"
    pages.mkdir(parents=True, exist_ok=True)
    write_man_pages("celltcp", celltcp, version=__version__, target_dir=str(pages))
    for shell, name in COMPLETIONS.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, "_CELLTCP_COMPLETE": f"{shell}_source"}
        command = [str(Path(sys.executable).with_name("celltcp"))]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        file.write_text(done.stdout, "utf-8")


def _name_whole(command: click.Command) -> None:
    """Lets the line with the name of a page have all of the first sentence, which click would cut."""
    first = (command.help or "").strip().split("\n\n")[0]
    command.short_help = " ".join(first.split()).rstrip(".")
    for below in getattr(command, "commands", {}).values():
        _name_whole(below)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
