"""Remedies of causes: the change of a setting, CCA or middlebox that an engineer tries next.

Each rule gives the remedies of a cause, the most promising one first. Those are left out that the
scenario cannot have, or has already.
"""

from __future__ import annotations

import itertools
import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from celltcp._core import CelltcpError, describe_cca, in_unit
from celltcp.comparison.explanation.cause import grouped
from celltcp.comparison.explanation.tail import BEHIND, IN_QUEUE, PROBE, QUEUED, RECOVERY, TIME_OUT
from celltcp.comparison.linux_lines import cca_line, linux_line
from celltcp.scenarios.cca_mix import is_of_several_flows
from celltcp.scenarios.frames import frames_of
from celltcp.scenarios.scenario_files import read_scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from celltcp._core import Scenario
    from celltcp.comparison.explanation.cause import Cause
    from celltcp.comparison.explanation.evidence import Evidence

#: Maximum of remedies of a result.
MOST_REMEDIES = 3
#: Minimum weight at which a cause is worth a remedy.
_HEAVY = 0.01
#: Maximum base RTT for the defaults of an AQM, ms (RFC 8289 section 4.4).
_LONG_MS = 150.0
#: Window that fills a path, BDPs: twice, so that it is full again right after a loss; once leaves no
#: queue.
_WINDOW, _LEAST_WINDOW = 2, 1
#: Receive and send buffer for a byte of a window, as Linux accounts for packets.
_RECEIVE, _SEND = 2, 3
#: Buffer of a bottleneck that lets a loss-based CCA fill the path, BDPs.
_BUFFER = 1
#: Minimum share of the slow units at which what they waited for is worth a remedy.
_OFTEN = 0.1
#: Short least RTO, ms.
_RTO_MS = 20
#: Shortest bound of the RTO that Linux has, s.
_RTO_MAX_S = 1
#: Retransmissions, of the 15 before a connection is aborted, that wait for this bound.
_LONG_RETRIES = 11
#: Minimum wait after an outage at which a shorter RTO helps, RTTs.
_WAITED = 2
#: Short cycle of DRX, ms.
_CYCLE_MS = 80
#: Large initial window, segments.
_INITIAL = 32
#: Share of the time for which the congestion window holds data back.
_HELD = 0.2
#: Bytes of a packet.
_PACKET = 1500
#: Share of the capacity that frames may have, so that queues empty between them.
_FITS = 0.8


class Remedy(NamedTuple):
    """A change to try against a cause."""

    #: Effect that it should avoid, in words.
    against: str
    #: Fields of the scenario, as `field=value`.
    changes: tuple[str, ...] = ()
    #: Congestion control to compare with; empty for none.
    cca: str = ""
    #: Parameter to compare the congestion control with; empty for none.
    parameter: str = ""
    #: Middleboxes to compare; empty for none.
    middlebox: str = ""
    #: Where Linux has a setting that is no field of the scenario; else empty.
    linux: str = ""
    #: Possible cost, in words, if there is no trial; empty if unknown.
    price: str = ""
    #: Whether it is another value of one before it, which is given only if it was tried and is better.
    is_variant: bool = False

    @property
    def changed(self) -> tuple[object, ...]:
        """Changed fields, without their values."""
        fields = tuple(sorted(change.partition("=")[0] for change in self.changes))
        return fields, self.cca, self.parameter, self.middlebox


class TriedRemedy(NamedTuple):
    """A remedy with the cause, and the congestion controls under which that was named."""

    cause: str
    remedy: Remedy
    ccas: tuple[str, ...]
    #: Scenario, as its file has it.
    scenario: Mapping[str, object]
    #: Metrics before and after in a trial, in words; empty without one.
    trial: str = ""
    #: Gain in the trial, as the sum of logarithms of ratios.
    gain: float = 0.0
    #: Those of the CCAs that lead, or are as good.
    leading: frozenset[str] = frozenset()

    @property
    def helps_leader(self) -> bool:
        """Whether it is for a CCA that leads, or is as good."""
        return not self.leading.isdisjoint(self.ccas)

    @property
    def replaced(self) -> list[str]:
        """The congestion controls that take the place of those under which the cause was named."""
        remedy = self.remedy
        if remedy.cca:
            return [remedy.cca] * len(self.ccas)
        if remedy.parameter:
            return [_with_parameter(cca, remedy.parameter) for cca in self.ccas]
        box = remedy.middlebox.rpartition(",")[2]
        return [f"{cca}@{box}" if box else cca for cca in self.ccas]

    @property
    def options(self) -> str:
        """Options of `celltcp compare` that try it."""
        remedy = self.remedy
        ccas = [*self.ccas, *([remedy.cca] if remedy.cca else [])]
        if remedy.parameter:
            ccas += [_with_parameter(cca, remedy.parameter) for cca in self.ccas]
        words = ["--cca", ",".join(ccas)]
        words += ["--middlebox", remedy.middlebox] if remedy.middlebox else []
        words += itertools.chain.from_iterable(("--set", change) for change in remedy.changes)
        return shlex.join(words)

    @property
    def text(self) -> str:
        """The effect that it should avoid, and the lines that set it on Linux."""
        remedy = self.remedy
        changes = (linux_line(change, self.scenario) for change in remedy.changes)
        lines = [remedy.linux, *changes, cca_line(remedy.cca)]
        linux = "; ".join(filter(None, lines))
        cost = f"; price: {remedy.price}" if remedy.price else ""
        outcome = f"; tried {self.trial}" if self.trial else cost
        return f"against {remedy.against}{f'; Linux, {linux}' if linux else ''}{outcome}"


def receive_window(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """Windows and buffers for twice the BDP, or for one, those of the receiver first."""
    yield from _windows(evidence, "a full receive window", (_receiver_changes, _sender_changes))


def send_buffer(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """Windows and buffers for twice the BDP, or for one, those of the sender first."""
    yield from _windows(evidence, "a full send buffer", (_sender_changes, _receiver_changes))


def _windows(
    evidence: Evidence, against: str, hosts: tuple[Callable[[Evidence, float], Iterator[str]], ...]
) -> Iterator[Remedy]:
    for bdps in (_WINDOW, _LEAST_WINDOW):
        window = bdps * evidence.bdp
        changes = tuple(change for host in hosts for change in host(evidence, window))
        why = ""
        if any("buffer" in change for change in changes):
            why = f" ({bdps} BDP in flight need {_SEND} times that to send, {_RECEIVE} to receive)"
        if changes:
            yield Remedy(f"{against}{why}", changes, is_variant=bdps != _WINDOW)


def shallow_buffer(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """Pacing, BBR, or a buffer of one BDP; for BBR itself only single segments.

    Where a burst of segmentation offload does not fit into the buffer, segments are sent one by one.
    """
    against = "bursts that overflow a shallow buffer"
    single = ("tcp.tso=1",) if evidence.overflows_by_bursts else ()
    if evidence.cca.startswith("bbr"):
        if single:
            yield Remedy(against, single)
        return
    if single:
        yield _pacing(against, single)
    yield _pacing(against)
    yield Remedy("a shallow buffer", single, cca="bbr")
    yield _buffer(evidence, _BUFFER, "a shallow buffer")


def overshoot(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """HyStart++, pacing, or a buffer of two BDPs, unless other flows fill the queue."""
    if evidence.others:
        return
    against = "losses at the end of slow start"
    cca, name = evidence.cca, evidence.cca.partition(":")[0]
    if "hystart=off" in cca:
        yield Remedy(against, cca=cca.replace("hystart=off", "hystart=on"))
    elif name != "cubic" and "slow_start" in _parameters(name) and "slow_start=" not in cca:
        yield Remedy(against, parameter="slow_start=hystart++")
    elif name == "cubic":
        yield _pacing(against)
    if not name.startswith("bbr"):
        # BBR's window follows the rate that it measures.
        yield _buffer(evidence, 2 * _BUFFER, against)


def uplink(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """A radio that sends without asking for a grant, or a queue that keeps ACKs apart from data.

    Or BBR for the flow that fills the queue of the ACKs.
    """
    if evidence.scenario.get("radio"):
        changes = ("radio.uplink.access=configured",)
        yield Remedy("waits for grants of the uplink", changes)
    elif evidence.shares_way_back:
        yield Remedy("ACKs that wait behind data", (f"{_queue_field(evidence)}=fq-codel",))
        back = evidence.others_back
        yield from _bbr_for(evidence, max(back, key=back.__getitem__, default=None))


def sleep(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """A longer inactivity timer of DRX, or shorter cycles."""
    against = "data that wait for the phone to wake up"
    yield Remedy(against, ("radio.drx.inactivity=2560ms",))
    if (in_unit(evidence.scenario["radio"]["drx"]["long_cycle"], "ms") or 0.0) > _CYCLE_MS:
        yield Remedy(against, (f"radio.drx.long_cycle={_CYCLE_MS}ms",))


def outage(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """A bound of the time-outs that double meanwhile, or shorter ones for flows that send little."""
    waits = [wait for gap in evidence.outages if (wait := evidence.restart_after(gap)) > 0]
    against = "time-outs that double in an outage"
    # A connection is to survive outages of twice the length.
    longest = 2 * max((gap.length for gap in evidence.outages), default=0.0)
    bound = max(math.ceil(longest / _LONG_RETRIES), _RTO_MAX_S)
    if max(waits, default=0.0) >= bound:
        yield Remedy(against, (f"tcp.rto_max={bound}s",))
    rtt_s = evidence.mean("rtt_min_ms") / 1e3
    if not evidence.is_thin or not any(wait >= _WAITED * rtt_s for wait in waits):
        return
    if _comes_in_time(evidence):
        yield _min_rto()
    if not evidence.cca.startswith("bbr"):
        # A stream that has never reduced its window is not thin, and BBR never does.
        yield Remedy(against, ("tcp.thin_linear_timeouts=true",))


def policer(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """BBR, a burst of two BDPs, or pacing."""
    yield Remedy("drops of a policer", cca="bbr")
    needed = _WINDOW * evidence.bdp
    for field, each in evidence.policers.items():
        if (in_unit(each["burst"], "B") or 0.0) < needed / _WINDOW:
            yield Remedy("a burst of the policer below a BDP", (f"{field}.burst={_size(needed)}",))
    yield _pacing("bursts that a policer drops")


def random_loss(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """BBR, or a split host before the lossy link, unless the flow sends little."""
    if evidence.is_thin and not _is_held(evidence):
        return
    yield Remedy("a window that random losses keep small", cca="bbr")
    lossy = evidence.scenario.get("path", {}).get("loss")
    if lossy and not isinstance(lossy, dict):
        yield Remedy("repairs of random losses over the whole path", middlebox="none,split")


def radio_loss(_evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """Acknowledged mode of RLC."""
    yield Remedy("losses on the radio", ("radio.rlc.mode=am",))


def aqm(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """A target of the queue discipline that suits the RTT."""
    field = _queue_field(evidence)
    kind = _value_at(evidence.scenario, field)
    kind = kind.get("kind") if isinstance(kind, dict) else kind
    rtt = evidence.mean("rtt_min_ms")
    if kind in ("codel", "fq-codel") and rtt > _LONG_MS / 2:
        queue = f'{{ kind = "{kind}", target = "{rtt / 10:.0f}ms", interval = "{rtt:.0f}ms" }}'
        yield Remedy("early drops on a long path", (f"{field}={queue}",))


def competition(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """A queue discipline that shares the link among flows."""
    if evidence.scenario.get("path", {}).get("queue") != "fq-codel":
        yield Remedy("other flows that take the link", (f"{_queue_field(evidence)}=fq-codel",))


def queue(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """An AQM at the bottleneck, or BBR for the flow that fills the queue."""
    filler = max(evidence.others, key=evidence.others.__getitem__, default=None)
    # It keeps the queue so short that it is empty when a varying rate rises.
    price = "goodput, above all where the rate varies" if evidence.is_bulk else ""
    fq = Remedy("a standing queue", (f"{_queue_field(evidence)}=fq-codel",), price=price)
    if filler is None or evidence.is_bulk:
        if "bbr" not in evidence.cca:
            yield Remedy("a standing queue", cca="bbr")
        if evidence.is_bulk and evidence.mean("rtt_min_ms") <= _LONG_MS:
            yield fq
        return
    yield fq
    yield from _bbr_for(evidence, filler)


def _bbr_for(evidence: Evidence, filler: str | None) -> Iterator[Remedy]:
    """Yields BBR for the flow that fills a queue; nothing where no flow of the scenario does."""
    number = None if filler is None else evidence.number_of(filler)
    against = f"the queue that {filler} fills"
    if number == 0:
        yield Remedy(against, cca="bbr")
    elif number is not None and not is_of_several_flows(evidence.cca):
        yield Remedy(against, (f"flows.{number}.cca=bbr",))


def early_exit(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """HyStart off, where it is on."""
    name = evidence.cca.partition("@")[0].partition(":")[0]
    if ":" in evidence.cca or _default_of(name, "hystart") not in ("on", "true"):
        return
    # Only Linux' CUBIC has it as a parameter of its module.
    linux = "sender: echo 0 > /sys/module/tcp_cubic/parameters/hystart" if name == "cubic" else ""
    yield Remedy("an early end of slow start", parameter="hystart=off", linux=linux)


def idle_restart(_evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """A window that stays in pauses, a larger initial one, or BBR, whose window stays."""
    against = "a window that shrinks in pauses"
    yield Remedy(against, ("tcp.slow_start_after_idle=false",))
    yield _initial_window(against)
    yield Remedy(against, cca="bbr")


def slow_start(_evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """A larger initial window."""
    yield _initial_window("a long slow start")


def time_outs(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """No Nagle's algorithm, or a shorter least RTO."""
    yield from _nodelay(evidence)
    yield _min_rto()


def slow_units(evidence: Evidence, cause: Cause) -> Iterator[Remedy]:
    """By the wait of most slow units: for a time-out or probe, behind earlier ones, or in a queue."""
    least = _OFTEN * sum(cause.reasons.values())
    # Where window or pacing hold frames back, those that meet a recovery wait behind earlier ones, too.
    is_held = _is_held(evidence) or evidence.share("pacing") >= _HELD
    behind = (BEHIND, RECOVERY) if is_held else ()
    for reason, count in sorted(cause.reasons.items(), key=lambda each: -each[1]):
        if count < least:
            return
        if reason in (PROBE, TIME_OUT):
            yield from _nodelay(evidence)
            if _comes_in_time(evidence):
                yield _min_rto()
        elif reason in behind and evidence.workload.get("kind") == "frames":
            field = f"flows.{evidence.number}.workload.backlog"
            changes = (f"{field}=newest", "tcp.notsent_lowat=16kB")
            yield Remedy("frames behind earlier ones", changes)
        elif reason == IN_QUEUE:
            yield from queue(evidence, cause)


def overload(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """Frames that the path carries, or an encoder that may make such ones."""
    frames = frames_of(evidence.workload)
    if frames is None:
        return
    workload = f"flows.{evidence.number}.workload"
    size, interval = frames
    # Encoders are set in kbit/s.
    kbps = grouped(1e3 * _FITS * evidence.capacity)
    against = f"frames of over {_FITS * evidence.capacity:.2f} Mbit/s"
    against += f" (an encoder of {kbps} kbit/s at {1 / interval:.3g} frames a second)"
    fits = math.floor(_FITS * evidence.capacity * 1e6 / 8 * interval)
    encoder = evidence.workload.get("encoder")
    if encoder is None and fits:
        yield Remedy(against, (f"{workload}.size={fits}B",))
    lowest = math.floor(100 * fits / size) / 100
    if lowest and (encoder is None or encoder["lowest"] > lowest):
        yield Remedy(against, (f"{workload}.encoder={{ lowest = {lowest} }}",))


def round_trips(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """Requests at once over one connection, and a larger initial window."""
    against = "round trips for one object after another"
    if not evidence.workload.get("multiplexed"):
        yield Remedy(against, (f"flows.{evidence.number}.workload.multiplexed=true",))
    yield _initial_window(against)


def slow_growth(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """A larger initial window where slow start was the limit, another CCA where the window was."""
    if evidence.share("startup") >= evidence.share("congestion_window", "pacing"):
        yield _initial_window("a long slow start")
    elif evidence.is_thin:
        changes = ("tcp.slow_start_after_idle=false",)
        yield Remedy("a window that shrinks in pauses", changes)
    else:
        yield Remedy("a window that grows slowly", cca="bbr")
        yield Remedy("a window that grows slowly", cca="hybla")


#: The remedies by the names of their causes; no other cause has one.
REMEDIES: Mapping[str, Callable[[Evidence, Cause], Iterator[Remedy]]] = {
    each.__name__: each
    for each in (
        *(receive_window, send_buffer, shallow_buffer, overshoot, uplink, sleep, policer),
        *(random_loss, radio_loss, aqm, competition, queue, early_exit, idle_restart, slow_start),
        *(time_outs, slow_units, slow_growth, outage, overload, round_trips),
    )
}


def best_first(tried: Sequence[TriedRemedy]) -> list[TriedRemedy]:
    """Returns remedies with none before one that gained more, and one of those with the same fields.

    Those that help a leading CCA come first. Those without a trial keep their places. Other values are
    left out that no trial shows to be better.
    """
    best: dict[tuple[object, ...], TriedRemedy] = {}
    for tried_remedy in sorted(tried, key=lambda each: (-each.gain, each.remedy.is_variant)):
        if tried_remedy.trial or not tried_remedy.remedy.is_variant:
            best.setdefault(tried_remedy.remedy.changed, tried_remedy)
    kept = [tried_remedy for tried_remedy in tried if any(tried_remedy is one for one in best.values())]
    with_trial = [tried_remedy for tried_remedy in kept if tried_remedy.trial]
    ordered = iter(sorted(with_trial, key=lambda each: (not each.helps_leader, -each.gain)))
    return [next(ordered) if tried_remedy.trial else tried_remedy for tried_remedy in kept]


def lines_of(text: str) -> list[str]:
    """Returns a command and the parts of its comment in a line each, as a shell takes them."""
    command, _, comment = text.partition("  # ")
    return [command, *(f"  # {part}" for part in comment.split("; "))]


def remedies_of(
    explained: Iterable[tuple[Evidence, Cause, bool]], compared: Sequence[str]
) -> list[TriedRemedy]:
    """Returns the remedies for the heaviest causes, those under leading CCAs first.

    Of each cause the first remedy comes before a second one of any.

    Args:
        explained: evidence with each cause, and whether the CCA leads or is as good.
        compared: congestion controls that the results have.
    """
    ranks: dict[tuple[str, Remedy], tuple[int, bool, float]] = {}
    ccas: dict[tuple[str, Remedy], list[str]] = {}
    leading: dict[tuple[str, Remedy], set[str]] = {}
    scenario: Mapping[str, object] = {}
    first: dict[tuple[object, ...], tuple[str, Remedy]] = {}
    for evidence, cause, leads in explained:
        given = REMEDIES.get(cause.name)
        base = _loaded(evidence) if given else None
        # The causes of a connection that is split are those of its first leg.
        is_light = cause.weight < _HEAVY or evidence.has_middleboxes
        if given is None or base is None or is_light:
            continue
        scenario = evidence.scenario
        possible = (each for each in given(evidence, cause) if _is_new(each, base, evidence, compared))
        for index, remedy in enumerate(possible):
            # Values that are computed differ a little from CCA to CCA.
            same = remedy.changed, remedy.is_variant
            key = first.setdefault(same, (cause.name, remedy))
            rank = index, not leads, -cause.weight
            ranks[key] = min(ranks.get(key, rank), rank)
            leading.setdefault(key, set()).update([evidence.cca] if leads else [])
            if evidence.cca not in ccas.setdefault(key, []):
                ccas[key].append(evidence.cca)
    best = sorted(ranks, key=ranks.__getitem__)
    return [
        TriedRemedy(name, remedy, tuple(ccas[key]), scenario, leading=frozenset(leading[key]))
        for name, remedy in best
        for key in [(name, remedy)]
    ]


def _loaded(evidence: Evidence) -> Scenario | None:
    """Returns the scenario of the results; None if a file that it names is gone."""
    try:
        return read_scenario(evidence.scenario_text, "results", Path())
    except CelltcpError:
        return None


def _is_new(remedy: Remedy, base: Scenario, evidence: Evidence, compared: Sequence[str]) -> bool:
    """Returns whether a remedy can be tried, and has not been."""
    cca = _with_parameter(evidence.cca, remedy.parameter) if remedy.parameter else remedy.cca
    if cca and (cca in compared or is_of_several_flows(evidence.cca)):
        return False
    try:
        return not remedy.changes or base.with_changes(list(remedy.changes)).hash != base.hash
    except CelltcpError:
        return False


def _is_held(evidence: Evidence) -> bool:
    """Returns whether the congestion window holds data back for a good part of the time."""
    return evidence.share("congestion_window", "recovery") >= _HELD


def _comes_in_time(evidence: Evidence) -> bool:
    """Returns whether no queue hides a shorter time-out, and its repairs keep a deadline of frames."""
    least = evidence.mean("rtt_min_ms")
    repaired_ms = 1.5 * least + _RTO_MS
    is_queued = evidence.mean("rtt_mean_ms") > QUEUED * least
    return not is_queued and (evidence.deadline_s is None or repaired_ms < 1e3 * evidence.deadline_s)


def _receiver_changes(evidence: Evidence, window: float) -> Iterator[str]:
    """Yields what the receiver lacks for a window, bytes."""
    tcp = evidence.scenario.get("tcp", {})
    if _bytes(tcp, "receive_buffer_max", "6MiB") < _RECEIVE * window:
        yield f"tcp.receive_buffer_max={_size(_RECEIVE * window)}"
    if "receive_window_max" in tcp and _bytes(tcp, "receive_window_max", "0B") < window:
        yield f"tcp.receive_window_max={_size(window)}"
    if tcp.get("window_scale", True) is not True:
        yield "tcp.window_scale=true"


def _sender_changes(evidence: Evidence, window: float) -> Iterator[str]:
    """Yields what the sender lacks for a window, bytes."""
    size = _SEND * window
    if _bytes(evidence.scenario.get("tcp", {}), "send_buffer_max", "4MiB") < size:
        yield f"tcp.send_buffer_max={_size(size)}"


def _bytes(tcp: Mapping[str, object], field: str, default: str) -> float:
    """Returns a size among the settings of TCP, bytes."""
    return in_unit(str(tcp.get(field, default)), "B") or 0.0


def _pacing(against: str, more: tuple[str, ...] = ()) -> Remedy:
    price = "a paced window grows and shrinks otherwise, which can cost goodput"
    return Remedy(against, (*more, "tcp.pacing=true"), price=price)


def _initial_window(against: str) -> Remedy:
    return Remedy(against, (f"tcp.initial_window={_INITIAL}",))


def _nodelay(evidence: Evidence) -> Iterator[Remedy]:
    """Short segments at once, so that later ones report a loss before a probe or a time-out."""
    if evidence.is_held_by_nagle:
        against = "waits of Nagle's algorithm, which leaves no later segments that report a loss"
        changes = (f"flows.{evidence.number}.nodelay=true",)
        yield Remedy(against, changes, linux="sender: the socket option TCP_NODELAY")


def _min_rto() -> Remedy:
    return Remedy(
        "waits for time-outs and loss probes",
        (f"tcp.min_rto={_RTO_MS}ms",),
    )


def _buffer(evidence: Evidence, bdps: int, against: str) -> Remedy:
    """Returns a deeper buffer at the bottleneck."""
    packets = math.ceil(bdps * evidence.bdp / _PACKET)
    return Remedy(against, (f"{evidence.buffer_field}={packets}packets",))


def _queue_field(evidence: Evidence) -> str:
    """Returns the field of the queue of the narrowest part of the way."""
    hop = evidence.hop
    return "path.queue" if hop is None else f"path.wired.{hop}.queue"


def _value_at(scenario: Mapping[str, object], field: str) -> object:
    value: object = scenario
    for part in field.split("."):
        if isinstance(value, list):
            value = value[int(part)]
        elif isinstance(value, dict):
            value = value.get(part)
    return value


def _parameters(name: str) -> set[str]:
    """Returns the parameters of a congestion control; none of one of the user's own."""
    try:
        return {str(parameter["name"]) for parameter in describe_cca(name)["parameters"]}
    except CelltcpError:
        return set()


def _default_of(name: str, parameter: str) -> str:
    """Returns the default of a parameter of a congestion control as text; empty if it has none."""
    try:
        known = {str(each["name"]): each for each in describe_cca(name)["parameters"]}
    except CelltcpError:
        return ""
    return str(known[parameter]["default"]).lower() if parameter in known else ""


def _with_parameter(cca: str, setting: str) -> str:
    """Returns a congestion control with a further parameter, before its middleboxes."""
    name, at, boxes = cca.partition("@")
    return f"{name}{',' if ':' in name else ':'}{setting}{at}{boxes}"


def _size(value: float) -> str:
    """Returns a size of two digits that is not below a value, bytes."""
    step = 10 ** max(math.floor(math.log10(max(value, 1.0))) - 1, 3)
    return f"{math.ceil(value / step) * step // 1000}kB"
