"""Trials of remedies: short runs that show whether a remedy helps, and what it costs."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp._core import NATIVE, CelltcpError
from celltcp.campaign.engines import engine
from celltcp.campaign.plan import CampaignRequest
from celltcp.campaign.run_settings import RunSettings
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.explanation.kinds import Trait, names_with
from celltcp.comparison.explanation.trials.metric_changes import RETRANSMISSIONS, MetricChange
from celltcp.comparison.explanation.trials.trial_metrics import (
    COMPLETIONS,
    LONGEST_RESPONSE,
    MIN_HELP_LOG,
    complete_runs,
    cut_flows,
    ends_drops,
    is_mentioned,
    later_maxima,
    metrics_of,
    moves_shares,
    values_of,
)
from celltcp.comparison.metrics import (
    APP_METRICS,
    GOODPUT,
    LATE_FRAMES,
    METRICS,
    ONE_WAY_DELAY,
)
from celltcp.present.section import runs_text
from celltcp.results.columns import numbers
from celltcp.results.statistics import estimate
from celltcp.results.tested import FlowUnderTest, is_endless
from celltcp.scenarios.cca_mix import has_several_flows, labels
from celltcp.scenarios.stored import read_stored

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from celltcp._core import Scenario
    from celltcp.campaign.run import Progress
    from celltcp.comparison.explanation.trials.proposals import ProposedRemedy

#: Maximum segments of a trial with the runs of the results, and of one with the first of their seeds,
#: by the number of runs.
_MAX_SEGMENTS_OF_ALL, _MAX_SEGMENTS_OF_RUNS = 1e6, {2: 2.5e6, 1: 8e6}
#: Budget of the trials of an explanation, segments (about ten seconds on a computer), and the segments
#: that a simulated second of a radio costs.
_BUDGET_SEGMENTS, _SEGMENTS_PER_RADIO_S = 2e7, 1e4
#: Budgets of the trials that are repeated with more runs, and of those with other runs, segments.
_REPEATED_SEGMENTS, _OTHER_SEGMENTS = 2.4e7, 2e7
#: Minimum gain in the delay of a transfer with an end for a help, and maximum loss in its time: an AQM
#: takes up to 10 % from a single CUBIC at a constant rate, but 20 % where the rate varies.
_MIN_DELAY_LOG, _MAX_TIME_LOG = math.log(2), -math.log1p(-0.1)
#: Causes of delays, for which a remedy may cost goodput, how much of it, and how much of the goodput of
#: other flows, as absolute logarithms.
_DELAY_CAUSES = names_with(Trait.DELAY)
_MAX_LOSS_FOR_DELAY_LOG, _MAX_LOSS_OF_OTHERS_LOG = -math.log1p(-0.3), math.log(2)
#: Cause of a low rate of units of work that none of their times shows.
_RATE_CAUSE = "response_round_trips"
#: Causes by which flows of a CCA mix may share the path, whoever gains by it.
_SHARING_CAUSES = names_with(Trait.WINDOW)
#: Cause by which flows share a path unequally.
_COMPETITION_CAUSE = "competition"
#: Cause by drops that may cost a flow little itself.
_POLICER_CAUSE = "policer"
#: Mean size of frames of an encoder, as a share of the whole one.
_FRAME_SIZE = "frame_size_share"
#: Maximum share of late frames that a trial leaves for no lower value to be tried.
_MAX_FEW_LATE = 0.01
#: Share of late frames above which the delay of frames is no help.
_MOST_LATE = 0.5
#: Name of the slowest response without the first one of each connection.
_LATER_RESPONSE_MAX = "response max after the first of each connection"


class Trial(NamedTuple):
    """Outcome of a trial."""

    #: Congestion controls that the remedy helps; under others it changes nothing, or costs more.
    helped_ccas: tuple[str, ...]
    #: Text with the metrics before and after under each of `helped_ccas`.
    text: str
    #: Mean over `helped_ccas` of the sum of the logarithms of ratios.
    gain: float
    #: That sum for each of them, with goodput also where metrics of applications make up the gain.
    net_gains: Mapping[str, float]
    #: Text with the first metric and the goodput after it, under the first of `helped_ccas`.
    brief: str = ""
    #: Whether hardly a frame is late, under each CCA.
    leaves_few_late: bool = False
    #: Whether it helps frames alone, of which most are late all the same, under each CCA.
    leaves_most_late: bool = False
    #: Results with the remedy.
    after: Comparison | None = None


class TrialBudget:
    """Budget of the trials of an explanation, in segments: the same on every machine."""

    def __init__(self, progress: Progress | None = None) -> None:
        """Prepares a whole budget; `progress` is called with the share that is spent."""
        self._remaining = _BUDGET_SEGMENTS
        self._progress = progress

    def spend(self, segments: float) -> bool:
        """Takes the segments of a trial from the budget; returns False if too few are left."""
        if segments > self._remaining:
            return False
        if self._progress is not None:
            # The trial is still to run.
            self._progress(1.0 - self._remaining / _BUDGET_SEGMENTS)
        self._remaining -= segments
        return True


class Trials:
    """Trials of the remedies of results, within a budget."""

    def __init__(self, comparison: Comparison, budget: TrialBudget) -> None:
        """Prepares trials on the scenario of these results."""
        self._comparison = comparison
        self._budget = budget
        self._other_segments = _OTHER_SEGMENTS
        self._others: dict[tuple[object, ...], Comparison] = {}

    def run(self, proposed: ProposedRemedy) -> Trial | None:
        """Runs the trial of a remedy; returns None if the trial costs too much or fails."""
        after = self.after(proposed)
        return None if after is None else self.judged(proposed, after)

    def after(self, proposed: ProposedRemedy) -> Comparison | None:
        """Runs the scenario with a remedy; returns None if that costs too much or fails."""
        run_count = self._affordable_runs(proposed)
        if not run_count:
            return None
        try:
            return self._compare(proposed, run_count)
        except CelltcpError:
            return None

    def judged(self, proposed: ProposedRemedy, after: Comparison) -> Trial:
        """Returns what a remedy changed in the runs with it, by the metrics that suit its cause."""
        net_gains, texts, briefs, total_gains = {}, [], [], []
        late_shares: list[float] = []
        are_mostly_late = []
        names = labels([*proposed.ccas, *after.ccas])
        run_count = len(after.values(after.ccas[0], GOODPUT))
        all_runs = int(self._comparison.results.about["runs"])
        has_range = run_count < all_runs
        for cca, replacement in zip(proposed.ccas, proposed.replacement_ccas, strict=True):
            metrics = list(self._metric_changes(proposed, cca, replacement, after))
            changed = [metric for metric in metrics if metric.before != metric.after]
            late = {
                each.flow: estimate(each.after).mean for each in metrics if each.metric == LATE_FRAMES
            }
            late_shares += late.values()
            # Metrics of applications decide if there are any; the others only show the price.
            app_metrics = [metric for metric in changed if metric.metric in APP_METRICS]
            if proposed.cause == _RATE_CAUSE:
                app_metrics = []
            judged = [each for each in app_metrics or changed if each.metric != RETRANSMISSIONS]
            gains = [each.gain for each in judged]
            # Of few runs, some may gain by chance.
            helped = [each.flow for each in judged if each.is_decided and each.gain >= MIN_HELP_LOG]
            is_help = bool(helped) and sum(gains) > 0
            is_mix = has_several_flows(cca)
            is_shown = (
                (proposed.cause == "queue" and self._shortens_queue(changed))
                or (
                    proposed.cause == _POLICER_CAUSE
                    and min(gains, default=0.0) > -MIN_HELP_LOG
                    and ends_drops(changed)
                )
                or (proposed.cause in _SHARING_CAUSES and is_mix and moves_shares(changed))
            )
            # Of a mix each flow is one of those that compete, and what one loses the other gains.
            is_shared = proposed.cause == _COMPETITION_CAUSE and is_mix and moves_shares(changed)
            is_too_dear = not is_shared and self._costs_too_much(proposed, metrics)
            if not (is_help or is_shown or is_shared) or is_too_dear:
                continue
            total_gains.append(sum(gains))
            are_mostly_late.append(
                min((late.get(each, 0.0) for each in helped), default=0.0) > _MOST_LATE
            )
            goodputs = [metric for metric in changed if metric.metric == GOODPUT]
            net_gains[cca] = sum(gains) + sum(metric.gain for metric in goodputs if app_metrics)
            names_flow = len({metric.flow for metric in metrics}) > 1
            changes_text = ", ".join(
                metric.text(names_flow=names_flow, has_range=has_range)
                for metric in metrics
                if is_mentioned(metric, proposed.cause)
            )
            cca_text = names[cca] if replacement == cca else f"{names[replacement]} for {names[cca]}"
            texts.append(f"{cca_text} {changes_text}{self._frame_sizes_text(replacement, after)}")
            first = next((each for each in changed if abs(each.gain) >= MIN_HELP_LOG), changed[0])
            shown = [first, *(metric for metric in goodputs if metric is not first)]
            after_text = ", ".join(metric.after_text(names_flow=names_flow) for metric in shown)
            briefs.append(f"{cca_text} {after_text}")
        gain = sum(total_gains) / max(len(total_gains), 1)
        # A trial is short, so that it may have the first seeds only.
        count_text = f"{run_count} of {runs_text(all_runs)}" if has_range else runs_text(run_count)
        text = f"in {count_text}, {'; '.join(texts)}"
        few_late = bool(late_shares) and max(late_shares) <= _MAX_FEW_LATE
        brief = next(iter(briefs), "")
        most_late = bool(are_mostly_late) and all(are_mostly_late)
        return Trial(tuple(net_gains), text, gain, net_gains, brief, few_late, most_late, after)

    def _frame_sizes_text(self, cca: str, after: Comparison) -> str:
        """Returns the mean sizes of frames of encoders that the remedy added, which are its price."""
        had = {each.flow for each in self._comparison.applications if _FRAME_SIZE in each.names}
        sizes = [
            f", frames of {100 * estimate(each.metrics[cca][_FRAME_SIZE]).mean:.0f} % of their size"
            for each in after.applications
            if _FRAME_SIZE in each.names and each.flow not in had
        ]
        return "".join(sizes)

    def _costs_too_much(self, proposed: ProposedRemedy, metrics: Sequence[MetricChange]) -> bool:
        """Returns whether what the flow under test is for gets worse by too much for any gain.

        That is the ranking metric of its application. Without one it is its goodput, also where other
        flows have applications. It may get worse for a shorter delay, if a delay is the cause, but no
        more frames of any flow may be late. The goodput of other flows may fall by more, as they may
        have had too much.
        """
        is_for_delay = proposed.cause in _DELAY_CAUSES
        if is_for_delay and any(
            each.metric == LATE_FRAMES and each.gain < -MIN_HELP_LOG for each in metrics
        ):
            return True
        tested = self._comparison.tested.name
        max_loss = _MAX_LOSS_FOR_DELAY_LOG if is_for_delay else MIN_HELP_LOG
        asked = {each.ranking.metric for each in self._comparison.applications if each.flow == tested}
        if asked:
            return any(
                each.gain < -max_loss
                for each in metrics
                if each.flow == tested and each.metric in asked
            )
        if proposed.remedy.curve and self._comparison.applications:
            # One of the values of a trade-off, which are shown beside each other with their prices.
            return False
        max_losses = {tested: max_loss}
        return any(
            each.gain < -max_losses.get(each.flow, _MAX_LOSS_OF_OTHERS_LOG)
            for each in metrics
            if each.metric == GOODPUT
        )

    def _shortens_queue(self, changed: Sequence[MetricChange]) -> bool:
        """Returns whether a transfer with an end has far less delay, at little more time.

        The time of a transfer does not show the queue that it fills. Remedies which shorten the time
        have larger gains, and come first.
        """
        delays = [each for each in changed if each.metric == self._comparison.delay_metric]
        prices = [each.gain for each in changed if each.metric in APP_METRICS]
        is_cheap = all(gain >= -_MAX_TIME_LOG for gain in prices)
        return (
            self._comparison.is_finite
            and is_cheap
            and any(each.gain >= _MIN_DELAY_LOG for each in delays)
        )

    def repeated(
        self, proposed: Sequence[ProposedRemedy], count: int, most: int = 0
    ) -> list[ProposedRemedy]:
        """Repeats trials of `count` runs, with all runs or as many as a budget of their own allows.

        These are up to `most` runs, if those are more. Returns none if there are no more, or if one
        fails.
        """
        segments = sum(map(self._segments_of_run, proposed))
        all_runs = max(int(self._comparison.results.about["runs"]), most)
        more = min(all_runs, int(_REPEATED_SEGMENTS // segments)) if segments > 0 else 0
        if more <= count:
            return []
        try:
            return [each._replace(after=self._compare(each, more)) for each in proposed]
        except CelltcpError:
            return []

    def in_other_runs(
        self, proposed: Sequence[ProposedRemedy], first: int, most: int, fewest: int
    ) -> list[Comparison]:
        """Runs trials over seeds after the first ones, as many up to `most` as their budget allows.

        Returns none if these are less than `fewest`, or if one fails.
        """
        segments = sum(map(self._segments_of_run, proposed))
        count = min(most, int(self._other_segments // segments)) if segments > 0 else 0
        if count < fewest:
            return []
        self._other_segments -= count * segments
        try:
            return [self._in_others(each, count, first) for each in proposed]
        except CelltcpError:
            return []

    def _in_others(self, proposed: ProposedRemedy, count: int, first: int) -> Comparison:
        """Runs a trial over seeds after the first ones, once: many have one reference."""
        key = (proposed.remedy, proposed.ccas, count, first)
        if key not in self._others:
            self._others[key] = self._compare(proposed, count, first)
        return self._others[key]

    def with_more_runs(
        self, remedies: Sequence[ProposedRemedy], best: Sequence[ProposedRemedy]
    ) -> list[ProposedRemedy]:
        """Returns remedies of which the best, tried in the first runs only, are tried in more.

        Those that these show to help under no congestion control are left out.
        """
        all_runs = int(self._comparison.results.about["runs"])
        few = [each for each in best if 0 < each.run_count < all_runs]
        more = self.repeated(few, min((each.run_count for each in few), default=all_runs))
        trials = {each.remedy: self.judged(each, each.after) for each in more if each.after}
        with_trials = (
            each.with_trial(trials[each.remedy]) if each.remedy in trials else each for each in remedies
        )
        return [each for each in with_trials if each.ccas]

    def _segments_of_run(self, proposed: ProposedRemedy) -> float:
        """Returns about how many segments a run under each congestion control of a trial has."""
        about = self._comparison.results.about
        total = float(np.nansum(numbers(self._comparison.results.tables["flows"]["segments"])))
        segments = total / max(len(self._comparison.runs), 1)
        if "radio" in proposed.scenario:
            segments += _SEGMENTS_PER_RADIO_S * float(about["duration_s"])
        return len(set(proposed.replacement_ccas)) * segments

    def _affordable_runs(self, proposed: ProposedRemedy) -> int:
        """Returns the number of runs of a trial, and takes them from the budget; 0 for none."""
        about = self._comparison.results.about
        # A kernel takes long to start.
        if about.get("engine") != NATIVE:
            return 0
        segments_of_run = self._segments_of_run(proposed)
        all_runs = int(about["runs"])
        for run_count, max_segments in {
            all_runs: _MAX_SEGMENTS_OF_ALL,
            **_MAX_SEGMENTS_OF_RUNS,
        }.items():
            segments = run_count * segments_of_run
            is_possible = run_count <= all_runs and segments <= max_segments
            if is_possible and self._budget.spend(segments):
                return run_count
        return 0

    def _without_first(
        self, changed: MetricChange, cca: str, replacement: str, after: Comparison
    ) -> MetricChange:
        """Returns the change of the slowest response without the first one of each connection.

        Other changes, and those without such responses, are returned as they are.
        """
        if changed.metric != LONGEST_RESPONSE:
            return changed
        old = later_maxima(self._comparison, changed.flow, cca)
        new = later_maxima(after, changed.flow, replacement)
        if old is None or new is None:
            return changed
        old = old[: len(new)]
        if (old, new) == (changed.before, changed.after):
            return changed
        return changed._replace(before=old, after=new, name=_LATER_RESPONSE_MAX)

    @functools.cached_property
    def _scenario(self) -> Scenario:
        """Scenario of the results."""
        return read_stored(self._comparison.results.about)

    def _compare(self, proposed: ProposedRemedy, run_count: int, first: int = 0) -> Comparison:
        """Runs the scenario with a remedy over seeds from the `first` on."""
        changes = list(proposed.remedy.changes)
        scenario = self._scenario.with_changes(changes) if changes else self._scenario
        ccas = list(dict.fromkeys(proposed.replacement_ccas))
        seed = int(self._comparison.results.about["seed"]) + first
        settings = RunSettings(cca=ccas, runs=run_count, seed=seed)
        campaign = settings.plan(scenario, engine(NATIVE, None))
        return CampaignRequest([campaign], settings, lambda results: Comparison(results[0])).run()

    def _metric_changes(
        self, proposed: ProposedRemedy, cca: str, replacement: str, after: Comparison
    ) -> Iterator[MetricChange]:
        """Yields the metrics of applications and bulk flows before and after, on the same seeds."""
        before = self._comparison
        flow, seed_count = before.tested.name, len(after.values(replacement, GOODPUT))

        def change(flow: str, metric: str, old: Sequence[float], new: Sequence[float]) -> MetricChange:
            return MetricChange(flow, metric, list(old[:seed_count]), list(new))

        applications_after = {application.flow: application for application in after.applications}
        for application in before.applications:
            # A remedy may help most units of work, but not the slowest, such as the first one.
            if application.flow not in applications_after:
                continue
            new_metrics = applications_after[application.flow].metrics[replacement]
            is_divided = applications_after[application.flow].is_divided
            for metric in metrics_of(application, cca, proposed.cause, new_metrics):
                old, new = (
                    values_of(metric, metrics, is_divided=is_divided)
                    for metrics in (application.metrics[cca], new_metrics)
                )
                if metric in APP_METRICS and old is not None and new is not None:
                    changed = change(application.flow, metric, old, new)
                    if metric in COMPLETIONS:
                        name = "completion of the last part" if is_divided else ""
                        complete = complete_runs(application.metrics[cca], new_metrics)
                        changed = changed._replace(name=name, complete_runs=complete)
                    yield self._without_first(changed, cca, replacement, after)
        # The time of a transfer that a run cuts off says nothing about its price.
        cut = {*cut_flows(before, cca), *cut_flows(after, replacement)}
        has_rate = before.is_competing and (not before.is_finite or flow in cut)
        if proposed.cause == _RATE_CAUSE or has_rate:
            yield change(flow, GOODPUT, before.values(cca, GOODPUT), after.values(replacement, GOODPUT))
        if before.is_competing:
            # RTTs end at a middlebox that splits connections.
            delay = ONE_WAY_DELAY if after.split_ccas else before.delay_metric
            for metric in (delay, RETRANSMISSIONS):
                if metric in METRICS:
                    yield change(
                        flow, metric, before.values(cca, metric), after.values(replacement, metric)
                    )
        elif RETRANSMISSIONS in METRICS:
            sent_again = [
                each.values(name, RETRANSMISSIONS)
                for each, name in ((before, cca), (after, replacement))
            ]
            yield change(flow, RETRANSMISSIONS, *sent_again)
        for other_flow, workload in FlowUnderTest.each_with_workload(before.results.about)[1:]:
            if is_endless(workload) or other_flow.name in cut:
                old = before.values_of(other_flow, cca, GOODPUT)
                yield change(
                    other_flow.name, GOODPUT, old, after.values_of(other_flow, replacement, GOODPUT)
                )
