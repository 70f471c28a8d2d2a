"""Bands: the largest differences between the engines that are allowed."""

from __future__ import annotations

from fnmatch import fnmatchcase

from celltcp.fidelity.data import read_table


def limits_for(group: str, cca: str) -> dict[str, float]:
    """Returns the largest allowed difference of each judged metric, in percent of the kernel's mean."""
    for band in read_table("bands")["band"]:
        if fnmatchcase(group, band["group"]) and any(fnmatchcase(cca, name) for name in band["cca"]):
            return {metric: limit for metric, limit in band.items() if metric not in ("group", "cca")}
    raise LookupError(f"bands.toml has no band for {cca} in group {group}")
