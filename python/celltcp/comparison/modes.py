"""Modes of a congestion control over time, such as STARTUP and PROBE_RTT of BBR."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd


class ModeSpan(NamedTuple):
    """Time in which a congestion control stayed in a mode."""

    mode: str
    start_s: float
    end_s: float


def mode_spans(samples: pd.DataFrame) -> list[ModeSpan]:
    """Returns the modes in the samples of a connection, in the order of time; none without a mode."""
    if "mode" not in samples or not len(samples):
        return []
    modes = samples["mode"].astype(str)
    begins = modes.ne(modes.shift())
    starts = samples.loc[begins, "t_ns"] * 1e-9
    ends = [*starts.iloc[1:], float(samples["t_ns"].iloc[-1]) * 1e-9]
    spans = zip(modes[begins], starts, ends, strict=True)
    return [ModeSpan(mode, float(start), float(end)) for mode, start, end in spans if mode]
