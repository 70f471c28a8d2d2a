"""Plan of a training: networks, candidate CCAs, sizes of trees, and the command that repeats it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from celltcp._core import CelltcpError, describe_cca, native_ccas
from celltcp.scenarios.ccas import select_ccas
from celltcp.scenarios.requirements import OTHER_MEASURES, REQUIREMENTS
from celltcp.selection.training.families import FAMILIES

#: Number of best fixed CCAs per requirement under which points in flight are sampled.
BEST_CCAS = 2

#: Requirements that a policy can be trained for.
LEARNABLE = (*REQUIREMENTS, *OTHER_MEASURES)

#: Requirements that are learnt from full runs, because CCAs that grow per round trip show their goodput
#: late. Others are learnt from switches.
FROM_FULL_RUNS = ("goodput",)

#: Every n-th network is used for the choice at the start.
START_EVERY = 3


@dataclass(frozen=True)
class Plan:
    """Plan of a training: networks, candidate CCAs, sizes of trees. `train` describes the fields."""

    families: Sequence[str]
    requirements: Sequence[str]
    ccas: Sequence[str]
    networks: int
    samples: int
    full_runs: int
    max_leaves: int
    min_samples_leaf: int
    seed: int

    def resolved(self, native: Sequence[str]) -> Plan:
        """Returns the plan with the names of all families, requirements and CCAs of the native engine.

        Raises:
            CelltcpError: if a requirement or congestion control is not allowed.
        """
        for requirement in self.requirements:
            if requirement not in LEARNABLE:
                allowed = ", ".join(LEARNABLE)
                raise CelltcpError(f"requirement: {requirement!r} is not allowed; allowed: {allowed}")
        ccas = list(dict.fromkeys(select_ccas(self.ccas, native))) if self.ccas else deployable()
        for cca in ccas:
            if cca not in native:
                allowed = ", ".join(sorted(native))
                raise CelltcpError(f"cca: {cca!r} is not allowed; allowed: {allowed}")
        if len(ccas) < 2:
            raise CelltcpError(f"cca: {ccas[0]!r} alone leaves nothing to choose; allowed: two or more")
        return replace(
            self,
            families=list(dict.fromkeys(self.families)) or list(FAMILIES),
            requirements=list(dict.fromkeys(self.requirements)),
            ccas=ccas,
        )

    def check(self) -> None:
        """Rejects a plan that is too small for cross-validation.

        Raises:
            CelltcpError: if it has too few families or points.
        """
        count = self.networks * self.samples * len(self.families)
        if len(self.families) < 2 or count < 2 * self.min_samples_leaf:
            raise CelltcpError(
                f"{count} moments of {len(self.families)} families are too few to cross-validate; "
                f"allowed: two families and {2 * self.min_samples_leaf} moments or more"
            )

    @property
    def command(self) -> str:
        """Command that repeats the training."""
        words = ["celltcp", "select", "train"]
        if list(self.families) != list(FAMILIES):
            words += ["--scenarios", ",".join(self.families)]
        if list(self.requirements) != list(LEARNABLE):
            words += ["--requirement", ",".join(self.requirements)]
        if list(self.ccas) != deployable():
            words += ["--cca", ",".join(self.ccas)]
        for name, option in _OPTIONS.items():
            words += [option, str(getattr(self, name))]
        return shlex.join(words)


_OPTIONS = {
    "networks": "--runs",
    "samples": "--samples",
    "full_runs": "--full-runs",
    "max_leaves": "--max-leaves",
    "min_samples_leaf": "--min-samples-leaf",
    "seed": "--seed",
}


def deployable() -> list[str]:
    """Returns the CCAs of Linux that need no support of the receiver, in alphabetical order."""
    return sorted(name for name in native_ccas() if describe_cca(name)["linux"] and name != "dctcp")
