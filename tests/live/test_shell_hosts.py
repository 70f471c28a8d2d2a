"""Hosts of a live run: phones, users who are not root, and the networks of the machine."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from celltcp._core import CelltcpError
from celltcp.cli.shell.run import LATE_RUN_CODE
from celltcp.live.shell import Shell
from live.programs import (
    CELL,
    COUNTER,
    MACHINE,
    NOBODY,
    SINK,
    SINK_OF,
    SOURCE,
    UPLOAD,
    WIRED,
    need_pasta,
    network_state,
)

TUN = Path("/dev/net/tun")


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


def test_phones_without_a_cell_are_refused(wired: Path) -> None:
    message = "phones: 2 share no cell in this scenario; allowed: 1, or a scenario with a radio"
    with pytest.raises(CelltcpError, match=message), Shell(wired, phones=2):
        pass


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
    assert done.returncode in (0, LATE_RUN_CODE), done.stderr
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
