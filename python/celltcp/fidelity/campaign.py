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


def select_linux_ccas(names: str | Sequence[str]) -> list[str]:
    """Returns the CCAs of these names, by the kernel's names, each once.

    Raises:
        CelltcpError: if one is unknown, or if Linux does not have it.
    """
    in_linux = [entry["name"] for entry in catalogue() if entry["linux"]]
    ccas = select_ccas(names, in_linux)
    for cca in ccas:
        if any(flow.name not in in_linux for flow in parse_mix(cca).flows):
            raise CelltcpError(
                f"cca: {cca!r} is not in Linux: no reference to compare with; "
                f"allowed: {', '.join(in_linux)}"
            )
    return ccas


@dataclass(frozen=True)
class EnginePair:
    """The two engines of a report, and the settings of their runs.

    Attributes:
        native: the engine that is judged.
        kernel: the reference engine.
        workers: number of runs at a time; that of all cores unless given.
        out: folder for the tables, with a folder per case and engine. Existing runs of the same build
            and settings are reused.
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
    engines: EnginePair,
    *,
    progress: Progress | None = None,
) -> Fidelity:
    """Runs every case on both engines and judges the differences; run i has `seed + i` on both.

    Raises:
        CelltcpError: if an argument is invalid, or the folder of the engines cannot be used.
    """
    linux_ccas = select_linux_ccas(ccas)
    return _judge_cases([(case, linux_ccas) for case in cases], runs, seed, engines, progress)


def rerun_undecided(
    fidelity: Fidelity,
    cases: Sequence[Case],
    runs: int,
    engines: EnginePair,
    *,
    progress: Progress | None = None,
) -> Fidelity:
    """Judges the undecided comparisons again with more runs, from the same first seed."""
    undecided_ccas: dict[str, list[str]] = {}
    for judgement in fidelity.undecided:
        undecided_ccas.setdefault(judgement.case, []).append(judgement.cca)
    repeats = [(case, undecided_ccas[case.name]) for case in cases if case.name in undecided_ccas]
    part = _judge_cases(repeats, runs, fidelity.seed, engines, progress)
    repeated = {(judgement.case, judgement.cca): judgement for judgement in part.judgements}
    judgements = [
        repeated.get((judgement.case, judgement.cca), judgement) for judgement in fidelity.judgements
    ]
    return replace(fidelity, judgements=judgements)


def cost_of(
    cases: Sequence[Case], ccas: Sequence[str], runs: int, seed: int, engines: EnginePair
) -> CostEstimate:
    """Returns the estimated cost of the runs of both engines on every case."""
    linux_ccas = select_linux_ccas(ccas)
    return estimate_cost(
        plan_case(case, linux_ccas, runs, seed, engine).jobs
        for case in cases
        for engine in (engines.native, engines.kernel)
    )


def _judge_cases(
    cases: Sequence[tuple[Case, Sequence[str]]],
    runs: int,
    seed: int,
    engines: EnginePair,
    progress: Progress | None,
) -> Fidelity:
    """Judges cases, each with congestion controls of its own."""
    plans = [
        [
            plan_case(case, ccas, runs, seed, engine, engines.folder(case, engine))
            for engine in (engines.native, engines.kernel)
        ]
        for case, ccas in cases
    ]
    with locked_folder(engines.out) if engines.out else nullcontext():
        # Before the first run, so that a folder is not rejected after an hour of runs.
        if engines.out is not None:
            for pair in plans:
                check_folders(pair, engines.out, overwrite=engines.overwrite)
        judgements: list[Judgement] = []
        kernel_version = ""
        for index, ((case, ccas), pair) in enumerate(zip(cases, plans, strict=True)):
            parts = [sub_progress(progress, 2 * index + half, 2 * len(cases)) for half in (0, 1)]
            native, kernel = (
                run_plan(campaign, engines, part) for campaign, part in zip(pair, parts, strict=True)
            )
            judgements += judge_case(case, ccas, native, kernel)
            kernel_version = kernel.tables["runs"]["kernel_version"][0].as_py()
    return Fidelity(judgements, __version__, kernel_version, runs, seed)


def run_plan(campaign: Campaign, engines: EnginePair, progress: Progress | None = None) -> Results:
    """Returns the results of a campaign, which reuses the runs in its folder."""
    settings = RunSettings(jobs=engines.workers, out=campaign.folder, overwrite=engines.overwrite)
    return CampaignRequest((campaign,), settings, lambda results: results[0]).run(progress)


def plan_case(
    case: Case, ccas: Sequence[str], runs: int, seed: int, engine: Engine, folder: Path | None = None
) -> Campaign:
    """Returns the campaign of a case on an engine, with samples for its trajectories."""
    interval_ms = round(1_000 * step_s(case.scenario.duration_s))
    scenario = case.scenario.with_samples(f"{interval_ms}ms")
    return Campaign.of(scenario, ccas, runs, seed, engine, folder)
