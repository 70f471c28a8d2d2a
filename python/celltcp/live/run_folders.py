"""Run folders: lock, description and sockets of each live run, and the removal of killed runs."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, TypedDict

#: Environment variable of all programs of a run; its value is the identity of the run.
RUN_VARIABLE = "CELLTCP_SHELL"
#: Lock file of a run, held by its process.
_LOCK = "lock"
#: File with the description of a run.
_ABOUT = "about.json"
#: Time limit for programs to end after SIGTERM, s.
_GRACE_S = 1.0
#: Interval of the checks whether programs have ended, s.
_POLL_S = 0.02


def run_root() -> Path:
    """Returns the folder of this user's runs."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    base = Path(runtime) if runtime and Path(runtime).is_dir() else Path(tempfile.gettempdir())
    return base / f"celltcp-{os.getuid()}"


class RunningRun(TypedDict):
    """A live run in progress."""

    id: Annotated[str, "Identity of the run."]
    scenario: Annotated[str, "Name of the scenario."]
    cca: Annotated[str, "Congestion control of TCP on the hosts."]
    process: Annotated[int, "Process ID of the run."]
    started: Annotated[str, "Start of the run, in ISO 8601."]


RunningRuns = Annotated[list[RunningRun], "Live runs of this user that go on."]


class RunFolder:
    """Folder of a live run, locked while its process lives."""

    def __init__(self) -> None:
        self.identity = secrets.token_hex(3)
        self.path = run_root() / self.identity
        with _all_folders():
            self.path.mkdir(mode=0o700)
            self._lock = (self.path / _LOCK).open("w")
            fcntl.flock(self._lock, fcntl.LOCK_EX)

    def describe(self, scenario: str, cca: str) -> None:
        """Writes the description of the run, for `running_runs`."""
        about: RunningRun = {
            "id": self.identity,
            "scenario": scenario,
            "cca": cca,
            "process": os.getpid(),
            "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        }
        (self.path / _ABOUT).write_text(json.dumps(about))

    def remove(self) -> None:
        """Ends all programs of the run, and removes the folder."""
        end_programs(self.identity)
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.close()


def running_runs() -> list[RunningRun]:
    """Returns the live runs of this user in progress."""
    result = []
    for folder in _folders():
        if _is_locked(folder):
            # The run may start or end at this moment.
            with suppress(OSError):
                result.append(json.loads((folder / _ABOUT).read_text()))
    return result


def remove_killed_runs() -> list[str]:
    """Ends the programs of runs whose process was killed, and removes their folders.

    Returns:
        The identities of these runs.
    """
    with _all_folders():
        killed = [folder for folder in _folders() if not _is_locked(folder)]
        for folder in killed:
            end_programs(folder.name)
            shutil.rmtree(folder, ignore_errors=True)
    return [folder.name for folder in killed]


def end_programs(identity: str) -> None:
    """Ends all programs of a run by SIGTERM, and remaining ones by SIGKILL."""
    deadline = time.monotonic() + _GRACE_S
    pids = _process_ids(identity)
    for pid in pids:
        _send_signal(pid, signal.SIGTERM)
    while pids and time.monotonic() < deadline:
        time.sleep(_POLL_S)
        pids = _process_ids(identity)
    for pid in pids:
        _send_signal(pid, signal.SIGKILL)


@contextmanager
def _all_folders() -> Iterator[None]:
    """Locks the root folder, because creation and removal of a run folder take several steps."""
    root = run_root()
    root.mkdir(mode=0o700, exist_ok=True)
    with (root / _LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _folders() -> list[Path]:
    root = run_root()
    return sorted(path for path in root.iterdir() if path.is_dir()) if root.is_dir() else []


def _is_locked(folder: Path) -> bool:
    try:
        with (folder / _LOCK).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _send_signal(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _process_ids(identity: str) -> list[int]:
    """Returns the processes that name a run in their environment or, if it is unreadable, arguments."""
    variable = f"{RUN_VARIABLE}={identity}".encode()
    folder = os.fsencode(run_root() / identity) + b"/"
    result = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        # The process may have ended, or belong to another user.
        with suppress(OSError):
            is_zombie = (entry / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
            if is_zombie:
                continue
            try:
                is_of_run = variable in (entry / "environ").read_bytes().split(b"\0")
            except PermissionError:
                # pasta makes its environment unreadable. Arguments can always be read.
                words = (entry / "cmdline").read_bytes().split(b"\0")
                is_of_run = any(word.startswith(folder) for word in words)
            if is_of_run:
                result.append(int(entry.name))
    return result
