"""Rules of an explanation: each returns the cause that the evidence of a flow shows, or None.

The docstring of a rule has the names of its thresholds in braces; the documentation has their values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.explanation import (
    acks,
    cells,
    competition,
    far_losses,
    grants,
    hosts,
    nagle,
    path,
    queues,
    requests,
    responses,
    sender,
    sleep,
    split_hosts,
    startup,
    tail,
    transfer,
    unused,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from celltcp.comparison.explanation.cause import Cause
    from celltcp.comparison.explanation.evidence import Evidence

#: Rules by the name of the cause.
RULES: Mapping[str, Callable[[Evidence], Cause | None]] = {
    rule.__name__: rule
    for rule in (
        *(hosts.application, hosts.overload, hosts.slow_link, hosts.video),
        *(
            hosts.given_up,
            hosts.captured_limit,
            split_hosts.later_leg,
            hosts.receive_window,
            hosts.send_buffer,
            hosts.rate_cap,
        ),
        *(
            path.shallow_buffer,
            path.overshoot,
            path.overflows,
            path.outage,
            acks.uplink,
            sleep.sleep,
            grants.grants,
            path.policer,
        ),
        *(nagle.nagle, acks.delayed_acks, acks.spurious_timeouts, acks.vain_retransmissions),
        *(cells.handovers, cells.link_failures, far_losses.lost_requests, far_losses.lost_handshake),
        *(path.random_loss, path.radio_loss, path.aqm, competition.competition, queues.queue),
        *(startup.start_up, startup.early_exit, unused.probe_rtt),
        *(
            sender.idle_restart,
            requests.large_requests,
            requests.request_limit,
            sender.slow_start,
            sender.time_outs,
        ),
        sender.reordering,
        *(tail.slow_units, tail.round_trips, transfer.transfer_time),
        *(responses.response_round_trips, responses.paced_responses),
    )
}

#: Rules that are tried in this order, up to the first cause, if `RULES` find no cause but symptoms.
LAST_RULES: Mapping[str, Callable[[Evidence], Cause | None]] = {
    rule.__name__: rule for rule in (unused.slow_growth, queues.held_queue)
}
#: Causes that describe the metrics of a flow without a reason for them.
_SYMPTOMS = {"queue", "slow_units"}
#: Causes of a part of what stays unused; `slow_growth` is about the rest.
_PARTS = {"start_up", "probe_rtt"}
#: Causes that cost no more than what they drop, up to this weight.
_LOSSES, _MAX_MINOR_WEIGHT = {"random_loss", "radio_loss", "aqm"}, 0.02


def causes_of(evidence: Evidence) -> list[Cause]:
    """Returns the causes of the metrics of a flow, the one with the largest weight first."""
    # Without a slot in which the flow runs, only an outage can be seen.
    if not len(evidence.slots):
        return [cause] if (cause := path.outage(evidence)) else []
    causes = [cause for rule in RULES.values() if (cause := rule(evidence))]
    names = {
        cause.name for cause in causes if cause.name not in _LOSSES or cause.weight > _MAX_MINOR_WEIGHT
    }
    if names <= _SYMPTOMS | _PARTS:
        # The causes `queue` and those of unused capacity say more than `held_queue`.
        has_held_queue = names.isdisjoint({"queue", *_PARTS})
        rules = [rule for name, rule in LAST_RULES.items() if name != "held_queue" or has_held_queue]
        causes += [cause for rule in rules if (cause := rule(evidence))][:1]
    return sorted(causes, key=lambda cause: -cause.weight)
