"""Settings of runs: one object, passed from the command line down to the engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING

from celltcp._core import NATIVE, CelltcpError, Scenario
from celltcp.campaign.engines import MAX_SEED, Engine, engine
from celltcp.campaign.jobs import Campaign
from celltcp.campaign.run import Workers
from celltcp.scenarios.cca_mix import parse_mix
from celltcp.scenarios.ccas import DEFAULT_LIST, OWN_MIX, default_ccas, select_ccas, with_middleboxes
from celltcp.scenarios.changes import Changes, override_texts
from celltcp.scenarios.scenarios import ScenarioSource

if TYPE_CHECKING:
    from celltcp.scenarios.data_frames import ScenarioLike, TraceLike


def workers_of(jobs: int | None, cluster: str | None) -> Workers:
    """Returns the workers: a number of threads of this machine, or the cluster at an address.

    Raises:
        CelltcpError: if both are given.
    """
    if cluster is None:
        return jobs
    if jobs is not None:
        raise CelltcpError(
            f"jobs: {jobs} is given beside the cluster {cluster}, whose workers decide how many run at "
            "a time; give one of them"
        )
    from celltcp.campaign.cluster import Cluster

    return Cluster(cluster)


@dataclass(frozen=True)
class RunSettings:
    """Settings that runs of all commands share.

    Attributes:
        cca: names of congestion controls, as for `celltcp.scenarios.ccas.select_ccas`.
        middlebox: middleboxes, with each of which every congestion control runs, as for
            `celltcp.scenarios.ccas.with_middleboxes`; those of the scenario unless given.
        runs: runs of each; run i has `seed + i`.
        seed: seed of the first run.
        duration: length of a run, such as `"60s"`; that of the scenario unless given.
        jobs: runs at a time; all cores that the process may use unless given.
        cluster: address of the Dask scheduler whose workers execute the runs, such as
            `"tcp://host:8786"`; this machine unless given.
        engine: `"native"` or `"kernel"`.
        kernel: version of the kernel, such as `"7.3"`; the newest that is built unless given.
        uplink: link trace of the uplink.
        column: columns of a link trace that is a table, `RATE` or `TIME,RATE`.
        unit: units of a link trace that is a table, such as `"ms,kbit/s"`.
        direction: direction to read from a link trace with both, `"down"` or `"up"`.
        reading: further options for reading a link trace, as `load_scenario` takes them.
        changes: scenario fields to override.
        samples: samples of a single run: `"every-ack"`, `"off"` or an interval such as `"10ms"`.
        radio_log: whether to record every TTI of the radio; only for scenarios with a radio.
        out: folder of the results, which stores finished runs while a campaign is running.
        overwrite: whether other results in that folder may be replaced.
    """

    cca: str | Sequence[str] = OWN_MIX
    middlebox: str | Sequence[str] = ()
    runs: int = 10
    seed: int = 1
    duration: str | float | None = None
    jobs: int | None = None
    cluster: str | None = None
    engine: str = NATIVE
    kernel: str | None = None
    uplink: TraceLike | None = None
    column: str | None = None
    unit: str | None = None
    direction: str | None = None
    reading: Mapping[str, object] | None = None
    changes: Changes = ()
    samples: str = "every-ack"
    radio_log: bool = False
    out: str | Path | None = None
    overwrite: bool = False

    def check(self) -> None:
        """Checks the numbers of runs and the seed.

        Raises:
            CelltcpError: says what is allowed.
        """
        if not (isinstance(self.runs, Integral) and self.runs >= 1):
            raise CelltcpError(f"runs: {self.runs!r} is not a number from 1 on")
        if not (isinstance(self.seed, Integral) and 0 <= self.seed <= MAX_SEED):
            raise CelltcpError(f"seed: {self.seed!r} is not a number from 0 to {MAX_SEED}")

    def prepare_out(self) -> Path | None:
        """Creates the folder of results, and returns it; None if results are not saved.

        Raises:
            CelltcpError: if it cannot be written.
        """
        if not self.out:
            return None
        from celltcp.results.folder import prepare_folder

        return prepare_folder(self.out)

    @property
    def workers(self) -> Workers:
        """Workers: a number of threads of this machine, or a cluster."""
        return workers_of(self.jobs, self.cluster)

    @property
    def folder(self) -> Path | None:
        """The folder of results, which need not exist; None if results are not saved."""
        return None if self.out is None else Path(self.out)

    @property
    def stored_overrides(self) -> list[str]:
        """The overrides as texts, as the origin of results stores them under `set`."""
        return override_texts(self.changes)

    def find_engine(self) -> Engine:
        """Returns the engine.

        Raises:
            CelltcpError: if there is no such engine, or no such kernel is built.
        """
        return engine(self.engine, self.kernel)

    def source(self, scenario: ScenarioLike) -> ScenarioSource:
        """Returns the source of a scenario with the changes, traces and radio log of these settings."""
        return ScenarioSource(
            scenario,
            changes=self.changes,
            duration=self.duration,
            uplink=self.uplink,
            column=self.column,
            unit=self.unit,
            direction=self.direction,
            reading=self.reading,
            radio_log=self.radio_log,
        )

    def for_all(self, scenarios: Iterable[Scenario]) -> RunSettings:
        """Returns settings with the same congestion controls for all scenarios.

        By default these are the ones with that of the scenarios, if all scenarios have the same.
        """
        if self.cca != DEFAULT_LIST:
            return self
        own = {parse_mix(scenario.lineup).flows[0].text: scenario.lineup for scenario in scenarios}
        return replace(self, cca=default_ccas(next(iter(own.values())) if len(own) == 1 else None))

    def plan(self, scenario: Scenario, engine: Engine, folder: Path | None = None) -> Campaign:
        """Plans the runs of all congestion controls on a scenario.

        Raises:
            CelltcpError: if the engine does not have a congestion control.
        """
        ccas = with_middleboxes(
            select_ccas(self.cca, engine.ccas, scenario.lineup), self.middlebox or ()
        )
        return Campaign.of(scenario, ccas, self.runs, self.seed, engine, folder)
