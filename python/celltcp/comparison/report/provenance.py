"""Provenance of results in a report: versions, seeds, and the command that reproduces them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from celltcp._core import CelltcpError
from celltcp.campaign.engines import engine_options
from celltcp.present.scenario_text import file_name
from celltcp.present.section import Column, Section, Table
from celltcp.scenarios.scenario_list import short_name
from celltcp.scenarios.scenarios import load_scenario, scenario_names

#: Rows of the table: key of the metadata, and label.
_ROWS = (
    ("version", "version of celltcp"),
    ("build", "build"),
    ("engine", "engine"),
    ("hash", "digest of the scenario"),
)


def provenance_sections(meta: Mapping[str, Any], command: str) -> tuple[Section, ...]:
    """Returns the provenance of results."""
    rows = [(label, str(meta[key])) for key, label in _ROWS if meta.get(key)]
    if "runs" in meta:
        first, runs = int(meta["seed"]), int(meta["runs"])
        seeds = f"{first} to {first + runs - 1}" if runs > 1 else str(first)
        rows.append(("seeds", f"{seeds}, the same for each CCA"))
    table = Table((Column("what"), Column("value")), tuple(rows))
    return (
        Section("Versions and seeds", table),
        Section("Command that reproduces the results", code=f"{command}\n"),
    )


def command_of(
    name: str,
    meta: Mapping[str, Any],
    *,
    options: Sequence[str] = (),
    changes: Sequence[str] = (),
    scenarios: Sequence[str] = (),
) -> str:
    """Returns the command that reproduces results.

    Args:
        name: of the command, such as `compare`.
        meta: metadata of the results.
        options: further options.
        changes: fields that vary between the results, set to the values of the first.
        scenarios: the scenarios, if there are several; `meta` is that of the first.
    """
    first, *scenario_options = scenario_arguments(meta, changes)
    scenario_list = ",".join([first, *scenarios[1:]])
    words = ["celltcp", name, scenario_list, *scenario_options, *options]
    words += ["--cca", ",".join(meta["cca"])]
    words += ["--runs", str(meta["runs"])] if name != "run" else []
    words += ["--seed", str(meta["seed"])]
    return shlex.join([*words, *engine_options(str(meta["engine"])), "--out", "results"])


def scenario_arguments(meta: Mapping[str, Any], changes: Sequence[str] = ()) -> list[str]:
    """Returns the arguments that select the scenario of the results.

    They are a built-in name with its options if its hash matches, else the file in the report.
    """
    name = str(meta["name"])
    duration = f"{meta['duration_s']:g}s"
    if name.partition("@")[0] in scenario_names():
        for length in (None, duration):
            try:
                scenario = load_scenario(name, duration=length, changes=changes)
            except CelltcpError:
                break
            with_log = scenario.with_radio_log() if scenario.has_radio else scenario
            for candidate, option in ((scenario, []), (with_log, ["--radio-log"])):
                if candidate.hash == meta["hash"]:
                    return [name, *(["--duration", duration] if length else []), *option]
    return [file_name(meta)]


def digests_table(meta: Mapping[str, Any]) -> Table:
    """Returns the scenarios of results with their digests."""
    rows = tuple((short_name(name), str(digest)) for name, digest in meta["scenarios"].items())
    return Table((Column("scenario"), Column("digest")), rows)
