"""Sections of a report about the scenario: its main settings, and its file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from celltcp.present.section import Column, Section, Table

#: Fields with the source of the capacity of a direction.
_SOURCES = ("rate", "trace", "generate", "steps")


def scenario_sections(about: Mapping[str, Any]) -> tuple[Section, Section]:
    """Returns the scenario of results: a table of its main settings, and the whole file."""
    scenario = tomllib.loads(about["scenario"])
    rows = [(name, text) for name, text in _facts(scenario, about) if text]
    table = Table((Column("part"), Column("setting")), tuple(rows))
    description = str(scenario.get("description", ""))
    name = file_name(about)
    return (
        Section("Scenario", table, text=(description,) if description else ()),
        Section(f"Scenario as a file: {name}", code=about["scenario"], file=name, is_folded=True),
    )


def file_name(about: Mapping[str, Any]) -> str:
    """Returns the name of the scenario's file, with letters that are valid on every system."""
    name = PurePath(str(about["name"])).name.removesuffix(".toml")
    return f"{re.sub(r'[^A-Za-z0-9._-]', '-', name).strip('.-') or 'scenario'}.toml"


def _facts(scenario: dict[str, Any], about: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns the main settings of a scenario: name and text of each."""
    path = scenario.get("path", {})
    is_radio = isinstance(scenario.get("radio"), dict)
    facts = [("duration", f"{about['duration_s']:g} s, in slots of {about['slot_s']:g} s")]
    if is_radio:
        facts.append(("radio", _settings(scenario["radio"])))
    facts.append(("base RTT", f"{path.get('rtt', '')}{' of the wired part' if is_radio else ''}"))
    if not is_radio:
        facts += [(f"{side}link", _capacity(path.get(side, {}))) for side in ("down", "up")]
        facts.append(("buffer", f"{path.get('buffer', '')}, {_value(path.get('queue', 'droptail'))}"))
    losses = {"downlink": path.get("loss"), "uplink": path.get("uplink_loss")}
    texts = [f"{_value(loss)} on the {link}" for link, loss in losses.items() if loss]
    facts.append(("random loss", ", ".join(texts)))
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


def _capacity(settings: Mapping[str, Any]) -> str:
    """Returns the source of the capacity of a direction as text."""
    for source in _SOURCES:
        if source in settings:
            value = settings[source]
            if source == "rate":
                return f"{value} throughout"
            if source == "generate":
                return f"generated: {_settings(value)}"
            return f"{source} {_value(value)}"
    return _settings(settings)


def _flow(flow: Mapping[str, Any]) -> str:
    workload = flow.get("workload", {})
    texts = [f"{workload.get('kind', 'bulk')} from {flow.get('from')} to {flow.get('to')}"]
    count = int(flow.get("count", 1))
    texts += [f"{count} in parallel"] if count > 1 else []
    texts += [f"from {flow['start']} on"] if flow.get("start") not in (None, "0s") else []
    settings = {name: value for name, value in workload.items() if name != "kind"}
    texts += [_settings(settings)] if settings else []
    return "; ".join(texts)


def _settings(settings: Mapping[str, Any]) -> str:
    """Returns settings with their values; those of a table are in parentheses after its name."""
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
