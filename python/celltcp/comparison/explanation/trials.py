"""Trials of remedies: short runs that show the effect of a remedy and its cost."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp._core import NATIVE, CelltcpError
from celltcp.campaign.engines import engine
from celltcp.campaign.plan import CampaignRequest
from celltcp.campaign.run_settings import RunSettings
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.metrics import APP_METRICS, GOODPUT, METRICS, ONE_WAY_DELAY, sign_of, words_of
from celltcp.present.section import runs_text
from celltcp.results.columns import numbers
from celltcp.results.statistics import estimate
from celltcp.results.tested import FlowUnderTest, is_endless
from celltcp.scenarios.cca_mix import has_several_flows, labels
from celltcp.scenarios.scenario_files import read_scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from celltcp._core import Scenario
    from celltcp.comparison.explanation.remedies import ProposedRemedy

#: Number of runs of a trial, with the first seeds.
_RUNS = 2
#: Maximum segments of a trial, over its runs, and maximum simulated time of one with a radio, s.
_MAX_TRIAL_SEGMENTS, _MAX_RADIO_S = 2.5e6, 60.0
#: Budget of the trials of an explanation, segments (about ten seconds), and the segments that a
#: simulated second of a radio costs.
_BUDGET_SEGMENTS, _SEGMENTS_PER_RADIO_S = 1e7, 1e4
#: Minimum logarithms of the ratio of a metric at which a remedy helps, and at which it has a price.
_MIN_HELP_RATIO, _MIN_PRICE_RATIO = 0.02, 0.05
#: Metric of the time of transfers that a run cut, for that of complete transfers, and the reverse.
_TIME_SO_FAR = {"completion_s": "completion_least_s", "completion_least_s": "completion_s"}
#: Metric of retransmissions, and the minimum number per run that is a price.
_RETRANSMISSIONS, _MIN_PRICE_RETRANSMISSIONS = "retransmissions", 10.0
#: Maximum ratio of two values of an application metric that counts as a gain.
_MAX_RATIO = 100.0
#: Minimum ratio at which a change is written as a factor.
_MIN_FACTOR_TEXT = 10.0


class _Figure(NamedTuple):
    """Values of a metric of a flow before and after a remedy, one for each run."""

    flow: str
    metric: str
    before: list[float]
    after: list[float]

    @property
    def gain(self) -> float:
        """Logarithm of the ratio by which the metric improved; 0 if there is no ratio."""
        old, new = (estimate(each).mean for each in (self.before, self.after))
        largest = max(abs(old), abs(new))
        if not (math.isfinite(old) and math.isfinite(new) and largest > 0):
            return 0.0
        # Ratios to values near zero, such as of late frames, are not meaningful.
        is_bounded = self.metric in APP_METRICS or min(old, new) <= 0
        lower_bound = largest / _MAX_RATIO if is_bounded else 0.0
        return sign_of(self.metric) * math.log(max(new, lower_bound) / max(old, lower_bound))

    def text(self, *, names_flow: bool) -> str:
        """Returns the metric before and after as text."""
        words = words_of(self.metric)
        old, new = (estimate(each).mean for each in (self.before, self.after))
        flow = f"{self.flow} " if names_flow else ""
        has_ratio = old > 0 and math.isfinite(new / old) and self.metric != _RETRANSMISSIONS
        change = ""
        if has_ratio:
            ratio = new / old
            change = f" ({100 * (ratio - 1):+.0f} %)"
            if ratio >= _MIN_FACTOR_TEXT or 0 < ratio <= 1 / _MIN_FACTOR_TEXT:
                change = f" ({ratio:.0f} times)" if ratio > 1 else f" (1/{1 / ratio:.0f})"
        return f"{flow}{words.name} {words.number(old)} to {words.value_text(new)}{change}"


class Trial(NamedTuple):
    """Outcome of a trial."""

    #: Congestion controls that the remedy helps. Under others it changes nothing, or costs more.
    helped_ccas: tuple[str, ...]
    #: Text with the metrics before and after under each of `helped_ccas`.
    text: str
    #: Mean over `helped_ccas` of the sum of the logarithms of ratios.
    gain: float


class TrialBudget:
    """Budget of the trials of an explanation, in segments: the same on every machine."""

    def __init__(self) -> None:
        self._left = _BUDGET_SEGMENTS

    def spend(self, segments: float) -> bool:
        """Takes the segments of a trial from the budget; returns False if too few are left."""
        if segments > self._left:
            return False
        self._left -= segments
        return True


class Trials:
    """Trials of the remedies of results, within a budget."""

    def __init__(self, comparison: Comparison, budget: TrialBudget) -> None:
        """Prepares trials on the scenario of these results."""
        self._comparison = comparison
        self._budget = budget

    def run(self, proposed: ProposedRemedy) -> Trial | None:
        """Runs the trial of a remedy; returns None if a trial costs too much or fails."""
        if not self._is_cheap(proposed):
            return None
        try:
            after = self._compare(proposed)
        except CelltcpError:
            return None
        helped_ccas, texts, total_gains = [], [], []
        names = labels([*proposed.ccas, *after.ccas])
        for cca, new in zip(proposed.ccas, proposed.replacement_ccas, strict=True):
            figures = list(self._figures(cca, new, after))
            changed = [figure for figure in figures if figure.before != figure.after]
            # Metrics of applications decide if there are any; the others only show the price.
            app_figures = [figure for figure in changed if figure.metric in APP_METRICS]
            gains = [
                figure.gain for figure in app_figures or changed if figure.metric != _RETRANSMISSIONS
            ]
            if max(gains, default=0.0) < _MIN_HELP_RATIO or sum(gains) <= 0:
                continue
            helped_ccas.append(cca)
            total_gains.append(sum(gains))
            shown = [
                figure
                for figure in changed
                if abs(figure.gain) >= _MIN_HELP_RATIO and _is_mentioned(figure)
            ]
            names_flow = len({figure.flow for figure in figures}) > 1
            listed = ", ".join(figure.text(names_flow=names_flow) for figure in shown)
            who = names[cca] if new == cca else f"{names[new]} for {names[cca]}"
            texts.append(f"{who} {listed}")
        runs = runs_text(len(after.values(after.ccas[0], GOODPUT)))
        gain = sum(total_gains) / max(len(total_gains), 1)
        return Trial(tuple(helped_ccas), f"in {runs}, {'; '.join(texts)}", gain)

    def _is_cheap(self, proposed: ProposedRemedy) -> bool:
        about = self._comparison.results.about
        ccas = [*proposed.ccas, *proposed.replacement_ccas]
        # A kernel takes long to start, and the cost of line-ups is not known.
        if about.get("engine") != NATIVE or any(map(has_several_flows, ccas)):
            return False
        count = len(set(proposed.replacement_ccas)) * min(_RUNS, int(about["runs"]))
        flows = self._comparison.results.tables["flows"]
        segments_per_run = float(np.nansum(numbers(flows["segments"]))) / max(
            len(self._comparison.runs), 1
        )
        radio_s = count * float(about["duration_s"]) if "radio" in proposed.scenario else 0.0
        if radio_s > _MAX_RADIO_S or count * segments_per_run > _MAX_TRIAL_SEGMENTS:
            return False
        return self._budget.spend(count * segments_per_run + _SEGMENTS_PER_RADIO_S * radio_s)

    def _compare(self, proposed: ProposedRemedy) -> Comparison:
        """Runs the scenario with a remedy, and returns the comparison."""
        about = self._comparison.results.about
        base: Scenario = read_scenario(about["scenario"], "results", Path())
        changes = list(proposed.remedy.changes)
        scenario = base.with_changes(changes) if changes else base
        ccas = list(dict.fromkeys(proposed.replacement_ccas))
        runs = min(_RUNS, int(about["runs"]))
        settings = RunSettings(cca=ccas, runs=runs, seed=int(about["seed"]))
        campaign = settings.plan(scenario, engine(NATIVE, None))
        return CampaignRequest([campaign], settings, lambda results: Comparison(results[0])).run()

    def _figures(self, cca: str, new: str, after: Comparison) -> Iterator[_Figure]:
        """Yields the metrics of applications and bulk flows before and after, on the same seeds."""
        before = self._comparison
        flow, count = before.tested.name, len(after.values(new, GOODPUT))

        def figure(name: str, metric: str, old: Sequence[float], later: Sequence[float]) -> _Figure:
            return _Figure(name, metric, list(old[:count]), list(later))

        later_applications = {application.flow: application for application in after.applications}
        for application in before.applications:
            # A remedy may help most units of work, but not the slowest, such as the first one.
            for metric in dict.fromkeys(
                (application.ranking.metric, _mean_of(application.ranking.metric))
            ):
                if application.flow not in later_applications or metric not in APP_METRICS:
                    continue
                later = _value_of(metric, later_applications[application.flow].metrics[new])
                if later is not None:
                    yield figure(application.flow, metric, application.values(metric)[cca], later)
        if before.is_competing and not before.is_finite:
            yield figure(flow, GOODPUT, before.values(cca, GOODPUT), after.values(new, GOODPUT))
        if before.is_competing:
            # RTTs end at a middlebox that splits connections.
            delay = ONE_WAY_DELAY if after.split_ccas else before.delay_metric
            for metric in (delay, _RETRANSMISSIONS):
                if metric in METRICS:
                    yield figure(flow, metric, before.values(cca, metric), after.values(new, metric))
        for other_bulk_flow in self._other_bulk_flows:
            both = (
                each.values_of(other_bulk_flow, lineup, GOODPUT)
                for each, lineup in ((before, cca), (after, new))
            )
            yield figure(other_bulk_flow.name, GOODPUT, *both)

    @property
    def _other_bulk_flows(self) -> list[FlowUnderTest]:
        """Bulk flows in either direction, without the flow under test."""
        flows = FlowUnderTest.each_with_workload(self._comparison.results.about)[1:]
        return [flow for flow, workload in flows if is_endless(workload)]


def _value_of(metric: str, figures: Mapping[str, list[float]]) -> list[float] | None:
    """Returns the values of a metric, or of its other name in `_TIME_SO_FAR`; None without both."""
    return figures.get(metric, figures.get(_TIME_SO_FAR.get(metric, "")))


def _mean_of(metric: str) -> str:
    """Returns the metric of the mean that belongs to a metric of a percentile or maximum."""
    return re.sub(r"_(p\d+|max)(?=_)", "", metric)


def _is_mentioned(figure: _Figure) -> bool:
    """Returns whether a text mentions a change; of retransmissions only a large increase."""
    if figure.metric != _RETRANSMISSIONS:
        return True
    return figure.gain < -_MIN_PRICE_RATIO and estimate(figure.after).mean >= _MIN_PRICE_RETRANSMISSIONS
