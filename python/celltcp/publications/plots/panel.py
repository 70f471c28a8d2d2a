"""Panel: one set of axes of a picture of a publication."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from celltcp.present.palette import colours
from celltcp.publications.agreement import Outcome, Row

#: Names of quantities on axes, where they are not those of tables in other letters.
_NAMES = {
    "rtt": "RTT",
    "rtt_max": "largest RTT",
    "rtt_increment": "RTT increment",
    "rtt_increment_max": "largest RTT increment",
    "rtt_long": "RTT of the long flow",
    "rtt_competing": "RTT of competing flows",
    "owd": "one-way delay",
    "cwnd": "window",
    "inflight": "in flight",
    "duplicate_acks": "duplicate ACKs",
    "duplicate_acks_each": "duplicate ACKs",
    "duplicate_acks_of_each": "duplicate ACKs",
    "completion_long": "completion of the long flow",
    "completion_competing": "completion of competing flows",
    "completion_short": "completion of short flows",
    "completion_total": "completion of all",
    "mcs_stays_1": "same MCS, next",
    "mcs_stays_2": "same MCS, second after",
    "mcs_stays_3": "same MCS, third after",
    "pm_balanced": "PM, balanced",
    "pm_delay": "PM, delay",
    "mcs_mean": "MCS",
    "mcs_sd": "deviation of the MCS",
    "cqi_mean": "CQI",
    "cqi_sd": "deviation of the CQI",
    "cqi_change": "change of the CQI",
    "wasted": "wasted opportunities",
    "queue_min": "shortest queue",
    "queue_max": "longest queue",
    "rtt_min": "lowest RTT",
    "rtt_jump": "largest rise of the RTT",
    "empty_queue": "empty queue",
    "goodput_variation": "deviation of the goodput",
    "goodput_sum": "goodput of all",
    "slow_start_exit": "exit window",
    "slow_start_exit_s": "end of slow start",
    "slow_start_bytes": "data sent in slow start",
    "ramp_90": "time until 90 % of the capacity",
    "download_rate": "throughput",
    "download_rate_sd": "deviation of the throughput",
    "download_rate_median": "median throughput",
    "download_rate_by_handovers": "throughput",
    "download_rtt": "RTT",
    "download_rto": "RTO",
    "download_inflight": "data in flight",
    "download_ramp": "ramp",
    "download_retransmissions": "retransmissions",
    "download_dupacks": "duplicate ACKs",
    "download_sinr": "mean SINR",
    "download_failed": "failed",
    "handovers_1": "with a handover",
    "handovers_3": "with three handovers or more",
    "exchange_rtt": "RTT of short exchanges",
    "seconds": "seconds",
    "blocks_qpsk": "QPSK",
    "blocks_16qam": "16QAM",
    "blocks_64qam": "64QAM",
    "bler": "BLER",
    "blocks_first_decoded": "decoded at the first attempt",
    "blocks_again_1": "second attempts",
    "blocks_again_2": "third attempts",
    "blocks_again_3": "fourth attempts and later",
    "gain_goodput": "gain in goodput",
    "gain_pm_balanced": "gain in PM, balanced",
    "gain_pm_delay": "gain in PM, delay",
    "cases_unswitched": "without a switch",
    "cases_over_5": "gain over 5 %",
    "cases_up_to_5": "gain up to 5 %",
    "cases_lost": "loss",
    "split_gain": "gain of the split",
    "discard_share": "share thrown away",
    "received_per_get": "received per request",
    "discarded_per_get": "thrown away per request",
    "get_interval": "time between requests",
    "spared_share": "share spared by the tracker",
    "video_on_air": "video on the air",
    "uplink_resets": "resets on the uplink",
    "uplink_packets": "packets on the uplink",
    "uplink_grants": "grants of the uplink",
    "uplink_requests": "scheduling requests",
    "up_response": "response time upwards",
    "up_response_p95": "response time upwards, 95 %",
    "up_response_max": "longest response time upwards",
    "down_response": "response time downwards",
    "down_response_p95": "response time downwards, 95 %",
    "uplink_delay": "delay of the uplink",
    "uplink_delay_max": "largest delay of the uplink",
    "pdcch_use": "use of the PDCCH",
    "pdcch_idle": "TTIs with an idle PDCCH",
    "pdcch_full": "TTIs with a full PDCCH",
    "qoe": "QoE",
    "startup": "start-up delay",
    "stalled": "stalled time",
}

#: Height of a row of a legend, of that of the lines.
_ROW = 0.12

#: Values of the parameters that stand for a kernel of Linux.
_KERNEL = re.compile(r"=linux-([0-9.]+)(?=,|$)")


@dataclass(frozen=True)
class Panel:
    """Function that draws one set of axes, and their projection."""

    draw: Callable[[Axes], None]
    projection: str | None = None
    #: Height in inches; None for that of the form.
    height: float | None = None


def colors_of(rows: Sequence[Row]) -> dict[str, str]:
    """Returns the colours of the CCAs of some rows."""
    return colours(row.published.cca for row in rows)


def name_of(quantity: str) -> str:
    """Returns the name of a quantity on an axis."""
    return _NAMES.get(quantity, quantity.replace("_", " "))


def cca_name(cca: str) -> str:
    """Returns the name of a CCA in pictures: that of a kernel of Linux in place of its parameters."""
    name, _, parameters = cca.partition(":")
    kernels = set(_KERNEL.findall(parameters))
    all_told = len(kernels) == 1 and not _KERNEL.sub("", parameters).strip(
        "abcdefghijklmnopqrstuvwxyz_,"
    )
    return f"{name} (Linux {kernels.pop()})" if all_told else cca


def number_text(value: float) -> str:
    """Returns a number with three digits, or all before the point."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def heading(*lines: str) -> str:
    """Returns the title of a panel: the lines that say something."""
    return "\n".join(line for line in lines if line)


def axis_of(row: Row) -> str:
    """Returns the label of an axis: the quantity of a row and its unit."""
    name = name_of(row.published.quantity)
    return f"{name}, {row.published.unit}" if row.published.unit else name


def legend_above(axes: Axes) -> None:
    """Adds a legend of two columns above the lines, with the room that it takes."""
    add_room(axes, len(axes.get_legend_handles_labels()[1]), columns=2)
    axes.legend(fontsize="x-small", loc="upper left", ncols=2, borderpad=0.2, columnspacing=1.0)


def add_room(axes: Axes, entries: int, columns: int) -> None:
    """Adds the room above the lines that a legend of so many entries takes."""
    rows = -(-entries // columns)
    low, high = axes.get_ylim()
    axes.set_ylim(top=high + _ROW * rows * (high - low))


def by_scenario(result: Outcome) -> list[tuple[str, str, list[Row]]]:
    """Returns the rows of each place and quantity once per CCA, whatever the part of the way."""
    rows: dict[tuple[str, str], dict[str, Row]] = {}
    for row in result.rows:
        rows.setdefault((row.published.scenario, row.published.quantity), {}).setdefault(
            row.published.cca, row
        )
    return [(scenario, quantity, list(mine.values())) for (scenario, quantity), mine in rows.items()]
