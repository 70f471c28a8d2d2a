"""Warning that a comparison has too few runs for the width of its intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from celltcp.comparison.applications.applications import has_too_few
from celltcp.comparison.metrics import APP_METRICS, GOODPUT, MEAN_RTT, words_of
from celltcp.comparison.verdicts.min_differences import min_difference
from celltcp.results.statistics import NEXT_RUNS, Estimate, estimate, has_few_runs
from celltcp.scenarios.cca_mix import count_text

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison

#: Half width below which intervals do not matter, as a share of the largest mean of the metric.
_NARROW_SHARE = 0.05


def few_runs_text(comparisons: Sequence[Comparison]) -> str:
    """Returns a warning about too few runs, with a next number; empty if intervals are narrow.

    An interval is wide if its width exceeds the mean, and its half width exceeds `_NARROW_SHARE` of the
    largest mean of the metric, and what matters of it. So the interval of a share of 0.001 is narrow if
    another CCA has 0.9.
    """
    estimates: dict[tuple[str, str], list[tuple[Estimate, int]]] = {}
    for comparison in comparisons:
        for key, values in _values(comparison):
            runs = sum(not math.isnan(value) for value in values)
            estimates.setdefault(key, []).append((estimate(values), runs))
    # Half width and number of runs of the widest interval, by the name of the metric.
    widest: dict[str, tuple[float, int]] = {}
    for (flow, metric), metric_estimates in estimates.items():
        finite = [(each, runs) for each, runs in metric_estimates if math.isfinite(each.mean)]
        largest = max((abs(each.mean) for each, _ in finite), default=0.0)
        for each, runs in finite:
            half = each.ci95 or 0.0
            min_half = max(_NARROW_SHARE * largest, min_difference(metric))
            if has_few_runs(runs) and 2 * half > abs(each.mean) and half > min_half:
                name = " ".join(filter(None, (flow, words_of(metric).name)))
                widest[name] = max(widest.get(name, (0.0, 0)), (half, runs), key=lambda pair: pair[0])
    if not widest:
        return ""
    runs = min(runs for _, runs in widest.values())
    text = f"{count_text(runs, 'run')} decide little: intervals are longer than the means of"
    names = list(widest)
    others = f" and {count_text(len(names) - 2, 'other metric')}" if len(names) > 2 else ""
    return f"{text} {', '.join(names[:2])}{others}; try --runs {NEXT_RUNS} next"


def _values(comparison: Comparison) -> Iterator[tuple[tuple[str, str], list[float]]]:
    """Yields flow and metric, and the values of the runs, for each metric and CCA."""
    are_several = len(comparison.applications) > 1
    for application in comparison.applications:
        for metric in application.names:
            # The spread of a few values depends on a single one of them.
            if APP_METRICS[metric].sign and not APP_METRICS[metric].is_spread:
                for cca, values in application.values(metric).items():
                    # Tables lack a percentile of too few values.
                    if has_too_few(metric, application.metrics[cca]):
                        continue
                    yield (application.flow if are_several else "", metric), values
    for metric in (GOODPUT, MEAN_RTT):
        if metric != GOODPUT or comparison.is_competing:
            for cca in comparison.ccas:
                yield ("", metric), comparison.values(cca, metric)
