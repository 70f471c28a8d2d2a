"""User cache: files that commands can recreate."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder(name: str) -> Path:
    """Returns a folder of the cache: `celltcp/NAME` below XDG_CACHE_HOME, by default `~/.cache`."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "celltcp" / name
