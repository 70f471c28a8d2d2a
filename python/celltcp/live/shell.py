"""Shell: a scenario's path in real time, with hosts on which programs run."""

from __future__ import annotations

import shlex
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any

from celltcp._core import CelltcpError, LiveRun, machine_cca
from celltcp.campaign.run_settings import RunSettings
from celltcp.files.replacing import check_output
from celltcp.live.control import ControlSocket
from celltcp.live.host import PHONE, SERVER, Host
from celltcp.live.outside import Outside, find_pasta
from celltcp.live.path_changes import ChangingPath, PathChange
from celltcp.live.result import LiveResult, origin_of_live, tables_of
from celltcp.live.rights import acquire_rights, removed_runs
from celltcp.live.run_folders import RunFolder
from celltcp.live.stored import publish, result_folder
from celltcp.scenarios.ccas import OWN_MIX
from celltcp.scenarios.changes import Changes

if TYPE_CHECKING:
    from celltcp.live.outcome import Status
    from celltcp.scenarios.data_frames import ScenarioLike

#: Minimum time between two writes of the tables, s.
_MIN_FLUSH_INTERVAL_S = 1.0
#: Minimum time between two writes, relative to the duration of a write.
_FLUSH_INTERVAL_PER_WRITE = 20
#: Minimum time between two writes, relative to the run so far. The path pauses while its tables are
#: copied, which takes longer the longer the run is.
_FLUSH_INTERVAL_PER_RUN = 1 / 60
#: Interval of the checks of a running program, s.
_POLL_S = 0.05


@dataclass(frozen=True)
class LiveOptions:
    """Options of a live run other than the settings of all runs; `Shell` describes them."""

    server: Sequence[str] | None = None
    outside: bool = False
    phones: int = 1
    busy_poll: bool = False
    log: str | Path | None = None
    pcap: str | Path | None = None
    pcap_at: str | None = None


class Shell:
    """The path of a scenario in real time, with a host for programs at each end.

    It is a context manager: path and hosts exist inside of `with`. Hosts are called `"phone"`,
    `"phone-2"` and so on, and `"server"`.

    Args:
        scenario: built-in name, scenario file, link trace, or a loaded scenario.
        cca: congestion control of TCP on the hosts, one that this machine's kernel has; by default
            that of the machine.
        seed: seed of the path.
        server: command to run on the server, such as `"iperf3 -s"`, or a sequence of words. Its
            standard output is discarded, its standard error is not.
        outside: whether phones reach the networks of this machine through the server, by the program
            pasta. TCP connections then end on the server.
        uplink: link trace of the uplink.
        set: scenario fields to override.
        phones: number of phones in the cell; the second one is the host `phone-2`.
        busy_poll: whether the thread of the path never sleeps: more exact, and costs a core.
        pcap: file for a capture (pcap), with the headers of all packets.
        pcap_at: host of the capture; by default the server.
        log: file for a log of the packets, from which `celltcp replay` repeats the run.
        out: folder for the tables. They are written every second, after a minute less often.
        overwrite: whether other results in that folder may be replaced.
    """

    def __init__(
        self,
        scenario: ScenarioLike,
        cca: str | None = None,
        seed: int = 1,
        *,
        server: str | Sequence[str] | None = None,
        outside: bool = False,
        uplink: str | Path | None = None,
        set: Changes = (),  # noqa: A002 - as on the command line
        phones: int = 1,
        busy_poll: bool = False,
        log: str | Path | None = None,
        pcap: str | Path | None = None,
        pcap_at: str | None = None,
        out: str | Path | None = None,
        overwrite: bool = False,
    ) -> None:
        settings = RunSettings(
            cca=cca or OWN_MIX,
            runs=1,
            seed=seed,
            uplink=uplink,
            changes=set,
            out=out,
            overwrite=overwrite,
        )
        command = shlex.split(server) if isinstance(server, str) else server
        live = LiveOptions(command, outside, phones, busy_poll, log, pcap, pcap_at)
        self._prepare(scenario, settings, live)

    @classmethod
    def with_settings(cls, scenario: ScenarioLike, settings: RunSettings, live: LiveOptions) -> Shell:
        """Returns the shell for run settings, whose `cca` is that of the hosts."""
        shell = cls.__new__(cls)
        shell._prepare(scenario, settings, live)
        return shell

    def _prepare(self, scenario: ScenarioLike, settings: RunSettings, live: LiveOptions) -> None:
        settings.check()
        self.settings = settings
        self.live = live
        self.scenario = settings.source(scenario).scenario
        if live.outside:
            find_pasta()
        for file in live.log, live.pcap:
            if file is not None:
                check_output(Path(file), overwrite=settings.overwrite)
        #: Identities of killed runs whose programs this shell has ended.
        self.removed: list[str] = []
        self._stack = ExitStack()
        self._run: LiveRun | None = None
        self._hosts: dict[str, Host] = {}
        self._folder: Path | None = None
        self._next_flush = 0.0
        self._path = ChangingPath(self.scenario, [])
        self._change_lock = Lock()

    @property
    def cca(self) -> str | None:
        """The congestion control of TCP on the hosts; None if it is that of the machine."""
        cca = self.settings.cca
        return None if cca == OWN_MIX else str(cca)

    def __enter__(self) -> Shell:
        acquire_rights()
        with ExitStack() as stack:
            self.removed = removed_runs()
            run_folder = RunFolder()
            stack.callback(run_folder.remove)
            run_folder.describe(self.scenario.name, self.cca or machine_cca())
            if self.settings.out is not None:
                origin = origin_of_live(self.scenario, self.cca, self.settings.seed)
                folder = result_folder(self.settings.out, origin, overwrite=self.settings.overwrite)
                self._folder = stack.enter_context(folder)
            names = [SERVER, PHONE, *(f"{PHONE}-{n}" for n in range(2, self.live.phones + 1))]
            run = LiveRun(
                self.scenario,
                self.settings.seed,
                names,
                run_folder.path,
                cca=self.cca,
                phones=self.live.phones,
                log=_path(self.live.log),
                pcap=_path(self.live.pcap),
                pcap_at=self.live.pcap_at,
                outside=self.live.outside,
                spin=self.live.busy_poll,
            )
            stack.callback(self._end, run)
            for name in names:
                self._hosts[name] = host = Host(run, name, run_folder.identity)
                stack.callback(host.close)
            self._run = run
            control = ControlSocket(run_folder.path, {"set": self.set, "status": self.status})
            stack.callback(control.close)
            if self.live.outside:
                outside = Outside(run, self._hosts[SERVER], names, run_folder)
                stack.callback(outside.close)
            if self.live.server:
                self.start(
                    self.live.server, on=SERVER, start_new_session=True, stdout=subprocess.DEVNULL
                )
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def _end(self, run: LiveRun) -> None:
        """Stops the path, and writes its final tables."""
        run.stop()
        self._flush()

    def start(self, arguments: Sequence[str], on: str = PHONE, **options: Any) -> subprocess.Popen[Any]:
        """Starts a program on a host, with further options of `subprocess.Popen`.

        Raises:
            CelltcpError: if there is no such host or program.
        """
        return self._host(on).start(arguments, **options)

    def socket(self, on: str, *arguments: Any) -> socket.socket:
        """Returns a socket on a host, created with the arguments of `socket.socket`."""
        return self._host(on).socket(*arguments)

    def address(self, of: str) -> str:
        """Returns the IPv4 address of a host."""
        return str(self._live_run().address(self._host(of).name))

    def _host(self, name: str) -> Host:
        if name not in self._hosts:
            raise CelltcpError(f"on: there is no host {name!r}; allowed: {', '.join(self._hosts)}")
        return self._hosts[name]

    def run(
        self, arguments: Sequence[str], on: str = PHONE, timeout: float | None = None, **options: Any
    ) -> subprocess.CompletedProcess[Any]:
        """Runs a program on a host and waits for its end. The tables are written meanwhile.

        Args:
            arguments: the program and its arguments.
            on: the host.
            timeout: time after which the program is killed, s.
            options: further arguments of `subprocess.Popen`, such as `stdout=subprocess.PIPE`.

        Raises:
            CelltcpError: if there is no such host or program, or the path has failed.
            subprocess.TimeoutExpired: after `timeout`.
        """
        process = self.start(arguments, on, **options)
        start = time.monotonic()
        try:
            while True:
                try:
                    output, errors = process.communicate(timeout=_POLL_S)
                    break
                except subprocess.TimeoutExpired as expired:
                    self._check_and_flush()
                    if timeout is not None and time.monotonic() > start + timeout:
                        expired.timeout = timeout
                        raise
        except BaseException:
            process.kill()
            process.wait()
            raise
        return subprocess.CompletedProcess(process.args, process.returncode, output, errors)

    def _check_and_flush(self) -> None:
        """Raises the error of a path that has failed, and writes the tables if that is due."""
        run = self._live_run()
        if not run.is_running():
            run.stop()
        if time.monotonic() >= self._next_flush:
            start = time.monotonic()
            self._flush()
            self._next_flush = start + max(
                _MIN_FLUSH_INTERVAL_S,
                _FLUSH_INTERVAL_PER_WRITE * (time.monotonic() - start),
                _FLUSH_INTERVAL_PER_RUN * self.status()["time_s"],
            )

    def _flush(self) -> None:
        """Writes the current tables to the folder, if there is one."""
        if self._folder is not None and self._run is not None:
            publish(self.result(), self._folder)

    def _live_run(self) -> LiveRun:
        if self._run is None:
            raise CelltcpError("shell: the hosts are there inside of `with Shell(...)` only")
        return self._run

    def set(self, changes: Changes) -> list[PathChange]:
        """Changes the path during the run; nothing changes if one field cannot.

        Args:
            changes: fields of wired links and their values, such as `{"path.up.rate": "5Mbit/s"}`, or
                the short names `rate`, `loss`, `rtt`, `delay` and `outage`.

        Returns:
            The changes, with their times.

        Raises:
            CelltcpError: names the field and the allowed values.
        """
        with self._change_lock:
            return self._path.change(self._live_run(), changes)

    def status(self) -> Status:
        """Returns the current state: time, packets by destination, lateness, access link."""
        status: Status = self._live_run().status()  # type: ignore[assignment]
        return status

    def result(self) -> LiveResult:
        """Returns the results so far; after `with`, those of the whole run."""
        run, status = self._live_run(), self.status()
        origin = origin_of_live(self.scenario, self.cca, self.settings.seed)
        origin["duration_s"] = status["time_s"]
        origin["lateness"], origin["cpu_share"] = status["lateness"], status["cpu_share"]
        if self._path.changes:
            origin["path_changes"] = list(self._path.changes)
        return LiveResult(tables_of(run, str(origin["cca"][0])), origin, status)


def _path(file: str | Path | None) -> Path | None:
    return None if file is None else Path(file)
