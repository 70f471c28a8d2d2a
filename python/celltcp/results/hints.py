"""Selectors that ask a radio that is not there."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from celltcp.results import Results


def unheard(results: Results) -> list[str]:
    """A warning for each selector that is to have hints where there is no radio to give any."""
    if "radio" in tomllib.loads(results.about["scenario"]):
        return []
    place = results.about["name"]
    asked = dict.fromkeys(str(each) for each in results.tables["flows"]["cca"].to_pylist())
    return [
        f"{cca}: hints=on, but {place} has no radio: it was told nothing" for cca in asked if _asks(cca)
    ]


def _asks(cca: str) -> bool:
    name, _, settings = cca.partition(":")
    return name == "auto" and "hints=on" in settings.split(",")
