"""Comparison of two sets of captures, group by group, as between split and unsplit connections."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp._core import CelltcpError
from celltcp.pcap.outcome import Group, GroupsOutcome

#: Weights of the classes (Kim 2016, §5.3.2); tags without weights count alike.
WEIGHTS: Mapping[str, Mapping[str, float]] = {
    "size": {"small": 0.45, "medium": 0.30, "large": 0.25},
    "place": {"near": 0.25, "mid": 0.30, "far": 0.45},
}

#: Samples of the bootstrap, and its seed.
_SAMPLES, _SEED = 2_000, 1

#: Minimum payload of a connection whose throughput is compared, bytes.
_MIN_PAYLOAD = 100_000


def compare_captures(first: pd.DataFrame, second: pd.DataFrame, by: Sequence[str]) -> GroupsOutcome:
    """Compares the connections of two sets; the last group is the weighted mean of the others.

    Args:
        first: tagged connections, the baseline.
        second: tagged connections.
        by: names of tags.

    Raises:
        CelltcpError: if a tag is unknown, or no group is in both sets.
    """
    for name in by:
        for table in (first, second):
            if name not in table:
                known = sorted({"size", *(set(table.columns) & set(WEIGHTS))})
                raise CelltcpError(
                    f"--by: {name!r} is no tag; allowed: {', '.join(known)} or a tag of --tags"
                )
    draws = np.random.default_rng(_SEED)
    sets = [_measured(table) for table in (first, second)]
    groups, gains = [], []
    keys = sorted(set(_keys(sets[0], by)) & set(_keys(sets[1], by)))
    for key in keys:
        parts = [_part(table, by, key) for table in sets]
        values = [part["throughput_mbps"].to_numpy(float) for part in parts]
        samples = _gains(values, draws)
        gains.append(samples)
        tags = dict(zip(by, key, strict=True))
        groups.append(_group(tags, parts, values, samples))
    if not groups:
        raise CelltcpError("no group has connections of 100 kB or more in both sets")
    return [*groups, _weighted(groups, gains, sets)]


def _measured(table: pd.DataFrame) -> pd.DataFrame:
    payload = table[["bytes_up", "bytes_down"]].max(axis=1)
    return table[(payload >= _MIN_PAYLOAD) & table["throughput_mbps"].notna()]


def _keys(table: pd.DataFrame, by: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(str(value) for value in row) for row in table[list(by)].itertuples(index=False)]


def _part(table: pd.DataFrame, by: Sequence[str], key: tuple[str, ...]) -> pd.DataFrame:
    return table[[row == key for row in _keys(table, by)]]


def _gains(
    values: Sequence[NDArray[np.float64]], draws: np.random.Generator
) -> NDArray[np.float64] | None:
    """Returns gains of resampled sets; None where a set has one connection only."""
    if min(len(value) for value in values) < 2:
        return None
    means = [draws.choice(value, (_SAMPLES, len(value))).mean(axis=1) for value in values]
    gains: NDArray[np.float64] = means[1] / means[0] - 1
    return gains


def _interval(samples: NDArray[np.float64] | None) -> tuple[float, float] | None:
    if samples is None:
        return None
    low, high = np.percentile(samples, [2.5, 97.5])
    return float(low), float(high)


#: Parts of the RTT of a path, on both sides of a capture or on one, in the order of preference.
_SIDES = (["far_rtt_p50_ms", "near_rtt_p50_ms"], ["far_rtt_p50_ms"], ["near_rtt_p50_ms"])


def rtts_ms(parts: Sequence[pd.DataFrame]) -> tuple[float | None, float | None]:
    """Returns the means of the median RTTs of both sets, over the same parts of the path.

    These are both sides of the capture, over the connections that have samples of both. Where a set has
    no such connection, they are the side that both sets have.
    """
    for sides in _SIDES:
        sums = [part[sides].sum(axis=1, min_count=len(sides)) for part in parts]
        first, second = (float(each.mean()) for each in sums)
        if not math.isnan(first) and not math.isnan(second):
            return first, second
    return None, None


def _retransmitted(part: pd.DataFrame) -> float:
    again = part[["retransmitted_bytes_up", "retransmitted_bytes_down"]].to_numpy().sum()
    return float(again) / max(float(part[["bytes_up", "bytes_down"]].to_numpy().sum()), 1.0)


def _group(
    tags: dict[str, str],
    parts: Sequence[pd.DataFrame],
    values: Sequence[NDArray[np.float64]],
    samples: NDArray[np.float64] | None,
) -> Group:
    means = (float(values[0].mean()), float(values[1].mean()))
    weight = 1.0
    for name, value in tags.items():
        weight *= WEIGHTS.get(name, {}).get(value, 1.0)
    return Group(
        tags,
        (len(values[0]), len(values[1])),
        means,
        rtts_ms(parts),
        (_retransmitted(parts[0]), _retransmitted(parts[1])),
        means[1] / means[0] - 1,
        _interval(samples),
        weight,
    )


def _weighted(
    groups: Sequence[Group],
    gains: Sequence[NDArray[np.float64] | None],
    sets: Sequence[pd.DataFrame],
) -> Group:
    """Returns the weighted mean over the groups that both sets have."""
    weights = np.array([group.weight for group in groups])
    weights /= weights.sum()

    def mean(values: Sequence[float]) -> float:
        return float(np.dot(weights, values))

    def mean_rtt(side: int) -> float | None:
        rtts = [group.rtt_ms[side] for group in groups]
        return None if None in rtts else mean([rtt for rtt in rtts if rtt is not None])

    known = [samples for samples in gains if samples is not None]
    combined = None
    if len(known) == len(groups):
        combined = np.tensordot(weights, np.array(known), axes=1)
    return Group(
        {},
        (len(sets[0]), len(sets[1])),
        (
            mean([group.throughput_mbps[0] for group in groups]),
            mean([group.throughput_mbps[1] for group in groups]),
        ),
        (mean_rtt(0), mean_rtt(1)),
        (
            mean([group.retransmitted[0] for group in groups]),
            mean([group.retransmitted[1] for group in groups]),
        ),
        mean([group.gain for group in groups]),
        _interval(combined),
        1.0,
    )
