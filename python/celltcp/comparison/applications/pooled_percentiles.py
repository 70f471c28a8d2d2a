"""Percentiles of the units of work of all runs together, where a run has few values above one.

The percentile of such a run is one of its largest values, and the mean of those of the runs is below
the percentile of all units: of 117 responses, the 99th percentile is the second largest.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from celltcp.comparison.applications.application_metrics import (
    nearest_rank,
    transfer_times,
    unit_times,
)
from celltcp.comparison.metrics import AGES, APP_METRICS, FRAME, TRANSFERS, words_of
from celltcp.present.section import AT_LEAST
from celltcp.results.statistics import Estimate
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from celltcp.comparison.applications.applications import Application
    from celltcp.comparison.comparison import Comparison

#: Values above a percentile of a run below which it is one of the largest, and minimum number of those
#: of all runs.
_MIN_ABOVE, _MIN_ABOVE_OF_ALL = 10, 4
#: Minimum number of runs for an interval, bootstrap samples, and their seed.
_MIN_RUNS, _SAMPLES, _SEED = 5, 1_000, 1
#: Percentiles that are no tail: the median, and the maximum.
_OTHERS = (None, 50, 100)


def few_above(application: Application) -> list[str]:
    """Returns the percentiles of responses, pages, transfers that are one of a run's largest values."""
    return [
        name
        for name in application.names
        if APP_METRICS[name].percentile not in _OTHERS
        and (count := _count_of(name)) in application.names
        and min(application.means(count)) * _share_above(name) < _MIN_ABOVE
    ]


def _count_of(name: str) -> str:
    """Returns the metric with the number of the units of a percentile; empty for frames."""
    kind = APP_METRICS[name].kind
    if name in TRANSFERS:
        return "transfers"
    return f"{str(kind).removesuffix('_s')}s" if kind in AGES and kind != FRAME else ""


def pooled_percentiles(
    comparison: Comparison, application: Application
) -> dict[str, dict[str, Estimate]]:
    """Returns the percentiles of `few_above` over the units of all runs, by metric and CCA, s.

    The 95 % interval is that of a bootstrap over the runs. Fewer than `_MIN_RUNS` runs have no
    interval, and fewer than `_MIN_ABOVE_OF_ALL` units above it, or a single run, no percentile.
    """
    result: dict[str, dict[str, Estimate]] = {}
    for name in few_above(application):
        metric = APP_METRICS[name]
        if name in TRANSFERS:
            by_run = transfer_times(comparison.results, application.flow)
        else:
            by_run = unit_times(comparison.results, application.flow, str(metric.kind))
        of_ccas = {}
        for cca in application.metrics:
            times = [by_run.get(int(run), []) for run in comparison.values(cca, "run")]
            if len(times) > 1 and sum(map(len, times)) * _share_above(name) >= _MIN_ABOVE_OF_ALL:
                of_ccas[cca] = _percentile(times, float(metric.percentile or 0.0))
        if of_ccas:
            result[name] = of_ccas
    return result


def pooled_texts(comparison: Comparison, application: Application) -> list[str]:
    """Returns a sentence for each percentile of the units of all runs together."""
    names, texts = labels(comparison.ccas), []
    for metric, of_ccas in pooled_percentiles(comparison, application).items():
        words = words_of(metric).suited(*(each.mean for each in of_ccas.values()))
        bounds = application.bounds(metric)
        parts = {}
        for cca, each in of_ccas.items():
            ends = "" if each.ends is None else f" ({' to '.join(map(words.number, each.ends))})"
            mark = AT_LEAST if cca in bounds else ""
            parts[names[cca]] = f"{mark}{words.own_text(each.mean)}{ends}"
        texts.append(f"{words.name.capitalize()} of all runs together: {by_cca_text(parts)}.")
    return texts


def by_cca_text(parts: Mapping[str, str]) -> str:
    """Returns the text of each congestion control behind its name, or the one that all have."""
    if len(set(parts.values())) == 1 < len(parts):
        return f"{next(iter(parts.values()))} under every CCA"
    return ", ".join(f"{cca} {text}" for cca, text in parts.items())


def _share_above(name: str) -> float:
    """Returns the share of the values above the percentile of a metric."""
    return round(1.0 - (APP_METRICS[name].percentile or 0.0) / 100.0, 6)


def _percentile(times: Sequence[Sequence[float]], percentile: float) -> Estimate:
    """Returns the percentile of the values of all runs, with the ends of its bootstrap interval."""
    value = nearest_rank([each for of_run in times for each in of_run], percentile)
    if len(times) < _MIN_RUNS or not math.isfinite(value):
        return Estimate(value, None)
    random, arrays = np.random.default_rng(_SEED), [np.asarray(each) for each in times]
    samples = [
        np.percentile(
            np.concatenate([arrays[index] for index in random.integers(len(arrays), size=len(arrays))]),
            percentile,
            method="inverted_cdf",
        )
        for _ in range(_SAMPLES)
    ]
    low, high = np.percentile(samples, [2.5, 97.5])
    return Estimate(value, float(high - low) / 2, (float(low), float(high)))
