"""Live runs: programs behind a path in real time, in network namespaces of their own."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from celltcp._core import CelltcpError
from celltcp.cli.json_schema import schema_of
from celltcp.cli.shell.run import NOT_VALID
from celltcp.live.doctor import measure_floor
from celltcp.live.run_folders import run_root
from celltcp.live.shell import Shell

TUN = Path("/dev/net/tun")


@pytest.fixture(scope="module", autouse=True)
def real_time() -> None:
    """Skips where no path can be played."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    try:
        measure_floor(0.01)
    except CelltcpError as error:
        pytest.skip(str(error))


#: Path of 40 ms and 20 Mbit/s each way.
WIRED = """
duration = "60s"
[path]
rtt = "40ms"
buffer = "1bdp"
[path.down]
rate = "20Mbps"
[path.up]
rate = "20Mbps"
"""

#: Cell of 5 MHz at 15 dB.
CELL = """
[path]
rtt = "40ms"
[radio]
band = 7
prbs = 25
[[radio.ues]]
name = "phone"
sinr = "15dB"
"""

#: Receives from one connection until it ends; prints the bytes.
SINK = """
import socket
listener = socket.create_server(("", 5001))
print("ready", flush=True)
connection, _ = listener.accept()
total = 0
while data := connection.recv(1 << 16):
    total += len(data)
print(total, flush=True)
"""

#: Connects to the host and port of its arguments and receives until the end; prints the bytes.
SINK_OF = """
import socket, sys
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
total = 0
while data := connection.recv(1 << 16):
    total += len(data)
print(total)
"""

#: Sends to the host and port of its arguments for the seconds of the third.
SOURCE = """
import socket, sys, time
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
end = time.monotonic() + float(sys.argv[3])
while time.monotonic() < end:
    connection.sendall(bytes(1 << 14))
"""


@pytest.fixture(autouse=True)
def own_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps the folders of runs apart from those of other tests."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


@pytest.fixture
def wired(tmp_path: Path) -> Path:
    """Scenario file of the path."""
    file = tmp_path / "wired.toml"
    file.write_text(WIRED)
    return file


def network_state() -> str:
    """Devices, routes, names and sysctls of this machine's own namespace, and folders of runs."""
    devices = sorted(each.name for each in Path("/sys/class/net").iterdir())
    texts = [Path("/proc/net/route"), Path("/etc/hosts"), *Path("/proc/sys/net/ipv4").rglob("tcp_*")]
    found = {}
    for file in texts:
        try:
            found[str(file)] = file.read_text()
        except OSError:
            continue
    return json.dumps([devices, found, sorted(leftovers())])


def leftovers() -> Iterator[str]:
    """Folders of runs."""
    yield from (each.name for each in run_root().glob("*/"))


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


def test_the_command_has_its_exit_code_and_nothing_is_left(wired: Path) -> None:
    before = network_state()
    command = [sys.executable, "-m", "celltcp", "shell", str(wired), "--server", "sleep 1000", "--"]
    done = subprocess.run([*command, "sh", "-c", "exit 7"], timeout=60)
    assert done.returncode == 7
    assert network_state() == before


def test_verbose_prints_when_hosts_and_path_begin_and_end(wired: Path) -> None:
    command = [sys.executable, "-m", "celltcp", "shell", "-v", str(wired), "--", "true"]
    done = subprocess.run(command, timeout=60, stderr=subprocess.PIPE, text=True)
    events = [line.split(" ", 1)[1] for line in done.stderr.splitlines() if line[2:3] == ":"]
    hosts = sorted(event.replace("veth", "tun") for event in events[:2])
    created = "namespaces and tun device created"
    assert hosts == [f"host phone: {created}", f"host server: {created}"]
    assert events[2].startswith("path started: scenario wired, ")
    assert events[-1] == "path stopped, devices removed"


def test_programs_of_a_killed_run_end_with_the_next(wired: Path) -> None:
    before = network_state()
    command = [sys.executable, "-m", "celltcp", "shell", str(wired), "--server", "sleep 4321", "--"]
    run = subprocess.Popen(
        [*command, "sh", "-c", "echo ready; sleep 4321"], stdout=subprocess.PIPE, text=True
    )
    assert run.stdout is not None
    assert run.stdout.readline() == "ready\n"
    run.send_signal(signal.SIGKILL)
    run.wait()
    again = subprocess.run([*command, "true"], timeout=60, capture_output=True, text=True)
    assert again.returncode == 0
    assert "was killed: its programs were ended" in again.stderr
    assert not [each for each in Path("/proc").glob("[0-9]*/cmdline") if b"4321" in _read(each)]
    assert network_state() == before


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def test_ctrl_c_ends_the_command_and_keeps_the_tables(wired: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "celltcp", "shell", str(wired), "--out", str(out), "--"]
    run = subprocess.Popen(
        [*command, "sh", "-c", "echo ready; exec sleep 1000"],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert run.stdout is not None
    assert run.stdout.readline() == "ready\n"
    time.sleep(0.2)
    os.killpg(run.pid, signal.SIGINT)
    assert run.wait(timeout=30) == 128 + signal.SIGINT
    assert (out / "runs.parquet").is_file()


def test_a_log_is_replayed_to_the_same_departures(wired: Path, tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    with Shell(wired, log=log) as shell:
        sink = shell.start([sys.executable, "-c", SINK], stdout=subprocess.PIPE, text=True)
        assert sink.stdout is not None
        assert sink.stdout.readline() == "ready\n"
        shell.run([sys.executable, "-c", SOURCE, "phone", "5001", "1"], on="server", timeout=60)
    live = shell.result()
    command = [sys.executable, "-m", "celltcp", "replay", str(log), "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "the same as those of the live run" in done.stderr
    again = json.loads(done.stdout)
    assert again["to"] == live.status["to"]
    assert [flow["bytes"] for flow in again["flows"]] == live.tables["flows"]["bytes"].to_pylist()
    text = log.read_bytes()
    # Another time of one arrival changes what follows.
    head = text.index(b"\n") + 1
    log.write_bytes(text[:head] + bytes([text[head] ^ 1]) + text[head + 1 :])
    assert subprocess.run(command, capture_output=True).returncode in (1, 2)
    log.write_bytes(text[: head - 40])
    refused = subprocess.run(command, capture_output=True, text=True)
    assert refused.returncode == 2
    assert "is no log of celltcp shell --log" in refused.stderr


def test_what_cannot_be_is_refused_and_leaves_nothing(wired: Path, tmp_path: Path) -> None:
    before = network_state()
    with pytest.raises(CelltcpError, match=r'cca: "nosuch" .*allowed: .*cubic'), Shell(wired, "nosuch"):
        pass
    with Shell(wired) as shell:
        with pytest.raises(CelltcpError, match="on: there is no host 'tablet'; allowed: server, phone"):
            shell.start(["true"], on="tablet")
        with pytest.raises(CelltcpError, match="phone: 'no-such-program' does not start"):
            shell.start(["no-such-program"])
    split = tmp_path / "split.toml"
    split.write_text(WIRED + '[[path.middleboxes]]\nkind = "es"\n')
    with pytest.raises(CelltcpError, match="allowed in real time: snoop"), Shell(split):
        pass
    assert network_state() == before


def test_programs_of_the_machine_stay_where_they_are(wired: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, Shell(wired) as shell:
        port = listener.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            pass
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}))"
        assert shell.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL).returncode != 0


@pytest.mark.slow
def test_two_phones_share_a_cell(tmp_path: Path) -> None:
    """The load of one phone takes half of the cell from the other, as no recorded trace can."""
    cell = tmp_path / "cell.toml"
    cell.write_text(CELL)
    rates = []
    for load in (False, True):
        with Shell(cell, phones=2, seed=2) as shell:
            sinks = {}
            for host in ("phone", "phone-2"):
                sinks[host] = shell.start(
                    [sys.executable, "-c", SINK], on=host, stdout=subprocess.PIPE, text=True
                )
                assert sinks[host].stdout is not None
                assert sinks[host].stdout.readline() == "ready\n"
            if load:
                shell.start([sys.executable, "-c", SOURCE, "phone-2", "5001", "9"], on="server")
            shell.run([sys.executable, "-c", SOURCE, "phone", "5001", "8"], on="server", timeout=60)
            status = shell.status()
        rates.append(status["to"]["phone"]["delivered_bytes"] / status["time_s"])
    alone, shared = rates
    assert shared < 0.75 * alone


#: A machine with a network that nobody else is in, in a network namespace of its own.
MACHINE = """
set -e
ip link set lo up
ip link add lan0 type veth peer name lan1
ip addr add 203.0.113.1/24 dev lan0
ip addr add 2001:db8:1::1/64 dev lan0 nodad
ip link set lan1 up
ip link set lan0 up
ip route add default via 203.0.113.9
ip -6 route add default via 2001:db8:1::9
exec "$@"
"""
#: Sends other bytes to each host at once, over both versions of IP, from addresses of that machine.
OUTSIDE = """
import socket, subprocess, sys
from celltcp.live.shell import Shell
scenario, log, receive = sys.argv[1:]
hosts = ["phone", "phone-2", "server"]
with Shell(scenario, outside=True, phones=2, log=log) as shell:
    runs = []
    for family, address in (socket.AF_INET, "203.0.113.1"), (socket.AF_INET6, "2001:db8:1::1"):
        listener = socket.create_server((address, 0), family=family)
        words = [sys.executable, "-c", receive, address, str(listener.getsockname()[1])]
        for host in hosts:
            program = shell.start(words, on=host, stdout=subprocess.PIPE)
            listener.settimeout(20)
            runs.append((program, listener.accept()[0]))
    for number, (_, connection) in enumerate(runs, 1):
        connection.sendall(bytes(20_000 * number))
    for _, connection in runs:
        connection.close()
    print(*(int(program.communicate(timeout=60)[0]) for program, _ in runs))
flows = shell.result().to_json()["flows"]
print(*sorted(flow["bytes"] for flow in flows if flow["bytes"]))
print(*sorted({flow["name"].split(" ", 1)[1] for flow in flows if flow["bytes"]}), sep=", ")
"""


def need_pasta() -> None:
    """Skips where hosts cannot reach the networks of this machine."""
    if shutil.which("pasta") is None or shutil.which("ip") is None:
        pytest.skip("needs pasta, of the package passt, and ip, of iproute2")


def test_phones_reach_the_networks_of_the_machine_through_the_server(tmp_path: Path) -> None:
    """Each phone has its own connections there, over IPv4 and IPv6."""
    need_pasta()
    cell, log = tmp_path / "cell.toml", tmp_path / "log"
    cell.write_text(CELL)
    before = network_state()
    machine = ["unshare", "--net", "sh", "-c", MACHINE, "sh", sys.executable, "-c", OUTSIDE]
    done = subprocess.run(
        [*machine, str(cell), str(log), SINK_OF], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert network_state() == before
    received, of_flows, names = done.stdout.splitlines()
    assert received == "20000 40000 60000 80000 100000 120000"
    # Those of the server itself do not pass the cell.
    assert of_flows == "20000 40000 80000 100000"
    assert names == "server to phone, server to phone-2"
    command = [sys.executable, "-m", "celltcp", "replay", str(log)]
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "the same as those of the live run" in again.stderr


def test_the_way_out_is_refused_where_it_cannot_be(
    wired: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("pasta"):
        # A machine without a network.
        command = [sys.executable, "-m", "celltcp", "shell", str(wired), "--outside", "--", "true"]
        done = subprocess.run(["unshare", "--net", *command], capture_output=True, text=True)
        assert done.returncode == 2
        assert "outside: pasta has not connected the server: " in done.stderr
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CelltcpError, match="outside: the program pasta is not installed"):
        Shell(wired, outside=True)


def test_the_floor_of_the_machine_is_measured() -> None:
    floor = measure_floor(0.5)
    assert floor["packets"] == 100
    assert 0 < floor["added_p50_us"] <= floor["added_p99_us"] <= floor["added_max_us"]
    assert floor["lateness"]["departures"] >= 100


def test_phones_without_a_cell_are_refused(wired: Path) -> None:
    message = "phones: 2 share no cell in this scenario; allowed: 1, or a scenario with a radio"
    with pytest.raises(CelltcpError, match=message), Shell(wired, phones=2):
        pass


def test_runs_that_go_on_are_listed(wired: Path) -> None:
    command = [sys.executable, "-m", "celltcp", "shell", "list", "--json", "-"]

    def listed() -> list[dict[str, object]]:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        runs: list[dict[str, object]] = json.loads(done.stdout)
        jsonschema.validate(runs, schema_of("shell list"))
        return [run for run in runs if run["process"] == os.getpid()]

    with Shell(wired, "reno"):
        (run,) = listed()
    assert (run["scenario"], run["cca"]) == ("wired", "reno")
    assert listed() == []


def test_the_outcome_fits_its_schema(wired: Path, tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    celltcp = [sys.executable, "-m", "celltcp"]
    for name, words in {
        "shell run": ["shell", str(wired), "--log", str(log), "--json", "-", "--", "true"],
        "replay": ["replay", str(log), "--json", "-"],
    }.items():
        done = subprocess.run([*celltcp, *words], capture_output=True, text=True, check=True)
        jsonschema.validate(json.loads(done.stdout), schema_of(name))


#: Programs in Perl, which every user of Debian can start: the first sends what it can for a second
#: to the server, which counts it, and prints how much that was.
UPLOAD = """
use IO::Socket::INET; use Time::HiRes qw(sleep time);
my $to; for (1..50) {
    last if $to = IO::Socket::INET->new(PeerAddr => "server:5002"); sleep 0.1;
}
my ($end, $sent, $piece) = (time + 1, 0, "x" x 65536);
$sent += syswrite($to, $piece) while time < $end;
shutdown($to, 1); my $answer = <$to>; die "$answer of $sent" if $answer != $sent; print "$sent\\n";
"""
COUNTER = """
use IO::Socket::INET;
my $from = IO::Socket::INET->new(LocalPort => 5002, Listen => 1)->accept; my $total = 0;
while (my $read = sysread($from, my $data, 65536)) { $total += $read } print $from "$total\\n";
"""


#: Starts a program as a user who is not root.
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


@pytest.fixture
def home_of_nobody() -> Iterator[Path]:
    """Folder of that user; skips if it cannot run this Python."""
    with tempfile.TemporaryDirectory() as name:
        os.chown(name, 65534, 65534)
        command = [*NOBODY, sys.executable, "-m", "celltcp", "units"]
        environment = {**os.environ, "HOME": name}
        if subprocess.run(command, capture_output=True, cwd="/", env=environment).returncode:
            pytest.skip("nobody cannot run this Python")
        yield Path(name)


def test_a_killed_run_of_a_user_who_is_not_root_leaves_nothing(home_of_nobody: Path) -> None:
    """Neither its programs, nor those to the networks of the machine."""
    need_pasta()
    wired = home_of_nobody / "wired.toml"
    wired.write_text(WIRED)
    machine = ["unshare", "--net", "sh", "-c", MACHINE, "sh", *NOBODY]
    command = [*machine, sys.executable, "-m", "celltcp", "shell", str(wired), "--outside", "--"]
    home = {**os.environ, "HOME": str(home_of_nobody), "XDG_RUNTIME_DIR": str(home_of_nobody)}
    run = subprocess.Popen(
        [*command, "sh", "-c", "echo ready; exec sleep 4322"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd="/",
        env=home,
    )
    with run:
        assert run.stdout is not None
        if run.stdout.readline() != "ready\n":
            assert run.stderr is not None
            pytest.skip(run.stderr.read())
        run.send_signal(signal.SIGKILL)
    again = subprocess.run([*command, "true"], capture_output=True, text=True, cwd="/", env=home)
    assert "was killed: its programs were ended" in again.stderr
    left = [_read(each) for each in Path("/proc").glob("[0-9]*/cmdline")]
    assert not [each for each in left if b"4322" in each or (b"pasta" in each and b"outside0" in each)]


@pytest.mark.parametrize("device", ["tun", "veth"])
def test_a_user_who_is_not_root_can_run_programs(device: str, home_of_nobody: Path) -> None:
    """In mounts of its own, the TUN device may be opened by everybody, as usual, or by root."""
    folder = home_of_nobody
    celltcp = [*NOBODY, sys.executable, "-m", "celltcp"]
    home = {**os.environ, "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)}
    tun, wired = folder / "tun", folder / "wired.toml"
    wired.write_text(WIRED)
    os.mknod(tun, stat.S_IFCHR, TUN.stat().st_rdev)
    tun.chmod(0o666 if device == "tun" else 0o600)
    for name, program in ("upload", UPLOAD), ("counter", COUNTER):
        (folder / name).write_text(program)
    server = shlex.join(["perl", str(folder / "counter")])
    inside = f"id -u; cat /etc/hosts; perl {folder / 'upload'}"
    shell = ["shell", str(wired), "--server", server, "--json", str(folder / "json")]
    command = shlex.join([*celltcp, *shell, "--", "sh", "-c", inside])
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", f"mount --bind {tun} {TUN} && exec {command}"],
        capture_output=True,
        text=True,
        cwd="/",
        env=home,
    )
    if "user namespace" in done.stderr:
        pytest.skip(done.stderr)
    # A busy machine may not keep real time.
    assert done.returncode in (0, NOT_VALID), done.stderr
    outcome = json.loads((folder / "json").read_text())
    user, server_name, *lines = done.stdout.splitlines()
    assert (user, server_name) == ("65534", "10.0.0.1 server")
    sent = next(line for line in lines if line.isdigit())
    (flow,) = (each for each in outcome["flows"] if each["name"].endswith("phone to server"))
    assert flow["bytes"] == int(sent)
    assert 1 < flow["goodput_mbps"] < 20
    # No packet is larger than the MTU, also where the kernel hands over many segments at once.
    up = outcome["to"]["server"]
    assert up["bytes"] <= 1500 * up["packets"]


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
