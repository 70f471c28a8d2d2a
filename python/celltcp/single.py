"""One run, looked at closely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from celltcp._core import CelltcpError, Scenario
from celltcp.campaign import Progress, jobs_for, run_jobs
from celltcp.ccas import OWN
from celltcp.ccas import chosen as chosen_ccas
from celltcp.comparison import Recorded, about, frame
from celltcp.engines import engine as find_engine
from celltcp.results import Results, prepare_folder, require_own
from celltcp.sample_file import SampleFile
from celltcp.scenarios import load_scenario

if TYPE_CHECKING:
    from celltcp.plots import RunPlots


class SingleRun(Recorded):
    """The outcome of one run."""

    @property
    def flows(self) -> pd.DataFrame:
        """One row per connection."""
        return frame(self.results.tables["flows"])

    @property
    def slots(self) -> pd.DataFrame:
        """One row per connection and slot."""
        return frame(self.results.tables["slots"])

    @property
    def samples(self) -> pd.DataFrame:
        """The state of connections at every ACK."""
        return frame(self.results.tables["samples"])

    @property
    def events(self) -> pd.DataFrame:
        """What happened: connections, states of loss recovery, time-outs."""
        return frame(self.results.tables["events"])

    @property
    def plot(self) -> RunPlots:
        """Plots: `time_series()`."""
        from celltcp.plots import RunPlots

        return RunPlots(self)

    def save(self, folder: str | Path) -> Path:
        """Writes the tables as Parquet files into `folder`."""
        return self.results.save(folder)

    def _repr_html_(self) -> str:
        return str(self.flows.T.to_html())


def run(
    scenario: str | Path | Scenario,
    cca: str = OWN,
    seed: int = 1,
    duration: str | None = None,
    *,
    engine: str = "native",
    kernel: str | None = None,
    uplink: str | Path | None = None,
    set: Mapping[str, object] | Sequence[str] = (),  # noqa: A002 - as on the command line
    samples: str = "every-ack",
    out: str | Path | None = None,
    pcap: str | Path | None = None,
    radio_log: bool = False,
    progress: Progress | None = None,
) -> SingleRun:
    """Runs one congestion control once.

    Args:
        scenario: built-in name, scenario file, link trace, or a loaded scenario.
        cca: name of the congestion control, with its parameters (`"cubic:hystart=off"`), and several
            flows at a time (`"cubic+bbr"`) if wanted; that of the scenario unless given.
        seed: of the run.
        duration: length of the run, such as `"60s"`.
        engine: `"native"` or `"kernel"`, a real Linux kernel in virtual time.
        kernel: version of the kernel, such as `"7.3"`; the newest that is built unless given.
        uplink: link trace of the uplink.
        set: scenario fields to override.
        samples: `"every-ack"` (every millisecond on a kernel), `"off"` or an interval such as `"10ms"`.
        out: folder to save to.
        pcap: file for a capture at the server.
        radio_log: whether to record every TTI of the radio; only for scenarios that have one.
        progress: called with the share that is done.

    Raises:
        CelltcpError: if something that was given cannot be used.
    """
    if out is not None:
        require_own(out, "run")
    loaded = load_scenario(scenario, uplink=uplink, duration=duration, changes=set)
    if radio_log:
        loaded = loaded.with_radio_log()
    chosen = find_engine(engine, kernel)
    names = chosen_ccas(cca, chosen.ccas, loaded.lineup)
    if len(names) > 1:
        raise CelltcpError(f"cca: {cca!r} are several; run takes one, compare takes more")
    name = names[0]
    jobs = jobs_for(loaded.with_samples(samples), [name], 1, seed, chosen)
    capture = str(pcap) if pcap is not None else None
    origin = about(loaded, [name], 1, seed, chosen)
    if out is None:
        tables = run_jobs(jobs, workers=1, progress=progress, pcap=capture)
        return SingleRun(Results(tables, origin))
    file = SampleFile(prepare_folder(out), name, origin)
    try:
        tables = run_jobs(jobs, workers=1, progress=progress, pcap=capture, samples=file)
    except BaseException:
        file.abandon()
        raise
    single = SingleRun(Results(tables, origin, frozenset({"samples"})))
    single.save(out)
    return single
