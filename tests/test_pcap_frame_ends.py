"""Frames that wait for others come as one: where each ends, and its delay, against the simulation."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import celltcp as ct
from celltcp.pcap import CaptureAnalyses, analyse
from celltcp.pcap.frame_ends import frame_ends
from celltcp.pcap.unit_tables import applications_of


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


def _streamed(
    folder: Path, place: str, seed: int, cca: str, changes: dict[str, Any]
) -> tuple[CaptureAnalyses, np.ndarray]:
    """Returns the analysis of a captured stream, and the delays of its frames, s."""
    options: dict[str, Any] = {"samples": "off", "pcap_at": place, "pcap": folder / "x.pcap"}
    result = ct.run("steady-20-68", cca, seed, "40s", set=changes, **options)
    events = result.results.tables["events"].to_pandas()
    delays_ms = events.loc[events["kind"] == "frame_ms", "detail"].astype(float)
    return analyse(folder / "x.pcap"), 1e-3 * delays_ms.to_numpy()


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
