"""Kinds of causes: the rule that finds each, its remedies, its plot and its traits.

A rule returns the cause that the evidence of a flow shows, or None. Its docstring has the names of its
thresholds in braces; the documentation has their values. Rules of remedies yield the most promising one
first.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.explanation.causes import (
    acks,
    cells,
    competition,
    far_losses,
    grants,
    hosts,
    nagle,
    overload,
    path,
    queues,
    requests,
    responses,
    sawtooth,
    sender,
    sleep,
    slow_periods,
    split_hosts,
    startup,
    tail,
    unused,
    videos,
)
from celltcp.comparison.explanation.remedies import (
    application_remedies,
    queue_remedies,
    remedies,
    window_remedies,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from celltcp.comparison.explanation.causes.cause import Cause
    from celltcp.comparison.explanation.evidence.evidence import Evidence
    from celltcp.comparison.explanation.remedies.remedy import Remedy

    Rule = Callable[[Evidence], Cause | None]
    RemedyRule = Callable[[Evidence, Cause], Iterator[Remedy]]


class Trait(enum.Flag):
    """Trait of a kind of causes."""

    NONE = 0
    #: The hosts decide, and not the path.
    HOSTS = enum.auto()
    #: A window of a host, which also shares the path among flows, whoever gains by it.
    WINDOW = enum.auto()
    #: It leaves the congestion window as it is.
    BESIDE_CWND = enum.auto()
    #: It describes the metrics of a flow without a reason for them.
    SYMPTOM = enum.auto()
    #: It has a part of what stays unused; `slow_growth` is about the rest.
    PART = enum.auto()
    #: It costs no more than what it drops, where that is little.
    LOSS = enum.auto()
    #: It delays data, for which a remedy may cost goodput.
    DELAY = enum.auto()
    #: It delays a few units of work only.
    TAIL = enum.auto()
    #: Its remedies avoid drops.
    DROPS = enum.auto()
    #: It is tried after the others, and only if they find no cause but symptoms and parts.
    LAST = enum.auto()


class Kind(NamedTuple):
    """A kind of causes."""

    #: Rule that finds a cause; its name is that of the kind.
    rule: Rule
    #: Rule of its remedies, if there are any.
    remedies: RemedyRule | None = None
    traits: Trait = Trait.NONE
    #: Rule of its remedies for split connections; the evidence is that of the first leg.
    split_remedies: RemedyRule | None = None
    #: Plot of `celltcp show` in which it is seen.
    plot: str = "time-series"


_HOSTS = Trait.HOSTS | Trait.BESIDE_CWND
_WINDOW = Trait.WINDOW | _HOSTS
_UNIT_TAIL = Trait.TAIL | Trait.DELAY | Trait.SYMPTOM | Trait.BESIDE_CWND
_QUEUE = Trait.DELAY | Trait.BESIDE_CWND

#: Kinds by their name, in the order in which their rules are tried.
KINDS: Mapping[str, Kind] = {
    kind.rule.__name__: kind
    for kind in (
        Kind(hosts.application, traits=_HOSTS),
        Kind(overload.overload, application_remedies.overload, Trait.BESIDE_CWND),
        Kind(hosts.slow_link, application_remedies.slow_link, Trait.BESIDE_CWND),
        Kind(videos.video, application_remedies.video, Trait.BESIDE_CWND),
        Kind(hosts.given_up, traits=Trait.BESIDE_CWND),
        Kind(hosts.captured_limit, traits=Trait.BESIDE_CWND),
        Kind(split_hosts.later_leg, None, Trait.BESIDE_CWND, split_hosts.split_buffer),
        Kind(hosts.receive_window, window_remedies.receive_window, _WINDOW, split_hosts.split_buffer),
        Kind(hosts.send_buffer, window_remedies.send_buffer, _WINDOW),
        Kind(hosts.rate_cap, traits=_HOSTS),
        Kind(path.shallow_buffer, remedies.shallow_buffer, Trait.DROPS),
        Kind(path.overshoot, remedies.overshoot, Trait.DROPS, plot="startup"),
        Kind(path.overflows, traits=Trait.DROPS),
        Kind(path.outage, remedies.outage, Trait.TAIL),
        Kind(acks.uplink, queue_remedies.uplink),
        Kind(sleep.sleep, remedies.sleep, Trait.BESIDE_CWND),
        Kind(grants.grants, remedies.grants, Trait.BESIDE_CWND),
        Kind(path.policer, remedies.policer, Trait.DROPS),
        Kind(nagle.nagle, remedies.nagle, Trait.BESIDE_CWND),
        Kind(acks.delayed_acks, remedies.delayed_acks, Trait.BESIDE_CWND),
        Kind(acks.spurious_timeouts),
        Kind(acks.vain_retransmissions),
        Kind(cells.handovers, remedies.handovers),
        Kind(cells.link_failures, remedies.link_failures),
        Kind(far_losses.lost_requests, traits=Trait.TAIL | Trait.BESIDE_CWND),
        Kind(far_losses.lost_handshake, traits=Trait.BESIDE_CWND),
        Kind(far_losses.handshakes, traits=Trait.BESIDE_CWND),
        Kind(path.random_loss, remedies.random_loss, Trait.LOSS),
        Kind(path.radio_loss, remedies.radio_loss, Trait.LOSS),
        Kind(path.aqm, queue_remedies.aqm, Trait.LOSS),
        Kind(competition.competition, queue_remedies.competition),
        Kind(queues.queue, queue_remedies.queue, _QUEUE | Trait.SYMPTOM, plot="window"),
        Kind(startup.start_up, remedies.start_up, Trait.PART, plot="startup"),
        Kind(startup.early_exit, remedies.early_exit, plot="startup"),
        Kind(unused.probe_rtt, remedies.probe_rtt, Trait.PART),
        Kind(sender.idle_restart, remedies.idle_restart),
        Kind(requests.large_requests, remedies.large_requests),
        Kind(requests.request_limit, remedies.request_limit),
        Kind(sender.slow_start, remedies.slow_start),
        Kind(sender.time_outs, remedies.time_outs, Trait.TAIL),
        Kind(sender.reordering, remedies.reordering),
        Kind(tail.slow_units, remedies.slow_units, _UNIT_TAIL, plot="units"),
        Kind(slow_periods.slow_periods, traits=_QUEUE | Trait.SYMPTOM, plot="units"),
        Kind(tail.round_trips, remedies.round_trips, Trait.BESIDE_CWND),
        Kind(responses.transfer_time, application_remedies.transfer_time, Trait.BESIDE_CWND),
        Kind(
            responses.response_round_trips, application_remedies.response_round_trips, Trait.BESIDE_CWND
        ),
        Kind(responses.window_round_trips, remedies.window_round_trips, Trait.BESIDE_CWND),
        Kind(responses.paced_responses, traits=Trait.BESIDE_CWND),
        Kind(unused.slow_growth, remedies.slow_growth, Trait.LAST),
        Kind(queues.held_queue, traits=_QUEUE | Trait.LAST, plot="window"),
        Kind(sawtooth.growing_window, traits=_QUEUE | Trait.LAST, plot="window"),
    )
}

#: Weight up to which a loss counts as little.
_MAX_MINOR_WEIGHT = 0.02


def names_with(trait: Trait) -> frozenset[str]:
    """Returns the names of the kinds of causes with a trait."""
    return frozenset(name for name, kind in KINDS.items() if trait & kind.traits)


_SYMPTOMS, _PARTS, _LOSSES = map(names_with, (Trait.SYMPTOM, Trait.PART, Trait.LOSS))
_FIRST = [name for name, kind in KINDS.items() if Trait.LAST not in kind.traits]
_LAST = [name for name in KINDS if name not in _FIRST]


def causes_of(evidence: Evidence) -> list[Cause]:
    """Returns the causes of the metrics of a flow, the one with the largest weight first."""
    # Without a slot in which the flow runs, only an outage can be seen.
    if not len(evidence.slots):
        return [cause] if (cause := path.outage(evidence)) else []
    causes = [cause for name in _FIRST if (cause := KINDS[name].rule(evidence))]
    names = {
        cause.name for cause in causes if cause.name not in _LOSSES or cause.weight > _MAX_MINOR_WEIGHT
    }
    if names <= _SYMPTOMS | _PARTS:
        # The causes `queue` and those of unused capacity say more than `held_queue`.
        has_held_queue = names.isdisjoint({"queue", *_PARTS})
        rules = [KINDS[name].rule for name in _LAST if name != "held_queue" or has_held_queue]
        causes += [cause for rule in rules if (cause := rule(evidence))][:1]
    return sorted(causes, key=lambda cause: -cause.weight)
