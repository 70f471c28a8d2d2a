"""Access of a live run's server to the networks of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from celltcp._core import GATEWAY_ADDRESSES, RESOLVER, CelltcpError, LiveRun, pass_on_rights
from celltcp.live.host import Host
from celltcp.live.run_folders import RUN_VARIABLE, RunFolder

#: Prefix of the devices that pasta creates on the gateway, one per host; an index follows.
_DEVICE = "outside"
#: Time limit for a device to appear, and interval of the checks, s.
_TIMEOUT_S, _POLL_S = 5.0, 0.02


def find_pasta() -> str:
    """Returns the file of pasta, which forwards between a network namespace and this machine's sockets.

    Raises:
        CelltcpError: if it is not installed.
    """
    file = shutil.which("pasta")
    if file is None:
        raise CelltcpError(
            "outside: the program pasta is not installed, which connects hosts of a live run with the "
            "networks of this machine; it is in the package passt (apt-get install passt)"
        )
    return file


class Outside:
    """Connects hosts with the networks of this machine, through a gateway.

    TCP connections end on the gateway. This machine's own kernel has the connections beyond it.

    Args:
        run: the live run.
        gateway: host that forwards to these networks.
        hosts: names of the connected hosts; each has its own pasta process, which serves one address.
        folder: folder of the run, whose identity marks the processes.

    Raises:
        CelltcpError: if this machine has no pasta, or pasta does not connect.
    """

    def __init__(self, run: LiveRun, gateway: Host, hosts: Sequence[str], folder: RunFolder) -> None:
        self._processes: dict[str, subprocess.Popen[str]] = {}
        try:
            namespace = gateway.network_namespace()
            # pasta enters the namespace as its owner. Capabilities are per thread.
            with ThreadPoolExecutor(1, initializer=pass_on_rights) as thread:
                for index, _ in enumerate(hosts):
                    device = f"{_DEVICE}{index}"
                    start = thread.submit(_start_pasta, namespace, device, folder)
                    self._processes[device] = start.result()
            for device, host in zip(self._processes, hosts, strict=True):
                self._wait_for(device, gateway.devices())
                run.connect_outside(host, device)
        except BaseException:
            self.close()
            raise

    def _wait_for(self, device: str, devices: Path) -> None:
        """Waits until the gateway has a device."""
        process = self._processes[device]
        deadline = time.monotonic() + _TIMEOUT_S
        while f"{device}:" not in devices.read_text():
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                assert process.stderr is not None
                errors = process.stderr.read()
                # pasta also complains about a missing syslog.
                lines = [line for line in errors.splitlines() if "syslog" not in line]
                reason = "; ".join(lines) or f"no device after {_TIMEOUT_S:.0f} s"
                raise CelltcpError(f"outside: pasta has not connected the server: {reason}")
            time.sleep(_POLL_S)

    def close(self) -> None:
        """Ends the processes of pasta."""
        for process in self._processes.values():
            process.kill()
        for process in self._processes.values():
            process.wait()
            assert process.stderr is not None
            process.stderr.close()


def _start_pasta(namespace: Path, device: str, folder: RunFolder) -> subprocess.Popen[str]:
    """Starts pasta, which creates a device in a network namespace."""
    with namespace.open() as namespace_file:
        # pasta cannot open a namespace of another process, so it inherits the descriptor.
        os.set_inheritable(namespace_file.fileno(), True)
        # The gateway's own addresses: pasta's default is the address of this machine.
        addresses = (word for address in GATEWAY_ADDRESSES for word in ("--address", address))
        # fmt: off
        options = [
            "--foreground", "--quiet", "--stderr", "--netns-only", "--no-map-gw",
            "--ns-ifname", device, *addresses, "--dns-forward", RESOLVER,
            "--pid", str(folder.path / f"{device}.pid"),
            *(word for ports in ("-t", "-u", "-T", "-U") for word in (ports, "none")),
            "--netns", f"/proc/self/fd/{namespace_file.fileno()}",
        ]
        # fmt: on
        if os.geteuid() == 0:
            options[:0] = ["--runas", "0:0"]
        return subprocess.Popen(
            [find_pasta(), *options],
            env={**os.environ, RUN_VARIABLE: folder.identity},
            pass_fds=[namespace_file.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            text=True,
        )
