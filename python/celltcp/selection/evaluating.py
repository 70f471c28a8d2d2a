"""Evaluating policies: against congestion controls that stay, against hindsight, against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from celltcp import __version__
from celltcp._core import CelltcpError
from celltcp.campaign import Progress
from celltcp.engines import engine as find_engine
from celltcp.requirements import REQUIREMENTS
from celltcp.selection.candidates import AGAINST, DEFAULT, staying, uses
from celltcp.selection.evaluation import Evaluation
from celltcp.selection.kept import Kept, own_folder
from celltcp.selection.on_scenario import Plan, on_sources
from celltcp.selection.sources import names_of, sources_of


def evaluate(
    policy: str | Sequence[str],
    scenarios: str | Sequence[str],
    runs: int = 10,
    requirement: str | Sequence[str] = tuple(REQUIREMENTS),
    cca: str | Sequence[str] = "all",
    *,
    against: str | Sequence[str] = AGAINST,
    hints: bool = False,
    history: int = 4,
    switches: bool = False,
    seed: int = 1,
    jobs: int | None = None,
    engine: str = "native",
    kernel: str | None = None,
    set: Mapping[str, object] | Sequence[str] = (),  # noqa: A002 - as on the command line
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Runs policies and congestion controls that stay over the same channel realisations.

    Args:
        policy: policies, built-in ones by name or files.
        scenarios: as for `celltcp.selection.sources.sources_of`.
        runs: runs of each; run i has `seed + i`.
        requirement: what policies are to serve: goodput, balanced, delay, or weights of PM such as
            `"1/5/1"`.
        cca: congestion controls that stay, from which hindsight chooses; CUBIC is always one of them.
        against: policies that run beside the ones that are evaluated.
        hints: whether all policies ask the radio; those that are tables always do.
        history: earlier connections to the destination for policies with a memory; these have their
            candidates in turn, and seeds that are not evaluated.
        switches: whether to find out what changes cost, which takes a run more for every change.
        seed: of the first run.
        jobs: runs at a time; all cores unless given.
        engine: `"native"` or `"kernel"`.
        kernel: version of the kernel.
        set: scenario fields to override in all scenarios.
        out: folder to keep finished runs in while it goes on, and to save to.
        progress: called with the share that is done.

    Raises:
        CelltcpError: if something that was given cannot be used.
    """
    if runs < 1:
        raise CelltcpError(f"runs: {runs} is not a number from 1 on")
    if history < 0:
        raise CelltcpError(f"history: {history} is not a number from 0 on")
    policies = names_of(policy)
    compared = list(dict.fromkeys([*policies, *names_of(against)]))
    requirements = names_of(requirement)
    for name, given in (("policy", policies), ("requirement", requirements)):
        if not given:
            raise CelltcpError(f"{name}: give one at least")
    wanted = uses(compared, requirements, hints, remember=history > 0)
    chosen_engine = find_engine(engine, kernel)
    fixed = tuple(dict.fromkeys([DEFAULT, *staying(cca, chosen_engine.ccas)]))
    found = sources_of(scenarios, set)
    plan = Plan(fixed, tuple(wanted), runs, seed, history, switches, chosen_engine, jobs)
    # Whatever cannot be run is told before anything is.
    for source in found.sources:
        plan.check(source)
    folder = own_folder(out, "evaluate")
    kept = Kept(folder)
    frames = on_sources(found.sources, plan, kept, progress)
    told = {
        "version": __version__,
        "engine": chosen_engine.key,
        "policies": policies,
        "against": compared[len(policies) :],
        "requirements": list(dict.fromkeys(use.requirement for use in wanted)),
        "cca": list(fixed),
        "hints": {use.policy: use.hints for use in wanted},
        "history": {use.policy: history for use in wanted if use.learns},
        "scenarios": {source.name: source.scenario.hash for source in found.sources},
        "left_out": list(found.left_out),
        "runs": runs,
        "seed": seed,
    }
    evaluation = Evaluation(frames, told)
    if folder is not None:
        evaluation.save(folder)
        kept.clear()
    return evaluation
