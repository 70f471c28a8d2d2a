"""Scenarios on which each congestion control is best or tied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.costs import MAX_COST

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison
    from celltcp.results.statistics import Verdict


class Leading(NamedTuple):
    """Congestion controls that are best or tied with the best for a need."""

    #: Scenarios on which it is best or tied, by congestion control.
    scenarios: dict[str, list[str]]
    #: All scenarios that have the need.
    having: list[str]
    #: Scenarios on which the best one has a cost in another metric, by congestion control.
    costly: Mapping[str, Sequence[str]]

    @property
    def total(self) -> int:
        """Number of scenarios that have the need."""
        return len(self.having)

    @property
    def ranked(self) -> list[str]:
        """The congestion controls that lead anywhere, those with most scenarios first."""
        leading = [cca for cca, names in self.scenarios.items() if names]
        return sorted(leading, key=lambda cca: -len(self.scenarios[cca]))

    @property
    def foremost(self) -> list[str]:
        """The congestion controls that lead on most scenarios: several if they lead on as many."""
        ranked = self.ranked
        return [cca for cca in ranked if len(self.scenarios[cca]) == len(self.scenarios[ranked[0]])]

    def share_text(self, names: Mapping[str, str], word: str) -> str:
        """Returns the foremost ones in words, such as `cubic and bbr, at 4 of 8 each`."""
        first = self.foremost
        share = f"{word} {len(self.scenarios[first[0]])} of {self.total}"
        each = " each" if len(first) > 1 else ""
        text = f"{' and '.join(names[cca] for cca in first)}, {share}{each}"
        costly = [f"{names[cca]} {word} {len(on)}" for cca in first if (on := self.costly.get(cca))]
        amount = f"over {100 * MAX_COST:.0f} % of the goodput or time"
        return f"{text}; at the cost of {amount}: {', '.join(costly)}" if costly else text

    @property
    def undecided(self) -> list[str]:
        """Scenarios on which none leads."""
        decided = {name for names in self.scenarios.values() for name in names}
        return [name for name in self.having if name not in decided]


def leading_by_need(
    verdicts: Mapping[str, Mapping[str, Verdict]], ccas: Sequence[str]
) -> dict[str, Leading]:
    """Returns the leading congestion controls by need.

    Scenarios whose runs leave the best one undecided count for none.

    Args:
        verdicts: by scenario and need.
        ccas: congestion controls that all scenarios have.
    """
    needs = dict.fromkeys(need for of_scenario in verdicts.values() for need in of_scenario)
    result = {}
    for need in needs:
        having = {name: verdict[need] for name, verdict in verdicts.items() if need in verdict}
        bests = {
            name: (verdict.best, *verdict.tied)
            for name, verdict in having.items()
            if verdict.best is not None
        }
        scenarios = {cca: [name for name, best in bests.items() if cca in best] for cca in ccas}
        costs = {
            name: verdict.best for name, verdict in having.items() if verdict.best and verdict.cost
        }
        costly = {cca: [name for name, best in costs.items() if best == cca] for cca in ccas}
        result[need] = Leading(scenarios, list(having), costly)
    return result


def leading_in(
    comparisons: Mapping[str, Comparison], ccas: Sequence[str], by: Sequence[str] = ()
) -> dict[str, Leading]:
    """Returns the leading CCAs by need: chosen metrics, flows, and requirements.

    Goodput and PM count only where the flow under test competes for the path.

    Args:
        comparisons: by scenario, or by the value of a sweep.
        ccas: congestion controls that all of them have.
        by: metrics that congestion controls rank by, as those of `Comparison.best_by`.
    """
    verdicts = {
        name: {**verdicts_of_flows(comparison, by), **comparison.network_verdicts}
        for name, comparison in comparisons.items()
    }
    return leading_by_need(verdicts, ccas)


def verdicts_of_flows(comparison: Comparison, by: Sequence[str] = ()) -> dict[str, Verdict]:
    """Returns the verdicts by chosen metrics, and then those of the flows of a workload."""
    chosen = (comparison.best_by(each) for each in by)
    return {
        **{
            f"{chosen_best.chosen.flow}, by {chosen_best.chosen.metric}": chosen_best.verdict
            for chosen_best in chosen
        },
        **{ranked_stake.need: ranked_stake.verdict for ranked_stake in comparison.ranked_stakes},
    }
