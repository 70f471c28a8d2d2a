"""Outside: the networks of this machine, behind the server of a live run."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

from celltcp._core import RESOLVER, CelltcpError
from celltcp.live.host import Host
from celltcp.live.run_folders import RUN_VARIABLE

#: Program that forwards between a network namespace and sockets of this machine.
_PASTA = "pasta"
#: Its device on the server, with addresses of a block for documentation (RFC 5737): that of the device
#: and that of the gateway behind it.
_DEVICE, _ADDRESS, _GATEWAY, _PREFIX = "outside0", "198.51.100.2", "198.51.100.1", "24"
#: Time limit for its device to appear, and interval of the checks, seconds.
_TIMEOUT_S, _POLL_S = 5.0, 0.02


def find_pasta() -> str:
    """Returns the file of the program.

    Raises:
        CelltcpError: if it is not installed.
    """
    file = shutil.which(_PASTA)
    if file is None:
        raise CelltcpError(
            "outside: the program pasta is not installed, which connects hosts of a live run with the "
            "networks of this machine; it is in the package passt (apt-get install passt)"
        )
    return file


class Outside:
    """Connects a host with the networks of this machine.

    Connections of TCP end on that host: those behind it are of this machine's own kernel.

    Args:
        host: host that forwards to these networks.
        identity: identity of the run, which marks its programs.
        mtu: bytes of the largest packet.

    Raises:
        CelltcpError: if this machine has no pasta, or pasta does not connect.
    """

    def __init__(self, host: Host, identity: str, mtu: int) -> None:
        namespace = host.network_namespace()
        with namespace.open() as opened:
            # The program may open the file of its own process, but not that of another.
            os.set_inheritable(opened.fileno(), True)
            # fmt: off
            options = [
                "--foreground", "--quiet", "--stderr", "--ipv4-only", "--netns-only", "--config-net",
                "--no-map-gw", "--ns-ifname", _DEVICE, "--address", _ADDRESS, "--netmask", _PREFIX,
                "--gateway", _GATEWAY, "--mtu", str(mtu), "--dns-forward", RESOLVER,
                *(word for ports in ("-t", "-u", "-T", "-U") for word in (ports, "none")),
                "--netns", f"/proc/self/fd/{opened.fileno()}",
            ]
            # fmt: on
            if os.geteuid() == 0:
                options[:0] = ["--runas", "0:0"]
            self._process = subprocess.Popen(
                [find_pasta(), *options],
                env={**os.environ, RUN_VARIABLE: identity},
                pass_fds=[opened.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
                text=True,
            )
        self._wait_for_route(host.routes())

    def _wait_for_route(self, routes: Path) -> None:
        """Waits until the host has a default route."""
        deadline = time.monotonic() + _TIMEOUT_S
        while _DEVICE not in routes.read_text():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self._process.kill()
                _, errors = self._process.communicate()
                # pasta also reports that it has no syslog.
                lines = [line for line in errors.splitlines() if "syslog" not in line]
                reason = "; ".join(lines) or f"no route after {_TIMEOUT_S:.0f} s"
                raise CelltcpError(f"outside: pasta has not connected the server: {reason}")
            time.sleep(_POLL_S)

    def close(self) -> None:
        """Ends the program."""
        self._process.kill()
        self._process.communicate()
