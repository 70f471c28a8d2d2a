"""Origin: what results say of how they were made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celltcp._core import Scenario, __version__
from celltcp.engines import Engine


def origin_of(
    scenario: Scenario, ccas: Sequence[str], runs: int, seed: int, engine: Engine
) -> dict[str, Any]:
    """Returns scenario, engine, congestion controls and seeds of a campaign, as JSON has them."""
    return {
        "version": __version__,
        "build": engine.build,
        "engine": engine.key,
        "name": scenario.name,
        "hash": scenario.hash,
        "scenario": scenario.to_toml(),
        "randomness": scenario.randomness,
        "traces": [
            {
                "file": file,
                "direction": direction,
                "read_as": told,
                "duration_s": duration_s,
                "mean_mbps": mean_mbps,
            }
            for file, direction, told, duration_s, mean_mbps in scenario.traces
        ],
        "slot_s": scenario.slot_s,
        "cca": list(ccas),
        "runs": runs,
        "seed": seed,
    }
