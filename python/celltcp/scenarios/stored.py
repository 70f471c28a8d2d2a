"""Scenarios of stored results, from the manifest of their folder."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celltcp.scenarios.scenario_files import read_scenario

if TYPE_CHECKING:
    from celltcp._core import Scenario

#: Name of the manifest of a folder.
MANIFEST = "celltcp.json"


def stored_scenario(folder: str | Path) -> str | None:
    """Returns the scenario (TOML) of the results in a folder; None without results."""
    about = stored_metadata(folder)
    return None if about is None else str(about["scenario"])


def stored_metadata(folder: str | Path) -> Mapping[str, Any] | None:
    """Returns the metadata of the results in a folder, with their scenario; None without results."""
    try:
        about = json.loads((Path(folder) / MANIFEST).read_bytes())["about"]
        text = about["scenario"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return about if isinstance(text, str) else None


def read_stored(
    about: Mapping[str, Any], origin: str = "results", overrides: Sequence[str] = ()
) -> Scenario:
    """Reads the scenario of results, whose traces are relative to the folder of its file.

    Args:
        about: metadata of the results.
        origin: name of the scenario in errors.
        overrides: fields to override, as `"field=value"`.

    Raises:
        CelltcpError: if it names a file that no longer exists.
    """
    text = str(about["scenario"])
    return read_scenario(text, origin, _folder_of_traces(about, text), overrides)


def _folder_of_traces(about: Mapping[str, Any], text: str) -> Path:
    """Returns the folder of the file of a scenario, as the paths of its traces show it."""
    path = tomllib.loads(text).get("path", {}) if about.get("traces") else {}
    for trace in about.get("traces", ()):
        capacity = path.get(trace["direction"], {})
        name = Path(str(capacity.get("trace", "") if isinstance(capacity, dict) else ""))
        parts = Path(trace["file"]).parts
        if name.parts and parts[-len(name.parts) :] == name.parts:
            return Path(*parts[: -len(name.parts)])
    return Path()
