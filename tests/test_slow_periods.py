"""Units of work that take longer while another flow sends, or while the link has a lower rate."""

from __future__ import annotations

import random
import re
from typing import Any

import pandas as pd
import pytest

import celltcp as ct
from celltcp.comparison.explanation.explanation import ExplainedComparison

_NUMBER = r"([\d.]+) (ms|s)"


def _text(comparison: ct.Comparison, flow: str) -> str:
    explained = ExplainedComparison(comparison)
    texts = [each.cause_text("slow_periods") for each in explained.ccas if each.flow == flow]
    return texts[0]


def _times_s(text: str) -> list[float]:
    """Returns the durations in and out of the period, s."""
    return [float(value) / (1e3 if unit == "ms" else 1) for value, unit in re.findall(_NUMBER, text)]


def _units(comparison: ct.Comparison, flow: str, unit: str) -> pd.DataFrame:
    units = comparison.units
    return units[(units["flow"] == flow) & (units["unit"] == unit)]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("has_backup", [True, False])
def test_pages_and_frames_behind_an_upload_have_their_times_during_it_and_otherwise(
    seed: int, has_backup: bool
) -> None:
    draw = random.Random(seed)
    rate = draw.uniform(1, 2)
    frames = {"kind": "frames", "size": "1kB", "interval": "40ms", "deadline": "300ms"}
    upload = {"from": "phone", "to": "server"}
    transfer = {"kind": "bulk", "bytes": f"{rate * 1e6 / 8 * draw.uniform(4, 7):.0f}B"}
    backup = {"name": "backup", "start": f"{draw.uniform(3, 6):.1f}s", "workload": transfer, **upload}
    flows = [{"name": "call", "workload": frames, **upload}, *([backup] if has_backup else [])]
    changes: dict[str, Any] = {
        "path.rtt": "40ms",
        "path.up": f"{rate:.2f}Mbit/s",
        "path.uplink_buffer": "60packets",
        "flows": flows,
    }
    comparison = ct.compare("steady-20-68", "cubic", 1, duration="20s", set=changes)
    text = _text(comparison, "call")
    if not has_backup:
        assert not text
        return
    assert text.startswith("Frames took ")
    assert " while backup sent (" in text
    sent = _units(comparison, "backup", "completion").iloc[0]
    units = _units(comparison, "call", "frame_delay")
    middle_s = units["start_s"] + units["duration_s"] / 2
    is_during = middle_s.between(sent["start_s"], sent["end_s"])
    medians_s = [float(units["duration_s"][each].median()) for each in (is_during, ~is_during)]
    assert _times_s(text) == pytest.approx(medians_s, rel=0.1)
    share = float(re.search(r"\((\d+) % of the time\)", text)[1])
    assert share == pytest.approx(100 * sent["duration_s"] / 20, abs=3)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_responses_over_a_slower_link_take_as_long_as_their_bytes_do(seed: int) -> None:
    draw = random.Random(seed)
    slow, fast, size = draw.uniform(0.5, 1), draw.uniform(8, 20), draw.randint(8_000, 12_000)
    steps = [{"at": f"{4 * n}s", "rate": f"{fast if n % 2 else slow:.2f}Mbit/s"} for n in range(8)]
    workload = {
        "kind": "request-response",
        "request": "200B",
        "response": f"{size}B",
        "gap": "300ms",
        "think": "0s",
    }
    changes: dict[str, Any] = {
        "path.rtt": "30ms",
        "path.down": {"steps": steps},
        "flows.0.workload": workload,
    }
    comparison = ct.compare("steady-20-68", "cubic", 1, duration="32s", set=changes)
    text = _text(comparison, "flow-1")
    bound, share = re.search(r"the link carried less than ([\d.]+) Mbit/s \((\d+) %", text).groups()
    assert slow < float(bound) < fast
    assert float(share) == pytest.approx(50, abs=3)
    # A window of ten segments holds the response: an RTT, and its bytes with headers at the rate.
    wanted_s = [0.03 + 8 * size * 1500 / 1448 / (rate * 1e6) for rate in (slow, fast)]
    assert _times_s(text.split("took")[1]) == pytest.approx(wanted_s, rel=0.1)


def test_responses_over_a_rate_that_varies_above_what_they_need_have_no_slow_period() -> None:
    steps = [{"at": f"{2 * n}s", "rate": f"{60 if n % 2 else 30}Mbit/s"} for n in range(10)]
    workload = {"kind": "request-response", "request": "200B", "response": "2kB", "gap": "200ms"}
    changes: dict[str, Any] = {"path.down": {"steps": steps}, "flows.0.workload": workload}
    assert not _text(ct.compare("steady-20-68", "cubic", 1, duration="20s", set=changes), "flow-1")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_link_that_is_slower_by_chance_while_acks_wait_has_no_slow_period(seed: int) -> None:
    """The downlink carries 50 times the call, whose windows wait for ACKs behind a backup."""
    draw = random.Random(seed)
    slow, fast = draw.uniform(60, 70), draw.uniform(110, 140)
    frames = {"kind": "frames", "size": "3kB", "interval": "20ms", "deadline": "150ms"}
    flows = [{"name": "backup", "from": "phone", "to": "server"}, {"name": "call", "workload": frames}]
    uplink = [
        {"at": "0s", "rate": "40Mbit/s"},
        {"at": "10s", "rate": f"{draw.uniform(3, 5):.2f}Mbit/s"},
    ]
    changes: dict[str, Any] = {
        "path.rtt": "35ms",
        "path.down": {
            "steps": [
                {"at": f"{10 * n}s", "rate": f"{r:.1f}Mbit/s"} for n, r in enumerate((fast, slow))
            ]
        },
        "path.up": {"steps": uplink},
        "path.uplink_buffer": "1500kB",
        "flows": [{**flows[0], "cca": "cubic"}, {**flows[1], "cca": "cubic"}],
    }
    comparison = ct.compare("steady-20-68", "cubic", 1, duration="20s", set=changes)
    units = _units(comparison, "call", "frame_delay")
    medians_s = [
        units["duration_s"][(units["start_s"] > 11) == each].median() for each in (True, False)
    ]
    assert medians_s[0] > 3 * medians_s[1]
    assert "the link carried" not in _text(comparison, "call")


@pytest.mark.parametrize("seed", [1, 2])
def test_pages_have_their_times_beside_a_download_under_bbr_too_whose_queue_is_short(seed: int) -> None:
    """BBR keeps up to a BDP in the queue: each of some ten round trips takes little longer."""
    draw = random.Random(f"bbr {seed}")
    page = {"kind": "page", "document": "20kB", "objects": 5, "object": "20kB", "gap": "2s"}
    update = {"name": "update", "workload": {"kind": "bulk", "bytes": f"{draw.randint(40, 60)}MB"}}
    changes: dict[str, Any] = {
        "path.rtt": f"{draw.randint(40, 60)}ms",
        "path.down": {"rate": "30Mbit/s"},
        "path.buffer": "750packets",
        "flows": [update, {"name": "pages", "cca": "cubic", "workload": page}],
    }
    comparison = ct.compare("steady-20-68", "bbr", 2, duration="50s", set=changes)
    text = _text(comparison, "pages")
    assert " while update sent (" in text
    within_s, outside_s = _times_s(text)
    assert 1.2 * outside_s <= within_s <= 2 * outside_s
