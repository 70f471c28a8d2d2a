"""Tests of the comparison of emulators."""

import json
import random
import tomllib
from pathlib import Path

import pytest
from compare_emulators import added, against_trace, rate_share
from emulators import Link, rattan_config
from probe import SLOT_MS
from recorded import LEAST_BPS, as_rates, opportunities

SECOND = 1000 // SLOT_MS


def test_the_start_of_a_download_does_not_count() -> None:
    """96.5 Mbit/s of data fill 100 Mbit/s of packets of 1500 bytes."""
    full = round(100e6 * 1448 / 1500 / 8 / SECOND)
    assert rate_share([0] * 3 * SECOND + [full] * 7 * SECOND, 100) == pytest.approx(1, abs=1e-4)


def test_a_trace_repeats_itself(tmp_path: Path) -> None:
    """Lines are milliseconds of an opportunity for a packet; the last one is the period."""
    file = tmp_path / "link.down"
    file.write_text("1\n1\n15\n20\n")
    assert opportunities(file, 0.05) == [3000, 1500, 4500, 1500, 4500]


def test_a_shifted_copy_of_a_trace_fits_it(tmp_path: Path) -> None:
    """The trace from 2.3 s on, less a hundredth, arrives."""
    draw = random.Random(5)
    times = sorted(
        draw.choices(range(20_000), k=9_000, weights=[1 + n // 997 % 5 for n in range(20_000)])
    )
    file = tmp_path / "link.down"
    file.write_text("\n".join(map(str, [*times, 20_000])))
    slots = [0.99 * each for each in opportunities(file, 15)[2 * SECOND + 30 :]]
    fit, share = against_trace(slots, file)
    assert (fit, share) == pytest.approx((1.0, 0.99))


def test_slots_are_added_up() -> None:
    """Ten of 10 ms are one of 100 ms."""
    assert added([1] * 35, 5, 3) == [10, 10, 10]


@pytest.mark.parametrize("trace", [None, Path("/traces/link.down")])
def test_each_cell_of_rattan_is_linked_once(trace: Path | None) -> None:
    """Both ends reach each other through the cells."""
    config = tomllib.loads(rattan_config(Link("link", 12.5, trace, 10, 100), Path("rates.json")))
    links = config["links"]
    for begin, end in ("right", "left"), ("left", "right"):
        passed = []
        while begin != end:
            begin = links[begin]
            passed.append(begin)
        assert set(passed) - {end} <= set(config["cells"])
    assert config["cells"]["down_rate"]["queue_config"] == {"packet_limit": 100}


def test_rates_have_the_bytes_of_a_trace_and_never_stand_still(tmp_path: Path) -> None:
    """Rattan cannot wait for a rate of zero."""
    file = tmp_path / "link.down"
    file.write_text("\n".join(map(str, [*range(1, 100), 250, 300])))
    (pattern,) = (each["pattern"] for each in json.loads(as_rates(file)).values())
    rates = [int(step["StaticBwConfig"]["bw"].removesuffix("bps")) for step in pattern]
    assert rates == [99 * 1500 * 80, LEAST_BPS, 1500 * 80]
