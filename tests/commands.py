"""Commands as forks of a process that has imported pandas and matplotlib.

A command takes longer to import them than to do what a test asks for. The process that forks runs this
file. Each command is a child of it: it has streams, folder, environment and exit code of its own, and
ends as any interpreter does. Tests of start, interrupts and streams start real commands.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

#: Longest request, in bytes: arguments, folder and environment.
_LONGEST = 1 << 20


class Commands:
    """A process that forks itself into commands, one at a time."""

    def __init__(self) -> None:
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._alone = threading.Lock()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )

    def close(self) -> None:
        """Ends the process."""
        self._line.close()
        self._process.wait()

    def run(self, arguments: tuple[str, ...], folder: Path) -> subprocess.CompletedProcess[str]:
        """Runs celltcp with these arguments in a folder, and returns code and output."""
        program = str(Path(sys.executable).with_name("celltcp"))
        request = {"words": [program, *arguments], "folder": str(folder), "environment": {**os.environ}}
        outputs = ["", ""]
        with self._alone:
            pipes = [os.pipe() for _ in outputs]
            socket.send_fds(self._line, [json.dumps(request).encode()], [end for _, end in pipes])
            readers = []
            for place, (ours, theirs) in enumerate(pipes):
                os.close(theirs)
                reader = threading.Thread(target=_read, args=(ours, outputs, place))
                reader.start()
                readers.append(reader)
            for reader in readers:
                reader.join()
            code = int(self._line.recv(64))
        return subprocess.CompletedProcess(request["words"], code, *outputs)


def _read(descriptor: int, outputs: list[str], place: int) -> None:
    with os.fdopen(descriptor, encoding="utf-8") as stream:
        outputs[place] = stream.read()


def _serve(line: socket.socket) -> None:
    """Forks for each request; only the children return from here."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(line, _LONGEST, 2)
        if not message:
            os._exit(0)
        child = os.fork()
        if child == 0:
            line.close()
            _become(json.loads(message), descriptors)
            return
        for descriptor in descriptors:
            os.close(descriptor)
        _, status = os.waitpid(child, 0)
        line.send(str(os.waitstatus_to_exitcode(status)).encode())


def _become(request: dict[str, object], descriptors: list[int]) -> None:
    """Makes this process the command of a request."""
    for descriptor, stream in zip(descriptors, (1, 2), strict=True):
        os.dup2(descriptor, stream)
        os.close(descriptor)
    os.chdir(str(request["folder"]))
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = request["words"]


if __name__ == "__main__":
    import gc
    import importlib

    # This folder has modules with names of the standard library's or others'.
    del sys.path[0]
    for name in (
        "celltcp.cli.compare",
        "celltcp.comparison.plots.accessors",
        "jinja2",
        "matplotlib.backends.backend_agg",
        "matplotlib.backends.backend_svg",
        "pandas",
        "pyarrow.csv",
        "pyarrow.dataset",
    ):
        importlib.import_module(name)

    from celltcp.__main__ import main

    # The collector of a child, also that at its end, would copy every page that has an object: three
    # quarters of what a command costs.
    gc.collect()
    gc.freeze()
    _serve(socket.socket(fileno=int(sys.argv[1])))
    main()
