"""Provenance of results: engine, scenario and settings, as results store them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from celltcp._core import Scenario, __version__
from celltcp.campaign.engines import Engine, name_and_kernel

if TYPE_CHECKING:
    from celltcp.campaign.origin_fields import Origin


def origin_of(
    scenario: Scenario, ccas: Sequence[str], runs: int, seed: int, engine: Engine
) -> dict[str, Any]:
    """Returns the origin of results: scenario, engine, congestion controls and seeds, as JSON."""
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
                "read_as": summary,
                "duration_s": duration_s,
                "mean_mbps": mean_mbps,
            }
            for file, direction, summary, duration_s, mean_mbps in scenario.traces
        ],
        "slot_s": scenario.slot_s,
        "duration_s": scenario.duration_s,
        "cca": list(ccas),
        **({"notes": scenario.notes} if scenario.notes else {}),
        **({"middleboxes": scenario.middleboxes} if scenario.middleboxes else {}),
        "runs": runs,
        "seed": seed,
    }


def origin_json(about: Mapping[str, Any]) -> Origin:
    """Returns the origin of results as outcomes have it: engine, settings of path and TCP."""
    scenario = tomllib.loads(about["scenario"])
    name, kernel = name_and_kernel(str(about["engine"]))
    path = scenario.get("path", {})
    result: Origin = {
        "version": about["version"],
        "scenario": about["name"],
        "scenario_hash": about["hash"],
        "engine": {"name": name, "kernel": kernel or None, "build": about.get("build")},
        "path": {field: path[field] for field in ("rtt", "buffer", "queue") if field in path},
        "tcp": scenario.get("tcp", {}),
        "traces": about.get("traces", []),
    }
    if kernel and "kernel" in scenario:
        result["kernel"] = scenario["kernel"]
    return result


def engine_text(about: Mapping[str, Any]) -> str:
    """Returns version and build of celltcp, and the engine, as a short text."""
    name, kernel = name_and_kernel(str(about["engine"]))
    engine = f"Linux {kernel}" if kernel else f"{name} engine"
    build = f" ({about['build'][:8]})" if "build" in about else ""
    return f"celltcp {about['version']}{build}, {engine}"
