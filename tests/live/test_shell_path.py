"""Path of a live run: its times, rates, packets and changes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

from celltcp.cli.json_schema import schema_of
from celltcp.live.doctor import measure_floor
from celltcp.live.shell import Shell
from live.programs import SINK, SOURCE


def test_round_trips_take_the_time_of_the_path(wired: Path) -> None:
    with Shell(wired) as shell:
        script = (
            "import socket, time\n"
            "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('', 7))\n"
            "while True:\n    data, to = s.recvfrom(2000); s.sendto(data, to)\n"
        )
        shell.start([sys.executable, "-c", script], on="server")
        client = (
            "import socket, time\n"
            "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(2)\n"
            "for _ in range(40):\n"
            "    try:\n        s.sendto(b'x', ('server', 7)); s.recv(10); break\n"
            "    except OSError: pass\n"
            "times = []\n"
            "for _ in range(20):\n"
            "    begin = time.monotonic(); s.sendto(b'x', ('server', 7)); s.recv(10)\n"
            "    times.append(time.monotonic() - begin)\n"
            "print(sorted(times)[10])\n"
        )
        done = shell.run([sys.executable, "-c", client], stdout=subprocess.PIPE, timeout=30)
    median = float(done.stdout)
    # Other programs may delay it on a busy machine, but nothing can be earlier.
    assert 0.040 <= median < 0.075


def test_a_download_has_the_rate_of_the_link_and_a_row(wired: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with Shell(wired, seed=3, out=out) as shell:
        sink = shell.start([sys.executable, "-c", SINK], stdout=subprocess.PIPE, text=True)
        assert sink.stdout is not None
        assert sink.stdout.readline() == "ready\n"
        shell.run([sys.executable, "-c", SOURCE, "phone", "5001", "4"], on="server", timeout=60)
        total = int(sink.stdout.readline())
    result = shell.result()
    (flow,) = result.to_json()["flows"]
    assert flow["name"].endswith("server to phone")
    assert flow["bytes"] == total
    # 1448 of 1500 bytes are payload. A busy machine may be slower, but not faster.
    assert 1 < float(flow["goodput_mbps"]) < 20 * 1448 / 1500 + 0.1
    assert float(flow["rtt_min_ms"]) >= 40
    traffic = result.status["to"]["phone"]
    assert traffic["packets"] == traffic["delivered_packets"] + traffic["lost_packets"]
    import celltcp as ct

    stored = ct.load(out)
    assert stored.flows["bytes"].tolist() == [total]
    assert stored.results.about["engine"].startswith("live-")
    lateness = stored.results.about["lateness"]
    assert lateness == result.status["lateness"]
    assert bool(stored.warnings) != lateness["valid"]
    assert 0 < result.status["cpu_share"] <= 1


def test_segments_that_are_handed_over_at_once_arrive_whole(tmp_path: Path) -> None:
    """On a path that is too fast for one packet at a time."""
    fast = tmp_path / "fast.toml"
    fast.write_text(
        '[path]\nrtt = "4ms"\nbuffer = "5MB"\ndown.rate = "2Gbps"\n'
        '[[path.wired]]\nname = "wan"\nrate = "10Gbps"\n'
    )
    # fmt: off
    sink = SINK.replace("total = 0", "import hashlib; total = hashlib.sha256()").replace(
        "total += len(data)", "total.update(data)").replace("print(total", "print(total.hexdigest()")
    # fmt: on
    source = (
        "import hashlib, random, socket\n"
        "data = random.Random(1).randbytes(1 << 24)\n"
        "socket.create_connection(('phone', 5001)).sendall(data)\n"
        "print(hashlib.sha256(data).hexdigest())\n"
    )
    with Shell(fast) as shell:
        receiver = shell.start([sys.executable, "-c", sink], stdout=subprocess.PIPE, text=True)
        assert receiver.stdout is not None
        assert receiver.stdout.readline() == "ready\n"
        sender = [sys.executable, "-c", source]
        sent = shell.run(sender, on="server", stdout=subprocess.PIPE, text=True, timeout=60)
        assert receiver.stdout.readline() == sent.stdout
        status = shell.status()
    passed = sum(traffic["delivered_packets"] for traffic in status["to"].values())
    assert status["lateness"]["departures"] == passed
    assert status["refused"] == 0


def test_ipv6_and_large_datagrams_pass(wired: Path) -> None:
    with Shell(wired) as shell:
        server = (
            "import socket\n"
            "s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); s.bind(('::', 9))\n"
            "print('ready', flush=True)\n"
            "while True:\n    data, to = s.recvfrom(70000); s.sendto(data, to)\n"
        )
        echo = shell.start(
            [sys.executable, "-c", server], on="server", stdout=subprocess.PIPE, text=True
        )
        assert echo.stdout is not None
        assert echo.stdout.readline() == "ready\n"
        client = (
            "import socket, os\n"
            "to = socket.getaddrinfo('server6', 9, socket.AF_INET6, socket.SOCK_DGRAM)[0][4]\n"
            "s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); s.settimeout(5)\n"
            "for size in (1, 1200, 5000):\n"
            "    data = os.urandom(size); s.sendto(data, to); assert s.recv(70000) == data\n"
        )
        assert shell.run([sys.executable, "-c", client], timeout=30).returncode == 0


def test_senders_of_both_ip_versions_are_in_the_tables(wired: Path, tmp_path: Path) -> None:
    for host in "phone", "phone6":
        sink = SINK.replace('create_server(("", 5001))', 'create_server(("", 5001), family=FAMILY)')
        family = "socket.AF_INET6" if host == "phone6" else "socket.AF_INET"
        out = tmp_path / host
        with Shell(wired, "reno", out=out) as shell:
            listener = shell.start(
                [sys.executable, "-c", sink.replace("FAMILY", family)],
                stdout=subprocess.PIPE,
                text=True,
            )
            assert listener.stdout is not None
            assert listener.stdout.readline() == "ready\n"
            shell.run([sys.executable, "-c", SOURCE, host, "5001", "2"], on="server", timeout=60)
            total = int(listener.stdout.readline())
        outcome = shell.result().to_json()
        (flow,) = outcome["flows"]
        assert (flow["bytes"], flow["cca"]) == (total, "reno")
        # Programs of a busy machine may answer after a time-out.
        assert flow["timeouts"] == 0 or not outcome["lateness"]["valid"]
        slots = shell.result().tables["slots"].to_pydict()
        assert max(slots["cwnd"]) > 10
        samples = shell.result().tables["samples"].to_pydict()
        # One each 100 ms, and the smoothed RTT is that of the path at least.
        assert 5 <= len(samples["t_ns"]) <= 40
        assert min(srtt for srtt in samples["srtt_us"] if srtt) >= 40_000


def test_the_path_changes_while_a_run_goes_on(wired: Path, tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    celltcp = [sys.executable, "-m", "celltcp", "shell"]

    def command(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*celltcp, *words], capture_output=True, text=True)

    with Shell(wired, log=log) as shell:
        sink = shell.start([sys.executable, "-c", SINK], stdout=subprocess.PIPE, text=True)
        assert sink.stdout is not None
        assert sink.stdout.readline() == "ready\n"
        source = [sys.executable, "-c", SOURCE, "phone", "5001", "8"]
        sender = shell.start(source, on="server")
        (identity,) = [each["id"] for each in json.loads(command("list", "--json", "-").stdout)]
        changed = command("set", identity, "rate=2Mbps", "delay=30ms", "--json", "-")
        jsonschema.validate(json.loads(changed.stdout), schema_of("shell set"))
        assert [each["field"] for each in json.loads(changed.stdout)] == ["path.down.rate", "path.rtt"]
        time.sleep(2)
        status = command("status", identity, "--json", "-")
        jsonschema.validate(json.loads(status.stdout), schema_of("shell status"))
        assert json.loads(status.stdout)["access"]["capacity_down_mbps"] == pytest.approx(2, rel=0.05)
        assert "down 2.00 Mbit/s" in command("status", identity).stdout
        assert "outage = 500ms" in command("set", identity, "outage=500ms").stdout
        for refused, message in {
            "tcp.initial_window=3": "tcp.initial_window=3: it cannot change while a run goes on",
            "path.down.rate=fast": "path.down.rate",
            "loss": "is no FIELD=VALUE",
            "outage=0s": "outage: '0s' is no time above 0 s",
        }.items():
            answer = command("set", identity, "rate=9Mbps", refused)
            assert (answer.returncode, message in answer.stderr) == (2, True), answer.stderr
        assert command("set", "nobody", "loss=1%").returncode == 2
        sender.wait()
        sink.wait()
    live = shell.result().to_json()
    fields = ["path.down.rate", "path.rtt", "outage"]
    assert [change["field"] for change in live["changes"]] == fields
    slots = shell.result().tables["slots"].to_pydict()
    start = live["changes"][0]["time_s"] + 0.2
    end = live["changes"][2]["time_s"]
    capacities = {
        round(capacity, 2)
        for time_s, capacity in zip(slots["t_s"], slots["capacity_mbps"], strict=True)
        if start < time_s < end
    }
    # Payload of 1448 in 1500 bytes.
    assert capacities == {round(2 * 1448 / 1500, 2)}
    again = subprocess.run(
        [sys.executable, "-m", "celltcp", "replay", str(log), "--json", "-"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "the same as those of the live run" in again.stderr
    assert [change["field"] for change in json.loads(again.stdout)["changes"]] == fields


def test_a_capture_has_the_packets_of_the_server(wired: Path, tmp_path: Path) -> None:
    pcap = tmp_path / "run.pcap"
    with Shell(wired, pcap=pcap) as shell:
        sink = shell.start([sys.executable, "-c", SINK], stdout=subprocess.PIPE, text=True)
        assert sink.stdout is not None
        assert sink.stdout.readline() == "ready\n"
        shell.run([sys.executable, "-c", SOURCE, "phone", "5001", "1"], on="server", timeout=60)
        total = int(sink.stdout.readline())
    command = [sys.executable, "-m", "celltcp", "pcap", "analyze", str(pcap), "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    outcome = json.loads(done.stdout)
    (connection,) = outcome["connections"]
    # The phone listens, so that the data goes up to it from the client of the connection.
    assert (connection["bytes_up"], connection["bytes_down"]) == (total, 0)
    assert outcome["captures"][0]["backwards"] == 0


def test_the_floor_of_the_machine_is_measured() -> None:
    floor = measure_floor(0.5)
    assert floor["packets"] == 100
    assert 0 < floor["added_p50_us"] <= floor["added_p99_us"] <= floor["added_max_us"]
    assert floor["lateness"]["departures"] >= 100
