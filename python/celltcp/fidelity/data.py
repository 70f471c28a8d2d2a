"""The tables that come with the package: cases, bands, causes."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any


def read_table(name: str) -> dict[str, Any]:
    """Reads `name`.toml of this package."""
    return tomllib.loads((resources.files(__package__) / f"{name}.toml").read_text("utf-8"))
