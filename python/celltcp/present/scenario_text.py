"""Scenario in words and as a file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from celltcp.present.section import Column, Section, Table

#: Description of the source of a direction's capacity, by field.
_SOURCES = ("rate", "trace", "generate", "steps")


def scenario_sections(about: Mapping[str, Any]) -> tuple[Section, Section]:
    """Returns the scenario of results: a table of its main settings, and the whole file."""
    scenario = tomllib.loads(about["scenario"])
    rows = [(name, summary) for name, summary in _facts(scenario, about) if summary]
    table = Table((Column("part"), Column("setting")), tuple(rows))
    described = str(scenario.get("description", ""))
    name = file_name(about)
    return (
        Section("Scenario", table, text=(described,) if described else ()),
        Section(f"Scenario as a file: {name}", code=about["scenario"], file=name, is_folded=True),
    )


def file_name(about: Mapping[str, Any]) -> str:
    """Returns the name of the scenario's file, with letters that are valid on every system."""
    name = PurePath(str(about["name"])).name.removesuffix(".toml")
    safe = "".join(
        each if each.isascii() and (each.isalnum() or each in "._-") else "-" for each in name
    )
    return f"{safe.strip('.-') or 'scenario'}.toml"


def _facts(scenario: dict[str, Any], about: Mapping[str, Any]) -> list[tuple[str, str]]:
    path = scenario.get("path", {})
    is_radio = isinstance(scenario.get("radio"), dict)
    facts = [("duration", f"{about['duration_s']:g} s, in slots of {about['slot_s']:g} s")]
    if is_radio:
        facts.append(("radio", _settings(scenario["radio"])))
    facts.append(("base RTT", f"{path.get('rtt', '')}{' of the wired part' if is_radio else ''}"))
    if not is_radio:
        facts += [(f"{way}link", _capacity(path.get(way, {}))) for way in ("down", "up")]
        facts.append(("buffer", f"{path.get('buffer', '')}, {_value(path.get('queue', 'droptail'))}"))
    losses = {"downlink": path.get("loss"), "uplink": path.get("uplink_loss")}
    lost = [f"{_value(value)} on the {way}" for way, value in losses.items() if value]
    facts.append(("random loss", ", ".join(lost)))
    facts.append(("middleboxes", ", ".join(map(str, about.get("middleboxes", [])))))
    facts += [
        (f"flow {flow.get('name', number)}", _flow(flow))
        for number, flow in enumerate(scenario.get("flows", []), 1)
    ]
    facts.append(("random", ", ".join(map(str, about.get("randomness", []))) or "nothing"))
    facts += [
        (
            f"trace of the {trace['direction']}link",
            f"{trace['file']}: {trace['read_as']}; {trace['duration_s']:.1f} s, mean "
            f"{trace['mean_mbps']:.2f} Mbit/s",
        )
        for trace in about.get("traces", [])
    ]
    return facts


def _capacity(way: Mapping[str, Any]) -> str:
    """Returns the source of a direction's capacity."""
    for source in _SOURCES:
        if source in way:
            value = way[source]
            if source == "rate":
                return f"{value} throughout"
            if source == "generate":
                return f"generated: {_settings(value)}"
            return f"{source} {_value(value)}"
    return _settings(way)


def _flow(flow: Mapping[str, Any]) -> str:
    workload = flow.get("workload", {})
    summary = f"{workload.get('kind', 'bulk')} from {flow.get('from')} to {flow.get('to')}"
    count = int(flow.get("count", 1))
    more = [f"{count} in parallel"] if count > 1 else []
    more += [f"from {flow['start']} on"] if flow.get("start") not in (None, "0s") else []
    given = {name: value for name, value in workload.items() if name != "kind"}
    more += [_settings(given)] if given else []
    return "; ".join([summary, *more])


def _settings(settings: Mapping[str, Any]) -> str:
    """Returns settings with their values; those within a section have its name in front."""
    return ", ".join(
        f"{name} ({_settings(value)})" if isinstance(value, dict) else f"{name} {_value(value)}"
        for name, value in settings.items()
        if value not in ([], {})
    )


def _value(value: object) -> str:
    if isinstance(value, dict):
        return _settings(value)
    if isinstance(value, list):
        return f"{len(value)} entries" if len(value) > 4 else ", ".join(map(_value, value))
    return str(value)
