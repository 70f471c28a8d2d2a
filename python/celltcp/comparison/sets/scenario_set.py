"""Comparison of congestion controls on several scenarios or traces, and means over all of them."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from celltcp._core import NATIVE, CelltcpError, __version__
from celltcp.campaign.plan import CampaignRequest
from celltcp.campaign.run import Progress
from celltcp.campaign.run_settings import RunSettings
from celltcp.comparison.applications.application_means import application_means
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.metrics import COMPETITION_METRICS, METRICS
from celltcp.comparison.outcome import ScenarioSetOutcome
from celltcp.comparison.sets.differences import (
    SetDifference,
    has_ratios,
    ratio_interval,
    set_difference,
    set_interval,
)
from celltcp.comparison.sets.leading import Leading, leading_by_need, leading_in, verdicts_of_flows
from celltcp.comparison.sets.verdicts import SetVerdict, set_verdicts
from celltcp.results.completeness import COMPLETE, Completeness
from celltcp.results.folder import prepare_folder, require_own
from celltcp.results.keys import part_of_file_name
from celltcp.results.layout import Layout
from celltcp.results.publishing import list_files
from celltcp.results.statistics import estimate
from celltcp.results.tables import Results
from celltcp.scenarios.ccas import DEFAULT_LIST
from celltcp.scenarios.changes import Changes
from celltcp.scenarios.lazy_attributes import LazyAttribute
from celltcp.scenarios.scenario_list import ScenarioList, expand_scenarios

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.scenarios.data_frames import ScenarioLike


@dataclass(frozen=True)
class ScenarioSet:
    """A comparison on each of several scenarios, in the order in which they were given.

    Attributes:
        comparisons: by the name of the scenario or trace.
        left_out: files of folders that could not be loaded, and why.
        completeness: numbers of finished and planned runs.
    """

    comparisons: dict[str, Comparison]
    left_out: tuple[str, ...] = ()
    completeness: Completeness = COMPLETE

    #: `plot(by)` draws the distributions of metrics over the scenarios.
    plot = LazyAttribute()

    def __getitem__(self, scenario: str) -> Comparison:
        """Returns the comparison on a scenario.

        Raises:
            CelltcpError: if there is none.
        """
        if scenario not in self.comparisons:
            known = ", ".join(map(repr, self.comparisons))
            raise CelltcpError(f"scenario: {scenario!r} is not in the set; allowed: {known}")
        return self.comparisons[scenario]

    @property
    def unfinished(self) -> str:
        """Numbers of finished and planned runs in a line; empty if all are finished."""
        return self.completeness.text(of_several=True)

    @functools.cached_property
    def verdicts(self) -> list[SetVerdict]:
        """A verdict over all scenarios for each need that all have; none for fewer than three."""
        return set_verdicts(self)

    @property
    def summary(self) -> pd.DataFrame:
        """Mean and half width of the 95 % interval (NaN without spread), a row per scenario and CCA."""
        import pandas as pd

        parts = {name: comparison.summary for name, comparison in self.comparisons.items()}
        return pd.concat(parts, names=["scenario"])

    @property
    def flow_summary(self) -> pd.DataFrame:
        """Summary of each flow and its application, a row per scenario, CCA and flow."""
        import pandas as pd

        parts = {name: comparison.flow_summary for name, comparison in self.comparisons.items()}
        return pd.concat(parts, names=["scenario"])

    @property
    def means(self) -> pd.DataFrame:
        """The mean of each scenario and CCA, a row for each; the JSON's `mean` is computed from it."""
        import pandas as pd

        summary = self.summary
        table = pd.DataFrame({metric: summary[metric, "mean"] for metric in METRICS})
        return table.reset_index()

    def values(self, cca: str, metric: str) -> list[float]:
        """Returns the mean of a metric in each scenario with the CCA, in the order of the scenarios.

        Goodput and PM are those of scenarios whose flow under test competes for the path.
        """
        return [
            estimate(comparison.values(cca, metric)).mean
            for comparison in self._comparisons_with(metric)
            if cca in comparison.ccas
        ]

    def _comparisons_with(self, metric: str) -> list[Comparison]:
        """Returns the comparisons to which a metric applies: goodput and PM only if flows compete."""
        every = self.comparisons.values()
        return [each for each in every if each.is_competing or metric not in COMPETITION_METRICS]

    @property
    def baseline(self) -> str | None:
        """The first congestion control that all scenarios have; relative metrics refer to it."""
        return next(iter(self.ccas), None)

    def relative(self, cca: str, metric: str) -> list[float]:
        """Returns the relative difference of a metric to the baseline, a share for each scenario.

        It is the ratio of the means over the seeds with both values, less one, as both CCAs meet the
        same channels. It is NaN where only one mean is zero. Without a baseline, the list is empty.
        """
        if self.baseline is None:
            return []
        return self._difference(cca, self.baseline, metric, is_relative=True).values

    def difference(self, cca: str, base: str, metric: str) -> SetDifference:
        """Returns the difference of a metric of the network to that of another CCA.

        It is relative, but for retransmissions.
        """
        return self._difference(cca, base, metric, is_relative=has_ratios(metric, {}))

    def _difference(self, cca: str, base: str, metric: str, *, is_relative: bool) -> SetDifference:
        comparisons = self._comparisons_with(metric)
        runs, base_runs = ([each.values(name, metric) for each in comparisons] for name in (cca, base))
        return set_difference(metric, runs, base_runs, is_relative=is_relative)

    @property
    def ccas(self) -> list[str]:
        """The congestion controls that all scenarios have, in the order given."""
        lists = [comparison.ccas for comparison in self.comparisons.values()]
        return [cca for cca in lists[0] if all(cca in each for each in lists)]

    @property
    def leading(self) -> dict[str, dict[str, list[str]]]:
        """For each requirement and CCA, the scenarios on which the CCA is best or tied with the best.

        Scenarios whose runs do not decide on the best CCA are left out.
        """
        verdicts = {name: comparison.verdicts for name, comparison in self.comparisons.items()}
        leading = leading_by_need(verdicts, self.ccas)
        return {requirement: each.scenarios for requirement, each in leading.items()}

    def leading_by_need(self, by: Sequence[str] = ()) -> dict[str, Leading]:
        """Returns the leading CCAs by need, as `leading_in` does."""
        return leading_in(self.comparisons, self.ccas, by)

    def to_json(self, by: Sequence[str] = ()) -> ScenarioSetOutcome:
        """Returns the outcome of each scenario, and means over all; the same for the same seeds.

        Args:
            by: further metrics to rank CCAs by, as in `Comparison.best_by`.
        """
        outcome: ScenarioSetOutcome = {
            "version": __version__,
            "scenarios": {
                name: comparison.to_json(by) for name, comparison in self.comparisons.items()
            },
            "mean": [
                {"cca": cca, **{metric: set_interval(self.values(cca, metric)) for metric in METRICS}}
                for cca in self.ccas
            ],
            "relative": [
                {
                    "cca": cca,
                    "compared_with": self.ccas[0],
                    **{metric: ratio_interval(self.relative(cca, metric)) for metric in METRICS},
                }
                for cca in self.ccas[1:]
            ],
            "leading": self.leading,
            "over_all": [verdict.to_json() for verdict in self.verdicts],
            "left_out": list(self.left_out),
        }
        verdicts = {
            name: verdicts_of_flows(comparison, by) for name, comparison in self.comparisons.items()
        }
        if any(verdicts.values()):
            leading = leading_by_need(verdicts, self.ccas)
            outcome["leading_of_flows"] = {need: each.scenarios for need, each in leading.items()}
        if means := application_means(self):
            outcome["applications"] = [
                {
                    "flow": row.flow,
                    "metric": row.metric,
                    "cca": cca,
                    "mean": set_interval(values),
                    "relative": ratio_interval(each.values) if each and each.is_relative else None,
                    "difference": set_interval(each.values) if each and not each.is_relative else None,
                }
                for row in means
                for cca, values in row.means.items()
                for each in (row.differences.get(cca),)
            ]
        if self.unfinished:
            outcome["unfinished"] = self.unfinished
        return outcome

    def save(self, folder: str | Path) -> None:
        """Writes the tables of each scenario into a folder of its own."""
        root = prepare_folder(folder)
        for name, comparison in self.comparisons.items():
            comparison.save(root / folder_name(name))
        list_files(root, _set_layout(self.comparisons, self.left_out))

    def __repr__(self) -> str:
        return f"<ScenarioSet {', '.join(self.comparisons)}: {', '.join(self.ccas)}>"

    def _repr_html_(self) -> str:
        return str(self.summary.to_html(float_format="{:.3g}".format))


def compare_all(
    scenarios: str | Sequence[ScenarioLike],
    cca: Sequence[str] | str = DEFAULT_LIST,
    runs: int = 10,
    seed: int = 1,
    duration: str | float | None = None,
    jobs: int | None = None,
    *,
    cluster: str | None = None,
    engine: str = NATIVE,
    kernel: str | None = None,
    set: Changes = (),  # noqa: A002 - as on the command line
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> ScenarioSet:
    """Compares congestion controls on each of several scenarios.

    Args:
        scenarios: built-in names, scenario files, link traces, folders of them, and patterns such as
            `"mobility/*"`, as a list or in one text with commas; in a list also what
            `celltcp.compare` takes.
        cca: as for `celltcp.compare`.
        runs: runs of each congestion control and scenario; run i, from 0, has `seed + i`.
        seed: of the first run.
        duration: length of a run, such as `"60s"`, or a number of seconds.
        jobs: runs at a time; all cores unless given.
        cluster: address of a Dask scheduler whose workers do the runs, such as `"tcp://host:8786"`.
        engine: `"native"` or `"kernel"`, a real Linux kernel in virtual time.
        kernel: version of the kernel; the newest that is built unless given.
        set: scenario fields to override in all of them.
        out: folder to keep finished runs in, with a folder for each scenario.
        overwrite: whether other results in these folders may be replaced.
        progress: called with the share that is done.

    Raises:
        CelltcpError: if something that was given cannot be used.
    """
    settings = RunSettings(
        cca=cca,
        runs=runs,
        seed=seed,
        duration=duration,
        jobs=jobs,
        cluster=cluster,
        engine=engine,
        kernel=kernel,
        changes=set,
        out=out,
        overwrite=overwrite,
    )
    return set_request(expand_scenarios(scenarios, settings.source), settings).run(progress)


def set_request(scenarios: ScenarioList, settings: RunSettings) -> CampaignRequest[ScenarioSet]:
    """Plans a comparison on each of several scenarios."""
    settings.check()
    engine = settings.find_engine()
    folder = settings.folder
    sources = scenarios.by_name
    settings = settings.for_all(source.scenario for source in sources.values())
    folders = {name: None if folder is None else folder / folder_name(name) for name in sources}
    if folder is not None:
        for each in (folder, *filter(None, folders.values())):
            require_own(each, "compare")
        if len(set(folders.values())) < len(folders):
            raise CelltcpError(
                f"{folder}: two scenarios would have the same folder; rename their files"
            )
    planned = [
        settings.plan(source.scenario, engine, folders[name]) for name, source in sources.items()
    ]

    def scenario_set(results: list[Results]) -> ScenarioSet:
        comparisons = dict(zip(sources, map(Comparison, results), strict=True))
        return ScenarioSet(comparisons, scenarios.left_out)

    return CampaignRequest(planned, settings, scenario_set, _set_layout(sources, scenarios.left_out))


def _set_layout(names: Iterable[str], left_out: tuple[str, ...]) -> Layout:
    """Returns the layout of the folder of a set of scenarios with these names."""
    return Layout("set", ("scenario",), {folder_name(name): (name,) for name in names}, left_out)


def folder_name(name: str) -> str:
    """Returns the name of the folder with the results of a scenario."""
    return part_of_file_name(name.strip("./").replace("/", "-"))
