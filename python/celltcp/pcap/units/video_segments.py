"""Segments of adaptive streaming in captures: their bitrates, switches, and stalls of the playback."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp.scenarios.quantity_texts import size_text, three_digits, time_text

#: Minimum number of segments, and their minimum median size, bytes.
_MIN_SEGMENTS, _MIN_BYTES = 10, 100_000
#: Maximum size of what comes before segments, as manifests, over the median size of these.
_MAX_FIRST_SHARE = 0.05
#: Minimum ratio of large to small segments, of the 90th to the 10th percentile: qualities differ.
_MIN_RANGE = 1.3
#: Minimum ratio of segments of other qualities, by medians of three in a row.
_MIN_SWITCH = 1.3
#: Maximum mean square of successive differences of the logarithms of sizes, over their variance: it is
#: 2 for sizes that do not depend on those before (von Neumann 1941).
_MAX_RATIO = 1.0
#: Maximum share of a request before the response to the one before has ended.
_MAX_OVERLAPPED = 0.1
#: Minimum pause before a request that waits for room in the playback buffer, s; their minimum number;
#: maximum range of the times between such requests, of the middle half over the median.
_MIN_PAUSE_S, _MIN_PAUSES, _MAX_PERIOD_RANGE = 0.1, 5, 0.1
#: Durations of segments that are usual, s.
_USUAL_S = (2.0, 4.0)
#: Number of complete segments with which the playback begins.
_BUFFERED = 2


class Playback(NamedTuple):
    """Playback of segments of one duration, from the second complete one on."""

    duration_s: float
    #: Mean, lowest and highest bitrate of the segments, Mbit/s.
    mbps: tuple[float, float, float]
    stalls: int
    stalled_s: float

    def __str__(self) -> str:
        mean, low, high = map(three_digits, self.mbps)
        stalls = "no stall"
        if self.stalls:
            noun = "stall" if self.stalls == 1 else "stalls"
            stalls = f"{self.stalls} {noun}, {time_text(self.stalled_s)} in all"
        return f"{mean} Mbit/s ({low} to {high}), {stalls}"


def video_text(responses: pd.DataFrame) -> str:
    """Returns bitrates, switches and stalls of a video as text; empty where responses are none.

    Args:
        responses: units of work of a server, with `start_s`, `end_s` and `bytes`.
    """
    segments = _segments(responses)
    if segments is None:
        return ""
    sizes = segments["bytes"].to_numpy(float)
    sizes_text = " to ".join(size_text(size) for size in (sizes.min(), sizes.max()))
    medians = pd.Series(np.log(sizes)).rolling(3, center=True).median().dropna()
    switches = int((medians.diff().abs() >= np.log(_MIN_SWITCH)).sum())
    text = (
        f"video: {len(sizes)} segments of {sizes_text}, about {switches} switches of quality (sizes by "
        f"{100 * (_MIN_SWITCH - 1):.0f} % or more)"
    )
    starts = f"from the first {_BUFFERED} complete segments on"
    if (duration_s := _duration_s(segments)) is not None:
        played = playback(segments, duration_s)
        return f"{text}; each of {time_text(duration_s)}, as requests show: {played} {starts}"
    usual = "; ".join(f"of {each:.0f} s {playback(segments, each)}" for each in _USUAL_S)
    return (
        f"{text}; no pause for a full buffer shows their duration: with "
        f"segments {usual}, {starts}; none stalls from {time_text(_least_s(segments))} on"
    )


def video_spread(responses: pd.DataFrame) -> float:
    """Returns the standard deviation of the logarithms of sizes of segments; 0 without a video."""
    segments = _segments(responses)
    return 0.0 if segments is None else float(np.log(segments["bytes"].to_numpy(float)).std())


def playback(segments: pd.DataFrame, duration_s: float) -> Playback:
    """Returns the playback of segments of a duration, which begins with the second complete one."""
    mbps = 8e-6 * segments["bytes"].to_numpy(float) / duration_s
    ends_s = _ends_s(segments)
    # A segment is due when those before it have been played, later by all stalls so far.
    late_s = ends_s - ends_s[_BUFFERED - 1] - duration_s * np.arange(len(ends_s))
    delays_s = np.maximum.accumulate(late_s.clip(min=0.0))
    stalls = np.diff(delays_s, prepend=0.0) > 0
    return Playback(
        duration_s,
        (float(mbps.mean()), float(mbps.min()), float(mbps.max())),
        int(stalls.sum()),
        float(delays_s[-1]),
    )


def _least_s(segments: pd.DataFrame) -> float:
    """Returns the least duration of segments at which the playback has no stall, s."""
    ends_s = _ends_s(segments)
    later = np.arange(_BUFFERED, len(ends_s))
    return float(((ends_s[later] - ends_s[_BUFFERED - 1]) / later).max())


def _ends_s(segments: pd.DataFrame) -> NDArray[np.float64]:
    ends_s: NDArray[np.float64] = np.maximum.accumulate(segments["end_s"].to_numpy(float))
    return ends_s


def _segments(responses: pd.DataFrame) -> pd.DataFrame | None:
    """Returns the segments of a video, in order; None where responses are none.

    They come one after another, at the times of a playback or in qualities that change seldom.
    """
    done = responses.dropna(subset=["end_s"]).sort_values("start_s")
    large = done["bytes"] >= _MAX_FIRST_SHARE * done["bytes"].median()
    segments = done[large.cummax()]
    sizes = segments["bytes"].to_numpy(float)
    if len(sizes) < _MIN_SEGMENTS or np.median(sizes) < _MIN_BYTES:
        return None
    waits_s = segments["start_s"].to_numpy(float)[1:] - segments["end_s"].to_numpy(float)[:-1]
    if (waits_s < -_MIN_PAUSE_S).mean() > _MAX_OVERLAPPED:
        return None
    low, high = np.quantile(sizes, [0.1, 0.9])
    logs = np.log(sizes)
    are_kept = (np.diff(logs) ** 2).mean() <= _MAX_RATIO * logs.var() and high >= _MIN_RANGE * low
    return segments if are_kept or _duration_s(segments) is not None else None


def _duration_s(segments: pd.DataFrame) -> float | None:
    """Returns the time of a segment, s: that between requests which wait for room; None without."""
    starts_s = segments["start_s"].to_numpy(float)
    waits_s = starts_s[1:] - segments["end_s"].to_numpy(float)[:-1]
    periods_s = np.diff(starts_s)[waits_s >= _MIN_PAUSE_S]
    if len(periods_s) < _MIN_PAUSES:
        return None
    low, median, high = np.quantile(periods_s, [0.25, 0.5, 0.75])
    return float(median) if high - low <= _MAX_PERIOD_RANGE * median else None
