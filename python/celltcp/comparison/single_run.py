"""Single run: one run of one congestion control, recorded in detail."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa

from celltcp._core import NATIVE, CelltcpError
from celltcp.campaign.jobs import Job, jobs_for
from celltcp.campaign.provenance import origin_json, origin_of
from celltcp.campaign.run import Progress
from celltcp.campaign.run_settings import RunSettings
from celltcp.comparison.metrics import CWND_MAX, CWND_MEAN
from celltcp.comparison.run_outcome import RunOutcome
from celltcp.comparison.windows import windows_of
from celltcp.files.atomic_write import atomic_write
from celltcp.files.replacing import check_output
from celltcp.results.folder import about_in, require_own
from celltcp.results.folder_lock import check_replaceable, locked_folder
from celltcp.results.limits import limits_rows
from celltcp.results.publishing import remove_pictures
from celltcp.results.rows import json_records, json_value
from celltcp.results.sample_writer import SampleWriter, number_rows
from celltcp.results.stored_tables import publish_tables
from celltcp.results.tables import OPTIONAL, TABLES, Results, RunTables, frame, read_results
from celltcp.results.tested import FlowUnderTest, divided_flows, has_application
from celltcp.results.warnings import all_warnings
from celltcp.results.working import staging
from celltcp.scenarios.ccas import OWN_MIX, select_ccas
from celltcp.scenarios.changes import Changes
from celltcp.scenarios.lazy_attributes import LazyAttribute
from celltcp.scenarios.scenarios import ScenarioSource

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.comparison.applications.applications import Application
    from celltcp.scenarios.data_frames import ScenarioLike, TraceLike

#: Names of the result files of a run.
_FILES = tuple(f"{name}.parquet" for name in TABLES)

#: Number of pieces of a run; after each, samples are collected and the run can be interrupted.
_PIECES = 300


class SingleRun(RunTables):
    """Results of one run of one congestion control, with its state at every ACK."""

    @property
    def connection(self) -> pd.Series:
        """The connection that plots show: the first one of the flow under test, or else of all."""
        tested = FlowUnderTest.of(self.results.about).has(self.flows["name"])
        flows = self.flows[tested] if tested.any() else self.flows
        first: pd.Series = flows.iloc[0]
        return first

    @property
    def subject(self) -> str:
        """Text that names `connection`; empty if it is the only one."""
        count = len(self.flows)
        if count < 2:
            return ""
        return f"connection {self.connection['flow']} ({self.connection['name']}) of {count}"

    @property
    def samples(self) -> pd.DataFrame:
        """State of the connections at every ACK."""
        return frame(self.results.tables["samples"])

    @property
    def events(self) -> pd.DataFrame:
        """Events of the connections: states of loss recovery, time-outs, data of applications."""
        return frame(self.results.tables["events"])

    @functools.cached_property
    def applications(self) -> list[Application]:
        """The applications of all flows, with their metrics."""
        if not has_application(self.results.about):
            return []
        from celltcp.comparison.applications.application_metrics import (
            application_metrics,
            frame_kind_metrics,
        )
        from celltcp.comparison.applications.applications import applications_of

        cca = self.results.about["cca"][0]
        return applications_of(
            application_metrics(self.results, [0]),
            {cca: [0]},
            divided_flows(self.results.about),
            frame_kind_metrics(self.results, [0]),
        )

    def __getitem__(self, key: object) -> NoReturn:
        """Rejects a key, as a run has no parts.

        Raises:
            CelltcpError: always; the text names the tables.
        """
        raise CelltcpError(
            f"run: {key!r} is no part of a run, which is one run of {self.results.about['cca'][0]}; "
            "allowed: its tables flows, slots, samples and events"
        )

    #: Plots, `celltcp.comparison.plots.accessors.RunPlots`: `time_series()`.
    plot = LazyAttribute()

    def to_json(self) -> RunOutcome:
        """Returns origin, connections and warnings; the same for the same seed."""
        about = self.results.about
        return {
            **origin_json(about),
            "cca": about["cca"][0],
            "seed": about["seed"],
            "flows": json_records(self.results.tables["flows"]),
            "applications": [
                {
                    "flow": application.flow,
                    **{name: json_value(value) for name, (value,) in metrics.items()},
                }
                for application in self.applications
                for metrics in application.metrics.values()
            ],
            "windows": [
                {
                    "flow": flow.name,
                    CWND_MEAN: json_value(windows.mean),
                    CWND_MAX: json_value(windows.largest),
                }
                for flow in FlowUnderTest.each(about)
                for (windows,) in [windows_of(self.results, flow, [0])]
            ],
            "limits": limits_rows(self.results),
            "decisions": json_records(self.results.decisions)
            if "decisions" in self.results.tables
            else [],
            "warnings": self.warnings,
        }

    @property
    def warnings(self) -> list[str]:
        """Warnings about causes of the metrics other than the CCA."""
        return list(self._warnings)

    @functools.cached_property
    def _warnings(self) -> list[str]:
        return all_warnings(self.results)

    def __repr__(self) -> str:
        about = self.results.about
        flow = self.connection
        metrics = f"{flow['goodput_mbps']:.2f} Mbit/s, mean RTT {flow['rtt_mean_ms']:.1f} ms"
        metrics += f" of {self.subject}" if self.subject else ""
        return f"<SingleRun {about['name']}, {about['cca'][0]}, seed {about['seed']}: {metrics}>"

    def save(self, folder: str | Path) -> Path:
        """Writes the tables as Parquet files into `folder`."""
        return self.results.save(folder)

    def _repr_html_(self) -> str:
        return str(self.flows.T.to_html())


def run(
    scenario: ScenarioLike,
    cca: str = OWN_MIX,
    seed: int = 1,
    duration: str | float | None = None,
    *,
    engine: str = NATIVE,
    kernel: str | None = None,
    uplink: TraceLike | None = None,
    set: Changes = (),  # noqa: A002 - as on the command line
    samples: str = "every-ack",
    out: str | Path | None = None,
    overwrite: bool = False,
    pcap: str | Path | None = None,
    pcap_at: str | None = None,
    radio_log: bool = False,
    progress: Progress | None = None,
) -> SingleRun:
    """Runs one congestion control once.

    Args:
        scenario: built-in name, scenario file, link trace, or a loaded scenario.
        cca: name of the congestion control, with its parameters (`"cubic:hystart=off"`), and several
            flows at a time (`"cubic+bbr"`); that of the scenario unless given.
        seed: of the run.
        duration: length of the run, such as `"60s"`.
        engine: `"native"` or `"kernel"`, a real Linux kernel in virtual time.
        kernel: version of the kernel, such as `"7.3"`; the newest that is built unless given.
        uplink: link trace of the uplink.
        set: scenario fields to override.
        samples: `"every-ack"` (every millisecond on a kernel), `"off"` or an interval such as `"10ms"`.
        out: folder to save to.
        overwrite: whether other results in that folder, and an existing capture, may be replaced.
        pcap: file for a capture, which appears when the run is done; a named pipe or a device receives
            it during the run.
        pcap_at: host, or node with a middlebox, of the capture; the server unless given.
        radio_log: whether to record every TTI of the radio; only for scenarios that have one.
        progress: called with the share that is done.

    Raises:
        CelltcpError: if something that was given cannot be used.
    """
    settings = RunSettings(
        cca=cca,
        runs=1,
        seed=seed,
        duration=duration,
        engine=engine,
        kernel=kernel,
        uplink=uplink,
        changes=set,
        samples=samples,
        radio_log=radio_log,
        out=out,
        overwrite=overwrite,
    )
    return run_with(settings.source(scenario), settings, pcap=pcap, pcap_at=pcap_at, progress=progress)


def run_with(
    source: ScenarioSource,
    settings: RunSettings,
    *,
    pcap: str | Path | None,
    pcap_at: str | None,
    progress: Progress | None,
) -> SingleRun:
    """Runs one congestion control once, as `run` does."""
    settings.check()
    if settings.out is not None:
        require_own(settings.out, "run")
    scenario = source.scenario
    if pcap is not None:
        traces = [str(file) for file, *_ in scenario.traces]
        check_output(Path(pcap), overwrite=settings.overwrite, inputs=traces)
    engine = settings.find_engine()
    names = select_ccas(settings.cca, engine.ccas, scenario.lineup)
    if len(names) > 1:
        raise CelltcpError(f"cca: {settings.cca!r} are several; run takes one, compare takes more")
    (job,) = jobs_for(scenario.with_samples(settings.samples), names, 1, settings.seed, engine)
    origin = {**origin_of(scenario, names, 1, settings.seed, engine), "keys": job.keys.to_json()}
    if settings.out is None:
        return SingleRun(Results(_run(job, pcap, pcap_at, None, progress), origin))
    with locked_folder(settings.out) as folder:
        check_replaceable(folder, origin, _FILES, overwrite=settings.overwrite)
        if pcap is None and (result := _finished_run(folder, origin)):
            return result
        remove_pictures(folder)
        with staging(folder) as staged:
            writer = SampleWriter(staged, names[0], origin)
            try:
                tables = _run(job, pcap, pcap_at, writer, progress)
            except BaseException:
                writer.abandon()
                raise
            publish_tables(tables, origin, staged, folder)
        return SingleRun(Results(tables, origin))


def _finished_run(folder: Path, origin: Mapping[str, Any]) -> SingleRun | None:
    """Returns the complete run with this origin in a folder, if there is one."""
    try:
        if about_in(folder) != origin:
            return None
        return SingleRun(replace(read_results(folder), is_repeat=True))
    except CelltcpError:
        return None


def _run(
    job: Job,
    pcap: str | Path | None,
    pcap_at: str | None,
    writer: SampleWriter | None,
    progress: Progress | None,
) -> dict[str, pa.Table]:
    """Runs a job; with a writer, samples are written to its file and a thinned copy is returned."""
    with ExitStack() as stack:
        file = None
        if pcap is not None:
            file = str(stack.enter_context(atomic_write(Path(pcap), is_streamed=True)))
        run = job.engine.start(job.scenario, job.seed, pcap=file, pcap_at=pcap_at if file else None)
        samples: list[pa.RecordBatch] = []
        store = writer.write if writer else samples.append
        for piece in range(1, _PIECES + 1):
            while not run.advance(job.scenario.duration_s * piece / _PIECES):
                pass
            store(run.take_samples())
            if progress:
                progress(piece / _PIECES)
        batches = {name: [batch] for name, batch in run.finish().items()}
        batches["samples"] = samples + batches["samples"]
        tables = {name: pa.Table.from_batches(batches[name]) for name in TABLES}
        if writer:
            tables["samples"] = writer.close()
        return {
            name: number_rows(table, 0, job.cca)
            for name, table in tables.items()
            if name not in OPTIONAL or len(table)
        }
