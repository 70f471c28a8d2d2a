"""Small MTUs, as of radio modems and SLIP: connections work, and get what their headers leave."""

from __future__ import annotations

import random

import pytest

import celltcp as ct

#: Bytes of IPv4, TCP and its timestamps in each packet.
_HEADERS = 52


@pytest.mark.parametrize("seed", range(1, 7))
def test_a_small_mtu_costs_its_headers_only(seed: int) -> None:
    draw = random.Random(seed)
    mtu, rate = draw.choice([128, 296, draw.randint(128, 575)]), draw.choice([0.02, 0.1, 2])
    changes = {
        "path.mtu": f"{mtu}B",
        "path.down.rate": f"{rate}Mbit/s",
        "path.rtt": f"{draw.choice([40, 100, 400])}ms",
        "path.buffer": "40packets",
        # Blocks of SACK make ACKs longer than a small segment.
        "path.loss": draw.choice(["0%", "0.02%"]),
    }
    result = ct.compare("steady-20-68", ["bbr"], 1, duration="40s", set=changes)
    (flow,) = result.flows.to_dict("records")
    assert flow["goodput_mbps"] > 0.7 * rate * (1 - _HEADERS / mtu), (changes, flow)
    assert flow["goodput_mbps"] <= rate * (1 - _HEADERS / mtu), (changes, flow)


def test_an_mtu_below_the_smallest_mss_and_its_headers_is_refused() -> None:
    with pytest.raises(ct.CelltcpError, match=r"path\.mtu: 127B is out of range; allowed: 128B to 9kB"):
        ct.compare("steady-20-68", ["cubic"], 1, set={"path.mtu": "127B"})
