"""Campaigns on a Dask cluster of real processes: lost workers, a lost scheduler, other builds."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import celltcp as ct
from celltcp.campaign import cluster_session
from celltcp.campaign import run as campaign
from celltcp.campaign.cluster import Cluster
from celltcp.campaign.engines import engine
from celltcp.campaign.jobs import jobs_for
from celltcp.campaign.run import ClusterLostError, RunsDone, run_jobs
from celltcp.pcap.validation.validation import validate
from celltcp.pcap.validation.validation_cases import CASES

if TYPE_CHECKING:
    from commands import Commands
    from conftest import Celltcp


class Processes:
    """A scheduler, two workers, and a third one with another build of celltcp."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._told = folder / "scheduler.json"
        package = Path(ct.__file__).parent
        self.scheduler = self._start("scheduler", package.parent, "--port", "0", "--host", "127.0.0.1")
        # The file is there before its text.
        _until(lambda: self._told.is_file() and self._told.stat().st_size > 0)
        self.address = json.loads(self._told.read_text())["address"]
        other = folder / "other" / "celltcp"
        shutil.copytree(package, other, ignore=shutil.ignore_patterns("engine"))
        with (other / "_core.abi3.so").open("ab") as core:
            core.write(b"another build")
        self.workers = {
            name: self._start("worker", path, "--nthreads", "1", "--no-nanny", "--name", name)
            for name, path in (("a", package.parent), ("b", package.parent), ("other", other.parent))
        }
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(3, timeout=60)

    def _start(self, what: str, path: Path, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", what, "--scheduler-file", str(self._told)]
        return subprocess.Popen(
            [*command, "--no-dashboard", *options],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(path)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def busy(self, name: str) -> bool:
        """Returns whether a worker is doing something just now."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            told = client.scheduler_info(n_workers=-1)["workers"]
            (address,) = (place for place, worker in told.items() if worker["name"] == name)
            return bool(client.processing()[address])

    def end(self) -> None:
        for each in (*self.workers.values(), self.scheduler):
            each.kill()
            each.wait()


def _until(reached: Callable[[], bool]) -> None:
    for _ in range(600):
        if reached():
            return
        time.sleep(0.05)
    raise AssertionError("it does not come")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    pytest.importorskip("distributed", reason="Dask is not installed")
    processes = Processes(tmp_path_factory.mktemp("cluster"))
    yield processes
    processes.end()


Files = dict[str, bytes]


def _files(folder: Path) -> Files:
    return {file.name: file.read_bytes() for file in sorted(folder.glob("*.parquet"))}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The tables of a comparison without a cluster, in chunks of one run."""
    folder = tmp_path_factory.mktemp("here")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(campaign, "_MAX_CHUNK_RUNS", 1)
        ct.compare(**_SETTINGS, jobs=1, out=folder)
    return _files(folder)


#: Cases of captures that take a second each.
_CASES = [replace(case, duration="3s") for case in CASES[:2]]

_SETTINGS = {"scenario": "drive", "cca": "cubic,bbr,auto:policy=rules", "runs": 4, "duration": "30s"}


def test_workers_of_a_cluster_give_the_same_tables_and_lose_one_part_with_an_interrupt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scheduler and a worker in this process: those of the tests below take long to start."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.setattr(campaign, "_MAX_CHUNK_RUNS", 1)
    settings = {"scenario": "drive", "cca": "cubic,bbr", "runs": 2, "duration": "2s"}
    done = []

    def interrupt(share: RunsDone) -> None:
        done.append(share.finished)
        if share.finished == 2:
            raise KeyboardInterrupt

    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address=None,
    ) as here:
        there = {**settings, "cluster": here.scheduler_address, "out": tmp_path / "there"}
        with pytest.raises(KeyboardInterrupt):
            ct.compare(**there, progress=interrupt)
        assert 0 < len(_parts(tmp_path / "there")) < 4
        ct.compare(**there)
    ct.compare(**settings, jobs=1, out=tmp_path / "here")
    assert _files(tmp_path / "there") == _files(tmp_path / "here")


@pytest.mark.slow
def test_cases_of_captures_are_judged_by_workers(cluster: Processes) -> None:
    there = validate(_CASES, cluster=cluster.address)
    here = validate(_CASES[:1])
    assert [each.case for each in there] == list(_CASES)
    assert here[0].matched.equals(there[0].matched)


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_nothing_and_one_of_another_build_does_nothing(
    cluster: Processes, here: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign, "_MAX_CHUNK_RUNS", 1)
    assert not cluster.busy("other")

    def kills_a_worker(share: float) -> None:
        assert not cluster.busy("other")
        if cluster.workers["a"].poll() is None and share < 1:
            assert cluster.busy("a")
            cluster.workers["a"].send_signal(signal.SIGKILL)
            cluster.workers["a"].wait()

    ct.compare(**_SETTINGS, cluster=cluster.address, out=tmp_path / "there", progress=kills_a_worker)
    assert cluster.workers["a"].poll() is not None
    assert _files(tmp_path / "there") == here


def _parts(folder: Path) -> list[Path]:
    return sorted((folder / "parts").glob("*/index.json"))


@pytest.mark.slow
def test_what_an_interrupted_command_has_finished_is_used_when_it_goes_on(
    cluster: Processes, celltcp: Celltcp, tmp_path: Path
) -> None:
    command = ("compare", "drive", "--cca", "cubic,bbr", "--runs", "60", "--duration", "60s")
    program = str(Path(sys.executable).with_name("celltcp"))
    there = [program, *command, "--cluster", cluster.address, "--out", "there"]
    # A shell lets what it runs in the background ignore interrupts, and so would the command.
    restore = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    going = subprocess.Popen(there, cwd=tmp_path, stderr=subprocess.PIPE, text=True, preexec_fn=restore)
    _until(lambda: bool(_parts(tmp_path / "there")))
    going.send_signal(signal.SIGINT)
    _, stderr = going.communicate(timeout=60)
    assert going.returncode == 130
    assert stderr.startswith(f"{cluster.address}: scheduler and workers exchange pickled Python")
    finished = len(_parts(tmp_path / "there"))
    assert 0 < finished < 24
    kept = int(re.search(r"(\d+) of 120 runs are kept in there", stderr)[1])
    assert kept == sum(
        len(json.loads(each.read_text())["about"]["runs"]) for each in _parts(tmp_path / "there")
    )
    again = celltcp(*command, "--out", "there", "-v")
    assert again.returncode == 0, again.stderr
    assert celltcp(*command, "--out", "here").returncode == 0
    assert _files(tmp_path / "there") == _files(tmp_path / "here")


_CLASS = """
import sys
import celltcp as ct

@ct.register
class Known(ct.CongestionControl):
    name = "known-here"

    def report(self, report: ct.Report) -> ct.Decision:
        return ct.Decision(cwnd=10)

try:
    ct.compare("drive", cca="known-here", runs=1, duration="1s", cluster=sys.argv[1])
except ct.CelltcpError as error:
    print(error)
"""


@pytest.mark.slow
def test_classes_of_this_process_are_refused(
    cluster: Processes, commands: Commands, tmp_path: Path
) -> None:
    # A process of its own: other tests look at the CCAs of this one.
    program = tmp_path / "known.py"
    program.write_text(_CLASS)
    done = commands.run_program(program, cluster.address)
    assert done.returncode == 0, done.stderr
    assert "defined in this process only" in done.stdout


@pytest.mark.slow
def test_with_a_lost_scheduler_the_same_command_goes_on(
    cluster: Processes, here: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign, "_MAX_CHUNK_RUNS", 1)
    done = []

    def kills_the_scheduler(share: RunsDone) -> None:
        done.append(share.finished)
        if share.finished == 3:
            cluster.scheduler.send_signal(signal.SIGKILL)
            cluster.scheduler.wait()

    there = tmp_path / "there"
    with pytest.raises(ClusterLostError, match="the same command goes on"):
        ct.compare(**_SETTINGS, cluster=cluster.address, out=there, progress=kills_the_scheduler)
    again = []
    real = campaign.run_batch
    monkeypatch.setattr(
        campaign, "run_batch", lambda chunks, *rest: again.extend(chunks) or real(chunks, *rest)
    )
    ct.compare(**_SETTINGS, jobs=1, out=there)
    assert len(again) == 12 - done[-1]
    assert _files(there) == here


def test_a_cluster_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_session, "_CONNECT_S", 0.3)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        with pytest.raises(ct.CelltcpError, match=r"is not reached.*tcp://host:8786"):
            run_jobs([], workers=Cluster(address))
    with pytest.raises(ct.CelltcpError, match="give one of them"):
        ct.compare("drive", jobs=2, cluster="tcp://127.0.0.1:9")


def test_a_million_runs_are_planned_at_once(celltcp) -> None:
    command = ("compare", "drive", "--cca", "cubic,bbr,reno,vegas", "--runs", "250000", "--dry-run")
    done = celltcp(*command, "--out", "out")
    assert done.stdout.startswith("1000000 runs, 16 667 h simulated")
    assert done.returncode == 0
    planned = jobs_for(ct.load_scenario("drive"), ["cubic", "bbr"], 500_000, 1, engine())
    assert len(planned) == len(planned.keys) == 1_000_000
    assert planned[999_999].key in planned.keys
    assert len(json.dumps(planned.keys.to_json())) < 1000


def test_an_evaluation_is_planned_too(celltcp) -> None:
    done = celltcp("select", "evaluate", "--dry-run", "--runs", "3", "--scenarios", "drive")
    assert done.stdout.split(" runs, ")[0].isdecimal()
