"""Plans of campaigns in folders, and partial results of unfinished ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celltcp.campaign.shards import Shards
from celltcp.results.completeness import Completeness
from celltcp.results.folder import about_in
from celltcp.results.keys import Keys
from celltcp.results.manifest import manifest_of
from celltcp.results.tables import Results
from celltcp.results.working import PARTS, mark_working, working_folder
from celltcp.scenarios.stored import MANIFEST

#: Minimum of runs of a CCA in results of unfinished campaigns, if other CCAs have as many.
_MIN_RUNS = 2


@dataclass(frozen=True)
class _Run:
    """Run of an unfinished campaign, with its number in the results."""

    key: str
    number: int


def write_plan(folder: Path, origins: Mapping[Path, Mapping[str, Any]]) -> None:
    """Writes the planned runs into the working folder that keeps the finished runs.

    Args:
        folder: folder that the campaigns are in.
        origins: origin of each campaign, with the keys of its runs, by its folder.
    """
    plan = [
        [parts_folder.relative_to(folder).as_posix(), origin]
        for parts_folder, origin in origins.items()
    ]
    mark_working(working_folder(folder / PARTS), {"plan": plan})


def planned_in(folder: Path) -> dict[str, dict[str, Any]]:
    """Returns the origins of the campaigns that a command began in a folder, by their folders.

    Raises:
        CelltcpError: if the plan is damaged.
    """
    parts_folder = folder / PARTS
    mark = manifest_of(parts_folder) if (parts_folder / MANIFEST).is_file() else None
    plan = mark.about.get("plan", []) if mark is not None else []
    return {str(name): dict(origin) for name, origin in plan}


def finished_runs(folder: Path) -> Shards:
    """Returns the finished runs of the campaigns that a command began; changes nothing."""
    places = [folder / name for name in planned_in(folder)]
    return Shards(folder / PARTS, places, repairs=False)


def completeness_in(folder: Path) -> Completeness:
    """Returns how many runs are finished of the campaigns that a command began in a folder.

    Raises:
        CelltcpError: if the plan is damaged.
    """
    plan = planned_in(folder)
    done = finished_runs(folder) if plan else None
    total = Completeness()
    for name, origin in plan.items():
        about = about_in(folder / name)
        if about is not None:
            total += Completeness.from_about(about)
        elif done is not None:
            total += _state(origin, _finished_seeds(origin, done))
    return total


def _keys(origin: Mapping[str, Any]) -> Keys:
    return Keys.from_meta(origin) or Keys(())


def _finished_seeds(origin: Mapping[str, Any], done: Shards) -> dict[str, list[int]]:
    """Returns the seeds of the finished runs of a campaign by CCA."""
    return {
        cca: [seed for seed, key in enumerate(each, each.first) if key in done.keys]
        for cca, each in zip(origin["cca"], _keys(origin).ranges, strict=True)
    }


def _state(origin: Mapping[str, Any], seeds: Mapping[str, list[int]]) -> Completeness:
    """Returns how many runs of a campaign are finished."""
    complete = sum(len(seed) == origin["runs"] for seed in seeds.values())
    return Completeness(sum(map(len, seeds.values())), len(_keys(origin)), complete, len(seeds))


def unfinished_results(origin: Mapping[str, Any], done: Shards) -> tuple[Results | None, Completeness]:
    """Returns the results of the finished runs of a campaign, and how many there are.

    All CCAs have the same seeds, so that differences are paired. CCAs with a single run are left out
    while others have more.

    Args:
        origin: of the campaign, with the keys of its runs.
        done: the finished runs.
    """
    ccas, keys = origin["cca"], _keys(origin)
    seeds = _finished_seeds(origin, done)
    state = _state(origin, seeds)
    if not state.runs:
        return None, state
    most = max(map(len, seeds.values()))
    ccas_to_print = [cca for cca in ccas if len(seeds[cca]) >= min(most, _MIN_RUNS)]
    common = sorted(set.intersection(*(set(seeds[cca]) for cca in ccas_to_print)))
    if not common:
        # Without common seeds: the CCA with the most runs.
        ccas_to_print = [cca for cca in ccas_to_print if len(seeds[cca]) == most][:1]
        common = seeds[ccas_to_print[0]]
    ranges = dict(zip(ccas, keys.ranges, strict=True))
    missing_runs = [(cca, seed) for cca in ccas_to_print for seed in common]
    runs = [_Run(ranges[cca].key(seed), index) for index, (cca, seed) in enumerate(missing_runs)]
    about = {**origin, "cca": ccas_to_print, "runs": len(common), "seed": common[0], **state.to_about()}
    about.pop("keys")
    return Results(done.joined(runs, {}, ccas_to_print), about), state
