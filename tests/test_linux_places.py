"""Linux lines with their place: the host, and the interface that data leaves by."""

from __future__ import annotations

import random
from typing import Any

import pytest

from celltcp.comparison.linux_lines import cca_line, linux_line, linux_lines

#: Shapers of downloads and of uploads, without their rate.
LAN, WAN = (
    f"router, INTERFACE to the {side}: tc qdisc replace dev INTERFACE root cake bandwidth "
    for side in ("LAN, or an ifb", "WAN")
)
#: A shaper of 38 Mbit/s, and the queue discipline that makes a hop one.
CAKE, QUEUE = "cake bandwidth 38000kbit", "path.wired.0.queue=fq-codel"


@pytest.mark.parametrize(
    ("scenario", "change", "shaper"),
    [
        ({"path": {"down": {"rate": "20Mbit/s"}}}, "path.queue=fq-codel", f"{LAN}18000kbit"),
        (
            {
                "path": {"up": "5Mbit/s", "down": "50Mbit/s"},
                "flows": [{"workload": {"kind": "frames"}}, {"from": "phone"}],
            },
            "path.queue=fq-codel",
            f"{WAN}4500kbit",
        ),
        (
            {"path": {"wired": [{"rate": {"rate": "10Mbit/s"}}]}},
            "path.wired.0.queue=codel",
            f"{LAN}9000kbit",
        ),
        (
            {
                "path": {"up": "5Mbit/s", "down": "50Mbit/s"},
                "flows": [{"from": "phone", "workload": {"kind": "bulk"}}, {"from": "server"}],
            },
            "path.queue=fq-codel",
            f"{LAN}45000kbit; {WAN}4500kbit",
        ),
        # A shaper has one rate, which the scenario of a trace does not name.
        (
            {"path": {"down": {"trace": "log.csv"}}},
            "path.queue=fq-codel",
            f"{LAN}RATE, 90 % of the capacity, if that is steady",
        ),
        (
            {"path": {"down": {"steps": [{"at": "0s", "rate": "5Mbit/s"}]}}},
            "path.queue=pie",
            "only a shaper before it",
        ),
    ],
)
def test_a_queue_in_another_device_needs_a_shaper(
    scenario: dict[str, Any], change: str, shaper: str
) -> None:
    line = linux_line(change, scenario)
    place, _, behind = line.partition("; where the queue is a modem's or the provider's: ")
    assert place.startswith("host before the bottleneck, INTERFACE towards it: tc qdisc replace ")
    assert behind == shaper


def test_the_queue_of_a_cell_has_no_line_and_a_shaper_before_it_has_one() -> None:
    scenario = {"radio": {"x": 1}, "path": {"down": "50Mbit/s", "wired": [{"name": "wan"}]}}
    assert not linux_line("path.queue=pie", scenario)
    changes = ["path.wired.0.rate=38Mbit/s", "path.wired.0.queue=fq-codel"]
    (shaper,) = linux_lines(changes, scenario)
    assert linux_lines(reversed(changes), scenario) == [shaper]
    assert shaper.startswith("router, INTERFACE to the LAN, or an ifb, or an operator's router, ")
    assert shaper.endswith("INTERFACE to the base station: tc qdisc replace dev INTERFACE root " + CAKE)


@pytest.mark.parametrize("seed", range(4))
def test_a_shaper_is_where_the_data_leaves_towards_its_receiver(seed: int) -> None:
    """At the WAN side, the rate for a download would shape the uplink, which is slower."""
    draw = random.Random(seed)
    node = draw.choice(["server", "phone"])
    flow = {"from": node} if node == "phone" else {}
    scenario = {"path": {"wired": [{"rate": "1Gbit/s", "queue": "fq-codel"}]}, "flows": [flow]}
    rate = draw.randint(2, 90)
    for changes in ([f"path.wired.0.rate={rate}Mbit/s"], [f"path.wired.0.rate={rate}Mbit/s", QUEUE]):
        side = {"server": LAN, "phone": WAN}[node]
        assert linux_lines(changes, scenario) == [f"{side}{rate}000kbit"]


def test_lines_name_the_node_that_sends_unless_flows_have_several() -> None:
    up, down = {"from": "phone", "to": "server"}, {"workload": {"kind": "bulk"}}
    scenario = {"flows": [up]}
    assert linux_line("tcp.initial_window=32", scenario).startswith("sender (phone): ip route ")
    assert linux_line("tcp.receive_buffer_max=9MB", scenario).startswith("receiver (server): ")
    assert cca_line("bbr", {"flows": [down, {}]}).startswith("sender (server): sysctl ")
    assert cca_line("bbr", {"flows": [down, up]}).startswith("sender: sysctl ")


def test_a_lower_rto_is_for_both_hosts_where_a_client_sends_requests() -> None:
    scenario = {"flows": [{"workload": {"kind": "request-response"}}]}
    line = linux_line("tcp.min_rto=20ms", scenario)
    assert line.startswith("both hosts, as the phone repeats lost requests: ip route change ")
    assert linux_line("tcp.min_rto=20ms", {"flows": [{}]}).startswith("sender (server): ")


@pytest.mark.parametrize(("rtt", "is_on_link"), [("0.2ms", True), ("500us", True), ("20ms", False)])
def test_routes_in_a_lan_are_those_of_its_subnet(rtt: str, is_on_link: bool) -> None:
    line = linux_line("tcp.min_rto=20ms", {"path": {"rtt": rtt}})
    assert ("change SUBNET dev INTERFACE rto_min 20ms" in line) == is_on_link
    assert ("default via GATEWAY" in line) != is_on_link
