"""Scenarios of stored results, from the manifest of their folder."""

from __future__ import annotations

import json
from pathlib import Path

#: Name of the manifest of a folder.
MANIFEST = "celltcp.json"


def stored_scenario(folder: str | Path) -> str | None:
    """Returns the scenario (TOML) of the results in a folder; None without results."""
    try:
        about = json.loads((Path(folder) / MANIFEST).read_bytes())["about"]
        text = about["scenario"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return text if isinstance(text, str) else None
