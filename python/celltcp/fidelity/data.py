"""Data files of the package: cases, bands, causes, the method."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any


def read_text(name: str) -> str:
    """Reads a file of this package."""
    return (resources.files(__package__) / name).read_text("utf-8")


def read_table(name: str) -> dict[str, Any]:
    """Reads `name`.toml of this package."""
    return tomllib.loads(read_text(f"{name}.toml"))
