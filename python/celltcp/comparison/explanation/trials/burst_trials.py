"""Trials with bursts of losses that last for a time, in place of those that last for packets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.comparison.explanation.trials.proposals import ProposedRemedy
from celltcp.comparison.metrics import GOODPUT, words_of
from celltcp.present.section import runs_text
from celltcp.results.statistics import estimate
from celltcp.results.warnings.packet_bursts import over_time_change, packet_bursts
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.explanation.trials.trials import Trials


#: Number of runs, for which bursts are rare events.
_RUNS = 10


def bursts_over_time(
    trials: Trials,
    comparison: Comparison,
    scenario: Mapping[str, Any],
    tried: Sequence[ProposedRemedy],
) -> list[str]:
    """Returns sentences with every CCA's value with bursts over time; none without a warning or trial.

    Parallel connections that were tried are tried with them, too, as each meets the same bursts.

    Args:
        trials: trials on the scenario of the results, with a budget.
        comparison: comparison of the results.
        scenario: scenario of the results, parsed from its file.
        tried: remedies that were tried.
    """
    change = over_time_change(scenario)
    if not change or not packet_bursts(comparison.results, scenario):
        return []
    parallel = next((changes for each in tried if _is_parallel(changes := each.remedy.changes)), ())
    texts = []
    for changes in dict.fromkeys(((), parallel)):
        remedy = Remedy("bursts of losses that last for packets", (change, *changes))
        proposed = ProposedRemedy("time_outs", remedy, tuple(comparison.ccas), scenario)
        repeated = (each.after for each in trials.repeated([proposed], 0, _RUNS))
        for after in filter(None, repeated):
            runs = runs_text(int(after.results.about["runs"]))
            with_text = f" and with {' and '.join(changes)}" if changes else ""
            metrics = "; ".join(_metric_texts(after))
            texts.append(f"With bursts that last for a time{with_text}, in {runs}: {metrics}.")
    if texts:
        texts[0] += (
            " Such bursts meet a slow flow as often as a fast one, and so more of its segments: its "
            "window falls further."
        )
    return texts


def _is_parallel(changes: Sequence[str]) -> bool:
    """Returns whether changes of fields divide a flow among connections."""
    return any(each.partition("=")[0].endswith(".count") for each in changes)


def _metric_texts(comparison: Comparison) -> list[str]:
    """Returns every CCA's mean of the metric that applications rank by, or of the goodput, as text."""
    names = labels(comparison.ccas)
    rows = [
        (f"{each.flow} ", metric, each.values(metric), each.bounds(metric))
        for each in comparison.applications
        for metric in [each.ranking.metric]
    ]
    goodputs = {cca: comparison.values(cca, GOODPUT) for cca in comparison.ccas}
    texts = []
    for flow, metric, values, bounds in rows or [("", GOODPUT, goodputs, frozenset[str]())]:
        words = words_of(metric).suited(*(estimate(each).mean for each in values.values()))
        of_ccas = (
            f"{names[cca]} {words.with_unit(words.mean_number(of, is_bound=cca in bounds))}"
            for cca, of in values.items()
        )
        texts.append(f"{flow}{words.name} {', '.join(of_ccas)}")
    return texts
