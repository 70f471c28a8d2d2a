"""Switching: the best CCA of each phase one after another, run again (atxutegi2018-thesis section 6.3).

The best CCA of each phase is that with the highest mean of a quantity there. The combination begins
with that of the start-up, and takes over the next one where its phase begins, with the window of
equation 6.3. It runs on the same channels as the single CCAs.
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
    """The best CCA of each phase, and the runs of all of them one after another."""

    place: str
    quantity: str
    #: Phase and CCA, in the order of time.
    best: dict[str, str]
    measured: Measured

    @property
    def switches(self) -> bool:
        """Whether the phases have different best CCAs."""
        return len(set(self.best.values())) > 1

    @property
    def text(self) -> str:
        """The CCAs by phase, in words."""
        return ", ".join(f"{phase} {cca}" for phase, cca in self.best.items())


def combination(replay: PaperRun, place: Condition, quantity: str, ours: Measured) -> Combination:
    """Returns the combination of the best CCAs by phase, run on the same channels as `ours`."""
    way = ours.way
    phases = [each for each in PHASES[way.movement] if ours.has_phase(each)]
    figures = [Published(place.name, cca, quantity, "", "", None, None) for cca in ours.ran]
    best = {
        phase: best_and_ties(
            {figure.cca: measured_values(ours, replace(figure, phase=phase)) for figure in figures}
        )[0]
        for phase in phases
    }
    unmeasured = Combination(place.name, quantity, best, ours)
    first, *_ = best.values()
    if not unmeasured.switches:
        return replace(unmeasured, measured=Measured(ours.comparison, {SELECTION: ours.ran[first]}))
    starts = dict(zip(phases, _starts(way, phases), strict=True))
    switches = ", ".join(
        f'{{ at = "{starts[later]:g}s", to = "{ours.ran[best[later]]}", mode = "context" }}'
        for earlier, later in pairwise(phases)
        if best[later] != best[earlier]
    )
    changes = [
        *place.changes,
        *replay.stored_overrides,
        f'flows.0.cca="{ours.ran[first]}"',
        f"flows.0.switch=[{switches}]",
    ]
    folder = replay.folder_of(f"{place.folder}-{quantity}-{'-'.join(best.values())}")
    settings = replace(replay, cca=OWN_MIX, changes=changes, out=folder)
    comparison = comparison_request(settings.source(place.scenario), settings).run()
    return replace(unmeasured, measured=Measured(comparison, {SELECTION: comparison.ccas[0]}))


def _starts(way: SinrTrajectory, phases: list[str]) -> list[float]:
    """Returns the times at which phases begin, s."""
    result = []
    for phase in phases:
        at_the_edge = "constrained" if way.movement == "forward" else "scaling"
        if phase == "start-up":
            result.append(0.0)
        elif phase == at_the_edge and "constrained" in phases:
            result.append(way.time_s(way.min_db + CONSTRAINED_DB))
        else:
            result.append(START_UP_S)
    return result


def gain(combination: Combination, ours: Measured) -> float:
    """Returns the gain of the combination over the best fixed CCA on the whole way, %."""
    figure = Published(combination.place, "", combination.quantity, "", "", None, None)
    single = {cca: measured_values(ours, replace(figure, cca=cca)) for cca in ours.ran}
    most = estimate(single[best_and_ties(single)[0]]).mean
    mine = estimate(measured_values(combination.measured, replace(figure, cca=SELECTION))).mean
    return 100 * (mine / most - 1)
