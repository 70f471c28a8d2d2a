"""Quantities of split connections: gain, data in flight and buffered on each leg, retransmissions."""

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

#: Middle of a transfer, in which windows have grown and data is left to send, as shares of its time.
_MIDDLE = (0.3, 0.9)


def without_middlebox(cca: str) -> str:
    """Returns a CCA without its middleboxes."""
    return cca.partition("@")[0]


def gain(split_s: float, unsplit_s: float) -> float:
    """Returns the speed-up of a split transfer, from the completion times with and without split, %."""
    return 100.0 * (unsplit_s / split_s - 1.0)


def _gains(measured: Measured, entry: Published) -> list[float]:
    """Returns the gain over the same transfer without middlebox, run by run, %."""
    unsplit = replace(entry, cca=without_middlebox(entry.cca))
    pairs = zip(_completions_s(measured, entry), _completions_s(measured, unsplit), strict=True)
    return [gain(split_s, unsplit_s) for split_s, unsplit_s in pairs]


def _completions_s(measured: Measured, entry: Published) -> list[float]:
    return [float(flows["completion_s"].iloc[0]) for flows in measured.flows_of(entry)]


def legs_of(measured: Measured, cca: str) -> pd.DataFrame:
    """Returns the slots of the legs from split hosts to the phone, for a CCA of a table."""
    legs = frame(measured.comparison.results.tables["legs"])
    selected: pd.DataFrame = legs[
        (legs["cca"] == measured.simulated_ccas[cca]) & (legs["towards"] != "server")
    ]
    return selected


def _of_legs(measure: Callable[[pd.DataFrame], float]) -> Quantity:
    """Returns a measure of the slots of the leg to the phone, in each run."""

    def values(measured: Measured, entry: Published) -> list[float]:
        legs = dict(list(legs_of(measured, entry.cca).groupby("run")))
        return [
            measure(legs[run]) if run in legs else math.nan for run in measured.runs_of(entry)["run"]
        ]

    return Quantity(values)


def middle(slots: pd.DataFrame) -> pd.DataFrame:
    """Returns the slots of the middle of a transfer, whose end is that of its data in flight."""
    start_s, end_s = slots["t_s"].min(), slots.loc[slots["inflight"] > 0, "t_s"].max()
    low_s, high_s = (start_s + share * (end_s - start_s) for share in _MIDDLE)
    within: pd.DataFrame = slots[(slots["t_s"] >= low_s) & (slots["t_s"] <= high_s)]
    return within


def _inflight_kb(slots: pd.DataFrame) -> float:
    return float(middle(slots)["inflight"].mean()) * SEGMENT_KB


def _semantics(flows: pd.DataFrame) -> float:
    """Returns 2 if nothing was acknowledged early, 1 if no last byte of a message was, otherwise 0."""
    if flows["acked_early_bytes"].sum() == 0:
        return 2.0
    return 1.0 if flows["acked_early_ends"].sum() == 0 else 0.0


def _reductions(flows: pd.DataFrame) -> float:
    """Returns how often the server reduced its window, without spurious reductions."""
    return float((flows["recoveries"] + flows["timeouts"] - flows["undone"]).clip(lower=0).sum())


def _window_kept(measured: Measured, entry: Published) -> list[float]:
    """Returns the mean window of the server in the time window, as a share of the maximum before."""
    whole_run = replace(entry, window=None)
    start_s = entry.window[0] if entry.window else 0.0
    maxima = measured.per_run(
        whole_run, lambda slots: float(slots[slots["t_s"] < start_s]["cwnd"].max())
    )
    means = measured.per_run(entry, lambda slots: float(slots["cwnd"].mean()))
    return [mean / maximum for mean, maximum in zip(means, maxima, strict=True)]


def _unsent_kb(legs: pd.DataFrame) -> float:
    """Returns the median of the data in the split host that is not sent to the phone yet, kB."""
    return float((legs["buffered_bytes"] * 1e-3 - legs["inflight"] * SEGMENT_KB).median())


def _prefetched(measured: Measured, entry: Published) -> list[float]:
    """Returns the data that waits for the phone at the middlebox, kB; 0 if no connection was split."""
    if "legs" not in measured.comparison.results.tables:
        return [0.0 for _ in measured.runs_of(entry)["run"]]
    return [
        0.0 if math.isnan(value) else value for value in _of_legs(_unsent_kb).values(measured, entry)
    ]


#: Quantities of split connections.
OF_SPLITS: dict[str, Quantity] = {
    "split_gain": Quantity(_gains, base=without_middlebox),
    # Data in flight in the middle of the transfer, of the server and of the split host.
    "server_inflight": Quantity(lambda measured, entry: measured.per_run(entry, _inflight_kb)),
    "phone_leg_inflight": _of_legs(_inflight_kb),
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
            float("@" in measured.simulated_ccas[entry.cca]) for _ in measured.runs_of(entry)["run"]
        ]
    ),
    "acked_early": sum_of("acked_early_bytes", 1e-3),
    "acked_early_ends": sum_of("acked_early_ends"),
}
