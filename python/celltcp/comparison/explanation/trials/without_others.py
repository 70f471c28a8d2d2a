"""Metric of a flow without the flows that fill its queue: a trial of the scenario without them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.explanation.answer import metric_texts
from celltcp.comparison.explanation.evidence.evidence import Evidence
from celltcp.comparison.explanation.evidence.queue_owners import competitors
from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.comparison.explanation.trials.alternatives import application_of
from celltcp.comparison.explanation.trials.proposals import ProposedRemedy
from celltcp.comparison.metrics import words_of
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.cca_mix import has_several_flows, labels
from celltcp.scenarios.changes import override_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celltcp.comparison.explanation.trials.alternatives import Need
    from celltcp.comparison.explanation.trials.trials import Trials


def without_others_text(trials: Trials, needs: Sequence[Need]) -> str:
    """Returns a sentence on the first need of units that wait in the queue of bulk flows; or empty.

    It has its metric beside these flows and without them, under the congestion control of the
    scenario.
    """
    for need in needs:
        cca = need.reference
        if (
            not need.flows
            or has_several_flows(cca)
            or not application_of(need.comparison, need.flows[0])
        ):
            continue
        own = FlowUnderTest.named(need.comparison.results.about, need.flows[0])
        evidence = Evidence(need.comparison, cca, own)
        rivals = {*competitors(evidence), *evidence.reverse_mbps}
        indices = {evidence.index_of(name): name for name in rivals if not evidence.is_thin_flow(name)}
        names = [name for index, name in sorted(indices.items(), key=str) if index is not None]
        flows = evidence.scenario["flows"]
        # Another flow keeps its congestion control, which is that of the first one left.
        left = [flow for index, flow in enumerate(flows) if index not in indices]
        if not names or not evidence.is_queued or left[0] is not flows[evidence.flow_index]:
            continue
        own_cca = cca if evidence.flow_index == 0 else left[0].get("cca", cca)
        if not isinstance(own_cca, str):
            continue
        change = override_texts({"flows": left})
        remedy = Remedy(f"the queue of {' and '.join(names)}", tuple(change))
        proposed = ProposedRemedy("queue", remedy, (own_cca,), evidence.scenario)
        # The figure beside them is that of the tables, of all runs.
        after = next((each.after for each in trials.repeated([proposed], 0)), None)
        after = after or trials.after(proposed)
        for by in (*need.for_deadline(), need):
            alone = [] if after is None else by.metric_of(after, own_cca, own.name, by.metric)
            if not alone:
                continue
            beside = by.values(by.comparison, cca)[: len(alone)]
            texts = metric_texts({by.metric: [alone, beside]})
            all_runs = int(need.comparison.results.about["runs"])
            count = f" (first {len(alone)} of {all_runs} runs)" if len(alone) < all_runs else ""
            return (
                f"Without {' and '.join(names)}, {own.name} alone has {words_of(by.metric).name} "
                f"{texts[0]} with {labels([own_cca])[own_cca]}, instead of {texts[1]}{count}."
            )
    return ""
