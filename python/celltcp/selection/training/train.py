"""From networks to a policy file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from celltcp._core import CelltcpError, describe_cca, describe_policy, native_ccas, selection_features
from celltcp.ccas import chosen
from celltcp.comparison import REQUIREMENTS
from celltcp.engines import engine
from celltcp.selection.training.counterfactual import Outcomes, moments, outcomes
from celltcp.selection.training.families import FAMILIES, networks
from celltcp.selection.training.fit import Grown, grow
from celltcp.selection.training.policy_file import policy_text
from celltcp.selection.training.table import read_outcomes, write_outcomes

#: Features of the radio, which only some senders are told.
LEFT_OUT = ("sinr", "speed")


@dataclass(frozen=True)
class Training:
    """What a training has given."""

    #: The text of the policy file.
    text: str
    trees: list[Grown]
    #: Moments that were used.
    cases: int


def deployable() -> list[str]:
    """The congestion controls of Linux that need nothing of the receiver, by the alphabet."""
    return sorted(name for name in native_ccas() if describe_cca(name)["linux"] and name != "dctcp")


def train(
    name: str,
    scenarios: Sequence[str] = (),
    requirements: Sequence[str] = tuple(REQUIREMENTS),
    cca: Sequence[str] | str = (),
    *,
    each: int = 12,
    moments_each: int = 5,
    leaves: int = 8,
    least: int = 20,
    seed: int = 1,
    jobs: int | None = None,
    kept: Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> Training:
    """Trains a policy on networks drawn at random.

    At moments of runs on these networks every congestion control takes over in a run of its own; a tree
    per requirement learns who did best from what the estimators saw at the moment.

    Args:
        name: of the policy.
        scenarios: families of networks; all if none is given.
        requirements: goodput, balanced, delay.
        cca: congestion controls to choose from; if none is given, those of Linux that need nothing of
            the receiver.
        each: networks of each family.
        moments_each: later moments of each network, beside its establishment.
        leaves: most leaves of a tree.
        least: fewest moments in a leaf.
        seed: of the draws.
        jobs: runs at a time; all cores unless given.
        kept: table of outcomes, which is read if it exists and else written.
        progress: called with the share that is done.

    Raises:
        CelltcpError: if something that was given cannot be used.
    """
    for requirement in requirements:
        if requirement not in REQUIREMENTS:
            allowed = ", ".join(REQUIREMENTS)
            raise CelltcpError(f"requirement: {requirement!r} is not allowed; allowed: {allowed}")
    native = engine("native", None)
    ccas = chosen(cca, native.ccas) if cca else deployable()
    families = list(scenarios) or list(FAMILIES)
    if kept is not None and kept.exists():
        found = read_outcomes(kept, ccas)
    else:
        points = moments(networks(families, each, seed), ccas, moments_each, seed)
        found = outcomes(points, ccas, native, workers=jobs, progress=progress)
        if kept is not None:
            write_outcomes(found, ccas, kept)
    command = (
        f"celltcp select train --runs {each} --moments {moments_each} --leaves {leaves} "
        f"--least {least} --seed {seed}"
    )
    return _grown(name, found, requirements, ccas, leaves, least, command)


def _grown(
    name: str,
    found: Outcomes,
    requirements: Sequence[str],
    ccas: Sequence[str],
    leaves: int,
    least: int,
    command: str,
) -> Training:
    families = sorted({point.network.family for point in found.points})
    if len(families) < 2 or len(found.points) < 2 * least:
        raise CelltcpError(
            f"{len(found.points)} moments of {len(families)} families are too few to cross-validate; "
            f"allowed: two families and {2 * least} moments or more"
        )
    features = [each for each, _ in selection_features() if each not in LEFT_OUT]
    trees = [
        grow(found, requirement, ccas, features, leaves=leaves, least=least)
        for requirement in requirements
    ]
    text = policy_text(
        name,
        "Trees that have learnt from networks drawn at random who does best from what a sender sees.",
        command,
        features,
        families,
        trees,
    )
    describe_policy(name, text)
    return Training(text, trees, len(found.points))
