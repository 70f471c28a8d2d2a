"""JSON of a comparison: runs, means, paired differences, verdicts, and optional parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from celltcp.campaign.provenance import origin_json
from celltcp.comparison.applications.applications import metric_estimates, without_few
from celltcp.comparison.applications.pooled_percentiles import pooled_percentiles
from celltcp.comparison.loss_laws import law_json
from celltcp.comparison.metrics import METRICS, SHARE, estimate_of
from celltcp.comparison.retransmitted import resent_megabytes, retransmitted_share
from celltcp.results.captured_limits import is_other_path
from celltcp.results.rows import interval_json, json_value
from celltcp.results.statistics import Verdict, estimate, paired_gap
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.cca_mix import ranked_mixes

if TYPE_CHECKING:
    from celltcp.comparison.applications.applications import Application
    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.outcome import (
        ApplicationOutcome,
        BestOutcome,
        ChosenOutcome,
        ComparisonOutcome,
        DifferenceRow,
        FrameKindRow,
        OptionalOutcome,
        PooledPercentile,
        SelectionRow,
    )
    from celltcp.comparison.verdicts.by_metric import ChosenBest
    from celltcp.results.json_fields import MetricInterval
    from celltcp.results.statistics import Estimate


def comparison_outcome(comparison: Comparison, by: Sequence[str]) -> ComparisonOutcome:
    """Returns the outcome of a comparison; `by` are further ranking metrics, as in `best_by`."""
    about, series = comparison.results.about, comparison.series()
    recommendation = comparison.recommendation
    best = {name: recommendation[name][0] for name in comparison.verdicts if recommendation.get(name)}
    document: ComparisonOutcome = {
        **origin_json(about),
        "randomness": comparison.randomness,
        "flow": {"name": comparison.tested.name, "connections": comparison.connections},
        "runs": [
            {**row, "middlebox": comparison.middlebox(row["cca"])} for row in comparison.run_rows()
        ],
        "summary": [
            {
                "cca": cca,
                "middlebox": comparison.middlebox(cca),
                **_intervals(metrics),
            }
            for cca, metrics in series.items()
        ],
        "differences": [
            _difference(comparison.verdicts[requirement], requirement, cca, metric, series)
            for requirement, metric in comparison.requirements.items()
            if requirement in best
            for cca in ranked_mixes(series)
            if cca != best[requirement]
        ],
        "recommendation": recommendation,
        "verdicts": {
            requirement: {
                **best_outcome(verdict),
                "runs_needed": verdict.runs_needed,
                "contradicted_by": verdict.contradicted_by,
                "cost": verdict.cost.text if verdict.cost else None,
            }
            for requirement, verdict in comparison.verdicts.items()
        },
        **_optional_parts(comparison, by),
        "warnings": comparison.warnings,
    }
    finite: ComparisonOutcome = json_value(document)
    return finite


def best_outcome(verdict: Verdict) -> BestOutcome:
    """Returns a verdict as JSON."""
    return {
        "best": verdict.best,
        "leader": verdict.leader,
        "tied": list(verdict.tied),
        "undecided": list(verdict.undecided),
        "to_set": list(verdict.to_set),
        "dearer": {each.name: each.text for each in verdict.dearer},
    }


def _optional_parts(comparison: Comparison, by: Sequence[str]) -> OptionalOutcome:
    result: OptionalOutcome = {}
    if by:
        result["by"] = [_chosen(comparison.best_by(metric)) for metric in by]
    if stakes := comparison.ranked_stakes:
        result["flow_verdicts"] = [
            {"flow": stake.flow, "metric": stake.metric, **best_outcome(stake.verdict)}
            for stake in stakes
        ]
    if trade_offs := comparison.trade_offs:
        result["trade_offs"] = trade_offs
    if comparison.applications:
        random = not comparison.decides
        is_other = is_other_path(comparison.results)
        verdicts = {} if is_other else {stake.flow: stake.verdict for stake in comparison.stakes}
        result["applications"] = [
            _application(
                comparison,
                each,
                verdicts.get(each.flow, Verdict(None) if is_other else each.verdict(random=random)),
            )
            for each in comparison.applications
        ]
    if comparison.several_flows:
        result["shares"] = [
            {
                "cca": share.mix,
                "flow": share.flow,
                "flow_cca": share.cca,
                "connections": share.connections,
                "goodput_mbps": share.goodput.mean,
                "goodput_mbps_ci95": share.goodput.ci95,
                "lowest_mbps": share.lowest_mbps,
                "highest_mbps": share.highest_mbps,
            }
            for share in comparison.mean_shares()
        ]
    if comparison.competing_flows:
        result["flows"] = [
            {
                "cca": cca,
                "flow": flow.name,
                **_intervals(
                    {metric: comparison.values_of(flow, cca, metric) for metric in (*METRICS, SHARE)}
                ),
            }
            for cca in comparison.ccas
            for flow in comparison.competing_flows
        ]
    result["windows"] = [
        {
            "cca": cca,
            "flow": flow.name,
            **{
                name: interval_json(estimate(values))
                for name, values in comparison.windows_of(flow, cca).items()
            },
        }
        for cca in comparison.ccas
        for flow in FlowUnderTest.each(comparison.results.about)
    ]
    if laws := law_json(comparison):
        result["laws"] = laws
    tables = comparison.results.tables
    if "limits" in tables:
        from celltcp.results.limits import limits_rows

        result["limits"] = limits_rows(comparison.results)
    # A comparison of some CCAs may lack its selectors.
    if "decisions" in tables and (rows := _selection(comparison)):
        result["selection"] = rows
    return result


def _selection(comparison: Comparison) -> list[SelectionRow]:
    from celltcp.results.selectors import selector_uses

    return [
        {
            "cca": use.lineup,
            "flow": use.flow,
            "flow_cca": use.cca,
            "changes_per_run": use.switches_per_run,
            "returns_per_run": use.returns_per_run,
            "time_under": use.shares,
        }
        for use in selector_uses(comparison.results)
    ]


def _chosen(best: ChosenBest) -> ChosenOutcome:
    return {
        "flow": best.chosen.flow,
        "metric": best.chosen.metric,
        **best_outcome(best.verdict),
        "values": [
            {
                "cca": cca,
                **interval_json(estimate_of(best.chosen.metric, values, is_bound=cca in best.bounds)),
            }
            for cca, values in best.values.items()
        ],
    }


def _application(
    comparison: Comparison, application: Application, verdict: Verdict
) -> ApplicationOutcome:
    flow = FlowUnderTest.named(comparison.results.about, application.flow)
    best = best_outcome(verdict)
    result: ApplicationOutcome = {
        "flow": application.flow,
        "metric": application.ranking.metric,
        "best": best["best"],
        "leader": best["leader"],
        "tied": best["tied"],
        "undecided": best["undecided"],
        "to_set": best["to_set"],
        "dearer": best["dearer"],
        "resent": {
            cca: {
                "share": retransmitted_share(comparison, flow, cca),
                "megabytes": resent_megabytes(comparison, flow, cca),
            }
            for cca in application.metrics
        },
        "figures": [
            {"cca": cca, **_intervals(without_few(metrics))}
            for cca, metrics in application.metrics.items()
        ],
    }
    rows: list[FrameKindRow] = [
        {"cca": cca, "size": label, **_intervals(without_few(metrics))}
        for label, by_cca in application.kinds.items()
        for cca, metrics in by_cca.items()
    ]
    if rows:
        result["frame_kinds"] = rows
    if pooled := [
        _pooled(metric, cca, each)
        for metric, of_ccas in pooled_percentiles(comparison, application).items()
        for cca, each in of_ccas.items()
    ]:
        result["pooled"] = pooled
    return result


def _pooled(metric: str, cca: str, percentile: Estimate) -> PooledPercentile:
    low, high = percentile.ends or (None, None)
    value = json_value(percentile.mean)
    return {"metric": metric, "cca": cca, "value": value, "low": low, "high": high}


def _intervals(metrics: Mapping[str, Sequence[float]]) -> dict[str, MetricInterval]:
    """Returns the means of metrics with their intervals."""
    return {name: interval_json(each) for name, each in metric_estimates(metrics).items()}


def _difference(
    verdict: Verdict,
    requirement: str,
    other: str,
    metric: str,
    series: Mapping[str, Mapping[str, list[float]]],
) -> DifferenceRow:
    """Returns the paired difference of the best congestion control for a requirement to another."""
    best = str(verdict.leader)
    gap = paired_gap(series[best][metric], series[other][metric])
    return {
        "requirement": requirement,
        "best": best,
        "other": other,
        "mean": gap.mean,
        "ci95": gap.ci95,
        "tied": other in verdict.tied,
    }
