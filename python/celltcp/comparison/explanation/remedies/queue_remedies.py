"""Remedies of queues: an AQM, another CCA for the flow that fills one, a shorter buffer, or a shaper.

A queue may be that of the data, or that in which ACKs wait behind the data of others.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from celltcp._core import in_unit
from celltcp.comparison.explanation.causes.standing_queues import harq_text, narrow_control_elements
from celltcp.comparison.explanation.evidence.ack_rates import (
    ack_link_rate,
    acks_fill_link,
    rate_of_acks,
)
from celltcp.comparison.explanation.evidence.queue_fields import (
    MAX_AQM_RTT_MS,
    UPLINK_QUEUE,
    codel_with_times,
    fq_codel_value,
    queue_field,
    queue_kind,
)
from celltcp.comparison.explanation.evidence.queue_owners import (
    ack_queue_owner,
    competitors,
    queue_owner,
)
from celltcp.comparison.explanation.remedies.fair_share_remedies import frames_of_fair_share
from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.comparison.explanation.remedies.sender_remedies import capped_owner
from celltcp.comparison.explanation.remedies.split_remedies import split_proxy
from celltcp.comparison.explanation.remedies.window_remedies import (
    SMALL_WINDOW_BDPS,
    WINDOW_BDPS,
    rounded_size,
)
from celltcp.comparison.lines.linux_lines import cca_line, host_text
from celltcp.comparison.lines.queue_lines import SHAPER_SHARE
from celltcp.comparison.lines.socket_options import capping_option
from celltcp.scenarios.cca_mix import has_several_flows, parse_flow_cca, with_flow_cca
from celltcp.scenarios.ccas import family_of
from celltcp.scenarios.narrow_hop import narrow_hop, steady_rate
from celltcp.scenarios.packets import HEADERS_BYTES, PACKET_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from celltcp.comparison.explanation.causes.cause import Cause
    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Rate of an uplink in place of that of a log.
_UPLINK_WITHOUT_LOG = "50Mbit/s"
#: Target of CoDel as a share of its interval, where it drops too early.
_HIGH_TARGET_SHARE = 0.1
#: FQ-CoDel that lets a queue stand for longer than by default, for links whose rate varies.
_LATE_FQ_CODEL = '{ kind = "fq-codel", target = "20ms", interval = "200ms" }'
#: Minimum wait in a queue for a bound of the window, lowest RTTs.
_MIN_WINDOW_QUEUE_RTTS = 4.0
#: Minimum sizes of a buffer to be reduced to one BDP: BDPs, and packets.
_MIN_LONG_BUFFER_BDPS, _MIN_BUFFER_PACKETS = 1.5, 20
#: Quantiles of the rate of a link that varies: of a shaper that keeps the delay nearly always, of one
#: that keeps more goodput, and of the last one of a sweep.
_LOW, _MIDDLE, _HIGH = 0.05, 0.25, 0.5
#: Share of a constant rate that a shaper has at most, for less goodput lost.
_HIGH_SHARE = 0.95
#: Share of the low rate that a shaper has, so that the queue is before it.
_LOW_SHARE = 0.95
#: Where a shaper is needed.
_UNMANAGED = "where no host can manage it (a shaper before it)"
#: Rates between the low and the middle one, as shares of the logarithm of their ratio: the delay begins
#: to grow somewhere between.
_BETWEEN = (1 / 3, 2 / 3)


def uplink(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """Configured grants on a radio, or fq-codel, which keeps ACKs apart from data.

    Further remedies are BBR for the flow that fills the queue of the ACKs, and a buffer of one BDP for
    that queue. Where ACKs alone fill the link, that is a short buffer, which leaves fewer ACKs for more
    segments each, or a rate for the ACKs of all the capacity. The uplink of a log may be what a test of
    the downlink sent, its ACKs, so that a constant uplink shows what the log costs.
    """
    recorded = evidence.value_at("path.up")
    if evidence.scenario.get("radio"):
        yield Remedy("waits for grants of the uplink", ("radio.uplink.access=configured",))
    elif evidence.has_data_on_ack_path:
        against = "ACKs that wait behind data"
        yield from _fq_codel(evidence, against, is_upload=not evidence.is_upload)
        if not evidence.is_upload:
            yield from uplink_shaper(evidence, f"{against} in a queue")
        yield from _other_cca_for(evidence, ack_queue_owner(evidence))
        yield from _buffer_of_acks(evidence, against)
    elif acks_fill_link(evidence):
        yield from _links_of_acks(evidence)
    elif not evidence.is_upload and isinstance(recorded, dict) and "trace" in recorded:
        yield Remedy(
            "an uplink in the log that is no capacity, but the ACKs of its test",
            (f"path.up={_UPLINK_WITHOUT_LOG}",),
        )


def _links_of_acks(evidence: Evidence) -> Iterator[Remedy]:
    """Yields a buffer for an RTT of ACKs, and a rate for the ACKs of the capacity."""
    field, link = ("path.buffer", "down") if evidence.is_upload else ("path.uplink_buffer", "up")
    rate = ack_link_rate(evidence) or 0.0
    acks = rate / 8 / HEADERS_BYTES * evidence.base_rtt_ms / 1e3
    packets = max(math.ceil(acks), _MIN_BUFFER_PACKETS)
    # A buffer of a size in bytes holds far more ACKs than full packets.
    held, size = in_unit(evidence.value_at(field), "packets"), evidence.buffer_size(field, rate / 8)
    if held is None:
        held = math.inf if size is None else size / HEADERS_BYTES
    if held > _MIN_LONG_BUFFER_BDPS * packets:
        yield Remedy(
            "a long queue of ACKs (of a short one, each stands for more segments)",
            (f"{field}={packets}packets",),
        )
    needed = rate_of_acks(evidence, evidence.capacity_mbps)
    yield Remedy(
        "a link that carries too few ACKs for the capacity",
        (f"path.{link}={math.ceil(needed / 1e5) / 10:g}Mbit/s",),
        network=f"the network: a faster {'downlink' if evidence.is_upload else 'uplink'}",
    )


def aqm(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """A target of the queue discipline that suits the RTT."""
    field = queue_field(evidence, is_upload=evidence.is_upload)
    kind, rtt_ms = queue_kind(evidence, field), evidence.base_rtt_ms
    if kind in ("codel", "fq-codel") and rtt_ms > MAX_AQM_RTT_MS / 2:
        queue = codel_with_times(kind, rtt_ms, _HIGH_TARGET_SHARE)
        yield Remedy("early drops on a long path", (f"{field}={queue}",))


def competition(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """A queue discipline that shares the link among flows."""
    if evidence.competing_mbps:
        yield from _fq_codel(evidence, "other flows that take the link", is_upload=evidence.is_upload)


def queue(evidence: Evidence, cause: Cause) -> Iterator[Remedy]:
    """An AQM at the bottleneck, or another CCA or a cap of the rate for the flow that fills the queue.

    A window of two BDPs bounds a queue of many BDPs, if no other bulk flow shares it.
    """
    owner = queue_owner(evidence)
    if harq_text(evidence) and narrow_control_elements(evidence) is not None:
        symbols = int(evidence.value_at("radio.control_symbols") or 1)
        against = "assignments without a place on the control channel"
        yield Remedy(against, (f"radio.control_symbols={symbols + 1}",))
    # fq-codel keeps the queue so short that it is empty when a varying rate rises.
    price = "goodput, above all where the rate varies" if evidence.is_bulk else ""
    network = ""
    if evidence.scenario.get("radio") and not evidence.bottleneck_field:
        host = "phone: an AQM of its uplink" if evidence.is_upload else "base station: an AQM"
        network = f"{host} above RLC, if it has one"
    fq_codel = [
        # Units of work may have waited as requests, too.
        each._replace(network=network, price=price, direction=each.direction if is_queue else "")
        for is_queue in [cause.name == "queue"]
        for each in _fq_codel(evidence, "a standing queue", is_upload=evidence.is_upload)
    ]
    fair_frames = [remedy for each in fq_codel[:1] for remedy in frames_of_fair_share(evidence, each)]
    if owner is None or evidence.is_bulk:
        if "bbr" not in evidence.own_cca:
            yield Remedy("a standing queue", cca="bbr")
        if evidence.is_bulk or _has_frames(evidence.workload):
            yield from fq_codel
            yield from fair_frames
            yield from _window_for_queue(evidence)
        yield from shaper(evidence)
        return
    yield from fq_codel
    yield from fair_frames
    for remedy in _other_cca_for(evidence, owner):
        yield remedy
        yield from (
            remedy._replace(changes=(change.replace("=bbr", "=vegas"),), variant=1)
            for change in remedy.changes
            if change.endswith(".cca=bbr")
        )
    yield from capped_owner(evidence, owner)
    yield from shaper(evidence)
    yield from _split_for(evidence, owner)


def _fq_codel(evidence: Evidence, against: str, *, is_upload: bool) -> Iterator[Remedy]:
    """Yields fq-codel, with times that suit the RTT, at the bottleneck of a direction without it.

    That of the uplink is alone, and where flows fill the downlink as well, for both.
    """
    field = queue_field(evidence, is_upload=is_upload)
    if queue_kind(evidence, field) == "fq-codel":
        return
    link = field.removesuffix("uplink_queue").removesuffix("queue")
    access = "up" if is_upload else "down"
    rate = steady_rate(evidence.value_at(f"path.{access}" if link == "path." else f"{link}rate"))
    value = fq_codel_value(evidence, None if evidence.scenario.get("radio") else rate)
    changes = [f"{field}={value}"]
    # The uplink of the access link has the discipline of the path, unless it has one of its own.
    if field == "path.queue" and not is_upload and _sends_much_up(evidence):
        changes.append("path.uplink_queue=droptail")
    direction = "up" if is_upload else "down"
    yield Remedy(against, tuple(changes), direction=direction)
    if field == UPLINK_QUEUE and _has_one_queue_for_both(evidence):
        yield Remedy(against, (f"path.queue={value}",), direction=direction)
    # Where the rate varies, the default target empties the queue before the link becomes faster.
    varies = rate is None or bool(evidence.scenario.get("radio"))
    if varies and value == "fq-codel":
        changes[0] = f"{field}={_LATE_FQ_CODEL}"
        yield Remedy(against, tuple(changes), direction=direction, variant=1)


def _has_one_queue_for_both(evidence: Evidence) -> bool:
    """Returns whether a flow fills the downlink, whose queue discipline the uplink has, too."""
    own = {evidence.flow_name, *evidence.competing_mbps}
    downlink = evidence.reverse_mbps if evidence.is_upload else own
    return evidence.value_at(UPLINK_QUEUE) is None and not all(map(evidence.is_thin_flow, downlink))


def _sends_much_up(evidence: Evidence) -> bool:
    """Returns whether a flow fills the uplink, which has no queue discipline, and no field for one."""
    upward = evidence.competing_mbps if evidence.is_upload else evidence.reverse_mbps
    has_none = evidence.value_at(UPLINK_QUEUE) is None
    is_droptail = queue_kind(evidence, "path.queue") == "droptail"
    return has_none and is_droptail and not all(map(evidence.is_thin_flow, upward))


def _window_for_queue(evidence: Evidence) -> Iterator[Remedy]:
    """Yields a window of two BDPs against a queue of many; nothing for a shorter queue.

    A window of one BDP leaves less of both, delay and goodput.
    """
    rivals = competitors(evidence)
    is_short = evidence.queue_wait_ms < _MIN_WINDOW_QUEUE_RTTS * evidence.min_rtt_ms
    if is_short or not all(map(evidence.is_thin_flow, rivals)):
        return
    indices = [evidence.index_of(name) for name in rivals]
    workloads = [evidence.scenario["flows"][i].get("workload", {}) for i in indices if i is not None]
    has_frames = any(map(_has_frames, [evidence.workload, *workloads]))
    # Flows of a scenario may have several receivers.
    own = {**evidence.scenario, "flows": [evidence.scenario["flows"][evidence.flow_index]]}
    for bdps in (WINDOW_BDPS, SMALL_WINDOW_BDPS):
        left = "leave one of a BDP at most" if bdps > 1 else "leave none at a steady rate"
        window = rounded_size(bdps * evidence.bdp / evidence.sessions)
        yield Remedy(
            f"a standing queue (windows of {bdps} BDP in sum {left})",
            (f"tcp.receive_window_max={window}",),
            linux=f"{host_text('receiver', own)}: {capping_option(in_unit(window, 'B') or 0)}",
            price="goodput where rate or RTT grow",
            variant=int(bdps != WINDOW_BDPS),
            # The smaller one is tried for frames where the larger one leaves late ones.
            fallback=int(has_frames and bdps != WINDOW_BDPS),
        )


def _has_frames(workload: Mapping[str, Any]) -> bool:
    return bool(workload.get("kind") == "frames")


def _other_cca_for(evidence: Evidence, owner: str | None) -> Iterator[Remedy]:
    """Yields BBR for the flow that fills a queue, or Vegas in place of BBR; not for cross-traffic."""
    index = None if owner is None else evidence.index_of(owner)
    if index is None:
        return
    against = f"the queue that {owner} fills"
    mix = with_flow_cca(evidence.cca, index, "bbr")
    present = evidence.comparison.ccas if index == 0 else [evidence.value_at(f"flows.{index}.cca")]
    cca = "bbr" if mix or "bbr" not in present else "vegas"
    if mix:
        flow = {"flows": [evidence.scenario["flows"][index]]}
        yield Remedy(against, cca=mix, linux=cca_line("bbr", flow))
    elif index == 0:
        yield Remedy(against, cca=cca, is_for_first_flow=True)
    else:
        yield Remedy(against, (f"flows.{index}.cca={cca}",))


def _split_for(evidence: Evidence, owner: str) -> Iterator[Remedy]:
    """Yields a split proxy with BBR towards the phone for the first flow, if that fills the queue.

    Its data then wait in the proxy, and not in the queue that others share.
    """
    is_loss_based = family_of(parse_flow_cca(evidence.cca).name) in ("loss", "hybrid")
    if evidence.is_upload or evidence.index_of(owner) != 0 or not is_loss_based:
        return
    if not evidence.has_middleboxes and not has_several_flows(evidence.cca):
        against = f"the queue that {owner} fills"
        yield from split_proxy(evidence, against, " with BBR towards the phone", cca="bbr")


def _buffer_of_acks(evidence: Evidence, against: str) -> Iterator[Remedy]:
    """Yields a buffer of one BDP in place of a longer one for the access link of the ACKs."""
    field, link = ("path.buffer", "down") if evidence.is_upload else ("path.uplink_buffer", "up")
    rate = steady_rate(evidence.value_at(f"path.{link}"))
    if rate is None or narrow_hop(evidence.scenario, is_upload=not evidence.is_upload) is not None:
        return
    bdp, size = rate / 8 * evidence.base_rtt_ms / 1e3, evidence.buffer_size(field, rate / 8)
    if size is not None and size > _MIN_LONG_BUFFER_BDPS * bdp >= _MIN_BUFFER_PACKETS * PACKET_BYTES:
        yield Remedy(f"{against} (a buffer of one BDP)", (f"{field}=1bdp",))


def shaper(evidence: Evidence) -> Iterator[Remedy]:
    """Yields a slower hop with an AQM before an access link; of the uplink, a slower one with an AQM.

    Its queue then stands where a host can manage it, unless the link is slower still. A constant link
    has two rates for it. For one that varies, a rate is below that of the slow phases, another one
    keeps more goodput, and others are between.
    """
    path = evidence.scenario.get("path", {})
    if evidence.bottleneck_field:
        return
    if evidence.is_upload:
        yield from uplink_shaper(evidence, "a standing queue")
        return
    hops, steady = path.get("wired", ()), steady_rate(path.get("down", {}))
    # The access link of a cell is that of the radio.
    if steady is not None and not evidence.scenario.get("radio"):
        tried, swept = list(_steady_rates(steady)), []
        carried_mbps = float(evidence.link_rates_1s_mbps.max()) * PACKET_BYTES / evidence.mss
        if 1e6 * carried_mbps < SHAPER_SHARE * steady:
            # Another hop, whose rate is a trace, is narrower: the shaper would never have a queue.
            return
    else:
        rates_mbps = evidence.link_rates_1s_mbps * PACKET_BYTES / evidence.mss
        low, middle, high = rates_mbps.quantile([_LOW, _MIDDLE, _HIGH])
        if not 0 < middle < high:
            return
        low *= _LOW_SHARE
        between = [low * (middle / low) ** share for share in _BETWEEN] if low > 0 else []
        rates = (low, *between, middle, high)
        swept = list(dict.fromkeys(_rate_text(rate) for rate in rates if rate > 0))
        # The ends come first, should the budget not suffice for those between.
        tried = [swept[0], *reversed(swept[1:])]
    # Without a hop before the link, the shaper is one.
    hop, last = f"path.wired.{max(len(hops) - 1, 0)}", hops[-1] if hops else {}
    present, queue = last.get("rate"), last.get("queue")
    # A hop with a rate that varies, or a lower one, is a link of its own, and no place for a shaper.
    present_bps = math.inf if present is None else steady_rate(present) or 0.0
    if present_bps < (in_unit(tried[0], "bit/s") or 0.0):
        return
    kind = queue.get("kind") if isinstance(queue, dict) else queue
    is_managed = kind not in (None, "droptail")
    values = dict.fromkeys([*swept, *([present] if isinstance(present, str) else [])])
    for variant, rate in enumerate(tried):
        yield Remedy(
            f"a standing queue {_UNMANAGED}",
            (
                f"{hop}.rate={rate}",
                *([] if is_managed else [f"{hop}.queue={_shaper_queue(evidence, rate)}"]),
            ),
            price="goodput above the rate of the shaper",
            variant=variant,
            curve=f"{hop}.rate={','.join(values)}" if swept else "",
            direction="down",
        )


def uplink_shaper(evidence: Evidence, effect: str) -> Iterator[Remedy]:
    """Yields a constant uplink at the rates of a shaper before it, whose queue is that of the shaper.

    `effect` is what its queue does.
    """
    steady = steady_rate(evidence.scenario.get("path", {}).get("up", {}))
    if steady is None or evidence.scenario.get("radio"):
        return
    for variant, rate in enumerate(_steady_rates(steady)):
        yield Remedy(
            f"{effect} {_UNMANAGED}",
            (f"path.up={rate}", f"path.uplink_queue={_shaper_queue(evidence, rate)}"),
            price="goodput above the rate of the shaper",
            variant=variant,
        )


def _shaper_queue(evidence: Evidence, rate: str) -> str:
    """Returns the queue discipline of a shaper of a rate, a value of a field."""
    return fq_codel_value(evidence, in_unit(rate, "bit/s"))


def _steady_rates(steady: float) -> Iterator[str]:
    """Yields the rates of a shaper before a link of a constant rate, bit/s, as values of a field."""
    for share in (SHAPER_SHARE, _HIGH_SHARE):
        yield f"{share * steady / 1e6:g}Mbit/s"


def _rate_text(rate_mbps: float) -> str:
    """Returns a rate as a value of a field, with two digits or in whole Mbit/s."""
    return f"{rate_mbps:.2g}Mbit/s" if rate_mbps < 100 else f"{rate_mbps:.0f}Mbit/s"
