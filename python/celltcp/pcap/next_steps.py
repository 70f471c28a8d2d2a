"""Next steps against the limits of captured transfers: commands of celltcp and Linux."""

from __future__ import annotations

import math
import shlex
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from celltcp.comparison.lines.linux_lines import cca_line, linux_line, other_system_lines
from celltcp.comparison.lines.socket_options import MAX_OWN_SCALE
from celltcp.pcap.analysis import STDIN, connection_rows
from celltcp.pcap.diagnosis.causes import Cause, is_headline, names
from celltcp.pcap.diagnosis.evidence import MAX_ANSWER_SEGMENTS
from celltcp.pcap.diagnosis.messages import messages_of
from celltcp.pcap.diagnosis.requests import Requests, one_request
from celltcp.pcap.diagnosis.trains import LinkRate, link_rate
from celltcp.pcap.estimation.endpoint_settings import HEADERS_RATIO, likely_cca
from celltcp.pcap.shared_queue import (
    filling_transfer,
    is_uneven,
    sharing_transfers,
    transfers_beside,
)
from celltcp.pcap.transfers import MIN_TRANSFER_BYTES, Transfers, main_transfer
from celltcp.pcap.units.units import RESPONSE
from celltcp.results.limits import MAX_UNSCALED_WINDOW
from celltcp.scenarios.quantity_texts import ms_text, size_text, three_digits

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from celltcp.pcap.analysis import CaptureAnalyses

#: Minimum share of the time under a limit that is worth acting on.
_MIN_LIMITED_SHARE = 0.5
#: Buffer of a receiver for each byte of its window, and the maximum buffer of Linux by default, bytes.
_BUFFER_RATIO, _DEFAULT_MAX_BUFFER = 2, 6 * 1024 * 1024

#: Rates of paced senders over that of a policer, of frames and of bulk data, whose rate is its price;
#: percentile of late frames. Minimum ratio of the former to the rate of the frames: nearer to that,
#: what a few large frames leave waits for long.
_PACED_SHARE, _BULK_SHARE, _LATE, _MIN_PACED_RATIO = 0.95, 0.98, 95, 1.5

#: Minimum number of calls, and minimum share of them with a loss.
_MIN_CALLS, _MIN_LOST_CALLS = 20, 0.02

#: Minimum number of responses, and minimum share of their time on the link, at which only that is left.
_MIN_LINK_RESPONSES, _MIN_LINK_SHARE = 5, 0.85

#: Causes of losses that come in bursts, which may look like random ones.
_BURSTS = (Cause.POLICER, Cause.BURSTS)


def next_steps(analyses: CaptureAnalyses, deadline: str | None = None) -> list[str]:
    """Returns commands with comments for the main transfer; none without a transfer.

    That is the one with most payload, or a slower one of its hosts with about as much. Where it has a
    larger share of a queue than an even one, they are for the one with the smallest. Its scenario has
    the deadline that was given for frames and responses.
    """
    rows = [
        row
        for row in analyses.connections.to_dict("records")
        if _payload(row) >= MIN_TRANSFER_BYTES and row["rtt_min_ms"] > 0
    ]
    if not rows:
        return []
    row = main_transfer(rows)
    smallest = min((each for each in rows if each["file"] == row["file"]), key=_payload)
    transfers = Transfers(analyses.connections)
    beside = sharing_transfers(transfers, smallest)
    numbers = [other["connection"] for other in beside]
    if (
        row["connection"] in numbers
        and is_uneven(smallest, beside)
        and names(smallest, Cause.SHARED_PATH)
    ):
        row = smallest
    units = connection_rows(analyses.units, row, int(row["direction"] == "up"))
    row = {**row, "deadline": deadline if len(units) else None}
    if _are_lossy_calls(row, units):
        return _call_steps(row)
    filler = filling_transfer(row, transfers_beside(transfers, row))
    if filler is not None and names(row, Cause.FILLED_QUEUE):
        return _filler_steps(row, filler)
    if _waits_for_applications(row):
        return []
    # Away from the sender, the window is seldom seen full.
    has_window = is_headline(row, Cause.RECEIVE_WINDOW)
    if has_window or row["limit_receive_window"] >= _MIN_LIMITED_SHARE:
        return _window_steps(row)
    if is_headline(row, Cause.SENDER):
        return [_buffer_step(row)]
    behind = _acks_behind(row)
    if behind is not None and not is_headline(row, Cause.FULL_QUEUE):
        return [
            f"# against the queue of connection {behind}, in which ACKs may wait: fq_codel or CAKE "
            "with a shaper below the rate of that link (a router in front of it, tc qdisc), or BBR at "
            f"the sender of connection {behind}"
        ]
    if behind is None and is_headline(row, Cause.ACKS_IN_QUEUE):
        return [
            f"# against the queue in which ACKs and requests of connection {row['connection']} wait, "
            "and which another transfer most likely fills: fq_codel or CAKE with a shaper below the "
            "rate of that link (a router in front of it, tc qdisc); no CCA of its sender shortens it"
        ]
    if (share := _link_share(units)) >= _MIN_LINK_SHARE:
        return [
            f"# the link's rate takes {100 * share:.0f} % of the time of its responses: no shorter "
            "queue and no CCA shortens them; fewer bytes do (a lower quality, compression)"
        ]
    if (requests := one_request(row)) is not None:
        return _request_steps(row, requests)
    if is_headline(row, Cause.SOME_LIMIT):
        return [_which_limit_step(row)]
    if names(row, Cause.WINDOW_GROWTH):
        return _pacing_steps(row)
    return _simulated(row, f"celltcp compare path.toml --cca cubic,bbr  # {_purpose(row, units)}")


def _are_lossy_calls(row: Mapping[Hashable, Any], units: pd.DataFrame) -> bool:
    """Returns whether a connection has many answers of few segments, and random losses among these."""
    calls = int((units["unit"] == RESPONSE).sum())
    lost = row["losses_random"] + row["losses_tail"]
    is_clear = not names(row, *_BURSTS, Cause.NAGLE)
    is_lossy = lost >= _MIN_LOST_CALLS * calls and 2 * lost > row["losses"] > row["reordered"]
    are_short = row[f"segments_{row['direction']}"] <= MAX_ANSWER_SEGMENTS * calls
    return bool(calls >= _MIN_CALLS and are_short and is_lossy and is_clear)


def _link_share(units: pd.DataFrame) -> float:
    """Returns the share of the time of responses in which their data pass on a link that sends."""
    responses = units[(units["unit"] == RESPONSE) & units["duration_s"].notna()]
    if len(responses) < _MIN_LINK_RESPONSES:
        return 0.0
    return float(responses["link_s"].sum() / responses["duration_s"].sum())


def _filler_steps(row: Mapping[Hashable, Any], filler: Mapping[Hashable, Any]) -> list[str]:
    """Returns the steps against the queue that another transfer fills, at the sender of that."""
    field = "path.queue" if row["direction"] == "down" else "path.uplink_queue"
    return _simulated(
        filler,
        f"celltcp compare path.toml --cca cubic,bbr,vegas  # whether another CCA of connection "
        f"{filler['connection']}, which fills the queue, or an AQM (--set {field}=fq-codel), leaves a "
        f"shorter one to connection {row['connection']}",
    )


def _call_steps(row: Mapping[Hashable, Any]) -> list[str]:
    """Returns the steps against time-outs after losses at the ends of answers, which no CCA avoids."""
    step = linux_line("tcp.min_rto=20ms")
    purpose = (
        f"# against time-outs after {row['losses_random'] + row['losses_tail']} losses: answers of few "
        f"segments bring few ACKs, and BBR paces them, too; Linux, {step}"
    )
    cca = likely_cca(row) or "cubic"
    sweep = f"celltcp sweep path.toml --vary tcp.min_rto=200ms,20ms --cca {cca}  {purpose}"
    return _simulated(row, sweep)


def _waits_for_applications(row: Mapping[Hashable, Any]) -> bool:
    """Returns whether applications take half of the time: no writes or reads, or waits for ACKs."""
    turns_s = row["turns_up_s"] + row["turns_down_s"]
    # A window that is closed, rather than full, is that of a receiver which does not read.
    waited_s = max(row["zero_window_s"], row[f"pauses_{row['direction']}_s"], turns_s)
    is_waiting = waited_s >= _MIN_LIMITED_SHARE * row["duration_s"]
    is_waiting |= names(row, Cause.NAGLE)
    return bool(is_waiting or row["limit_idle"] >= _MIN_LIMITED_SHARE)


def _simulated(row: Mapping[Hashable, Any], command: str) -> list[str]:
    """Returns the commands that write the scenario `path.toml` of a transfer and simulate it."""
    if row["file"] == STDIN:
        return []
    options = ["--connection", str(row["connection"])]
    options += ["--deadline", row["deadline"]] if row.get("deadline") else []
    path = shlex.join(["celltcp", "pcap", "to-scenario", str(row["file"]), *options])
    return [f"{path} --out path.toml", command]


def _payload(row: Mapping[Hashable, Any]) -> int:
    return int(row["bytes_up"] + row["bytes_down"])


def _acks_behind(row: Mapping[Hashable, Any]) -> int | None:
    """Returns the number of the transfer in whose queue ACKs may wait; None without one."""
    number = float(row.get("acks_behind", math.nan))
    return None if math.isnan(number) else int(number)


def _purpose(row: Mapping[Hashable, Any], frames: pd.DataFrame) -> str:
    """Returns the purpose of a comparison on the path of a transfer and its frames, as text."""
    # What a policer drops looks like random losses, but comes in bursts. Segments that are overtaken
    # leave no RTT by which losses differ.
    is_unclear = names(row, *_BURSTS)
    if (
        2 * row["losses_random"] > row["losses"] > row["reordered"]
        and not is_unclear
        and not str(row["cca"]).startswith("bbr")
    ):
        return (
            f"against {row['losses_random']} random losses; BBR does not take them for congestion; "
            f"Linux, {cca_line('bbr')}"
        )
    if is_headline(row, Cause.FULL_QUEUE, Cause.STANDING_QUEUE):
        field = "path.queue" if row["direction"] == "down" else "path.uplink_queue"
        return f"whether another CCA, or an AQM (--set {field}=fq-codel), has a shorter queue"
    if names(row, Cause.POLICER):
        return f"whether another CCA loses less{_pacing_text(row, frames)}"
    if is_headline(row, Cause.SHALLOW_BUFFER) or names(row, Cause.SHARED_BUFFER):
        field = "path.buffer" if row["direction"] == "down" else "path.uplink_buffer"
        return f"whether another CCA, or a buffer of a BDP (--set {field}=1bdp), has a higher goodput"
    return "whether another CCA would be better there"


def _pacing_text(row: Mapping[Hashable, Any], frames: pd.DataFrame) -> str:
    """Returns what pacing below the rate of a policer does, as text; empty if frames wait longer then.

    A policer passes its burst at once, and a paced sender does not: only losses can cost more time.
    """
    pacing = "; one paced below its rate (SO_MAX_PACING_RATE) loses none"
    policed_mbps = float(row.get("policed_mbps", math.nan))
    if math.isnan(policed_mbps):
        return ""
    if messages_of(row) is None:
        # Beside the receiver, few drops fit a rate that is too high; less passed in a second.
        mbps, now_mbps = policed_mbps, float(row["throughput_mbps"])
        if row["place"] == "receiver":
            mbps = min(mbps, float(row["goodput_peak_mbps"]))
        rates = [three_digits(each) for each in (_BULK_SHARE * mbps, now_mbps)]
        return f"{pacing}, with at most {' Mbit/s, rather than '.join(rates)}"
    times_ms = 1e3 * frames["duration_s"].dropna().to_numpy(float)
    if not len(times_ms):
        return ""
    paced_mbps = _PACED_SHARE * policed_mbps
    if paced_mbps < _MIN_PACED_RATIO * float(row["throughput_mbps"]):
        return ""
    paced_ms = paced_times_ms(frames, paced_mbps, float(row["rtt_min_ms"]))
    now, paced = np.percentile(times_ms, _LATE), np.percentile(paced_ms, _LATE)
    if paced > now or paced_ms.mean() > times_ms.mean():
        return ""
    return f"{pacing}, and the slowest 5 % of frames take {ms_text(paced)}, rather than {ms_text(now)}"


def paced_times_ms(frames: pd.DataFrame, mbps: float, rtt_ms: float) -> NDArray[np.float64]:
    """Returns the times of frames that pass one after another at a rate, with half of the RTT, ms.

    Args:
        frames: units of work with `start_s` and `bytes`.
        mbps: rate of their payload.
        rtt_ms: lowest RTT.
    """
    ordered = frames.sort_values("start_s")
    passed_ms = 8e-3 * ordered["bytes"].to_numpy(float).cumsum() / mbps
    starts_ms = 1e3 * ordered["start_s"].to_numpy(float)
    before_ms = np.append(0.0, passed_ms[:-1])
    # A frame begins at its start, or after the end of the one before it (Lindley, 1952).
    begins_ms = np.maximum.accumulate(starts_ms - before_ms) + before_ms
    result: NDArray[np.float64] = begins_ms + np.diff(passed_ms, prepend=0.0) - starts_ms + rtt_ms / 2
    return result


def _buffer_step(row: Mapping[Hashable, Any]) -> str:
    """Returns the step for a larger send buffer: data per RTT in proportion to the rate."""
    rate_mbps, rtt_ms = float(row["throughput_mbps"]), float(row["rtt_min_ms"])
    bytes_per_rtt = 125 * rate_mbps * rtt_ms
    return (
        f"# {size_text(bytes_per_rtt)} pass per RTT of {ms_text(rtt_ms)}, which is "
        f"{three_digits(rate_mbps)} Mbit/s; "
        f"twice the rate needs {size_text(2 * bytes_per_rtt)} in flight on average: "
        "a larger SO_SNDBUF (Linux, at most net.core.wmem_max; without it net.ipv4.tcp_wmem), or "
        "larger writes of an application that waits for each"
    )


def _which_limit_step(row: Mapping[Hashable, Any]) -> str:
    """Returns the step that shows which limit of a sender holds."""
    is_at_sender, has_scale = row["place"] == "sender", row["handshake"] != "none"
    place_text = "" if is_at_sender else " at the sender"
    scale_text = "" if has_scale else " from its SYN on, with the window scale"
    capture_text = f"a capture{place_text}{scale_text}, or " if place_text or scale_text else ""
    return (
        "# another CCA changes nothing where the send buffer or the application is the limit: "
        f"{capture_text}ss -ti {'at the sender' if is_at_sender else 'there'} (sndbuf_limited, "
        "app_limited), tells which it is"
    )


def _request_steps(row: Mapping[Hashable, Any], requests: Requests) -> list[str]:
    """Returns the steps against a single request under way: more data for each RTT."""
    sizes = ",".join(f"{factor * requests.answer_bytes:.0f}B" for factor in (1, 2, 4))
    twice = three_digits(2 * requests.largest_mbps)
    sweep = f"celltcp sweep path.toml --vary flows.0.workload.response={sizes}"
    return [
        "# larger requests or blocks, or several at a time (read-ahead, pipelining, parallel "
        f"transfers): twice as much gives up to {twice} Mbit/s; larger buffers of the hosts change "
        "nothing",
        *_simulated(row, f"{sweep} --cca cubic --by goodput"),
    ]


def _pacing_steps(row: Mapping[Hashable, Any]) -> list[str]:
    """Returns the steps against bursts that overflow a buffer in slow start, which shrink the window.

    Such a transfer never fills its path: a scenario has too low a capacity, unless gaps show it.
    """
    has_bursts = names(row, Cause.BURSTS_OVERFLOWED)
    effect = "bursts that overflow a buffer" if has_bursts else "a small window after losses"
    rate = link_rate(row)
    scenario = "# a scenario of this capture has the rate of its window, not of the path"
    return [
        f"# against {effect} in slow start: pacing; Linux, {linux_line('tcp.pacing=true')}",
        f"# or a rate below that of the narrowest link{_cap_text(rate)}, which loses nothing",
        f"# or BBR, which paces, too, but may lose more; Linux, {cca_line('bbr')}",
        *([] if rate else [scenario]),
    ]


def _cap_text(rate: LinkRate | None) -> str:
    """Returns the line that sets a rate below the lowest one of a link, or the option alone."""
    if rate is None:
        return " (SO_MAX_PACING_RATE)"
    cap = linux_line(f"flows.0.max_pacing_rate={_PACED_SHARE * rate.low_mbps:.3g}Mbit/s")
    return f", of {rate} Mbit/s of payload; Linux, {cap}"


def _window_steps(row: Mapping[Hashable, Any]) -> list[str]:
    """Returns the steps for a receive window that fills the path, else for twice the window.

    The rate of a link by gaps shows the former.
    """
    side = "client" if row["direction"] == "down" else "server"
    rate_mbps, window = 2 * float(row["throughput_mbps"]), 2 * float(row["window_max"])
    target_text, value_text, simulated = "twice the window", "twice the value", []
    if (link := link_rate(row)) is not None and link.mbps > row["throughput_mbps"]:
        rate_mbps, window = link.mbps, 125 * HEADERS_RATIO * link.mbps * float(row["rtt_min_ms"])
        value_text = size_text(window)
        target_text = f"a window of {value_text}, which fills the path,"
        scale_text = " --set tcp.window_scale=true" if window > MAX_UNSCALED_WINDOW else ""
        change = f"--set tcp.receive_window_max={math.ceil(window / 1e3)}kB{scale_text}"
        simulated = _simulated(row, f"celltcp compare path.toml --cca cubic {change}")
    buffer = max(_DEFAULT_MAX_BUFFER, round(_BUFFER_RATIO * window))
    lines = [linux_line(f"tcp.receive_buffer_max={buffer}B")]
    # Where both SYNs had a scale, the window has one already.
    if not all(row[f"scale_{host}"] > 0 for host in ("client", "server")):
        lines.insert(0, linux_line("tcp.window_scale=true"))
    # Of Windows, the setting for window scaling is that of its autotuning.
    others = other_system_lines("tcp.window_scale=true")
    autotuning = [line for line in others if "autotuning" in line]
    scale, is_scaled = row[f"scale_{side}"], row["scale_client"] >= 0 <= row["scale_server"]
    change = f"Linux, {'; '.join(lines)}; an application that sets SO_RCVBUF (iperf3 -w) keeps to that"
    if is_scaled and scale <= MAX_OWN_SCALE:
        most_text = size_text(MAX_UNSCALED_WINDOW << int(scale))
        change = (
            f"its SYN has a window scale of {scale:.0f}, for at most {most_text}: its program sets "
            f"SO_RCVBUF (ss -m shows it), or its route a window: remove that, or set {value_text}"
        )
    step = (
        f"# against the receive window of the {side}, under each CCA: {target_text} gives up to "
        f"{three_digits(rate_mbps)} Mbit/s; {'; '.join([change, *autotuning])}"
    )
    return [step, *simulated]
