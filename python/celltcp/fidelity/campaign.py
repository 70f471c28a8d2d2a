"""Campaign of a fidelity report: runs of both engines on every case."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from celltcp._core import CelltcpError, __version__
from celltcp.campaign.cost_estimate import CostEstimate, estimate_cost
from celltcp.campaign.engines import Engine
from celltcp.campaign.folders import check_folders
from celltcp.campaign.jobs import Campaign
from celltcp.campaign.plan import CampaignRequest
from celltcp.campaign.run import Progress, sub_progress
from celltcp.campaign.run_settings import RunSettings
from celltcp.fidelity.cases import Case
from celltcp.fidelity.differences import Fidelity, Judgement, judge_case
from celltcp.fidelity.trajectory import step_s
from celltcp.results.folder_lock import locked_folder
from celltcp.results.tables import Results
from celltcp.scenarios.cca_mix import parse_mix
from celltcp.scenarios.ccas import catalogue, select_ccas


def judged_ccas(names: str | Sequence[str]) -> list[str]:
    """Returns the CCAs of those names, by the kernel's names, each once.

    Raises:
        CelltcpError: if one is unknown, or if Linux does not have it.
    """
    in_linux = [entry["name"] for entry in catalogue() if entry["linux"]]
    judged = select_ccas(names, in_linux)
    for cca in judged:
        if any(flow.name not in in_linux for flow in parse_mix(cca).flows):
            raise CelltcpError(
                f"cca: {cca!r} is not in Linux: no reference to compare with; "
                f"allowed: {', '.join(in_linux)}"
            )
    return judged


@dataclass(frozen=True)
class EnginePair:
    """The two engines of a report, and the settings of their runs.

    Attributes:
        native: the engine that is judged.
        kernel: the reference engine.
        workers: runs at a time; all cores unless given.
        out: folder for the tables, one per case and engine. Runs that are in it already, of the same
            build with the same settings, are not done again.
        overwrite: whether other results in that folder may be replaced.
    """

    native: Engine
    kernel: Engine
    workers: int | None = None
    out: Path | None = None
    overwrite: bool = False

    def folder(self, case: Case, engine: Engine) -> Path | None:
        """Returns the folder for the tables of a case on an engine."""
        return self.out / case.name / engine.name if self.out else None


def judge(
    cases: Sequence[Case],
    ccas: Sequence[str],
    runs: int,
    seed: int,
    sides: EnginePair,
    *,
    progress: Progress | None = None,
) -> Fidelity:
    """Runs every case on both engines and judges the differences.

    Args:
        cases: what to run.
        ccas: names of congestion controls.
        runs: runs of each; run i has `seed + i` on both engines.
        seed: of the first run.
        sides: the engines.
        progress: called with the share that is done.

    Raises:
        CelltcpError: if something that was given cannot be used.
    """
    judged = judged_ccas(ccas)
    return _judged([(case, judged) for case in cases], runs, seed, sides, progress)


def rerun_undecided(
    fidelity: Fidelity,
    cases: Sequence[Case],
    runs: int,
    sides: EnginePair,
    *,
    progress: Progress | None = None,
) -> Fidelity:
    """Judges the undecided comparisons again, with more runs.

    Args:
        fidelity: what was judged.
        cases: the cases that it is about.
        runs: runs of each; run i has the first seed plus i on both engines.
        sides: the engines, with a folder for the tables of these runs.
        progress: called with the share that is done.
    """
    open_ccas: dict[str, list[str]] = {}
    for each in fidelity.undecided:
        open_ccas.setdefault(each.case, []).append(each.cca)
    to_repeat = [(case, open_ccas[case.name]) for case in cases if case.name in open_ccas]
    part = _judged(to_repeat, runs, fidelity.seed, sides, progress)
    repeated = {(judgement.case, judgement.cca): judgement for judgement in part.judgements}
    judgements = [
        repeated.get((judgement.case, judgement.cca), judgement) for judgement in fidelity.judgements
    ]
    return replace(fidelity, judgements=judgements)


def cost_of(
    cases: Sequence[Case], ccas: Sequence[str], runs: int, seed: int, sides: EnginePair
) -> CostEstimate:
    """Returns the estimated cost of the runs of both engines on every case."""
    engines = (sides.native, sides.kernel)
    judged = judged_ccas(ccas)
    return estimate_cost(
        _plan(case, judged, runs, seed, engine, None).jobs for case in cases for engine in engines
    )


def _judged(
    to_repeat: Sequence[tuple[Case, Sequence[str]]],
    runs: int,
    seed: int,
    sides: EnginePair,
    progress: Progress | None,
) -> Fidelity:
    """Judges cases, each with congestion controls of its own."""
    engines = (sides.native, sides.kernel)
    with locked_folder(sides.out) if sides.out else nullcontext():
        # Before the first run, so that a folder is not rejected after an hour of runs.
        for case, ccas in to_repeat:
            planned = [
                _plan(case, ccas, runs, seed, engine, sides.folder(case, engine)) for engine in engines
            ]
            if sides.out is not None:
                check_folders(planned, sides.out, overwrite=sides.overwrite)
        judgements: list[Judgement] = []
        version = ""
        for index, (case, ccas) in enumerate(to_repeat):
            result = [
                run_case(
                    case,
                    ccas,
                    runs,
                    seed,
                    engine,
                    workers=sides.workers,
                    folder=sides.folder(case, engine),
                    overwrite=sides.overwrite,
                    progress=sub_progress(progress, 2 * index + place, 2 * len(to_repeat)),
                )
                for place, engine in enumerate(engines)
            ]
            judgements += judge_case(case, ccas, *result)
            version = result[1].tables["runs"]["kernel_version"][0].as_py()
    return Fidelity(judgements, __version__, version, runs, seed)


def run_case(
    case: Case,
    ccas: Sequence[str],
    runs: int,
    seed: int,
    engine: Engine,
    *,
    workers: int | None = None,
    folder: Path | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Results:
    """Returns all runs of a case on one engine; those that the folder has already are not done again.

    Args:
        case: what to run.
        ccas: names of congestion controls.
        runs: runs of each.
        seed: of the first run.
        engine: what runs TCP.
        workers: runs at a time; all cores unless given.
        folder: where the tables are kept.
        overwrite: whether other results in the folder may be replaced.
        progress: called with the share that is done.
    """
    campaign = _plan(case, ccas, runs, seed, engine, folder)
    settings = RunSettings(jobs=workers, out=folder, overwrite=overwrite)
    return CampaignRequest((campaign,), settings, lambda results: results[0]).run(progress)


def _plan(
    case: Case, ccas: Sequence[str], runs: int, seed: int, engine: Engine, folder: Path | None
) -> Campaign:
    interval_ms = round(1_000 * step_s(case.scenario.duration_s))
    scenario = case.scenario.with_samples(f"{interval_ms}ms")
    return Campaign.of(scenario, ccas, runs, seed, engine, folder)
