"""Plans of campaigns in folders, and partial results of unfinished ones."""

from __future__ import annotations

from collections.abc import Mapping
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

#: Minimum number of runs of a CCA in results of unfinished campaigns, if another CCA has as many.
_MIN_RUNS = 2


def write_plan(folder: Path, origins: Mapping[Path, Mapping[str, Any]]) -> None:
    """Writes the planned runs into the working folder of a folder; `origins` are by campaign folder."""
    plan = [[path.relative_to(folder).as_posix(), origin] for path, origin in origins.items()]
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
    return Shards(folder / PARTS, [folder / name for name in planned_in(folder)], repairs=False)


def completeness_in(folder: Path) -> Completeness:
    """Returns how many runs are finished of the campaigns that a command began in a folder.

    Raises:
        CelltcpError: if the plan is damaged.
    """
    plan = planned_in(folder)
    shards = finished_runs(folder) if plan else None
    total = Completeness()
    for name, origin in plan.items():
        about = about_in(folder / name)
        if about is not None:
            total += Completeness.from_about(about)
        elif shards is not None:
            total += _completeness(origin, _finished_seeds(origin, shards))
    return total


def _keys(origin: Mapping[str, Any]) -> Keys:
    return Keys.from_about(origin) or Keys(())


def _finished_seeds(origin: Mapping[str, Any], shards: Shards) -> dict[str, list[int]]:
    """Returns the seeds of the finished runs of a campaign by CCA."""
    return {
        cca: [seed for seed, key in enumerate(keys, keys.first) if key in shards.keys]
        for cca, keys in zip(origin["cca"], _keys(origin).ranges, strict=True)
    }


def _completeness(origin: Mapping[str, Any], seeds: Mapping[str, list[int]]) -> Completeness:
    """Returns the completeness of a campaign with these finished seeds by CCA."""
    complete = sum(len(finished) == origin["runs"] for finished in seeds.values())
    return Completeness(sum(map(len, seeds.values())), len(_keys(origin)), complete, len(seeds))


def unfinished_results(
    origin: Mapping[str, Any], shards: Shards
) -> tuple[Results | None, Completeness]:
    """Returns the results of the finished runs of a campaign, and its completeness.

    All CCAs have the same seeds, so that differences are paired. CCAs with a single run are left out
    while others have more.
    """
    ccas, keys = origin["cca"], _keys(origin)
    seeds = _finished_seeds(origin, shards)
    completeness = _completeness(origin, seeds)
    if not completeness.runs:
        return None, completeness
    max_runs = max(map(len, seeds.values()))
    selected_ccas = [cca for cca in ccas if len(seeds[cca]) >= min(max_runs, _MIN_RUNS)]
    common = sorted(set.intersection(*(set(seeds[cca]) for cca in selected_ccas)))
    if not common:
        # Without common seeds: the CCA with the most runs.
        selected_ccas = [cca for cca in selected_ccas if len(seeds[cca]) == max_runs][:1]
        common = seeds[selected_ccas[0]]
    ranges = dict(zip(ccas, keys.ranges, strict=True))
    selected_keys = [ranges[cca].key(seed) for cca in selected_ccas for seed in common]
    numbers = {key: number for number, key in enumerate(selected_keys)}
    about = {**origin, "cca": selected_ccas, "runs": len(common), "seed": common[0]}
    about.update(completeness.to_about())
    about.pop("keys")
    return Results(shards.joined(numbers, {}, selected_ccas), about), completeness
