"""Link: the namespaces of a browser and a server, with a shaped and delayed path between them.

The server's device has a token bucket (tc tbf), whose rate follows a record. Nothing leaves the
namespaces: they have no other device but the loopback.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

HERE = Path(__file__).parent

#: Addresses of the server and the browser. Each link has its own namespaces, so that all have the same.
SERVER, BROWSER = "10.99.0.1", "10.99.0.2"

#: Depth of the token bucket, bytes: two packets.
BURST = 3000

#: Bytes of a packet in the queue.
PACKET = 1500


def run(*words: str) -> None:
    """Runs a command.

    Raises:
        subprocess.CalledProcessError: if it fails.
    """
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


class Link:
    """Link that exists between `__enter__` and `__exit__`."""

    def __init__(self, name: str, rates_mbps: Sequence[float], rtt_ms: float, packets: int) -> None:
        """Takes the rates of each second, the base RTT and the size of the queue."""
        self.server, self.browser = f"{name}-server", f"{name}-browser"
        self._devices = (f"{name}-s", f"{name}-b")
        self._rates = rates_mbps
        self._rtt_ms = rtt_ms
        self._limit = packets * PACKET
        self._children: list[subprocess.Popen[str]] = []
        self._over = threading.Event()

    def __enter__(self) -> Link:
        """Makes the namespaces, their devices, and the relay between these."""
        try:
            self._make()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends what runs there and removes the namespaces."""
        self._remove()

    def _make(self) -> None:
        words = [str(HERE / "relay.py"), *self._devices, str(self._rtt_ms)]
        relay = self._start(sys.executable, *words)
        assert relay.stdout is not None
        relay.stdout.readline()
        pairs = zip((self.server, self.browser), self._devices, (SERVER, BROWSER), strict=True)
        for space, device, address in pairs:
            run("ip", "netns", "add", space)
            run("ip", "link", "set", device, "netns", space)
            run("ip", "-n", space, "link", "set", "lo", "up")
            run("ip", "-n", space, "address", "add", f"{address}/24", "dev", device)
            run("ip", "-n", space, "link", "set", device, "mtu", str(PACKET), "up")
        run("tc", "-n", self.server, *self._bucket("add", self._rates[0]).split())

    def _remove(self) -> None:
        self._over.set()
        for child in reversed(self._children):
            child.terminate()
            child.wait()
        for space in (self.server, self.browser):
            subprocess.run(["ip", "netns", "delete", space], check=False, stderr=subprocess.DEVNULL)

    def spawn(self, space: str, *words: str) -> subprocess.Popen[str]:
        """Starts a program in a namespace; it ends with the link."""
        return self._start("ip", "netns", "exec", space, *words)

    def follow(self) -> None:
        """Lets the rate follow the record from now on, again and again."""
        threading.Thread(target=self._follow, daemon=True).start()

    def _start(self, *words: str) -> subprocess.Popen[str]:
        child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self._children.append(child)
        return child

    def _bucket(self, verb: str, mbps: float) -> str:
        return (
            f"qdisc {verb} dev {self._devices[0]} root tbf rate {round(mbps * 1e6)}bit "
            f"burst {BURST} limit {self._limit}"
        )

    def _follow(self) -> None:
        start = time.monotonic()
        tc = subprocess.Popen(
            ["tc", "-n", self.server, "-force", "-batch", "-"], stdin=subprocess.PIPE, text=True
        )
        assert tc.stdin is not None
        second = 0
        while not self._over.wait(max(0.0, start + second - time.monotonic())):
            tc.stdin.write(self._bucket("change", self._rates[second % len(self._rates)]) + "\n")
            tc.stdin.flush()
            second += 1
        tc.stdin.close()
        tc.wait()
