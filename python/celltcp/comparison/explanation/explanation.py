"""Explanation of a comparison or run: the causes of each congestion control's rank, and remedies."""

from __future__ import annotations

import collections
import functools
import math
import shlex
import tomllib
from typing import TYPE_CHECKING

from celltcp.comparison.comparison import Comparison
from celltcp.comparison.explanation.answer import (
    further_settings,
    not_to_be_set,
    rankings_of,
    settings_of,
    tried_as_well,
)
from celltcp.comparison.explanation.causes.acks import delayed_acks_text
from celltcp.comparison.explanation.causes.cause import percent_text
from celltcp.comparison.explanation.causes.connection_shares import connection_shares_text
from celltcp.comparison.explanation.causes.events import longest_events
from celltcp.comparison.explanation.causes.idle_boxes import idle_boxes
from celltcp.comparison.explanation.causes.responses import least_response_text
from celltcp.comparison.explanation.causes.sawtooth import Sawtooth
from celltcp.comparison.explanation.causes.start_up_frames import late_frames
from celltcp.comparison.explanation.causes.startup import slow_start_ends_text
from celltcp.comparison.explanation.evidence.buffers import max_rtt_text
from celltcp.comparison.explanation.evidence.evidence import Evidence
from celltcp.comparison.explanation.evidence.frame_load import made_mbps
from celltcp.comparison.explanation.evidence.least_time import least_time_of
from celltcp.comparison.explanation.evidence.openings import requested_goodput_mbps
from celltcp.comparison.explanation.explained_cca import ExplainedCca
from celltcp.comparison.explanation.flow_texts import FlowTexts
from celltcp.comparison.explanation.kinds import KINDS, Trait, causes_of, names_with
from celltcp.comparison.explanation.outcome import cca_row
from celltcp.comparison.explanation.remedies.places import has_shaper
from celltcp.comparison.explanation.remedies.rto_remedies import with_open_ends
from celltcp.comparison.explanation.standing import standing_of
from celltcp.comparison.explanation.trials.alternatives import needs_of
from celltcp.comparison.explanation.trials.best_tried import Conclusion, conclusion_of, with_new_leaders
from celltcp.comparison.explanation.trials.burst_trials import bursts_over_time
from celltcp.comparison.explanation.trials.confirmation import Confirmation
from celltcp.comparison.explanation.trials.pairs import best_pair
from celltcp.comparison.explanation.trials.proposals import ProposedRemedy, best_first, remedies_of
from celltcp.comparison.explanation.trials.shaper_notes import shaper_notes
from celltcp.comparison.explanation.trials.trials import TrialBudget, Trials
from celltcp.comparison.explanation.trials.tried_ccas import is_cca_alone, ranked_trials
from celltcp.comparison.explanation.trials.tried_rates import with_tried_rates
from celltcp.comparison.explanation.trials.without_others import without_others_text
from celltcp.comparison.lines.linux_lines import with_node
from celltcp.comparison.lines.queue_lines import without_untried
from celltcp.comparison.metrics import LATE_FRAMES, sign_of
from celltcp.comparison.short_runs import short_run_warnings
from celltcp.comparison.tables import has_rows_of_flows
from celltcp.comparison.verdicts.fixed_ccas import fixed_cca_text, of_tested
from celltcp.comparison.verdicts.yielding import yielding_text
from celltcp.results.captured_limits import OTHER_PATH, is_other_path
from celltcp.results.rows import json_value
from celltcp.results.statistics import estimate
from celltcp.results.tested import FlowUnderTest, is_endless
from celltcp.results.warnings.few_losses import few_losses
from celltcp.results.warnings.late_openings import late_openings
from celltcp.results.warnings.lower_bounds import lower_bounds
from celltcp.results.warnings.packet_bursts import packet_bursts
from celltcp.scenarios.cca_mix import has_several_flows, parse_flow_cca
from celltcp.scenarios.ccas import family_of
from celltcp.scenarios.lower_bounds import UNSEEN_OVERFLOW
from celltcp.scenarios.requests import REQUESTS_KEEP_CCA, has_large_requests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celltcp.comparison.applications.applications import Application
    from celltcp.comparison.explanation.outcome import ExplainedResults, SettingRow
    from celltcp.comparison.explanation.trials.alternatives import Need
    from celltcp.results.tables import Results


#: Default number of runs of celltcp compare.
_DEFAULT_RUNS = 10
_WINDOW_CAUSES, _HOST_CAUSES = names_with(Trait.WINDOW), names_with(Trait.HOSTS)
#: Share of the capacity below which a bulk flow uses next to nothing.
_MAX_COLLAPSED_SHARE = 0.02
#: Maximum ratio of the lowest RTTs of flows on one path, of which a queue may be in each.
_MAX_ALIKE_RTTS = 2.0
#: Share of the capacity above which other flows share it; ACKs of a download use less.
_MIN_SHARED_CAPACITY = 0.02


class ExplainedComparison:
    """Explanation of a comparison or of a run."""

    def __init__(self, comparison: Comparison, by: Sequence[str] = ()) -> None:
        """Takes a comparison; a single run is a comparison with one congestion control.

        `by` has the metrics by which it is to advise, `METRIC` or `METRIC:FLOW`; usual ones by default.
        """
        self.comparison, self._by = comparison, by
        #: The comparison with the congestion controls that were tried alone in as many runs.
        self.ranked = comparison
        self.results: Results = comparison.results
        self._scenario = tomllib.loads(self.results.about["scenario"])
        applications = {application.flow: application for application in comparison.applications}
        tested = comparison.tested
        # Each flow of a CCA mix has one of the compared congestion controls.
        has_rivals = any(map(has_several_flows, comparison.ccas)) and has_rows_of_flows([comparison])
        rivals = comparison.competing_flows if has_rivals else []
        others = [
            flow
            for flow in FlowUnderTest.each(comparison.results.about)
            if flow != tested and (flow.name in applications or flow in rivals)
        ]
        evidences = [
            Evidence(comparison, cca, flow) for flow in (tested, *others) for cca in comparison.ccas
        ]
        self._evidence = evidences[0]
        #: Least time of a transfer of the flow under test; None for other flows.
        self.least_time = least_time_of(evidences[0])
        #: The lowest RTT of a phone that sleeps has a wait, which differs between CCAs.
        fastest = min(evidences[: len(comparison.ccas)], key=lambda evidence: evidence.min_rtt_s)
        self._least_response_text = least_response_text(fastest)
        self._slow_start_text = slow_start_ends_text(evidences[: len(comparison.ccas)])
        #: The flow under test, then other flows with an application or in a CCA mix, under every CCA.
        self.ccas = [
            self._explain(evidence, applications.get(evidence.flow_name)) for evidence in evidences
        ]
        self._texts = FlowTexts(comparison, self.ccas, has_several_flows=bool(others))
        lowest_ms = [evidence.min_rtt_ms for evidence in evidences]
        # Flows with paths of their own have other RTTs.
        are_apart = max(lowest_ms) > _MAX_ALIKE_RTTS * min(lowest_ms)
        #: Sentence on the RTT with a full buffer, of the first flow that has a queue.
        self._max_rtt_text = next(
            (
                text
                for evidence, explained in zip(evidences, self.ccas, strict=True)
                if not are_apart and explained.cause_text("queue") and (text := max_rtt_text(evidence))
            ),
            "",
        )
        self._idle_boxes = idle_boxes(comparison, evidences[: len(comparison.ccas)])
        frames = [(each.flow_name, each.cca, late_frames(each)) for each in evidences]
        self._late_in_start_up = {
            (flow, cca) for flow, cca, late in frames if late is not None and late.are_of_start_up
        }
        self._is_other_path = is_other_path(self.results)
        self._all_remedies = remedies_of(
            ()
            if self._is_other_path
            else (
                (evidence, cause, explained.standing.leads)
                for evidence, explained in zip(evidences, self.ccas, strict=True)
                if explained in self.distinct_ccas
                for cause in explained.causes
            ),
            comparison.ccas,
        )
        self._all_remedies = list(map(with_open_ends, self._all_remedies))
        #: Remedies to try next, the most promising first.
        self.remedies = best_first(self._all_remedies)
        #: All remedies with their trials, and those without the ones that did not help.
        self._tried: list[ProposedRemedy] = []
        self._with_trials: list[ProposedRemedy] = []
        #: Confirmation of gains by other runs; None without trials.
        self._confirmation: Confirmation | None = None
        #: Values with bursts of losses over time; empty without a trial of them.
        self._bursts_texts: list[str] = []
        #: What a flow gets without those that fill its queue; empty without a trial of that.
        self._without_others_text = ""
        #: The best of all that was compared or tried, and the alternatives; none without trials.
        self.conclusion = Conclusion(None, None)

    def try_remedies(self, budget: TrialBudget) -> None:
        """Tries the remedies in short runs; drops those that do not help. Untried ones stay."""
        trials = Trials(self.comparison, budget)
        remedies: list[ProposedRemedy] = []
        are_enough: dict[tuple[object, ...], bool] = {}
        for proposed in self._all_remedies:
            fields = proposed.remedy.changed_fields
            if proposed.remedy.fallback and are_enough.get(fields, False):
                continue
            trial = None if proposed.remedy.is_untried else trials.run(proposed)
            if trial is None:
                remedies.append(proposed)
                continue
            self._tried.append(proposed._replace(after=trial.after))
            are_enough[fields] = are_enough.get(fields, False) or trial.leaves_few_late
            if trial.helped_ccas:
                remedies.append(proposed.with_trial(trial))
        for each in self.ccas[: len(self.comparison.ccas)]:
            each.causes[:] = with_tried_rates(self.comparison, each, self._tried)
        self._bursts_texts = bursts_over_time(trials, self.comparison, self._scenario, self._tried)
        remedies = with_new_leaders(self._needs(), remedies)
        self._with_trials = trials.with_more_runs(remedies, best_first(remedies))
        self.remedies = best_first(self._with_trials)

    def try_together(self, budget: TrialBudget) -> None:
        """Tries two of the remedies together, after each alone; adds them if that gains more.

        Then tries the best of all with the congestion control to set, for the conclusion.
        """
        trials = Trials(self.comparison, budget)
        pair = best_pair(trials, self.remedies)
        pairs = [pair] if pair else []
        self._confirmation = Confirmation(trials, len(self._tried))
        self.ranked, others = ranked_trials(
            trials, self.comparison, self._needs(), self._tried, self._confirmation, self._by
        )
        self._without_others_text = without_others_text(trials, self._needs())
        self.conclusion = conclusion_of(trials, self._needs(), [*others, *pairs], self._confirmation)
        if table := self.conclusion.alternatives:
            shown = [each.remedy.remedy.changes for each in [self.conclusion.best] if each]
            shown += [each.changes for each in (*table.recommended, *table.shown)]
            best = best_first(self._with_trials, shown)
            self.remedies = best_first(trials.with_more_runs(self._with_trials, best), shown)
        refused = not_to_be_set(self.ranked, self.comparison.ccas) | self._confirmation.refused_ccas
        self.remedies = [
            *(
                each
                for each in self.remedies
                if not each.leaves_most_late
                and (not is_cca_alone(each) or refused.isdisjoint(each.replacement_ccas))
                and (each.remedy.curve or not table or not table.is_beaten(each))
            ),
            *pairs,
        ]

    def _needs(self) -> list[Need]:
        # Frames that are late in the start-up alone need no other setting.
        return [
            need
            for need in needs_of(self.ranked, self._by)
            if need.metric != LATE_FRAMES
            or not {(need.flows[0], cca) for cca in (need.best_cca, need.reference)}
            <= self._late_in_start_up
        ]

    @property
    def notes(self) -> list[str]:
        """Sentences on missing tables, idle paths, and what the runs do not show."""
        missing = [name for name in ("limits", "recoveries") if name not in self.results.tables]
        # Results of a run without a recovery lack that table, too, so that only `limits` counts.
        if "limits" not in missing:
            any_text = "" if self.window_limit_text else self._any_text
            least_text = self.least_time.text if self.least_time else self._least_response_text
            texts = (
                OTHER_PATH if self._is_other_path else "",
                *(self._collapse_text, self.window_limit_text, any_text),
                *(least_text, fixed_cca_text(self.comparison)),
                "" if self.window_limit_text else yielding_text(self.comparison),
                *(self._max_rtt_text, self._slow_start_text, *self._idle_boxes),
            )
            trade_offs = self.ranked.trade_offs if len(self.settings) > 1 else []
            table = self.conclusion.alternatives
            return [
                *filter(None, texts),
                *(shaper_notes(table.shown, self._evidence) if table else ()),
                # A buffer that no CCA fills has no consequence.
                *(
                    text
                    for text in lower_bounds(self.results, self._scenario)
                    if not text.endswith(UNSEEN_OVERFLOW)
                ),
                *(f"trade-off: {text}" for text in trade_offs),
                *late_openings(self.results),
                *few_losses(self.results),
                *short_run_warnings(self.comparison),
                *packet_bursts(self.results, self._scenario),
            ]
        return [
            f"{self.results.about['name']}: these results are of an earlier version and have no table "
            f"{' and no table '.join(missing)}; causes that need them are not named"
        ]

    @functools.cached_property
    def _collapse_text(self) -> str:
        """Sentence on bulk flows that use next to nothing under CCAs of two families; or empty."""
        shares = [
            each.used_share for each in self.ccas if not each.is_intermittent and each.goodput_mbps
        ]
        firsts = {each.causes[0].name for each in self.ccas if each.causes}
        if not shares or not max(shares) < _MAX_COLLAPSED_SHARE or firsts & _HOST_CAUSES:
            return ""
        # CCAs of one family have the same weakness.
        if len({family_of(parse_flow_cca(each.cca).name) for each in self.ccas}) < 2:
            return ""
        whole = "what others left" if any(each.is_shared for each in self.ccas) else "the capacity"
        return (
            f"no congestion control uses more than {percent_text(max(shares))} of {whole}: the "
            "path decides, and the causes below are to be mended first"
        )

    @functools.cached_property
    def window_limit_text(self) -> str:
        """Sentence on a window of the hosts that limits a flow under each of several CCAs; or empty."""
        tested = [each for each in self.ccas if each.flow == self.comparison.tested.name]
        firsts = {each.causes[0].name if each.causes else "" for each in tested}
        if firsts == {"captured_limit"}:
            return (
                "the sender of the capture has a limit of its own, its send buffer or application: "
                "lift it first; until then no congestion control changes its rate"
            )
        if len(tested) < 2 or not firsts <= _WINDOW_CAUSES:
            return ""
        names = " or ".join(sorted(name.replace("_", " ") for name in firsts))
        return (
            f"the {names} limits the flow under every congestion control: enlarge it first, then "
            "compare them"
        )

    @property
    def _any_text(self) -> str:
        """Sentence on the needs for which any congestion control will do; empty without any."""
        from celltcp.comparison.verdicts.choices import needs_of_any

        needs = " and ".join(needs_of_any(self.comparison))
        if needs and has_large_requests(self._scenario):
            return REQUESTS_KEEP_CCA
        if not needs:
            return ""
        return (
            f"no difference matters for {needs}: any of these CCAs{of_tested(self.comparison)} will do"
        )

    def _explain(self, evidence: Evidence, application: Application | None) -> ExplainedCca:
        cca = evidence.cca
        mbps, rtt_ms = (
            estimate(self.comparison.values_of(evidence.flow, cca, name))
            for name in ("goodput_mbps", "rtt_mean_ms")
        )
        run_s = len(evidence.runs) * float(self.results.about["duration_s"])
        goodput = mbps.mean
        used = evidence.used_share
        return ExplainedCca(
            cca,
            evidence.flow_name,
            application is not None and application.is_intermittent,
            goodput,
            rtt_ms.mean,
            delayed_acks_text(evidence),
            used,
            used * _relative_half_width(evidence),
            evidence.others_mbps + sum(evidence.cell_mbps.values())
            > _MIN_SHARED_CAPACITY * evidence.capacity_mbps,
            1.0 if is_endless(evidence.workload) else evidence.duration_s / run_s,
            made_mbps(evidence),
            requested_goodput_mbps(evidence, goodput),
            standing_of(self.comparison, cca, application),
            dict(evidence.limit_shares),
            evidence.unit_key,
            causes_of(evidence),
            longest_events(evidence, self._worst_run(evidence, application)),
            evidence.cwnd_mean,
            evidence.cwnd_max,
            evidence.mss,
            evidence.total("retransmissions") / max(evidence.total("segments"), 1.0),
            Sawtooth(evidence),
            connection_shares_text(evidence),
        )

    def _worst_run(self, evidence: Evidence, application: Application | None) -> int:
        """Returns the number of the run with the worst value of the ranking metric."""
        if application is None:
            metric = "pm_balanced"
            values = self.comparison.values_of(evidence.flow, evidence.cca, metric)
        else:
            metric = application.ranking.metric
            values = application.values(metric)[evidence.cca]
        sign = sign_of(metric)
        signed = [-math.inf if math.isnan(value) else sign * value for value in values]
        in_order = sorted(evidence.runs, key=evidence.seeds.__getitem__)
        return in_order[signed.index(min(signed))]

    @property
    def rankings(self) -> list[str]:
        """Sentences with every congestion control's metric for each need, the best first.

        Those that were only tried follow the compared ones, of which the answers of all commands are.
        """
        tried = tried_as_well(self.ranked, self.comparison.ccas)
        table = self.conclusion.alternatives
        need = None if table is None else table.need
        led = [] if self._confirmation is None else self._confirmation.texts_for(need)
        of_trials = [*self._bursts_texts, *filter(None, [self._without_others_text])]
        return [*rankings_of(self.comparison), *tried, *led, *of_trials]

    @property
    def settings(self) -> list[SettingRow]:
        """Commands that set the best congestion controls: one for all flows, or one for each.

        First those of the compared ones, then those of better ones that were tried as well. There are
        none where no congestion control carries much, or where windows of the hosts decide.
        """
        if self._collapse_text or self.window_limit_text:
            return []
        compared, further = settings_of(self.comparison, self._by), self.further_settings
        for row in compared if further else []:
            row["need"] += ", of the CCAs compared"
        return [*compared, *further]

    @property
    def further_settings(self) -> list[SettingRow]:
        """Commands that set better congestion controls than the compared ones, which were tried."""
        return further_settings(self.ranked, self.comparison.ccas, self._by)

    @property
    def scenario_lines(self) -> list[str]:
        """Lines for Linux of what the scenario sets at hosts beside the congestion control."""
        from celltcp.comparison.report.scenario_lines import scenario_block

        block = scenario_block(self._scenario, ())
        return block.text.splitlines() if block and self.settings else []

    @property
    def sender(self) -> str:
        """The host that sets the congestion control of the flow under test."""
        flows = self._scenario.get("flows", ())[:1]
        return with_node("sender", {**self._scenario, "flows": flows})

    @property
    def plots(self) -> list[str]:
        """Options of `celltcp show` that draw the causes; for a single run its time series."""
        if len(self.results.tables["runs"]) == 1:
            return ["--plot time-series"]
        options: collections.Counter[str] = collections.Counter()
        for explained in self.ccas:
            for cause in explained.causes:
                plot = KINDS[cause.name].plot
                metric = f" --metric {explained.unit_key}" if plot == "units" else ""
                options[f"--plot {plot}{metric}"] += 1
        # The buffer and the stalls of a video are in a plot of their own.
        first = ["--plot video"] if self.ccas[0].unit_key.startswith("fetch:") else []
        return [*first, *(option for option, _ in options.most_common())]

    def remedy_commands(self, *source: str) -> list[str]:
        """Returns the commands that try the remedies, each with a comment on what it is for.

        Args:
            source: arguments that give the scenario: its name, file or folder of results, and options.
        """
        runs, seed = (int(self.results.about[key]) for key in ("runs", "seed"))
        options = f" --runs {runs}" if runs not in (1, _DEFAULT_RUNS) else ""
        options += f" --seed {seed}" if seed != 1 else ""
        compare, sweep = (shlex.join(["celltcp", name, *source]) for name in ("compare", "sweep"))
        texts = []
        table = self.conclusion.alternatives
        is_shaped = any(has_shaper(each.remedy.changes) for each in self._tried)
        for remedy in self.remedies:
            curve = (
                f"; the curve: {sweep} {remedy.curve_options}{options}" if remedy.remedy.curve else ""
            )
            # The table has the metrics and lines of its alternatives.
            text = remedy.purpose if table is not None and table.has(remedy) else remedy.text
            # One that was tried at another rate has its own command, or did not help.
            text = without_untried(text) if is_shaped else text
            texts.append(f"{compare} {remedy.options}{options}  # {text}{curve}")
        return texts

    @property
    def distinct_ccas(self) -> list[ExplainedCca]:
        """Explanations, but only one for each group of congestion controls with equal runs."""
        return self._texts.distinct_ccas

    def texts(self, *group: ExplainedCca) -> list[str]:
        """Returns all that is known of a flow under congestion controls with the same causes."""
        return self._texts.texts(*group)

    @property
    def blocks(self) -> list[list[str]]:
        """Explanations of the flows in sentences, one for each group of congestion controls alike."""
        return self._texts.blocks

    @property
    def share_blocks(self) -> list[list[str]]:
        """Explanations of the flows of mixes: metrics and causes, without windows and events."""
        return self._texts.share_blocks

    def cause_block(self, explained: ExplainedCca) -> list[str]:
        """Returns the metrics and causes of a flow, without its windows and events."""
        return self._texts.cause_block(explained)

    def to_json(self) -> ExplainedResults:
        """Returns the explanation as JSON."""
        about = self.results.about
        return {
            "version": about["version"],
            "scenario": about["name"],
            "ccas": [json_value(cca_row(explained)) for explained in self.ccas],
            "remedies": [
                {
                    "cause": remedy.cause,
                    "options": remedy.options,
                    "text": remedy.text,
                    "trial": remedy.trial or None,
                }
                for remedy in self.remedies
            ],
            "best_tried": best.to_json() if (best := self.conclusion.best) else None,
            "alternatives": table.to_json() if (table := self.conclusion.alternatives) else [],
            "settings": self.settings,
            "plots": self.plots,
            "notes": self.notes,
            "least_time": self.least_time.to_json() if self.least_time else None,
        }


def _relative_half_width(evidence: Evidence) -> float:
    """Returns half the width of the interval of the used share, as a part of it; NaN without one.

    The capacity of each run is its own, so that a flow may use all of it in each.
    """
    columns = ["goodput_mbps", "capacity_mbps"]
    by_run = evidence.slots.groupby("run", observed=True)[columns].mean()
    shares = estimate(list(by_run["goodput_mbps"] / by_run["capacity_mbps"]))
    return shares.half_width / shares.mean if shares.mean > 0 else math.nan
