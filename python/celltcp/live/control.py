"""Control socket: requests to a live run from other processes of the same user.

A request is a line of JSON: an object with the name of the request and its arguments. So is the answer:
`result`, or `error` with a text.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

from celltcp._core import CelltcpError
from celltcp.live.run_folders import run_root, running_runs

#: Socket in the folder of a run.
_SOCKET = "control"
#: Maximum size of a request or answer, bytes.
_MAX_MESSAGE_BYTES = 1 << 20
#: Time limit for an answer of a run, seconds.
_TIMEOUT_S = 10.0

#: Functions that answer requests, by their names.
Answers = Mapping[str, Callable[..., Any]]


class ControlSocket:
    """Server of requests, in its own thread.

    Args:
        folder: of the run.
        answers: by the name of the request.
    """

    def __init__(self, folder: Path, answers: Answers) -> None:
        self._answers = answers
        self._listener = socket.socket(socket.AF_UNIX)
        # The folder is this user's alone.
        self._listener.bind(str(folder / _SOCKET))
        self._listener.listen()
        self._thread = Thread(target=self._serve, name="celltcp-control", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            # The client may have disconnected, or be slow.
            with connection, suppress(OSError):
                connection.settimeout(_TIMEOUT_S)
                connection.sendall(self._answer(_line(connection)))

    def _answer(self, request: bytes) -> bytes:
        try:
            parsed = json.loads(request)
            answer = self._answers[parsed.pop("request")]
            document = {"result": answer(**parsed)}
        except CelltcpError as error:
            document = {"error": str(error)}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            document = {"error": f"request: {error!r}; allowed: {', '.join(self._answers)}"}
        return json.dumps(document).encode() + b"\n"

    def close(self) -> None:
        """Ends the thread."""
        # The thread waits in accept, which a shutdown interrupts.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()


def _line(connection: socket.socket) -> bytes:
    """Receives until the end of a line."""
    text = b""
    while not text.endswith(b"\n") and len(text) < _MAX_MESSAGE_BYTES:
        part = connection.recv(1 << 16)
        if not part:
            break
        text += part
    return text


def ask(identity: str, request: str, **arguments: Any) -> Any:
    """Returns the answer of a live run of this user.

    Args:
        identity: of the run.
        request: its name.
        arguments: of the request.

    Raises:
        CelltcpError: if there is no such run, or it rejects the request.
    """
    known = [run["id"] for run in running_runs()]
    if identity not in known:
        going = ", ".join(known) or "none, as no run goes on"
        raise CelltcpError(f"run: there is no live run {identity!r} of this user; allowed: {going}")
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_TIMEOUT_S)
            connection.connect(str(run_root() / identity / _SOCKET))
            connection.sendall(json.dumps({"request": request, **arguments}).encode() + b"\n")
            answer = json.loads(_line(connection))
    except (OSError, ValueError) as error:
        raise CelltcpError(f"run {identity} does not answer: {error}") from None
    if "error" in answer:
        raise CelltcpError(answer["error"])
    return answer["result"]
