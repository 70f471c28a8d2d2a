"""Warnings about selectors that ask for radio hints in a scenario without a radio."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from celltcp.scenarios.cca_mix import flow_cca

if TYPE_CHECKING:
    from celltcp.results.tables import Results


def unused_hints(results: Results) -> list[str]:
    """Returns a warning for each selector with radio hints in a scenario without a radio."""
    if "radio" in tomllib.loads(results.about["scenario"]):
        return []
    place = results.about["name"]
    asked = dict.fromkeys(str(each) for each in results.tables["flows"]["cca"].to_pylist())
    return [
        f"{cca}: hints=on, but {place} has no radio: it was told nothing" for cca in asked if _asks(cca)
    ]


def _asks(cca: str) -> bool:
    given = flow_cca(cca)
    return given.is_selector and given.parameters.get("hints") == "on"
