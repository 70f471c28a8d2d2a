"""Leading congestion controls: on which scenarios of several each one is best or tied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison
    from celltcp.results.statistics import Verdict


class Leading(NamedTuple):
    """Congestion controls that are best, or tied with the best, for a need."""

    #: By congestion control, the scenarios on which it is best or tied, and is to be set.
    scenarios: dict[str, list[str]]
    #: All scenarios that have the need.
    all_scenarios: list[str]
    #: By amount of a cost and congestion control, the scenarios on which it is best at that cost.
    costs: Mapping[str, Mapping[str, Sequence[str]]]

    @property
    def ranked(self) -> list[str]:
        """The congestion controls that lead on any scenario, those with most scenarios first."""
        leading = [cca for cca, names in self.scenarios.items() if names]
        return sorted(leading, key=lambda cca: -len(self.scenarios[cca]))

    def share_text(self, names: Mapping[str, str], word: str) -> str:
        """Returns the CCAs that lead on most scenarios, such as `cubic and bbr, at 4 of 8 each`.

        `names` are labels of congestion controls; `word` is the preposition of scenarios, such as `at`.
        """
        ranked = self.ranked
        count = len(self.scenarios[ranked[0]])
        first = [cca for cca in ranked if len(self.scenarios[cca]) == count]
        share = f"{word} {count} of {len(self.all_scenarios)}"
        each = " each" if len(first) > 1 else ""
        text = f"{' and '.join(names[cca] for cca in first)}, {share}{each}"
        for amount, by_cca in self.costs.items():
            counts = [f"{names[cca]} {word} {len(by_cca[cca])}" for cca in first if by_cca.get(cca)]
            text += f"; at {amount}: {', '.join(counts)}" if counts else ""
        return text

    @property
    def undecided(self) -> list[str]:
        """Scenarios on which no congestion control leads."""
        decided = {name for names in self.scenarios.values() for name in names}
        return [name for name in self.all_scenarios if name not in decided]


def leading_by_need(
    verdicts: Mapping[str, Mapping[str, Verdict]], ccas: Sequence[str]
) -> dict[str, Leading]:
    """Returns the leading congestion controls by need.

    `verdicts` are by scenario and need; `ccas` are the congestion controls that all scenarios have. A
    scenario whose runs do not decide on the best CCA counts for no CCA.
    """
    needs = dict.fromkeys(need for by_need in verdicts.values() for need in by_need)
    result = {}
    for need in needs:
        by_scenario = {name: by_need[need] for name, by_need in verdicts.items() if need in by_need}
        decided = {name: verdict for name, verdict in by_scenario.items() if verdict.best is not None}
        scenarios = {
            cca: [name for name, verdict in decided.items() if cca in verdict.to_set] for cca in ccas
        }
        costs: dict[str, dict[str, list[str]]] = {}
        for name, verdict in decided.items():
            if verdict.cost and verdict.best in verdict.to_set:
                costs.setdefault(verdict.cost.amount, {}).setdefault(verdict.best, []).append(name)
        result[need] = Leading(scenarios, list(by_scenario), costs)
    return result


def leading_in(
    comparisons: Mapping[str, Comparison], ccas: Sequence[str], by: Sequence[str] = ()
) -> dict[str, Leading]:
    """Returns the leading CCAs by need: chosen metrics, then flows, then requirements.

    Goodput and PM count only on scenarios whose flow under test competes for the path.

    Args:
        comparisons: by scenario, or by the value of a sweep.
        ccas: congestion controls that all of them have.
        by: further ranking metrics, as in `Comparison.best_by`.
    """
    verdicts = {
        name: {**verdicts_of_flows(comparison, by), **comparison.network_verdicts}
        for name, comparison in comparisons.items()
    }
    return leading_by_need(verdicts, ccas)


def verdicts_of_flows(comparison: Comparison, by: Sequence[str]) -> dict[str, Verdict]:
    """Returns the verdicts by chosen metrics, and then those of the flows of a workload."""
    bests = map(comparison.best_by, by)
    return {
        **{f"{best.chosen.flow}, by {best.chosen.metric}": best.verdict for best in bests},
        **{stake.need: stake.verdict for stake in comparison.ranked_stakes},
    }
