"""Remedies of frames above a fair share of the link: fair queueing with frames that fit into it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from celltcp.comparison.explanation.evidence.frame_load import made_mbps
from celltcp.comparison.explanation.remedies.application_remedies import (
    FRAME_SHARES,
    fitting_frames,
    newest_frame,
)
from celltcp.scenarios.demand import offered_mbps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from celltcp.comparison.explanation.evidence.evidence import Evidence
    from celltcp.comparison.explanation.remedies.remedy import Remedy

#: Quantile of the rates of a link of which a flow has its share.
_LOW_QUANTILE = 0.1


def fair_share_mbps(evidence: Evidence) -> float:
    """Returns the payload that fair queueing leaves all sessions of a flow, Mbit/s.

    Frames of others, and what else has gaps, take no more than they send; transfers take all of theirs.
    """
    rates = evidence.link_rates_1s_mbps
    left_mbps = float(rates.quantile(_LOW_QUANTILE)) if len(rates) else 0.0
    connections = evidence.sessions
    for name, mbps in evidence.competing_mbps.items():
        index = evidence.index_of(name)
        flow = {} if index is None else evidence.scenario["flows"][index]
        if evidence.is_thin_flow(name):
            left_mbps -= mbps
        else:
            connections += int(flow.get("count", 1))
    return max(left_mbps, 0.0) * evidence.sessions / connections


def frames_of_fair_share(evidence: Evidence, fair_queueing: Remedy) -> Iterator[Remedy]:
    """Yields fair queueing with smaller frames, then with an encoder and drops of those that wait.

    None for frames that fit into a fair share as they are, or that have the link to themselves.
    """
    fair_mbps, frames_mbps = fair_share_mbps(evidence), offered_mbps(evidence.workload)
    whole_mbps = (frames_mbps or 0.0) * evidence.sessions
    is_other = made_mbps(evidence) is None or all(map(evidence.is_thin_flow, evidence.competing_mbps))
    if is_other or whole_mbps <= FRAME_SHARES[0] * fair_mbps:
        return
    whole = f"the {fair_mbps:.2f} Mbit/s that fair queueing leaves them of the link"
    fitting = list(fitting_frames(evidence, fair_mbps, whole))
    sizes = [each for each in fitting if "encoder=" not in each.changes[0]]
    encoders = [each for each in fitting if "encoder=" in each.changes[0]]
    drops = next(newest_frame(evidence))
    for each in (*sizes, *itertools.islice(reversed(encoders), 1)):
        is_encoder = each in encoders
        parts = (fair_queueing, each, *([drops] if is_encoder else []))
        yield each._replace(
            changes=tuple(itertools.chain.from_iterable(part.changes for part in parts)),
            linux="; ".join(filter(None, (part.linux for part in parts))),
            network=fair_queueing.network,
            direction=fair_queueing.direction,
            variant=int(is_encoder),
            fallback=0 if is_encoder else each.fallback,
            family="frames of a fair share",
        )
