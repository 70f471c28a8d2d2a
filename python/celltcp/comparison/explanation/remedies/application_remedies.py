"""Remedies of causes in applications: frames, videos, pages and responses that suit the path."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from celltcp._core import in_unit
from celltcp.comparison.explanation.causes.cause import number_text
from celltcp.comparison.explanation.evidence.frame_load import load_of, made_mbps
from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.comparison.explanation.remedies.window_remedies import (
    SEND_BUFFER_RATIO,
    SMALL_WINDOW_BDPS,
    WINDOW_BDPS,
    rounded_size,
)
from celltcp.results.first_window import LARGEST_SEND_BUFFER
from celltcp.scenarios.frames import MAX_FRAME_SHARE, beside_mbps, drops_frames, first_frames
from celltcp.scenarios.quantity_texts import three_digits
from celltcp.scenarios.requests import request_and_response

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from celltcp.comparison.explanation.causes.cause import Cause
    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Shares of the capacity for frames: the first leaves a little for retransmissions. With the second,
#: which is tried where the first leaves late frames, queues empty between them.
FRAME_SHARES = (MAX_FRAME_SHARE, 0.8)
#: Shares of the rate that a window leaves for frames. Losses cut it far below its mean for seconds, so
#: that lower ones are tried where the first leaves late frames.
_WINDOW_SHARES = (MAX_FRAME_SHARE, 0.6, 0.4)

#: Effect of pages with several connections.
CONNECTIONS_FILL_BUFFER = "connections that fill the buffer together"
#: Bounds of the unsent data that wait in the kernel.
_UNSENT = ("16kB", "48kB", "128kB")
#: Family of the remedies for frames that wait behind earlier ones.
_WAITING = "waiting frames"
#: Line of a program with `backlog = "newest"`.
_DROPPING_PROGRAM = "sender: a program that drops frames while newer ones wait, beside the next line"
#: Quantile of the rates of a link that an encoder which follows them has to meet.
_LOW_QUANTILE = 0.01
#: Maximum interval of the frames of an encoder, s.
_MAX_ENCODER_INTERVAL_S = 1.0
#: Minimum size of all frames, as a share of the present one, for which it is no other application.
_MIN_SIZE_SHARE = 0.1
#: Factors of the sessions, and of the size of responses, of remedies.
_MORE_SESSIONS, _LARGER_RESPONSES = 2, 4


def video(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """A buffer of twice the length against stalls, or abandoning segments that take too long."""
    workload = f"flows.{evidence.flow_index}.workload"
    buffer_s = in_unit(str(evidence.workload.get("max_buffer", "30s")), "s") or 0.0
    metrics = {} if evidence.application is None else evidence.application.metrics[evidence.cca]
    has_stalls = any(metrics.get("stalled_s", ()))
    # The buffer of a live stream is no longer than its latency.
    if has_stalls and "latency" not in evidence.workload:
        yield Remedy(
            "stalls while the link is slower than the video",
            (f"{workload}.max_buffer={2 * buffer_s:g}s",),
        )
    if evidence.workload.get("abandon") is False:
        yield Remedy("segments that take longer than the buffer lasts", (f"{workload}.abandon=true",))


def waiting_frames(evidence: Evidence) -> Iterator[Remedy]:
    """Yields smaller send buffers, with drops of frames that wait and without, then less unsent data.

    The send buffers hold two BDPs, or one, of the rate that a session gets, as data in flight are in
    them, too. What does not fit waits in the program, where an encoder sees it.
    """
    tcp = evidence.scenario.get("tcp", {})
    present = in_unit(str(tcp.get("send_buffer_max", LARGEST_SEND_BUFFER)), "B") or 0.0
    bdp = evidence.goodput_mbps * 1e6 / 8 * evidence.min_rtt_s / evidence.sessions
    variant = 2 * len(_UNSENT)
    # What the path does not carry is late in any buffer, as is what waits behind the data of others,
    # whose send buffers those of the scenario are, too.
    others = [*evidence.competing_mbps, *evidence.reverse_mbps]
    is_carried = (made_mbps(evidence) or 0.0) <= evidence.capacity_mbps
    is_carried = is_carried and all(map(evidence.is_thin_flow, others))
    for bdps in (WINDOW_BDPS, SMALL_WINDOW_BDPS):
        size = SEND_BUFFER_RATIO * bdps * bdp
        if not is_carried or not 0 < size < present:
            continue
        text = rounded_size(size)
        option = (
            f"sender: SO_SNDBUF={(in_unit(text, 'B') or 0.0) / 2:.0f} of the sending program (Linux "
            "doubles it), or for all of its programs the next line"
        )
        against = "frames behind earlier ones in the send buffer"
        remedy = Remedy(against, (f"tcp.send_buffer_max={text}",), linux=option, family=_WAITING)
        for each in _dropping(evidence, remedy):
            yield each._replace(variant=variant)
            variant += 1
    yield from newest_frame(evidence)


def newest_frame(evidence: Evidence) -> Iterator[Remedy]:
    """Yields bounds of the unsent data, so that only the newest frame waits, or an encoder sees more.

    Frames that wait are dropped, and with an encoder, which follows what waits, also kept.
    """
    for variant, size in enumerate(_UNSENT):
        changes = (f"tcp.notsent_lowat={size}",)
        against = "frames behind earlier ones, by drops of those that wait"
        *alone, dropping = _dropping(
            evidence, Remedy(against, changes, variant=variant, family=_WAITING)
        )
        yield dropping
        if alone and "encoder" in evidence.workload:
            against = "frames in the send buffer, which an encoder does not see"
            yield alone[0]._replace(against=against, variant=len(_UNSENT) + variant)


def _dropping(evidence: Evidence, remedy: Remedy) -> Iterator[Remedy]:
    """Yields a remedy, then it with a program that drops frames, unless the program does."""
    yield remedy
    if not drops_frames(evidence.workload):
        change = f"flows.{evidence.flow_index}.workload.backlog=newest"
        yield remedy._replace(
            changes=(change, *remedy.changes),
            linux="; ".join(filter(None, (_DROPPING_PROGRAM, remedy.linux))),
        )


def overload(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """Smaller frames, which the path can carry, or an encoder that may make such frames."""
    load = load_of(evidence)
    whole = "what the path carries"
    for remedy in fitting_frames(evidence, load.fitting_mbps, whole) if load else ():
        # An encoder that follows the rate is shown where it is better than a fixed rate.
        is_other = "encoder=" in remedy.changes[0] and "encoder" not in evidence.workload
        yield remedy._replace(family=f"frames {evidence.flow_index}", variant=int(is_other))


def slow_link(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """An encoder that may make frames for the lowest tenth of the rates, or the newest frame alone."""
    low_mbps = float(evidence.link_rates_1s_mbps.quantile(0.1))
    whole = f"the {low_mbps:.2f} Mbit/s that the link exceeds for nine tenths of the time"
    yield from reversed(list(fitting_frames(evidence, low_mbps, whole, FRAME_SHARES[1:])))
    yield from newest_frame(evidence)


def following_encoder(evidence: Evidence) -> Iterator[Remedy]:
    """Yields an encoder that may make frames for the lowest hundredth of the rates of a link."""
    low_mbps = float(evidence.link_rates_1s_mbps.quantile(_LOW_QUANTILE))
    whole = f"the {low_mbps:.2f} Mbit/s that the link exceeds for 99 % of the time"
    for remedy in fitting_frames(evidence, low_mbps, whole, FRAME_SHARES[1:]):
        if "encoder=" in remedy.changes[0]:
            yield remedy


def fitting_frames(
    evidence: Evidence, capacity_mbps: float, whole: str, shares: Sequence[float] = FRAME_SHARES
) -> Iterator[Remedy]:
    """Yields smaller frames, then an encoder that may make them, for a capacity of all sessions.

    `whole` is that capacity in words.

    Lower values are tried where these leave late frames. Data that come less than once a second are of
    no encoder, and their size is what has to be sent.
    """
    frames = first_frames(evidence.workload)
    if frames is None or frames[1] > _MAX_ENCODER_INTERVAL_S:
        return
    beside = beside_mbps(evidence.workload)
    remedies = [
        list(
            _fitting_frames(
                *(evidence, share * capacity_mbps / evidence.sessions - beside, *frames),
                f"{100 * share:.0f} % of {whole}",
            )
        )
        for share in shares
    ]
    for index, each in enumerate(remedies):
        yield from (remedy._replace(fallback=index) for remedy in each)


def frames_for_window(evidence: Evidence) -> Iterator[Remedy]:
    """Yields smaller frames for what a congestion window lets through."""
    for index, share in enumerate(_WINDOW_SHARES):
        smaller = fitting_frames(evidence, evidence.goodput_mbps, "their goodput", (share,))
        for remedy in itertools.islice(smaller, 1):
            yield remedy._replace(fallback=index)


def _fitting_frames(
    evidence: Evidence, max_mbps: float, size: float, interval_s: float, origin: str
) -> Iterator[Remedy]:
    """Yields frames of a rate, then an encoder that may make them, for frames of a size, bytes.

    `origin` says where the rate is from.
    """
    workload = f"flows.{evidence.flow_index}.workload"
    against = f"frames of more than {max_mbps:.2f} Mbit/s ({origin})"
    max_size = math.floor(max_mbps * 1e6 / 8 * interval_s)
    # Encoders take their bitrate in kbit/s.
    rate_text = (
        f"{number_text(1e3 * max_mbps)} kbit/s at {three_digits(1 / interval_s)} frames a second"
    )
    share_text = f"{100 * max_size / size:.0f} % of the present size (an encoder of {rate_text})"
    encoder = evidence.workload.get("encoder")
    lowest = math.floor(100 * max_size / size) / 100
    # An encoder that may make such frames already needs an upper bound.
    is_size = encoder is None or encoder["lowest"] <= lowest
    if is_size and max_size >= _MIN_SIZE_SHARE * size:
        yield Remedy(
            f"{against}, by frames of {share_text}",
            (f"{workload}.size={max_size}B",),
            linux=f"application: an encoder of {rate_text}",
        )
    if lowest > 0 and (encoder is None or encoder["lowest"] > lowest):
        changes = (f"{workload}.encoder={{ lowest = {lowest} }}",)
        line = f"application: an encoder that may go down to {rate_text}"
        yield Remedy(f"{against}, by an encoder that may go down to {share_text}", changes, linux=line)


def one_connection(evidence: Evidence, against: str) -> Iterator[Remedy]:
    """Yields the requests of a page over one connection, unless they are."""
    if not evidence.workload.get("multiplexed"):
        yield Remedy(against, (f"flows.{evidence.flow_index}.workload.multiplexed=true",))


def transfer_time(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """Half the objects of a page, or one connection, whose window overflows the buffer less often."""
    if evidence.workload.get("kind") != "page":
        return
    objects = int(evidence.workload.get("objects", 70))
    if objects > 1:
        field = f"flows.{evidence.flow_index}.workload.objects"
        yield Remedy("bytes that the link needs long for", (f"{field}={objects // 2}",))
        yield from one_connection(evidence, CONNECTIONS_FILL_BUFFER)


def response_round_trips(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """More sessions at once, or larger responses."""
    flow, sizes = f"flows.{evidence.flow_index}", request_and_response(evidence.workload)
    against = "a round trip for each response"
    changes = [f"{flow}.count={_MORE_SESSIONS * evidence.sessions}"]
    # A number of requests is that of each session.
    if (count := evidence.workload.get("count")) is not None:
        changes.append(f"{flow}.workload.count={math.ceil(int(count) / _MORE_SESSIONS)}")
    yield Remedy(f"{against}, by more requests at once", tuple(changes))
    if sizes is not None:
        size = round(_LARGER_RESPONSES * sizes[1])
        yield Remedy(f"{against}, by larger ones", (f"{flow}.workload.response={size}B",))
