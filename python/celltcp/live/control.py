"""Control socket: requests to a live run from other processes of the same user.

A request is a line of JSON, an object with `request` (its name) and the arguments. The answer is a line
with `result`, or with `error` and a text.
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
#: Size from which on no more of a request or answer is read, bytes.
_MAX_MESSAGE_BYTES = 1 << 20
#: Time limit for a message from the other end, s.
_TIMEOUT_S = 10.0


class ControlSocket:
    """Server of requests to the run of a folder, in its own thread; handlers are by request name."""

    def __init__(self, folder: Path, handlers: Mapping[str, Callable[..., Any]]) -> None:
        self._handlers = handlers
        self._listener = socket.socket(socket.AF_UNIX)
        # Only this user can enter the folder.
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
                connection.sendall(self._answer(_receive_line(connection)))

    def _answer(self, request: bytes) -> bytes:
        try:
            arguments = json.loads(request)
            handler = self._handlers[arguments.pop("request")]
            document = {"result": handler(**arguments)}
        except CelltcpError as error:
            document = {"error": str(error)}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            document = {"error": f"request: {error!r}; allowed: {', '.join(self._handlers)}"}
        return json.dumps(document).encode() + b"\n"

    def close(self) -> None:
        """Closes the socket and ends the thread."""
        # A shutdown interrupts accept, in which the thread waits.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()


def _receive_line(connection: socket.socket) -> bytes:
    with connection.makefile("rb") as stream:
        return stream.readline(_MAX_MESSAGE_BYTES)


def send_request(identity: str, request: str, **arguments: Any) -> Any:
    """Sends a request to a live run of this user, and returns its answer.

    Raises:
        CelltcpError: if there is no such run, or it rejects the request.
    """
    identities = [run["id"] for run in running_runs()]
    if identity not in identities:
        allowed = ", ".join(identities) or "none, as no run goes on"
        raise CelltcpError(f"run: there is no live run {identity!r} of this user; allowed: {allowed}")
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_TIMEOUT_S)
            connection.connect(str(run_root() / identity / _SOCKET))
            connection.sendall(json.dumps({"request": request, **arguments}).encode() + b"\n")
            answer = json.loads(_receive_line(connection))
    except (OSError, ValueError) as error:
        raise CelltcpError(f"run {identity} does not answer: {error}") from None
    if "error" in answer:
        raise CelltcpError(answer["error"])
    return answer["result"]
