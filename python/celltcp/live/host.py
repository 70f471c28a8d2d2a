"""Hosts: nodes of the path where programs run."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from celltcp._core import CelltcpError, LiveRun
from celltcp.live.run_folders import RUN_VARIABLE

#: Names of the hosts at the ends of every path.
SERVER, PHONE = "server", "phone"


class Host:
    """A host where programs run, marked by the identity of the run; one thread is in its namespaces."""

    def __init__(self, run: LiveRun, name: str, identity: str) -> None:
        self.name = name
        self._identity = identity
        self._thread = ThreadPoolExecutor(1, f"celltcp-{name}", run.enter, (name,))

    def start(
        self, arguments: Sequence[str], *, env: Mapping[str, str] | None = None, **options: Any
    ) -> subprocess.Popen[Any]:
        """Starts a program with the arguments of `subprocess.Popen`.

        Raises:
            CelltcpError: if there is no such program.
        """
        marked_env = {**(os.environ if env is None else env), RUN_VARIABLE: self._identity}

        def start_in_thread() -> subprocess.Popen[Any]:
            return subprocess.Popen(list(arguments), env=marked_env, **options)

        try:
            return self._thread.submit(start_in_thread).result()
        except OSError as error:
            text = f"{self.name}: {arguments[0]!r} does not start: {error.strerror}"
            raise CelltcpError(text) from None

    def socket(self, *arguments: Any) -> socket.socket:
        """Returns a socket on the host, created with the arguments of `socket.socket`."""
        return self._thread.submit(socket.socket, *arguments).result()

    def network_namespace(self) -> Path:
        """Returns the file of the host's network namespace."""
        return self._thread_folder() / "ns" / "net"

    def devices(self) -> Path:
        """Returns the file that lists the host's network devices."""
        return self._thread_folder() / "net" / "dev"

    def _thread_folder(self) -> Path:
        """Returns the folder in /proc of the thread in the host's namespaces."""
        return Path(f"/proc/self/task/{self._thread.submit(threading.get_native_id).result()}")

    def close(self) -> None:
        """Ends the thread; running programs continue."""
        self._thread.shutdown()
