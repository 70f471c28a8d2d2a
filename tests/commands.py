"""Commands as forks of a process that has imported pandas and matplotlib.

A command takes longer to import them than to do what a test asks for. The process that forks runs this
file. Each command is a child of it: it has streams, folder, environment and exit code of its own. It
ends as an interpreter does, but for the destruction of all objects, which would copy every page of
memory: three quarters of the CPU time of a short command. Tests of start, interrupts and streams start
real commands.

A command may leave its pictures blank: it builds each figure, and matplotlib renders an empty one into
the file. Rendering is four fifths of the CPU time of a short comparison with `--out`.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

#: Longest request, in bytes: arguments, folder and environment.
_LONGEST = 1 << 20


class Commands:
    """A process that forks itself into commands, one at a time.

    Attributes:
        renders: whether the commands render their pictures.
        renders_by_default: whether those do that no test has asked for.
    """

    def __init__(self, *, renders: bool) -> None:
        self.renders = self.renders_by_default = renders
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
        return self._do([str(Path(sys.executable).with_name("celltcp")), *arguments], folder)

    def run_program(self, program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs a program in Python with these arguments, and returns code and output."""
        return self._do([str(program), *arguments], Path.cwd())

    def _do(self, words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
        request = {"words": words, "folder": str(folder), "environment": {**os.environ}}
        request["renders"] = self.renders
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
        return subprocess.CompletedProcess(words, code, *outputs)


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
    if not request["renders"]:
        _leave_pictures_blank()


def _leave_pictures_blank() -> None:
    from matplotlib.figure import Figure

    from celltcp.present.style import Picture

    def save_blank(_: Picture, *where: Any, **how: Any) -> None:
        Figure(figsize=(1, 1)).savefig(*where, **how)

    Picture.savefig = save_blank  # type: ignore[method-assign]
    Picture.laid_out = contextlib.nullcontext  # type: ignore[method-assign, assignment]


def _end(command: Callable[[], object]) -> NoReturn:
    """Does what a command does, and ends the process as an interpreter would."""
    code: object = None
    try:
        command()
    except SystemExit as leave:
        code = leave.code
    except BaseException:
        traceback.print_exc()
        code = 1
    if not (code is None or isinstance(code, int)):
        print(code, file=sys.stderr)
        code = 1
    # What `Py_FinalizeEx` does first.
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        # As in `Py_RunMain`.
        code = 120
    os._exit(code or 0)


if __name__ == "__main__":
    import gc
    import importlib
    import runpy

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

    # The collector of a child would copy every page that has an object.
    gc.collect()
    gc.freeze()
    _serve(socket.socket(fileno=int(sys.argv[1])))
    program = Path(sys.argv[0])
    if program.suffix == ".py":
        sys.path.insert(0, str(program.parent))
        _end(lambda: runpy.run_path(str(program), run_name="__main__"))
    _end(main)
