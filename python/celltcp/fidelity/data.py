"""Data files of the package: cases, bands, causes, the method."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from importlib import resources
from typing import Any


def read_text(name: str) -> str:
    """Reads a file of this package."""
    return (resources.files(__package__) / name).read_text("utf-8")


def read_table(name: str) -> dict[str, Any]:
    """Reads `name`.toml of this package."""
    return tomllib.loads(read_text(f"{name}.toml"))


def bands_for(group: str, cca: str) -> dict[str, float]:
    """Returns the bands: largest allowed differences by metric, in percent of the kernel's mean."""
    for band in read_table("bands")["band"]:
        if fnmatchcase(group, band["group"]) and any(fnmatchcase(cca, name) for name in band["cca"]):
            return {metric: limit for metric, limit in band.items() if metric not in ("group", "cca")}
    raise LookupError(f"bands.toml has no band for {cca} in group {group}")
