"""Equal shares of mixes: transfers with pauses ask for less, and one after the other is one flow."""

from __future__ import annotations

import random
from typing import Any

import pytest

import celltcp as ct
from celltcp.comparison.equal_shares import equal_shares
from celltcp.comparison.sweep.mix_shares import have_pauses, mix_share_texts
from celltcp.scenarios.demand import requested_mbps


def _sequence(size: str, gap: str) -> dict[str, Any]:
    return {"name": "web", "workload": {"kind": "sequence", "size": size, "gap": gap}}


@pytest.mark.parametrize("seed", range(3))
def test_a_flow_that_fetches_and_pauses_is_not_starved_by_a_download_that_leaves_it_its_demand(
    seed: int,
) -> None:
    draw = random.Random(f"demand {seed}")
    path = {
        "path.rtt": f"{draw.randint(4, 60)}ms",
        "path.down": f"{draw.randint(8, 30)}Mbit/s",
    }
    web = _sequence(f"{draw.randint(80, 250)}kB", f"{draw.uniform(1.5, 3):.2f}s")
    alone = ct.compare("steady-20-68", "cubic", 1, duration="40s", set={**path, "flows": [web]})
    both = {**path, "flows": [{"name": "bulk"}, web]}
    swept = ct.sweep(
        "steady-20-68", "path.buffer=1bdp,3bdp", ["cubic+cubic", "bbr+bbr"], 2, duration="40s", set=both
    )
    for comparison in swept.comparisons.values():
        for mix in comparison.ccas:
            rates = {
                each.flow: each.goodput.mean for each in comparison.mean_shares() if each.mix == mix
            }
            # Far less than half of the link, and most of what it has without a rival.
            assert rates["web"] < rates["bulk"] / 3
            assert rates["web"] > alone.mean_shares()[0].goodput.mean / 3
    assert have_pauses(swept)
    assert mix_share_texts(swept) == []


def test_transfers_one_after_the_other_are_one_of_four_flows_with_equal_shares() -> None:
    flows = [{"name": name} for name in ("a", "b", "c")]
    path = {"path.rtt": "30ms", "path.down": "20Mbit/s", "path.buffer": "1bdp"}
    setting = {**path, "flows": [*flows, _sequence("2MB", "0s")]}
    shared = ct.compare("steady-20-68", "cubic+cubic+cubic+cubic", 1, duration="60s", set=setting)
    shares = {each.share.flow: each for each in equal_shares(shared, shared.ccas[0])}
    assert shares["web"].share.connections > 9
    assert shares["web"].got == pytest.approx(1, abs=0.4)
    assert sum(each.got for each in shares.values()) == pytest.approx(4)
    assert not any(each.is_starved for each in shares.values())


@pytest.mark.parametrize(("size", "gap"), [("2MB", "0s"), ("2MB", "500ms")])
def test_transfers_that_bbr_takes_the_path_from_are_starved(size: str, gap: str) -> None:
    """In a fifth of a BDP, BBR takes the path from CUBIC (Hock et al., ICNP 2017)."""
    path = {
        "path.rtt": "30ms",
        "path.down": "20Mbit/s",
        "flows": [{"name": "bulk"}, _sequence(size, gap)],
    }
    swept = ct.sweep(
        "steady-20-68",
        "path.buffer=0.2bdp,4bdp",
        ["bbr+cubic", "cubic+cubic"],
        1,
        duration="60s",
        set=path,
    )
    (text,) = (each for each in mix_share_texts(swept) if "starved" in each)
    of = "an equal share" if gap == "0s" else "what it asks for at an equal share"
    assert text.startswith("bbr+cubic: ")
    assert "web is starved with 0.2bdp, at " in text
    assert f" % of {of}" in text
    assert "starved with 4bdp" not in text


def test_an_upload_is_not_starved_by_downloads_of_a_faster_link() -> None:
    ways = [{"name": "down"}, {"name": "up", "from": "phone", "to": "server"}]
    path = {"path.down": "50Mbit/s", "path.up": "2Mbit/s", "flows": ways}
    shared = ct.compare("steady-20-68", "cubic+cubic", 1, duration="20s", set=path)
    assert len(shared.competing_shares()) == 2
    assert equal_shares(shared, shared.ccas[0]) == []


def test_a_fetch_asks_for_its_size_in_its_pause_and_the_time_of_slow_start() -> None:
    constant = {"kind": "constant"}
    workload = {
        "kind": "sequence",
        "size": {**constant, "value": "1MB"},
        "gap": {**constant, "value": "2s"},
    }
    assert requested_mbps(workload, 8.0, 0.0) == pytest.approx(8 / (2 + 1))
    # A handshake, and 10, 20, 40 ... segments of 1448 B a round trip: log2(1 + 69) of them.
    assert requested_mbps(workload, 8.0, 0.1) == pytest.approx(8 / (2 + 0.1 + 0.613 + 1), rel=1e-3)
    bursts = {"kind": "on-off", "on": "1s", "off": "3s", "rate": "4Mbit/s"}
    assert requested_mbps(bursts, 8.0, 0.1) == pytest.approx(1)
    assert requested_mbps({"kind": "video"}, 8.0, 0.1) is None
