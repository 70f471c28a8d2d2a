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
from celltcp.scenarios.cca_mix import is_of_several_flows, labels
from celltcp.scenarios.scenario_files import read_scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from celltcp._core import Scenario
    from celltcp.comparison.explanation.remedies import TriedRemedy

#: Number of runs of a trial, with the first seeds.
_RUNS = 2
#: Maximum of segments of a trial in all, and most simulated time of one with a radio, s.
_SEGMENTS, _RADIO_S = 2.5e6, 60.0
#: Segments of all trials of an explanation, some ten seconds, and how many a second of a radio is.
_ALL_SEGMENTS, _OF_RADIO = 1e7, 1e4
#: Share by which a metric must get better for a remedy to help, and worse to be a price.
_HELPS, _PRICE = 0.02, 0.05
#: Time of a transfer if all are complete, and of those that a run cuts the time so far.
_OTHER_TIME = {"completion_s": "completion_least_s", "completion_least_s": "completion_s"}
#: Retransmissions, and how many are a price, a run.
_SENT_AGAIN, _MANY = "retransmissions", 10.0
#: Factor between two metrics of applications beyond which it says no more.
_MOST_RATIO = 100.0
#: Minimum ratio at which a change is written as a factor.
_TIMES = 10.0


class _Figure(NamedTuple):
    """Metric of a flow before and after a remedy."""

    flow: str
    metric: str
    before: list[float]
    after: list[float]

    @property
    def gain(self) -> float:
        """Logarithm of the ratio by which it got better; 0 where there is none."""
        old, new = (estimate(each).mean for each in (self.before, self.after))
        largest = max(abs(old), abs(new))
        if not (math.isfinite(old) and math.isfinite(new) and largest > 0):
            return 0.0
        # Nothing arrives in time, or nothing is late.
        is_bounded = self.metric in APP_METRICS or min(old, new) <= 0
        least = largest / _MOST_RATIO if is_bounded else 0.0
        return sign_of(self.metric) * math.log(max(new, least) / max(old, least))

    def text(self, *, names_flow: bool) -> str:
        """Returns the metric before and after, in words."""
        words = words_of(self.metric)
        old, new = (estimate(each).mean for each in (self.before, self.after))
        of = f"{self.flow} " if names_flow else ""
        has_share = old > 0 and math.isfinite(new / old) and self.metric != _SENT_AGAIN
        change = ""
        if has_share:
            ratio = new / old
            change = f" ({100 * (ratio - 1):+.0f} %)"
            if ratio >= _TIMES or 0 < ratio <= 1 / _TIMES:
                change = f" ({ratio:.0f} times)" if ratio > 1 else f" (1/{1 / ratio:.0f})"
        return f"{of}{words.name} {words.number(old)} to {words.value_text(new)}{change}"


class Trial(NamedTuple):
    """Outcome of a trial."""

    #: Congestion controls that the remedy helps; of others it changes nothing, or costs more.
    helped: tuple[str, ...]
    #: Metrics before and after under each of them, in words.
    text: str
    #: Gain under each of them, the mean of the sums of logarithms of ratios.
    gain: float


class TrialBudget:
    """Budget of the trials of an explanation, in segments: the same on every machine."""

    def __init__(self) -> None:
        self._left = _ALL_SEGMENTS

    def spend(self, segments: float) -> bool:
        """Returns whether a trial of so many segments may run, which then counts."""
        if segments > self._left:
            return False
        self._left -= segments
        return True


class Trials:
    """Trials of the remedies of results, as long as they are cheap."""

    def __init__(self, result: Comparison, budget: TrialBudget) -> None:
        """Prepares trials on the scenario of these results."""
        self._result = result
        self._budget = budget

    def of(self, tried: TriedRemedy) -> Trial | None:
        """Returns the trial of a remedy; None where there is no cheap one."""
        if not self._is_cheap(tried):
            return None
        try:
            after = self._run(tried)
        except CelltcpError:
            return None
        helped, texts, whole = [], [], []
        names = labels([*tried.ccas, *after.ccas])
        for cca, new in zip(tried.ccas, tried.replaced, strict=True):
            figures = list(self._figures(cca, new, after))
            changed = [figure for figure in figures if figure.before != figure.after]
            # What applications get decides where there are any; the rest is a price of it.
            of_apps = [figure for figure in changed if figure.metric in APP_METRICS]
            gains = [of_app.gain for of_app in of_apps or changed if of_app.metric != _SENT_AGAIN]
            if max(gains, default=0.0) < _HELPS or sum(gains) <= 0:
                continue
            helped.append(cca)
            whole.append(sum(gains))
            shown = [figure for figure in changed if abs(figure.gain) >= _HELPS and _matters(figure)]
            names_flow = len({figure.flow for figure in figures}) > 1
            listed = ", ".join(figure.text(names_flow=names_flow) for figure in shown)
            who = names[cca] if new == cca else f"{names[new]} for {names[cca]}"
            texts.append(f"{who} {listed}")
        runs = runs_text(len(after.values(after.ccas[0], GOODPUT)))
        gain = sum(whole) / max(len(whole), 1)
        return Trial(tuple(helped), f"in {runs}, {'; '.join(texts)}", gain)

    def _is_cheap(self, tried: TriedRemedy) -> bool:
        about = self._result.results.about
        every = [*tried.ccas, *tried.replaced]
        # A kernel takes long to start, and a selector or a CCA of one's own may be anything.
        if about.get("engine") != NATIVE or any(map(is_of_several_flows, every)):
            return False
        count = len(set(tried.replaced)) * min(_RUNS, int(about["runs"]))
        flows = self._result.results.tables["flows"]
        a_run = float(np.nansum(numbers(flows["segments"]))) / max(len(self._result.runs), 1)
        radio_s = count * float(about["duration_s"]) if "radio" in tried.scenario else 0.0
        if radio_s > _RADIO_S or count * a_run > _SEGMENTS:
            return False
        return self._budget.spend(count * a_run + _OF_RADIO * radio_s)

    def _run(self, tried: TriedRemedy) -> Comparison:
        about = self._result.results.about
        base: Scenario = read_scenario(about["scenario"], "results", Path())
        changes = list(tried.remedy.changes)
        scenario = base.with_changes(changes) if changes else base
        ccas = list(dict.fromkeys(tried.replaced))
        runs = min(_RUNS, int(about["runs"]))
        settings = RunSettings(cca=ccas, runs=runs, seed=int(about["seed"]))
        campaign = settings.plan(scenario, engine(NATIVE, None))
        return CampaignRequest([campaign], settings, lambda results: Comparison(results[0])).run()

    def _figures(self, cca: str, new: str, after: Comparison) -> Iterator[_Figure]:
        """Yields the metrics that count, on the same seeds: of applications, of the flow under test."""
        before = self._result
        flow, count = before.tested.name, len(after.values(new, GOODPUT))

        def figure(of: str, metric: str, old: Sequence[float], later: Sequence[float]) -> _Figure:
            return _Figure(of, metric, list(old[:count]), list(later))

        rest = {application.flow: application for application in after.applications}
        for application in before.applications:
            # What helps most units of work may leave the slowest as it is, such as the first of all.
            for metric in dict.fromkeys(
                (application.ranking.metric, _mean_of(application.ranking.metric))
            ):
                if application.flow not in rest or metric not in APP_METRICS:
                    continue
                later = _value_of(metric, rest[application.flow].metrics[new])
                if later is not None:
                    yield figure(application.flow, metric, application.values(metric)[cca], later)
        if before.is_competing and not before.is_finite:
            yield figure(flow, GOODPUT, before.values(cca, GOODPUT), after.values(new, GOODPUT))
        if before.is_competing:
            # RTTs end at a middlebox that splits connections.
            delay = ONE_WAY_DELAY if after.split_ccas else before.delay_metric
            for metric in (delay, _SENT_AGAIN):
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
        """Flows beside the one under test whose goodput counts, of either direction."""
        flows = FlowUnderTest.each_with_workload(self._result.results.about)[1:]
        return [flow for flow, workload in flows if is_endless(workload)]


def _value_of(metric: str, figures: Mapping[str, list[float]]) -> list[float] | None:
    """Returns the values of a metric; of transfers that a run cuts it is the time so far."""
    return figures.get(metric, figures.get(_OTHER_TIME.get(metric, "")))


def _mean_of(metric: str) -> str:
    """Returns the metric of the mean beside that of a high percentile, or of the highest value."""
    return re.sub(r"_(p\d+|max)(?=_)", "", metric)


def _matters(figure: _Figure) -> bool:
    """Returns whether a change is mentioned: retransmissions only where many more."""
    if figure.metric != _SENT_AGAIN:
        return True
    return figure.gain < -_PRICE and estimate(figure.after).mean >= _MANY
