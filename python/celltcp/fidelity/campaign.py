"""Campaign of a fidelity report: runs of both engines on every case."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import celltcp._core as _core
from celltcp._core import CelltcpError
from celltcp.campaign import Progress, jobs_for, run_jobs
from celltcp.ccas import catalogue, chosen
from celltcp.engines import Engine
from celltcp.fidelity.cases import Case
from celltcp.fidelity.judgement import Fidelity, Judgement, judge_case
from celltcp.fidelity.trajectory import SAMPLES
from celltcp.results import Results, read_results
from celltcp.results.origin import origin_of

#: Folder below that of the results with the runs of a campaign that is not finished.
_UNFINISHED = ".unfinished"


def judged_ccas(names: str | Sequence[str]) -> list[str]:
    """Returns the CCAs of those names, by the kernel's names, each once.

    Raises:
        CelltcpError: if one is unknown, or if Linux does not have it.
    """
    in_linux = [entry["name"] for entry in catalogue() if entry["linux"]]
    named = chosen(names, in_linux)
    for cca in named:
        if cca.partition(":")[0] not in in_linux:
            raise CelltcpError(
                f"cca: Linux does not have {cca!r}, so that there is nothing to hold it against; "
                f"allowed: {', '.join(in_linux)}"
            )
    return named


def judge(
    cases: Sequence[Case],
    ccas: Sequence[str],
    runs: int,
    seed: int,
    native: Engine,
    kernel: Engine,
    *,
    workers: int | None = None,
    out: Path | None = None,
    progress: Progress | None = None,
) -> Fidelity:
    """Runs every case on both engines and judges the differences.

    Args:
        cases: what to run.
        ccas: names of congestion controls.
        runs: runs of each; run i has `seed + i` on both engines.
        seed: of the first run.
        native: the engine that is judged.
        kernel: the engine that it is held against.
        workers: runs at a time; all cores unless given.
        out: folder for the tables, one per case and engine. Cases that are in it already, from the
            same build with the same settings, are not run again.
        progress: called with the share that is done.

    Raises:
        CelltcpError: if something that was given cannot be used.
    """
    ccas = judged_ccas(ccas)
    judgements: list[Judgement] = []
    version = ""
    for number, case in enumerate(cases):
        sides = [
            run_case(
                case,
                ccas,
                runs,
                seed,
                engine,
                workers=workers,
                folder=out / case.name / engine.name if out else None,
                unfinished=out / _UNFINISHED / case.name if out else None,
                progress=_share(progress, 2 * number + place, 2 * len(cases)),
            )
            for place, engine in enumerate((native, kernel))
        ]
        judgements += judge_case(case, ccas, *sides)
        version = sides[1].tables["runs"]["kernel_version"][0].as_py()
    if out:
        shutil.rmtree(out / _UNFINISHED, ignore_errors=True)
    return Fidelity(judgements, _core.__version__, version, runs, seed)


def decide(
    found: Fidelity,
    cases: Sequence[Case],
    runs: int,
    native: Engine,
    kernel: Engine,
    *,
    workers: int | None = None,
    out: Path | None = None,
    progress: Progress | None = None,
) -> Fidelity:
    """Judges the undecided comparisons again, with more runs.

    Args:
        found: what was judged.
        cases: the cases that it is about.
        runs: runs of each; run i has the first seed plus i on both engines.
        native: the engine that is judged.
        kernel: the engine that it is held against.
        workers: runs at a time; all cores unless given.
        out: folder for the tables of these runs, as in `judge`.
        progress: called with the share that is done.
    """
    open_ccas: dict[str, list[str]] = {}
    for each in found.undecided:
        open_ccas.setdefault(each.case, []).append(each.cca)
    again: dict[tuple[str, str], Judgement] = {}
    chosen_cases = [case for case in cases if case.name in open_ccas]
    for number, case in enumerate(chosen_cases):
        part = judge(
            [case],
            open_ccas[case.name],
            runs,
            found.seed,
            native,
            kernel,
            workers=workers,
            out=out,
            progress=_share(progress, number, len(chosen_cases)),
        )
        again |= {(each.case, each.cca): each for each in part.judgements}
    judgements = [again.get((each.case, each.cca), each) for each in found.judgements]
    return replace(found, judgements=judgements)


def run_case(
    case: Case,
    ccas: Sequence[str],
    runs: int,
    seed: int,
    engine: Engine,
    *,
    workers: int | None = None,
    folder: Path | None = None,
    unfinished: Path | None = None,
    progress: Progress | None = None,
) -> Results:
    """Returns all runs of a case on one engine, or those that a folder has of the same jobs and build.

    Args:
        case: what to run.
        ccas: names of congestion controls.
        runs: runs of each.
        seed: of the first run.
        engine: what runs TCP.
        workers: runs at a time; all cores unless given.
        folder: where the tables are kept.
        unfinished: where single runs are kept until all are done.
        progress: called with the share that is done.
    """
    scenario = case.scenario.with_samples(SAMPLES)
    jobs = jobs_for(scenario, ccas, runs, seed, engine)
    origin = origin_of(scenario, ccas, runs, seed, engine)
    kept = _read(folder, origin)
    if kept is not None:
        return kept
    parts = unfinished / engine.build if unfinished else None
    results = Results(run_jobs(jobs, workers=workers, folder=parts, progress=progress), origin)
    if folder:
        results.save(folder)
    return results


def _read(folder: Path | None, origin: dict[str, object]) -> Results | None:
    """Returns the results in the folder if they are complete and of the same origin."""
    if folder is None:
        return None
    try:
        results = read_results(folder)
    except CelltcpError:
        return None
    return results if results.about == origin else None


def _share(progress: Progress | None, done: int, parts: int) -> Progress | None:
    if progress is None:
        return None
    return lambda share: progress((done + share) / parts)
