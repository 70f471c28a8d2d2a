"""JSON types for the provenance of results: engine, scenario, traces."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from celltcp.results.json_fields import ScenarioHash, ScenarioName, Version


class TraceUsed(TypedDict, total=False):
    """Link trace of a scenario."""

    file: str
    direction: Literal["down", "up"]
    read_as: Annotated[str, "Format, columns and units with which the file was read."]
    duration_s: Annotated[float, "In s."]
    mean_mbps: Annotated[float, "In Mbit/s."]


class EngineUsed(TypedDict):
    """Engine of the runs."""

    name: Annotated[str, "Engine: native or kernel."]
    kernel: Annotated[str | None, "Version of the Linux kernel; null for the native engine."]
    build: Annotated[str | None, "Digest of the programs of the engine."]


class Origin(TypedDict):
    """Origin of results: engine, scenario, and settings of the scenario."""

    engine: EngineUsed
    path: Annotated[dict[str, object], "Settings of the path in the scenario."]
    tcp: Annotated[dict[str, object], "Settings of TCP in the scenario."]
    kernel: NotRequired[
        Annotated[dict[str, object], "Settings of the Linux kernel in the scenario, where it ran."]
    ]
    version: Version
    scenario: ScenarioName
    scenario_hash: ScenarioHash
    traces: Annotated[list[TraceUsed], "Link traces."]
