"""Programs and scenarios of live runs, and the state of the machine that they must leave as it was."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from celltcp.live.run_folders import run_root

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


def need_pasta() -> None:
    """Skips where hosts cannot reach the networks of this machine."""
    if shutil.which("pasta") is None or shutil.which("ip") is None:
        pytest.skip("needs pasta, of the package passt, and ip, of iproute2")


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
