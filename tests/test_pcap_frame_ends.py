"""Frames that wait for others come as one: where each ends, and its delay, against the simulation."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import celltcp as ct
from celltcp.pcap import CaptureAnalyses, analyse
from celltcp.pcap.diagnosis.messages import size_spread
from celltcp.pcap.units.frame_ends import frame_ends
from celltcp.pcap.units.key_frames import with_key_frames
from celltcp.pcap.units.unit_tables import applications_of, unit_times


def test_frames_of_which_nothing_was_sent_early_end_at_equal_shares() -> None:
    """The sum of k of n sizes, if that of all is known, has k (n - k) / n times their variance."""
    ends, errors = frame_ends(80_000, 4, 3_000, np.zeros(3))
    numbers = np.arange(1, 5)
    np.testing.assert_allclose(ends, 20_000 * numbers, rtol=0.01)
    np.testing.assert_allclose(errors, 3_000 * np.sqrt(numbers * (4 - numbers) / 4), atol=150)


def test_a_frame_ends_behind_what_was_sent_before_the_next_one() -> None:
    """Of drawn sizes, those remain of which no frame was sent before it was written."""
    count, size, deviation = 6, 120_000.0, 8_000.0
    sent = np.array([18_000.0, 41_000, 65_000, 83_000, 99_000])
    sizes = np.random.default_rng(1).normal(size / count, deviation, (400_000, count))
    # The sum is known.
    ends = np.cumsum(sizes - (sizes.mean(axis=1) - size / count)[:, None], axis=1)
    possible = ends[(ends[:, :-1] >= sent).all(axis=1)]
    assert len(possible) > 5_000
    expected, errors = frame_ends(size, count, deviation, sent)
    np.testing.assert_allclose(expected, possible.mean(axis=0), atol=400)
    np.testing.assert_allclose(errors, possible.std(axis=0), atol=600)
    assert (expected[:-1] > size * np.arange(1, count) / count).all()


def test_times_of_frames_have_the_spread_of_their_errors() -> None:
    """Expected times alone have no tail: of a normal distribution, 2.3 % exceed two deviations."""
    units = pd.DataFrame({"duration_s": [0.1, *[0.2] * 999], "error_s": [0.0, *[0.02] * 999]})
    times_s = unit_times(units)
    assert times_s.mean() == pytest.approx(0.2, abs=0.0002)
    # Its quartile, and no tail without errors.
    assert np.percentile(times_s, 75) == pytest.approx(0.2 + 0.02 * 0.674, abs=0.002)
    assert unit_times(units.assign(error_s=0.0)).max() == 0.2


def test_a_frame_that_the_capture_ends_before_its_deadline_is_not_late(tmp_path: Path) -> None:
    """The last frames have no end in it, and no frame takes as long as the deadline."""
    workload = {"kind": "frames", "size": "20kB", "interval": "33ms"}
    changes = {"path.rtt": "50ms", "path.down.rate": "50Mbit/s", "flows.0.workload": workload}
    analyses, delays_s = _streamed(tmp_path, "server", 1, "cubic", changes)
    (application,) = applications_of(analyses, 0.3)
    assert application["unfinished"] > 0
    assert (delays_s > 0.3).sum() == 0
    assert application["late_share"] == 0


def test_key_frames_at_times_of_their_own_are_told_from_those_at_regular_ones() -> None:
    """Beside a clock of 40 ms, key frames of 50 kB come 15 ms later, alone or with one of it."""
    due_ms, sizes = [], []
    for number in range(200):
        waits = number % 20 == 11 and number % 40 != 11
        if not waits:
            due_ms.append(40.0 * number)
            sizes.append(10_000.0)
        if number % 20 == 10:
            due_ms.append(40.0 * number + 15)
            # Each second one takes longer than to the next frame.
            sizes.append(50_000.0 if number % 40 == 10 else 60_000.0)
    known = np.ones(len(sizes), bool)
    options = (known, known, 10_000.0, 0.0, 0.04)
    frames = with_key_frames(np.array(due_ms) / 1e3, np.array(sizes), *options)
    assert frames is not None
    assert frames.key_bytes == pytest.approx(50_000)
    assert frames.counts.sum() == 200
    keys_ms = 1e3 * np.concatenate(frames.keys_s)
    np.testing.assert_allclose(keys_ms, [40.0 * number + 15 for number in range(10, 200, 20)])
    # In the place of usual frames, they are frames of that clock.
    regular = np.arange(200) * 0.04
    large = np.where(np.arange(200) % 20 == 10, 50_000.0, 10_000.0)
    known = np.ones(200, bool)
    assert with_key_frames(regular, large, known, known, 10_000.0, 0.0, 0.04) is None


def _streamed(
    folder: Path, place: str, seed: int, cca: str, changes: dict[str, Any]
) -> tuple[CaptureAnalyses, np.ndarray]:
    """Returns the analysis of a captured stream, and the delays of its frames, s."""
    options: dict[str, Any] = {"samples": "off", "pcap_at": place, "pcap": folder / "x.pcap"}
    result = ct.run("steady-20-68", cca, seed, "40s", set=changes, **options)
    events = result.results.tables["events"].to_pandas()
    delays_ms = events.loc[events["kind"] == "frame_ms", "detail"].astype(float)
    return analyse(folder / "x.pcap"), 1e-3 * delays_ms.to_numpy()


@pytest.mark.parametrize("seed", range(2))
def test_frames_of_one_segment_behind_a_standing_queue_have_its_delay(
    seed: int, tmp_path: Path
) -> None:
    """Their receiver has held no ACK until the next one, though it has come by then."""
    draw = random.Random(f"one segment {seed}")
    size, interval = f"{draw.randint(200, 1300)}B", f"{draw.choice([20, 33, 60])}ms"
    changes: dict[str, Any] = {
        "path.rtt": f"{draw.choice([30, 50])}ms",
        "path.down.rate": f"{draw.randint(8, 20)}Mbit/s",
        "path.buffer": "3bdp",
        "flows.0.workload": {"kind": "frames", "size": size, "interval": interval},
        "flows.1": {"name": "bulk", "cca": "cubic", "start": "5s", "workload": {"kind": "bulk"}},
    }
    analyses, delays_s = _streamed(tmp_path, "server", seed, "cubic", changes)
    (application,) = applications_of(analyses, 0.3)
    for name, percent in (("p50_s", 50), ("p95_s", 95)):
        expected = float(np.percentile(delays_s, percent))
        assert application[name] == pytest.approx(expected, abs=0.003), name


@pytest.mark.parametrize(("seed", "cca"), [(1, "cubic"), (5, "cubic"), (3, "bbr")])
def test_frames_behind_losses_are_as_late_as_they_are(seed: int, cca: str, tmp_path: Path) -> None:
    """A backlog behind losses is cut by what each frame must have held, not at equal shares."""
    draw = random.Random(f"frame ends {seed}")
    rate, fps = draw.choice([3, 5]), draw.choice([20, 30, 50])
    size: Any = f"{rate * 125 / fps:.1f}kB"
    if cca == "cubic":
        size = {"kind": "lognormal", "median": size, "sigma": 0.4}
    changes: dict[str, Any] = {
        "path.rtt": f"{draw.choice([40, 60])}ms",
        "path.down.rate": f"{4 * rate}Mbit/s",
        "path.policer": {"rate": f"{1.25 * rate}Mbit/s", "burst": "60kB"},
        "flows.0.workload": {"kind": "frames", "size": size, "interval": f"{1000 / fps:.4g}ms"},
    }
    analyses, delays_s = _streamed(tmp_path, "server", seed, cca, changes)
    (application,) = applications_of(analyses, 0.1)
    assert application["count"] == pytest.approx(len(delays_s), rel=0.005)
    for name, percent, tolerance in (("p50_s", 50, 0.1), ("p95_s", 95, 0.2), ("p99_s", 99, 0.25)):
        expected = float(np.percentile(delays_s, percent))
        assert application[name] == pytest.approx(expected, rel=tolerance), name
    assert application["late_share"] == pytest.approx((delays_s > 0.1).mean(), abs=0.02)


@pytest.mark.parametrize("place", ["phone", "server"])
def test_frames_of_an_outage_are_late_and_no_pause(place: str, tmp_path: Path) -> None:
    """Beside the receiver nothing comes in an outage, but the data of that time do after it."""
    changes: dict[str, Any] = {
        "path.rtt": "60ms",
        "path.down.rate": "16Mbit/s",
        "path.blackouts": [{"at": "9s", "duration": "1s"}],
        "flows.0.workload": {"kind": "frames", "size": "12kB", "interval": "25ms"},
    }
    analyses, delays_s = _streamed(tmp_path, place, 1, "bbr", changes)
    (application,) = applications_of(analyses, 0.2)
    assert application["count"] == pytest.approx(len(delays_s), abs=3)
    assert application["late_share"] == pytest.approx((delays_s > 0.2).mean(), abs=0.01)
    assert application["max_s"] == pytest.approx(delays_s.max(), abs=0.1)


@pytest.mark.parametrize("place", ["phone", "server"])
def test_an_outage_in_the_start_up_leaves_its_frames_apart(place: str, tmp_path: Path) -> None:
    """They come as one in most of the bytes of the capture, and each ends in its part of them."""
    changes: dict[str, Any] = {
        "path.rtt": "100ms",
        "path.down.rate": "12.8Mbit/s",
        "path.blackouts": [{"at": "0.5s", "duration": "1s"}],
        "flows.0.workload": {"kind": "frames", "size": "20.3kB", "interval": "20ms"},
    }
    analyses, delays_s = _streamed(tmp_path, place, 2, "cubic", changes)
    (application,) = applications_of(analyses, 0.1)
    # Megabytes come before the tenth end of a frame.
    largest = analyses.units.groupby("first_s")["bytes"].sum().max()
    assert largest > 3e6
    assert application["count"] == pytest.approx(len(delays_s), rel=0.01)
    for name, percent in (("p50_s", 50), ("p95_s", 95), ("p99_s", 99)):
        expected = float(np.percentile(delays_s, percent))
        assert application[name] == pytest.approx(expected, rel=0.1), name
    assert application["late_share"] == pytest.approx((delays_s > 0.1).mean(), rel=0.05)


@pytest.mark.parametrize("place", ["phone", "server"])
@pytest.mark.parametrize(("seed", "cause"), [(1, "policer"), (7, "loss"), (3, "queue"), (4, "policer")])
def test_key_frames_beside_a_stream_shift_none_of_its_frames(
    seed: int, cause: str, place: str, tmp_path: Path
) -> None:
    """A key frame at a time of its own takes no interval of the stream, and the frames behind it do."""
    draw = random.Random(f"key frames {seed}")
    rate, interval_ms, key_size = draw.choice([3, 5]), draw.choice([20, 25, 33]), draw.choice([3, 4, 5])
    size_kb = rate * interval_ms / 8
    mean_mbps = rate + 8e-3 * key_size * size_kb
    changes: dict[str, Any] = {
        "path.rtt": f"{draw.choice([45, 60])}ms",
        "path.down.rate": f"{(1.6 if cause == 'queue' else 8) * mean_mbps:.2f}Mbit/s",
        "flows.0.workload": {
            "kind": "frames",
            "size": f"{size_kb:.1f}kB",
            "interval": f"{interval_ms}ms",
            "beside": [{"size": f"{key_size * size_kb:.0f}kB", "interval": "1s"}],
        },
    }
    changes |= {
        "policer": {"path.policer": {"rate": f"{1.25 * mean_mbps:.2f}Mbit/s", "burst": "80kB"}},
        "loss": {"path.loss": 0.001},
        "queue": {},
    }[cause]
    analyses, delays_s = _streamed(tmp_path, place, seed, "cubic", changes)
    (application,) = applications_of(analyses, 0.1)
    # A key frame that others wait behind may count as one of these.
    assert application["count"] == pytest.approx(len(delays_s), abs=len(delays_s) * interval_ms / 1e3)
    for name, percent in (("p50_s", 50), ("p95_s", 95)):
        expected = float(np.percentile(delays_s, percent))
        assert application[name] == pytest.approx(expected, rel=0.15), name
    assert application["mean_s"] == pytest.approx(delays_s.mean(), rel=0.15)
    assert application["late_share"] == pytest.approx((delays_s > 0.1).mean(), abs=0.02)


@pytest.mark.parametrize(
    ("policer_mbps", "key_kb", "period_ms", "rtt_ms", "cca"),
    [(6, 100, 33, 50, "cubic"), (4.2, 198, 66, 25, "cubic"), (2.1, 23, 25, 120, "cubic")],
)
def test_the_tail_of_a_policed_stream_is_that_of_its_key_frames(
    policer_mbps: float, key_kb: int, period_ms: int, rtt_ms: int, cca: str, tmp_path: Path
) -> None:
    """Frames of the handshake, and key frames in the middle of a backlog, take the time they take."""
    size_kb = (policer_mbps / 1.25 - 8e-3 * key_kb / 2) * period_ms / 8
    workload = {
        "kind": "frames",
        "size": f"{size_kb:.1f}kB",
        "interval": f"{period_ms}ms",
        "beside": [{"size": f"{key_kb}kB", "interval": "2s"}],
    }
    changes: dict[str, Any] = {
        "path.rtt": f"{rtt_ms}ms",
        "path.down.rate": "50Mbit/s",
        "path.policer": {"rate": f"{policer_mbps}Mbit/s", "burst": "80kB"},
        "flows.0.workload": workload,
    }
    analyses, delays_s = _streamed(tmp_path, "server", 1, cca, changes)
    (application,) = applications_of(analyses, 0.1)
    assert application["count"] == pytest.approx(len(delays_s), abs=6)
    # Twelve frames, most of the start-up, are later than the last one.
    for name, percent, tolerance in (("p95_s", 95, 0.15), ("p99_s", 99, 0.2)):
        expected = float(np.percentile(delays_s, percent))
        assert application[name] == pytest.approx(expected, rel=tolerance), name
    assert application["late_share"] == pytest.approx((delays_s > 0.1).mean(), rel=0.15, abs=0.004)


@pytest.mark.parametrize("sigma", [0.3, 0.5, 0.7])
def test_sizes_spread_as_those_of_frames_that_came_alone(sigma: float) -> None:
    """Of frames that came as one only the mean size is known, which would shrink the spread."""
    sizes = np.random.default_rng(1).lognormal(10, sigma, 1_200)
    sizes[800:] = sizes[800:].mean()
    times_s = np.where(np.arange(1_200) < 800, np.arange(1_200), 800.0)
    frames = pd.DataFrame({"bytes": sizes, "first_s": times_s, "last_s": times_s + 0.01})
    assert size_spread(frames) == pytest.approx(sigma, rel=0.15)


@pytest.mark.parametrize("seed", [1, 3, 8])
def test_a_stream_above_its_link_has_the_frames_of_its_bytes_and_the_error_of_its_clock(
    seed: int, tmp_path: Path
) -> None:
    """A backlog that never ends shows no clock: its frames are cut by the bytes of an interval."""
    draw = random.Random(f"above {seed}")
    mbps, fps = draw.choice([1.5, 3]), draw.choice([25, 30])
    median = 0.9 * mbps * 125 / fps
    size = {"kind": "lognormal", "median": f"{median:.2f}kB", "sigma": 0.4}
    changes: dict[str, Any] = {
        "path.rtt": "60ms",
        "path.down.rate": f"{mbps}Mbit/s",
        "path.buffer": "4bdp",
        "flows.0.workload": {"kind": "frames", "size": size, "interval": f"{1000 / fps:.4g}ms"},
    }
    analyses, delays_s = _streamed(tmp_path, "server", seed, "cubic", changes)
    (application,) = applications_of(analyses, 0.15)
    assert application["count"] == pytest.approx(40 * fps, rel=0.03)
    units = analyses.units
    assert units["clock_error_s"].max() > 0
    errors_s = np.hypot(units["error_s"], units["clock_error_s"])
    low_s, high_s = (
        np.nanpercentile(units["duration_s"] + sign * 1.96 * errors_s, 95) for sign in (-1, 1)
    )
    assert low_s <= np.percentile(delays_s, 95) <= high_s
    # Frames that were due, and are not in the capture, are late as well.
    late_share = 1 - (delays_s <= 0.15).sum() / (40 * fps)
    assert application["late_share"] == pytest.approx(late_share, abs=0.01)
