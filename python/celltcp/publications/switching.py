"""Switching: runs with the best CCA of each phase, one after another (atxutegi2018, section 6.3).

The best CCA of a phase has the highest mean of a quantity there. A combination starts with the CCA of
the start-up, and switches to the next one at the start of its phase, with the window of equation 6.3.
It runs on the same channels as the single CCAs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from celltcp.comparison.run import comparison_request
from celltcp.publications.conditions import Condition
from celltcp.publications.measured_values import measured_values
from celltcp.publications.measurements import Measured
from celltcp.publications.paper_run import PaperRun
from celltcp.publications.published_table import SELECTION, Published
from celltcp.radio.phases import PHASES, START_UP_S
from celltcp.radio.trajectory import CONSTRAINED_DB, SinrTrajectory
from celltcp.results.statistics import best_and_ties, estimate
from celltcp.scenarios.ccas import OWN_MIX


@dataclass(frozen=True)
class Combination:
    """The best CCA of each phase, and the runs with all of them one after another."""

    #: Name of the condition.
    condition: str
    #: Quantity by which the best are chosen.
    quantity: str
    #: Best CCA of each phase, in the order of time.
    best: dict[str, str]
    measured: Measured

    @property
    def has_switches(self) -> bool:
        """Whether the phases have different best CCAs."""
        return len(set(self.best.values())) > 1

    @property
    def text(self) -> str:
        """The CCA of each phase, in words."""
        return ", ".join(f"{phase} {cca}" for phase, cca in self.best.items())


def run_combination(
    paper_run: PaperRun, condition: Condition, quantity: str, single: Measured
) -> Combination:
    """Runs the combination of the best CCAs by phase, on the same channels as the single CCAs."""
    ccas = single.simulated_ccas
    phases = [phase for phase in PHASES[single.trajectory.movement] if single.has_phase(phase)]
    entries = [Published(condition.name, cca, quantity, "", "", None, None) for cca in ccas]
    best = {
        phase: best_and_ties(
            {entry.cca: measured_values(single, replace(entry, phase=phase)) for entry in entries}
        )[0]
        for phase in phases
    }
    first_cca = ccas[best[phases[0]]]
    fixed = Measured(single.comparison, {SELECTION: first_cca})
    combined = Combination(condition.name, quantity, best, fixed)
    if not combined.has_switches:
        return combined
    starts = dict(zip(phases, _starts_s(single.trajectory, phases), strict=True))
    switches = ", ".join(
        f'{{ at = "{starts[later]:g}s", to = "{ccas[best[later]]}", mode = "context" }}'
        for earlier, later in pairwise(phases)
        if best[later] != best[earlier]
    )
    changes = [
        *condition.changes,
        *paper_run.stored_overrides,
        f'flows.0.cca="{first_cca}"',
        f"flows.0.switch=[{switches}]",
    ]
    folder = paper_run.folder_of(f"{condition.folder}-{quantity}-{'-'.join(best.values())}")
    settings = replace(paper_run, cca=OWN_MIX, changes=changes, out=folder)
    comparison = comparison_request(settings.source(condition.scenario), settings).run()
    return replace(combined, measured=Measured(comparison, {SELECTION: comparison.ccas[0]}))


def _starts_s(trajectory: SinrTrajectory, phases: list[str]) -> list[float]:
    """Returns the times at which phases start, s."""
    # The phase that starts or ends at the cell edge.
    edge_phase = "constrained" if trajectory.movement == "forward" else "scaling"
    starts = []
    for phase in phases:
        if phase == "start-up":
            starts.append(0.0)
        elif phase == edge_phase and "constrained" in phases:
            starts.append(trajectory.time_s(trajectory.min_db + CONSTRAINED_DB))
        else:
            starts.append(START_UP_S)
    return starts


def gain(combination: Combination, single: Measured) -> float:
    """Returns the gain of the combination over the best single CCA in the whole run, %."""
    entry = Published(combination.condition, "", combination.quantity, "", "", None, None)
    values = {cca: measured_values(single, replace(entry, cca=cca)) for cca in single.simulated_ccas}
    best_mean = estimate(values[best_and_ties(values)[0]]).mean
    mean = estimate(measured_values(combination.measured, replace(entry, cca=SELECTION))).mean
    return 100 * (mean / best_mean - 1)
