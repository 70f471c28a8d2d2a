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

#: Rows of the table: key of the origin, and words for it.
_ROWS = (
    ("version", "version of celltcp"),
    ("build", "build"),
    ("engine", "engine"),
    ("hash", "digest of the scenario"),
)


def origin_sections(about: Mapping[str, Any], command: str) -> tuple[Section, ...]:
    """Returns the provenance of results."""
    rows = [(words, str(about[key])) for key, words in _ROWS if about.get(key)]
    if "runs" in about:
        first, runs = int(about["seed"]), int(about["runs"])
        seeds = f"{first} to {first + runs - 1}" if runs > 1 else str(first)
        rows.append(("seeds", f"{seeds}, the same for each CCA"))
    table = Table((Column("what"), Column("value")), tuple(rows))
    return (
        Section("Versions and seeds", table),
        Section("Command that reproduces the results", code=f"{command}\n"),
    )


def command_of(
    name: str,
    about: Mapping[str, Any],
    *,
    options: Sequence[str] = (),
    changes: Sequence[str] = (),
    scenarios: Sequence[str] = (),
) -> str:
    """Returns the command that reproduces results.

    Args:
        name: of the command, such as `compare`.
        about: origin of the results.
        options: further options.
        changes: fields that differ from result to result, which the scenario therefore need not have.
        scenarios: the scenarios, if there are several; `about` is that of the first.
    """
    source, *others = scenario_arguments(about, changes)
    named = ",".join([source, *scenarios[1:]])
    words = ["celltcp", name, named, *others, *options]
    words += ["--cca", ",".join(about["cca"])]
    words += ["--runs", str(about["runs"])] if name != "run" else []
    words += ["--seed", str(about["seed"])]
    return shlex.join([*words, *engine_options(str(about["engine"])), "--out", "results"])


def scenario_arguments(about: Mapping[str, Any], changes: Sequence[str] = ()) -> list[str]:
    """Returns the built-in scenario, if that gives the results, or the file that the report has."""
    name = str(about["name"])
    duration = f"{about['duration_s']:g}s"
    if name.partition("@")[0] in scenario_names():
        for length in (None, duration):
            try:
                result = load_scenario(name, duration=length, changes=changes)
            except CelltcpError:
                break
            log = result.with_radio_log() if result.has_radio else result
            for each, option in ((result, []), (log, ["--radio-log"])):
                if each.hash == about["hash"]:
                    return [name, *(["--duration", duration] if length else []), *option]
    return [file_name(about)]


def digests_table(about: Mapping[str, Any]) -> Table:
    """Returns the scenarios of results with their digests."""
    rows = tuple((short_name(name), str(digest)) for name, digest in about["scenarios"].items())
    return Table((Column("scenario"), Column("digest")), rows)
