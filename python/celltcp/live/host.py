"""Host: a node of the path where programs run."""

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

#: Hosts at the ends of every path.
SERVER, PHONE = "server", "phone"
#: Exit code for a program that does not exist, as in shells (POSIX).
NOT_FOUND = 127


class Host:
    """A host where programs run, with a thread in its namespaces.

    Args:
        run: the run that the host belongs to.
        name: node of the scenario.
        identity: of the run, by which its programs are marked.
    """

    def __init__(self, run: LiveRun, name: str, identity: str) -> None:
        self.name = name
        self._identity = identity
        self._thread = ThreadPoolExecutor(1, f"celltcp-{name}", run.enter, (name,))

    def start(
        self, arguments: Sequence[str], *, env: Mapping[str, str] | None = None, **options: Any
    ) -> subprocess.Popen[Any]:
        """Starts a program.

        Args:
            arguments: the program and its arguments.
            env: its environment; that of this process unless given.
            options: further arguments of `subprocess.Popen`.

        Raises:
            CelltcpError: if there is no such program.
        """
        marked = {**(os.environ if env is None else env), RUN_VARIABLE: self._identity}

        def begin() -> subprocess.Popen[Any]:
            return subprocess.Popen(list(arguments), env=marked, **options)

        try:
            return self._thread.submit(begin).result()
        except OSError as error:
            text = f"{self.name}: {arguments[0]!r} does not start: {error.strerror}"
            raise CelltcpError(text) from None

    def socket(self, *arguments: Any) -> socket.socket:
        """Returns a socket on the host, which any thread can use.

        Args:
            arguments: those of `socket.socket`.
        """
        return self._thread.submit(socket.socket, *arguments).result()

    def network_namespace(self) -> Path:
        """Returns the file of its network namespace."""
        return self._own_folder() / "ns" / "net"

    def devices(self) -> Path:
        """Returns the file with its network devices."""
        return self._own_folder() / "net" / "dev"

    def _own_folder(self) -> Path:
        """Returns the folder of the thread that is on the host."""
        return Path(f"/proc/self/task/{self._thread.submit(threading.get_native_id).result()}")

    def close(self) -> None:
        """Ends the thread; programs continue."""
        self._thread.shutdown()
