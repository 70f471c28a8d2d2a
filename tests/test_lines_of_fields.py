"""Lines of all fields that hosts and routers set: each has a command, or says where it is set."""

from __future__ import annotations

import random
import re
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from celltcp.comparison.lines.linux_lines import linux_lines, other_places
from celltcp.scenarios.scenarios import load_scenario

if TYPE_CHECKING:
    from conftest import Celltcp

#: Fields of `tcp` that are constants of Linux, or no part of it.
_NOT_OF_LINUX = {"delayed_ack_timeout", "far_acks", "eln"}
#: Values of fields of `tcp` that have no default in a scenario.
_UNSET = {
    "mss": "536B",
    "rto_max": "20s",
    "thin_linear_timeouts": "true",
    "delayed_ack_timeout": "10ms",
    "nodelay": "true",
    "sack": "false",
    "receive_buffer_initial": "64kB",
    "receive_window_max": "64kB",
    "notsent_lowat": "16kB",
    "user_timeout": "9s",
    "keepalive": "60s",
    "keepalive_interval": "10s",
    "keepalive_probes": "4",
    "far_acks": "false",
    "eln": "false",
}
_HOPS = ("path", "path.wired.0", "links.0")


def _scenario(**path: Any) -> dict[str, Any]:
    link = {"name": "lan", "from": "gateway", "to": "host", "rate": {"rate": "4Mbit/s"}}
    hop = {"name": "wan", "rate": {"rate": "8Mbit/s"}}
    path = {"rtt": "40ms", "down": "2Mbit/s", "up": "1Mbit/s", "wired": [hop], **path}
    return {"path": path, "links": [link]}


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_each_field_of_tcp_has_a_line_or_is_not_of_linux(celltcp: Celltcp) -> None:
    tcp = tomllib.loads(load_scenario("steady-20-68").to_toml())["tcp"]
    values = {**_UNSET, **{name: _text(value) for name, value in tcp.items()}}
    # All fields are in the reference of the scenario file.
    printed = celltcp("scenarios", "--fields").stdout.partition("### Tcp\n")[2].partition("###")[0]
    names = {line.split(" ")[1] for line in printed.splitlines() if line.startswith("| ")}
    # Tables of the hosts of a side have fields of this one.
    names -= {"field", "--", "server", "phone"}
    assert names <= values.keys()
    for name in names:
        change = [f"tcp.{name}={values[name]}"]
        (line, *_) = linux_lines(change, _scenario()) or other_places(change, _scenario())
        if name in _NOT_OF_LINUX:
            assert line == f"tcp.{name} is not a setting of Linux"
        else:
            assert any(word in line for word in ("sysctl -w", "ip ", "tc ", "socket option")), line


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("hop", _HOPS)
def test_each_settable_field_of_a_hop_has_a_line(hop: str, seed: int) -> None:
    draw = random.Random(f"{hop} {seed}")
    rate, burst, size = draw.randint(1, 90), draw.randint(3, 900), draw.randint(68, 9000)
    table = f'{{ rate = "{rate}Mbit/s", burst = "{burst}kB" }}'
    scenario = _scenario()
    police = f"police rate {rate}000kbit burst {burst}000 conform-exceed drop"
    assert linux_lines([f"{hop}.policer={table}"], scenario)[0].endswith(police)
    changes = [f"{hop}.policer.rate={rate}Mbit/s", f"{hop}.policer.burst={burst}kB"]
    (line,) = linux_lines(changes, scenario)
    assert line.endswith(police)
    (line,) = linux_lines([f"{hop}.mtu={size}B"], scenario)
    assert line == f"both ends of the link: ip link set dev INTERFACE mtu {size}"
    packets, kind = draw.randint(20, 900), draw.choice(["codel", "fq-codel", "pie"])
    tc = f"root {kind.replace('-', '_')}"
    (line,) = linux_lines([f"{hop}.queue={kind}", f"{hop}.buffer={packets}packets"], scenario)
    assert f"{tc} limit {packets}" in line
    both = [f"{hop}.queue=droptail", f"{hop}.buffer={packets}packets"]
    assert f"root pfifo limit {packets}," in linux_lines(both, scenario)[0]
    # A buffer in time or in BDPs has the bytes of a steady rate.
    bytes_per_s = {"path": 250_000, "path.wired.0": 1_000_000, "links.0": 500_000}[hop]
    (line,) = linux_lines([f"{hop}.buffer=60ms"], scenario)
    assert f"bfifo limit {0.06 * bytes_per_s:.0f}," in line
    (line,) = linux_lines([f"{hop}.buffer=2bdp"], scenario)
    assert f"bfifo limit {0.08 * bytes_per_s:.0f}," in line


def test_a_policer_keeps_what_does_not_change_of_it() -> None:
    scenario = _scenario(policer={"rate": "4Mbit/s", "burst": "15kB"})
    assert "rate 4000kbit burst 200000 " in linux_lines(["path.policer.burst=200kB"], scenario)[0]
    assert "rate 6000kbit burst 15000 " in linux_lines(["path.policer.rate=6Mbit/s"], scenario)[0]


@pytest.mark.parametrize("seed", range(3))
def test_options_of_the_sockets_of_a_flow_have_a_line_for_their_sender(seed: int) -> None:
    draw = random.Random(seed)
    rate, index = draw.randint(1, 90), draw.randint(0, 1)
    flows = [{"from": "server"}, {"from": "phone"}]
    scenario = {**_scenario(up={"trace": "a.csv"}), "flows": flows}
    host = ("sender (server)", "sender (phone)")[index]
    (line,) = linux_lines([f"flows.{index}.max_pacing_rate={rate}Mbit/s"], scenario)
    option = f"SO_MAX_PACING_RATE={rate * 125_000} (bytes/s of payload, also under fq"
    assert line.startswith(f"{host}: the socket option {option}")
    # The packets that fq counts have 1514 bytes for 1448 of payload.
    with_headers = f"{1000 * rate * 1514 / 1448:.0f}kbit (with headers)"
    assert line.endswith(f"fq maxrate {with_headers}, which caps each flow of this host")
    (line,) = linux_lines([f"flows.{index}.nodelay=true"], scenario)
    assert line == f"{host}: socket option TCP_NODELAY=1"


@pytest.mark.parametrize(
    ("change", "option"),
    [
        ("path.queue.ecn=false", "fq_codel noecn"),
        ("path.queue.quantum=300B", "fq_codel quantum 300"),
        ("path.queue.flows=64", "fq_codel flows 64"),
        ("path.queue={ kind = 'pie', alpha = 0.25, update = '30ms' }", "pie tupdate 30ms alpha 4"),
    ],
)
def test_parameters_of_a_queue_discipline_have_their_options(change: str, option: str) -> None:
    present = load_scenario("steady-20-68", changes=["path.queue=fq-codel"]).to_toml()
    (line,) = linux_lines([change], {"path": tomllib.loads(present)["path"]})
    assert f"root {option}" in line


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("path.queue={ kind = 'red' }", "no line for path.queue={ kind = 'red' }"),
        ("radio.rlc.mode=am", "radio.rlc.mode=am is set at the base station, if it can be"),
        ("flows.0.workload.chunk=9kB", "flows.0.workload.chunk=9kB is set in the application"),
    ],
)
def test_a_field_without_a_line_says_where_it_is_set(change: str, text: str) -> None:
    assert linux_lines([change], _scenario()) == []
    assert other_places([change], _scenario()) == [text]


@pytest.mark.parametrize("seed", range(3))
def test_a_rate_of_a_hop_without_an_aqm_is_that_of_a_shaper_with_its_buffer(seed: int) -> None:
    draw = random.Random(seed)
    rate = draw.randint(20, 900)
    packets = draw.randint(10, 5 * rate)
    varying = {"rate": {"trace": "a.csv"}, "buffer": "1bdp"}
    hops = [{"name": "nic", "rate": "1Gbit/s", "buffer": f"{packets}packets"}, varying]
    scenario = _scenario(wired=hops)
    (line,) = linux_lines([f"path.wired.0.rate={rate}Mbit/s"], scenario)
    assert f"tbf rate {rate}000kbit burst {500 * rate} limit {1500 * packets}" in line
    # 100 ms, or a round trip, is long enough for one connection.
    rtt_s = draw.choice([0.02, 0.3])
    scenario["path"]["rtt"] = f"{rtt_s}s"
    hops[0]["buffer"] = f"{2 * max(rtt_s, 0.1) * rate / 8:.3f}MB"
    (line,) = linux_lines([f"path.wired.0.rate={rate}Mbit/s"], scenario)
    limit = float(re.findall(r"limit (\d+),", line)[0])
    assert limit == pytest.approx(rtt_s * rate * 1e6 / 8, rel=1e-3)
    assert f"--set path.wired.0.buffer={limit:.0f}B as well" in line
    # Nothing says how many bytes a buffer of a BDP of a varying rate has.
    assert linux_lines([f"path.wired.1.rate={rate}Mbit/s"], scenario) == []


def test_a_sweep_has_the_lines_of_all_halves_of_a_combination(celltcp: Celltcp) -> None:
    sweep = celltcp(
        "sweep", "steady-20-68", "--vary", "tcp.receive_buffer_max=32kB,6MB", "--vary",
        "tcp.mss=256B,536B", "--set", "path.loss=1%", "--set", "path.rtt=200ms", "--set",
        "path.down=1Mbit/s", "--cca", "cubic,bbr", "--runs", "3", "--duration", "20s", "-q",
    )  # fmt: skip
    lines = [line for line in sweep.stdout.splitlines() if "On Linux" in line]
    assert any("advmss 536" in line for line in lines)
    assert any("tcp_congestion_control=bbr" in line for line in lines)


@pytest.mark.parametrize("rate", ["2Mbit/s", "40Mbit/s"])
@pytest.mark.parametrize("kind", ["codel", "fq-codel"])
def test_parameters_of_a_discipline_are_no_line_of_another(kind: str, rate: str) -> None:
    """CAKE has a target of 5 ms at an RTT of 100 ms, and of 1.5 packets' time on slow links."""
    kbit = int(1000 * float(rate.removesuffix("Mbit/s")))

    def shaper(parameter: str, value: str) -> str:
        queue = f'path.queue={{ kind = "{kind}", {parameter} = "{value}" }}'
        (line,) = linux_lines([f"path.down={rate}", queue], {})
        return line

    name = kind.replace("-", "_")
    for target in ("1ms", "40ms"):
        assert shaper("target", target).endswith(
            f"root handle 1: htb default 1 && tc class replace dev INTERFACE parent 1: classid 1:1 htb "
            f"rate {kbit}kbit && tc qdisc replace dev INTERFACE parent 1:1 {name} target {target}"
        )
    # An interval alone leaves the target of 5 ms, which CAKE would have multiplied.
    assert "parent 1:1" in shaper("interval", "400ms")
    own = "9ms" if rate == "2Mbit/s" else "5ms"
    # CAKE has a queue for each flow, and CoDel one for all.
    has_cake = shaper("target", own).endswith(f"root cake bandwidth {kbit}kbit")
    assert has_cake == (kind == "fq-codel")
