"""Comparison of two sets of captures by groups of connections, as of split with unsplit ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp._core import CelltcpError
from celltcp.pcap.outcome import Group, GroupsOutcome

#: Weights of groups by tag and value (Kim 2016, §5.3.2); values of other tags have the weight 1.
WEIGHTS: Mapping[str, Mapping[str, float]] = {
    "size": {"small": 0.45, "medium": 0.30, "large": 0.25},
    "place": {"near": 0.25, "mid": 0.30, "far": 0.45},
}

#: Number of samples of the bootstrap, and its seed.
_SAMPLES, _SEED = 2_000, 1

#: Minimum payload of a connection whose throughput is compared, bytes.
_MIN_PAYLOAD = 100_000


def compare_captures(first: pd.DataFrame, second: pd.DataFrame, by: Sequence[str]) -> GroupsOutcome:
    """Compares the connections of two sets; the last group is the weighted mean of the others.

    Args:
        first: tagged connections of the baseline (A).
        second: tagged connections of the other set (B).
        by: names of the tags that make the groups.

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
    rng = np.random.default_rng(_SEED)
    sets = [_with_throughput(table) for table in (first, second)]
    keys_of_sets = [
        [tuple(map(str, row)) for row in table[list(by)].itertuples(index=False)] for table in sets
    ]
    groups, gains = [], []
    for key in sorted(set(keys_of_sets[0]) & set(keys_of_sets[1])):
        parts = [
            table[[row_key == key for row_key in row_keys]]
            for table, row_keys in zip(sets, keys_of_sets, strict=True)
        ]
        throughputs = [part["throughput_mbps"].to_numpy(float) for part in parts]
        samples = _sample_gains(throughputs, rng)
        gains.append(samples)
        groups.append(_group(dict(zip(by, key, strict=True)), parts, throughputs, samples))
    if not groups:
        raise CelltcpError("no group has connections of 100 kB or more in both sets")
    return [*groups, _weighted_mean(groups, gains, sets)]


def _with_throughput(table: pd.DataFrame) -> pd.DataFrame:
    payload = table[["bytes_up", "bytes_down"]].max(axis=1)
    return table[(payload >= _MIN_PAYLOAD) & table["throughput_mbps"].notna()]


def _sample_gains(
    throughputs: Sequence[NDArray[np.float64]], rng: np.random.Generator
) -> NDArray[np.float64] | None:
    """Returns gains of resampled sets; None where a set has one connection only."""
    if min(map(len, throughputs)) < 2:
        return None
    means = [rng.choice(values, (_SAMPLES, len(values))).mean(axis=1) for values in throughputs]
    gains: NDArray[np.float64] = means[1] / means[0] - 1
    return gains


def _interval(samples: NDArray[np.float64] | None) -> tuple[float, float] | None:
    """Returns the 95 % interval of samples; None without samples."""
    if samples is None:
        return None
    low, high = np.percentile(samples, [2.5, 97.5])
    return float(low), float(high)


#: Columns whose sum is the RTT of a path, or of one side of the capture, in the order of preference.
_RTT_COLUMNS = (["far_rtt_p50_ms", "near_rtt_p50_ms"], ["far_rtt_p50_ms"], ["near_rtt_p50_ms"])


def rtts_ms(parts: Sequence[pd.DataFrame]) -> tuple[float | None, float | None]:
    """Returns the means of the median RTTs of both sets, over the same parts of the path.

    These are both sides of the capture, over the connections that have samples of both. Where a set has
    no such connection, the RTT is that of the side that both sets have.
    """
    for names in _RTT_COLUMNS:
        sums = [part[names].sum(axis=1, min_count=len(names)) for part in parts]
        first, second = (float(rtts.mean()) for rtts in sums)
        if not math.isnan(first) and not math.isnan(second):
            return first, second
    return None, None


def _retransmitted_share(part: pd.DataFrame) -> float:
    retransmitted = part[["retransmitted_bytes_up", "retransmitted_bytes_down"]].to_numpy().sum()
    return float(retransmitted) / max(float(part[["bytes_up", "bytes_down"]].to_numpy().sum()), 1.0)


def _group(
    tags: dict[str, str],
    parts: Sequence[pd.DataFrame],
    throughputs: Sequence[NDArray[np.float64]],
    samples: NDArray[np.float64] | None,
) -> Group:
    means = (float(throughputs[0].mean()), float(throughputs[1].mean()))
    weight = 1.0
    for name, value in tags.items():
        weight *= WEIGHTS.get(name, {}).get(value, 1.0)
    return Group(
        tags,
        (len(throughputs[0]), len(throughputs[1])),
        means,
        rtts_ms(parts),
        (_retransmitted_share(parts[0]), _retransmitted_share(parts[1])),
        means[1] / means[0] - 1,
        _interval(samples),
        weight,
    )


def _weighted_mean(
    groups: Sequence[Group],
    gains: Sequence[NDArray[np.float64] | None],
    sets: Sequence[pd.DataFrame],
) -> Group:
    """Returns the weighted mean over the groups that both sets have."""
    weights = np.array([group.weight for group in groups])
    weights /= weights.sum()

    def mean(values: Sequence[float]) -> float:
        return float(np.dot(weights, values))

    def mean_pair(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
        first, second = zip(*pairs, strict=True)
        return mean(first), mean(second)

    def mean_rtt(index: int) -> float | None:
        rtts = [group.rtt_ms[index] for group in groups]
        return None if None in rtts else mean([rtt for rtt in rtts if rtt is not None])

    known_gains = [samples for samples in gains if samples is not None]
    combined = None
    if len(known_gains) == len(groups):
        combined = np.tensordot(weights, np.array(known_gains), axes=1)
    return Group(
        {},
        (len(sets[0]), len(sets[1])),
        mean_pair([group.throughput_mbps for group in groups]),
        (mean_rtt(0), mean_rtt(1)),
        mean_pair([group.retransmitted for group in groups]),
        mean([group.gain for group in groups]),
        _interval(combined),
        1.0,
    )
