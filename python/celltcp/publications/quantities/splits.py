"""Quantities of split connections: gain, data in flight and buffered on each leg, repairs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from celltcp.publications.measurements import Measured
from celltcp.publications.published_table import Published
from celltcp.publications.quantities.quantity import Quantity, of_flows, of_runs, sum_of
from celltcp.results.tables import frame

#: Payload of a full segment, kB.
SEGMENT_KB = 1.448

#: Part of a transfer, of its time, in which windows have grown and data is left to send.
_MIDDLE = (0.3, 0.9)


def without_middlebox(cca: str) -> str:
    """Returns a CCA without the middleboxes that it passes."""
    return cca.partition("@")[0]


def gain(split_s: float, plain_s: float) -> float:
    """Returns the speed-up of a transfer against another, from their times, %."""
    return 100.0 * (plain_s / split_s - 1.0)


def _gains(measured: Measured, entry: Published) -> list[float]:
    """Gain in % over the same transfer without middlebox, run by run."""
    plain = replace(entry, cca=without_middlebox(entry.cca))
    return [gain(*both) for both in zip(_times(measured, entry), _times(measured, plain), strict=True)]


def _times(measured: Measured, entry: Published) -> list[float]:
    return [float(flows["completion_s"].iloc[0]) for flows in measured.flows_of(entry)]


def legs_of(measured: Measured, cca: str) -> pd.DataFrame:
    """Returns the slots of a CCA's legs from split hosts to the phone."""
    legs = frame(measured.comparison.results.tables["legs"])
    selected: pd.DataFrame = legs[(legs["cca"] == measured.ran[cca]) & (legs["towards"] != "server")]
    return selected


def _of_legs(measure: Callable[[pd.DataFrame], float]) -> Quantity:
    """A measure of the slots of the leg to the phone, in each run."""

    def values(measured: Measured, entry: Published) -> list[float]:
        legs = dict(list(legs_of(measured, entry.cca).groupby("run")))
        return [
            measure(legs[run]) if run in legs else math.nan for run in measured.runs_of(entry)["run"]
        ]

    return Quantity(values)


def middle(slots: pd.DataFrame) -> pd.DataFrame:
    """Returns the slots of the middle of a transfer, which ends with its last data in flight."""
    begin, end = slots["t_s"].min(), slots.loc[slots["inflight"] > 0, "t_s"].max()
    low, high = (begin + share * (end - begin) for share in _MIDDLE)
    within: pd.DataFrame = slots[(slots["t_s"] >= low) & (slots["t_s"] <= high)]
    return within


def _inflight(slots: pd.DataFrame) -> float:
    return float(middle(slots)["inflight"].mean()) * SEGMENT_KB


def _semantics(flows: pd.DataFrame) -> float:
    """Returns 2 if no byte was acknowledged early, 1 if no last byte was, and else 0."""
    early_bytes, early_ends = flows["acked_early_bytes"].sum(), flows["acked_early_ends"].sum()
    return 2.0 if early_bytes == 0 else 1.0 if early_ends == 0 else 0.0


def _reductions(flows: pd.DataFrame) -> float:
    """Times that the server reduced its window, less those that it found spurious."""
    return float((flows["recoveries"] + flows["timeouts"] - flows["undone"]).clip(lower=0).sum())


def _window_kept(measured: Measured, entry: Published) -> list[float]:
    """Mean window of the server in the seconds asked for, as a share of the largest before them."""
    before = replace(entry, window=None)
    begin = entry.window[0] if entry.window else 0.0
    largest = measured.per_run(before, lambda slots: float(slots[slots["t_s"] < begin]["cwnd"].max()))
    after = measured.per_run(entry, lambda slots: float(slots["cwnd"].mean()))
    return [mean / most for mean, most in zip(after, largest, strict=True)]


def _unsent(legs: pd.DataFrame) -> float:
    """Median of the bytes that the split host holds and has not sent to the phone, kB."""
    return float((legs["buffered_bytes"] * 1e-3 - legs["inflight"] * SEGMENT_KB).median())


def _prefetched(measured: Measured, entry: Published) -> list[float]:
    """Data that waits for the phone at the middlebox; nothing where no connection was split."""
    if "legs" not in measured.comparison.results.tables:
        return [0.0 for _ in measured.runs_of(entry)["run"]]
    return [0.0 if math.isnan(value) else value for value in _of_legs(_unsent).values(measured, entry)]


#: Quantities of split connections.
OF_SPLITS: dict[str, Quantity] = {
    "split_gain": Quantity(_gains, base=without_middlebox),
    # Data in flight in the middle of the transfer: of the server, and of the split host to the phone.
    "server_inflight": Quantity(lambda measured, entry: measured.per_run(entry, _inflight)),
    "phone_leg_inflight": _of_legs(_inflight),
    "split_buffer": _of_legs(lambda legs: float(middle(legs)["buffered_bytes"].mean()) * 1e-3),
    "server_repairs": sum_of("retransmissions"),
    "phone_leg_window": _of_legs(lambda legs: float(middle(legs)["cwnd"].mean())),
    "phone_leg_repairs": _of_legs(lambda legs: float(legs["retransmissions"].max())),
    "phone_leg_timeouts": _of_legs(lambda legs: float(legs["timeouts"].max())),
    # 95th percentile of the one-way delay of the payload, from the server to the phone.
    "owd_p95": of_runs("owd_p95_ms"),
    # Capabilities of a middlebox.
    "semantics": of_flows(_semantics),
    "server_reductions": of_flows(_reductions),
    "window_kept": Quantity(_window_kept),
    "prefetched": Quantity(_prefetched),
    "reads_tcp": Quantity(
        lambda measured, entry: [
            float("@" in measured.ran[entry.cca]) for _ in measured.runs_of(entry)["run"]
        ]
    ),
    "acked_early": sum_of("acked_early_bytes", 1e-3),
    "acked_early_ends": sum_of("acked_early_ends"),
}
