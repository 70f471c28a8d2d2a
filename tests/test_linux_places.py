"""Linux lines with their place: the host, and the interface that data leaves by."""

from __future__ import annotations

import random
import re
import tomllib
from typing import Any

import pytest

from celltcp.comparison.lines.linux_lines import cca_line, host_text, linux_line, linux_lines
from celltcp.scenarios.scenarios import load_scenario

#: Shapers of downloads and of uploads, without their rate.
LAN, WAN = (
    f"router, INTERFACE to the {side}: tc qdisc replace dev INTERFACE root cake bandwidth "
    for side in ("LAN, or an ifb", "WAN")
)
#: A shaper of 38 Mbit/s, and the queue discipline that makes a hop one.
CAKE, QUEUE = "cake bandwidth 38000kbit", "path.wired.0.queue=fq-codel"


#: A queue of the uplink that stays as it is beside another one of the downlink.
_KEPT = "path.uplink_queue=droptail"
#: What a queue in another device needs: a shaper, whose rate is no line before it was tried.
BEHIND = "where the queue is a modem's or the provider's: only a shaper before it"


@pytest.mark.parametrize(
    ("scenario", "change", "untried"),
    [
        ({"path": {"down": {"rate": "20Mbit/s"}}}, "path.queue=fq-codel", ["path.down=18Mbit/s"]),
        (
            {
                "path": {"up": "5Mbit/s", "down": "50Mbit/s"},
                "flows": [{"workload": {"kind": "frames"}}, {"from": "phone"}],
            },
            "path.queue=fq-codel",
            ["path.up=4.5Mbit/s"],
        ),
        (
            {"path": {"wired": [{"rate": {"rate": "10Mbit/s"}}]}},
            "path.wired.0.queue=codel",
            ["path.wired.0.rate=9Mbit/s"],
        ),
        (
            {
                "path": {"up": "5Mbit/s", "down": "50Mbit/s"},
                "flows": [{"from": "phone", "workload": {"kind": "bulk"}}, {"from": "server"}],
            },
            "path.queue=fq-codel",
            ["path.down=45Mbit/s", "path.up=4.5Mbit/s"],
        ),
        # A shaper has one rate, which a link that varies does not name.
        ({"path": {"down": {"trace": "log.csv"}}}, "path.queue=fq-codel", []),
        (
            {"path": {"down": {"steps": [{"at": "0s", "rate": "5Mbit/s"}]}}},
            "path.queue=pie",
            [],
        ),
    ],
)
def test_a_queue_in_another_device_needs_a_shaper(
    scenario: dict[str, Any], change: str, untried: list[str]
) -> None:
    line = linux_line(change, scenario)
    place, _, behind = line.partition(f"; {BEHIND}")
    hop = re.search(r"path\.wired\.(\d)", change)
    link = "hop 0" if hop else "(downlink|uplink|downlink and the uplink)"
    assert re.match(f"host before the {link}, INTERFACE towards it: tc qdisc replace ", place)
    options = " ".join(f"--set {each}" for each in untried)
    assert behind == (f", untried: {options} as well" if untried else "")
    # What was tried with a rate is that shaper, and has no other line.
    lines = linux_lines([change, *untried], scenario) if untried else []
    rates = [
        f"{float(each.partition('=')[2].removesuffix('Mbit/s')) * 1e3:.0f}kbit" for each in untried
    ]
    assert len(lines) == len(rates)
    for shaper, rate in zip(lines, rates, strict=True):
        assert shaper.startswith("router, INTERFACE to the ")
        assert rate in shaper


def test_the_queue_of_a_cell_has_no_line_and_a_shaper_before_it_has_one() -> None:
    scenario = {"radio": {"x": 1}, "path": {"down": "50Mbit/s", "wired": [{"name": "wan"}]}}
    assert not linux_line("path.queue=pie", scenario)
    changes = ["path.wired.0.rate=38Mbit/s", "path.wired.0.queue=fq-codel"]
    (shaper,) = linux_lines(changes, scenario)
    assert linux_lines(reversed(changes), scenario) == [shaper]
    assert shaper.startswith("router, INTERFACE to the LAN, or an ifb, or an operator's router in ")
    # The interface carries all UEs of the cell.
    assert "in a class of this subscriber alone (HTB), not for all of" in shaper
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
    assert linux_line("tcp.initial_window=32", scenario).startswith("sender (client): ip route ")
    # Only a radio, or the log of one, makes it a phone.
    for mobile in ({"radio": {}}, {"path": {"down": {"trace": "log.csv"}}}):
        assert cca_line("bbr", {**scenario, **mobile}).startswith("sender (phone): ")
    assert linux_line("tcp.receive_buffer_max=9MB", scenario).startswith("receiver (server): ")
    assert cca_line("bbr", {"flows": [down, {}]}).startswith("sender (server): sysctl ")
    assert cca_line("bbr", {"flows": [down, up]}).startswith("sender: sysctl ")


def test_a_lower_rto_is_for_both_hosts_where_a_client_sends_requests() -> None:
    scenario = {"flows": [{"workload": {"kind": "request-response"}}]}
    line = linux_line("tcp.min_rto=20ms", scenario)
    assert line.startswith("both hosts, as the client repeats lost requests: ip route change ")
    assert linux_line("tcp.min_rto=20ms", {"flows": [{}]}).startswith("sender (server): ")


@pytest.mark.parametrize(("rtt", "is_on_link"), [("0.2ms", True), ("500us", True), ("20ms", False)])
def test_routes_in_a_lan_are_those_of_its_subnet(rtt: str, is_on_link: bool) -> None:
    line = linux_line("tcp.min_rto=20ms", {"path": {"rtt": rtt}})
    assert ("change SUBNET dev INTERFACE rto_min 20ms" in line) == is_on_link
    assert ("default via GATEWAY" in line) != is_on_link


def test_a_queue_of_the_downlink_alone_has_no_line_before_the_uplink() -> None:
    scenario = {"flows": [{"name": "photos", "from": "phone", "to": "server"}, {"name": "video"}]}
    both = ["path.queue=fq-codel"]
    for changes, link in ((both, "downlink and the uplink"), ([*both, _KEPT], "downlink")):
        (line,) = linux_lines(changes, scenario)
        assert line.startswith(f"host before the {link}, INTERFACE towards it: tc qdisc")


def test_the_queue_of_each_direction_has_its_line() -> None:
    page, ping = {"workload": {"kind": "page"}}, {"workload": {"kind": "frames"}}
    flows = [{"from": "phone", "to": "server"}, page, ping]
    scenario: dict[str, Any] = {"path": {"up": "5Mbit/s", "down": "20Mbit/s"}, "flows": flows}
    down, up = "--set path.down=18Mbit/s", "--set path.up=4.5Mbit/s"
    assert linux_line("path.queue=fq-codel", scenario).endswith(f": {down} {up} as well")
    assert linux_line("path.uplink_queue=fq-codel", scenario).endswith(f"untried: {up} as well")
    scenario["path"]["uplink_queue"] = "codel"
    assert linux_line("path.queue=fq-codel", scenario).endswith(f"untried: {down} as well")
    assert not linux_line("path.uplink_queue=pie", {"radio": {"x": 1}, **scenario})


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["codel", "fq-codel"])
def test_a_target_has_a_line(kind: str, seed: int) -> None:
    draw = random.Random(seed)
    kbit, target = draw.randint(200, 2300), f"{draw.randint(6, 80)}ms"
    present = load_scenario(
        "steady-20-68", changes=[f"path.queue.kind={kind}", "path.queue.interval=60ms"]
    )
    queue = tomllib.loads(present.to_toml())["path"]["queue"]
    scenario: dict[str, Any]
    scenario = {"path": {"down": f"{kbit}kbit/s", "queue": queue, "wired": [{"queue": queue}]}}
    tc = f"root {kind.replace('-', '_')}"
    # A line sets what was simulated, and no more.
    assert f"{tc};" in linux_line(f"path.queue={kind}", scenario)
    for field in ("path.queue", "path.uplink_queue", "path.wired.0.queue"):
        line = linux_line(f"{field}.target={target}", scenario)
        assert f"{tc} interval 60ms target {target};" in line
    table = f'{{ kind = "{kind}", target = "{target}" }}'
    assert f"{tc} target {target};" in linux_line(f"path.queue={table}", scenario)
    fast = {"path": {"down": f"{draw.randint(3, 90)}Mbit/s"}}
    assert f"{tc};" in linux_line(f"path.queue={kind}", fast)
    assert not linux_line("path.queue={ kind = 'red' }", fast)
    scenario["path"]["queue"] = {**queue, "ecn": not queue["ecn"]}
    ecn = "noecn" if queue["ecn"] else "ecn"
    assert f"{tc} interval 60ms target 9ms {ecn};" in linux_line("path.queue.target=9ms", scenario)


@pytest.mark.parametrize("seed", range(3))
def test_buffers_and_flows_of_their_own_cca_have_lines(seed: int) -> None:
    draw = random.Random(seed)
    count = draw.randint(5, 900)
    links = {"buffer": "downlink", "uplink_buffer": "uplink", "wired.0.buffer": "hop wan"}
    for field, link in ((f"path.{name}", link) for name, link in links.items()):
        scenario: dict[str, Any] = {"path": {"wired": [{"name": "wan"}]}, "flows": [{}, {}]}
        place = f"host before the {link}, INTERFACE towards it: tc qdisc replace dev INTERFACE root"
        for value, limit in ((f"{count}packets", "pfifo"), (f"{count}000B", "bfifo")):
            number = value.rstrip("packetsB")
            assert linux_line(f"{field}={value}", scenario).startswith(
                f"{place} {limit} limit {number},"
            )
            # A queue at a host does nothing for that of a modem behind it.
            assert linux_line(f"{field}={value}", scenario).endswith(f"; {BEHIND}")
        assert not linux_line(f"{field}=2bdp", scenario)
        assert not linux_line(f"{field}=9packets", {"radio": {"x": 1}, **scenario})
    scenario["path"]["up"] = "20Mbit/s"
    # A modem's FIFO is a FIFO of that size behind a shaper, and no CAKE, which shares by flows.
    fifo = f"htb rate {count}000kbit && tc qdisc replace dev INTERFACE parent 1:1 "
    for value, limit in (("9packets", "pfifo limit 9"), ("9000B", "bfifo limit 9000")):
        line = linux_line(f"path.uplink_buffer={value}", scenario)
        assert line.endswith("untried: --set path.up=18Mbit/s as well")
        (line,) = linux_lines([f"path.uplink_buffer={value}", f"path.up={count}Mbit/s"], scenario)
        assert line.endswith(f"{fifo}{limit}")
        assert "cake" not in line
    # The sysctl would set the other flow of the host, too, unless that has the same.
    line = linux_line("flows.1.cca=vegas", scenario)
    assert "sender (server): socket option TCP_CONGESTION=vegas of the program" in line
    assert "sysctl -w net.ipv4.tcp_congestion_control" not in line
    for other in ({"from": "phone"}, {"cca": "vegas"}):
        scenario["flows"][0] = other
        line = linux_line("flows.1.cca=vegas", scenario)
        assert line == "sender (server): sysctl -w net.ipv4.tcp_congestion_control=vegas"


@pytest.mark.parametrize(
    ("nodes", "host"),
    [(["server"], "server"), (["gateway"], "server (gateway)"), (["gateway", "node-1"], "server")],
)
def test_the_receiver_of_larger_requests_is_the_server_with_its_node(
    nodes: list[str], host: str
) -> None:
    workload = {"kind": "request-response", "request": "1MB", "response": "1kB"}
    scenario = {"flows": [{"from": node, "workload": workload} for node in nodes]}
    assert host_text("receiver", scenario) == host
