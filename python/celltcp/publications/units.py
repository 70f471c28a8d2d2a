"""Units of published figures: that of each quantity here, and the conversion from others."""

from __future__ import annotations

from celltcp._core import CelltcpError

#: Units with their sizes, by what they measure.
_FAMILIES: dict[str, dict[str, float]] = {
    "rate": {
        f"{prefix}{unit}": size
        for unit in ("bit/s", "bps")
        for prefix, size in (("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9))
    },
    "time": {"us": 1e-6, "\u00b5s": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0},
    "size": {
        f"{prefix}B": size
        for prefix, size in (
            *(("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9)),
            *(("Ki", 1024.0), ("Mi", 1024.0**2), ("Gi", 1024.0**3)),
        )
    },
}

#: Quantities by the unit in which they are measured here, and shares by what they are of.
_MEASURED = {
    "Mbit/s": (
        *("goodput", "goodput_sum", "download_rate", "download_rate_sd", "download_rate_median"),
        *("download_rate_by_handovers", "bitrate"),
    ),
    "ms": (
        *("rtt", "owd", "rtt_increment", "rtt_increment_max", "rtt_max", "rtt_min", "rtt_long"),
        *("rtt_competing", "download_rtt", "download_rto", "exchange_rtt", "owd_p95", "up_response"),
        *("up_response_p95", "up_response_max", "down_response", "down_response_p95"),
        *("uplink_delay", "uplink_delay_max"),
    ),
    "s": (
        *("ramp_90", "slow_start_exit_s", "download_ramp", "completion_long", "completion_total"),
        *("completion_competing", "completion_short", "startup", "stalled"),
        "get_interval",
    ),
    "kB": (
        *("slow_start_bytes", "download_inflight", "server_inflight", "phone_leg_inflight"),
        *("split_buffer", "prefetched", "acked_early", "received_per_get", "discarded_per_get"),
    ),
    "MB": ("video_on_air",),
}
#: Quantities by the word that is their unit; figures in any other are refused.
_COUNTED = {
    "segments": ("cwnd", "inflight", "slow_start_exit", "retransmitted"),
    "packets": ("queue", "queue_min", "queue_max"),
    "per slot": ("retransmissions", "duplicate_acks"),
    "per retransmission": ("duplicate_acks_of_each",),
    "per segment": ("download_dupacks",),
    "TTIs/s": ("wasted",),
    "dB": ("download_sinr",),
    "% of the lowest": ("rtt_jump",),
    "%": (
        *("gain_goodput", "gain_pm_balanced", "gain_pm_delay", "split_gain", "discard_share"),
        *("spared_share", "pdcch_use", "pdcch_idle", "pdcch_full"),
    ),
    "cases": ("cases_unswitched", "cases_over_5", "cases_up_to_5", "cases_lost"),
    "MOS": ("qoe",),
}
_SHARES = {
    "of the capacity": ("utilisation",),
    "of the mean": ("goodput_variation",),
    "of slots": ("empty_queue",),
    "of segments": ("retransmission_share", "download_retransmissions"),
    "of seconds": ("seconds",),
    "of downloads": ("handovers_1", "handovers_3", "download_failed"),
    "of blocks": (
        *("mcs_stays_1", "mcs_stays_2", "mcs_stays_3", "blocks_qpsk", "blocks_16qam", "blocks_64qam"),
        *("bler", "blocks_first_decoded", "blocks_again_1", "blocks_again_2", "blocks_again_3"),
    ),
}
_UNITS = {name: unit for unit, names in _MEASURED.items() for name in names}
_WHOLES = {name: whole for whole, names in _SHARES.items() for name in names}
#: Words for the same.
_SAME = {"packets": "segments"}
_WORDS = {name: word for word, names in _COUNTED.items() for name in names} | _WHOLES


def measured_unit(quantity: str, given: str, place: str, *, numbered: bool) -> tuple[str, float]:
    """Returns the unit in which a quantity is measured here, and the factor from the unit given.

    Without a unit, that of the quantity is meant. Shares can be given in %. Quantities that have no
    unit of their own can have any word, for tables and axes.

    Args:
        quantity: name of the quantity.
        given: unit of the published figures.
        place: file and line, for errors.
        numbered: whether there is a published figure; without one, any word is a unit.

    Raises:
        CelltcpError: if the unit of a figure is not one of those of the quantity.
    """
    if given == "%" and quantity in _WHOLES:
        return _WHOLES[quantity], 0.01
    own = _UNITS.get(quantity)
    if own is None:
        return _word(quantity, given, place, numbered=numbered), 1.0
    family = next(family for family in _FAMILIES.values() if own in family)
    if given and given not in family:
        if not numbered:
            return given, 1.0
        raise CelltcpError(f"{place}: unit: {given!r}: {quantity} has {', '.join(family)}")
    return own, family[given or own] / family[own]


def _word(quantity: str, given: str, place: str, *, numbered: bool) -> str:
    """Returns the unit of a quantity that is no rate, time or size in bytes."""
    own = _WORDS.get(quantity, "")
    if not given:
        return own
    if numbered and own and _SAME.get(given, given) != _SAME.get(own, own):
        others = " or %" if quantity in _WHOLES else ""
        raise CelltcpError(f"{place}: unit: {given!r}: {quantity} has {own}{others}")
    if numbered and any(given in family for family in _FAMILIES.values()):
        raise CelltcpError(
            f"{place}: unit: {given!r}: {quantity} is no rate, time or size; allowed: none"
        )
    return given
