"""Comparison of videos: scores and stalls by congestion control and ABR algorithm."""

from __future__ import annotations

import functools
import json
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from celltcp._core import NATIVE, CelltcpError, __version__
from celltcp.campaign.plan import CampaignRequest
from celltcp.campaign.run import Progress
from celltcp.campaign.run_settings import RunSettings
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.json_outcome import best_outcome
from celltcp.comparison.metrics import VIDEO, best_of
from celltcp.comparison.sets.verdicts import MIN_SCENARIOS, SetVerdict, verdict_over_scenarios
from celltcp.results.completeness import COMPLETE, Completeness
from celltcp.results.folder import prepare_folder
from celltcp.results.keys import part_of_file_name
from celltcp.results.layout import Layout
from celltcp.results.publishing import list_files
from celltcp.results.rows import json_rows
from celltcp.results.statistics import Verdict, estimate, paired_gap
from celltcp.results.tables import Results
from celltcp.scenarios.ccas import DEFAULT_LIST
from celltcp.scenarios.changes import Changes, override_texts, value_at
from celltcp.scenarios.lazy_attributes import LazyAttribute
from celltcp.scenarios.requirements import QOE
from celltcp.scenarios.scenario_list import ScenarioList, expand_scenarios
from celltcp.scenarios.scenarios import ScenarioSource
from celltcp.video.outcome import VideoOutcome, VideoVerdict

#: Default scenarios: an LTE cell, a highway in LTE, cars on a motorway, and NR.
DEFAULT_SCENARIOS = ("mobility/forward-60-4g", "highway/drive", "vehicular/scenario-3", "nr/sub6-drive")

#: Default ABR algorithms.
DEFAULT_ABRS = ("throughput", "bola-e", "robust-mpc")


#: Default ladder of a scenario without a video.
_LADDER = "bbb"

#: Scores by which ABR algorithms rank.
SCORES = (QOE, "linear_qoe")


@dataclass(frozen=True)
class AdaptationVerdict:
    """Best ABR algorithm for a congestion control on a scenario, by a score."""

    #: None for the mean over all scenarios.
    scenario: str | None
    cca: str
    #: The score.
    metric: str
    verdict: Verdict


@dataclass(frozen=True)
class VideoComparison:
    """A comparison of CCAs for each scenario and ABR algorithm, in the order given.

    Attributes:
        comparisons: comparisons by the names of scenario and ABR algorithm.
        left_out: errors of files in folders that could not be loaded.
        completeness: number of finished and planned runs.
    """

    comparisons: dict[tuple[str, str], Comparison]
    left_out: tuple[str, ...] = ()
    completeness: Completeness = COMPLETE

    @property
    def unfinished(self) -> str:
        """Text with the numbers of finished and planned runs; empty if all are finished."""
        return self.completeness.text(of_several=True)

    #: `plot()` draws the mean opinion scores, a panel for each scenario.
    plot = LazyAttribute()

    #: `plot_ecdf()` draws the distributions of scores, start-up and stalls over all sessions of each
    #: CCA; with a single CCA, of each ABR algorithm.
    plot_ecdf = LazyAttribute()

    @property
    def about(self) -> dict[str, Any]:
        """Origin of the first comparison, which differs from others in scenario and ABR algorithm."""
        return next(iter(self.comparisons.values())).results.about

    @property
    def table(self) -> pd.DataFrame:
        """A row per scenario, ABR algorithm and CCA.

        Each video metric has its mean and the half width of its 95 % interval (NaN without variance).
        `behind` is the paired difference of the score to that of the leading CCA.
        """
        rows = []
        for (scenario, abr), comparison in self.comparisons.items():
            runs = comparison.runs.sort_values("seed")
            leader = self.verdict(scenario, abr).leader
            for cca in comparison.ccas:
                selected = runs[runs["cca"] == cca]
                row: dict[str, Any] = {"scenario": scenario, "abr": abr, "cca": cca}
                for metric in VIDEO:
                    mean = estimate(selected[metric].astype(float).tolist())
                    row[metric] = mean.mean
                    row[f"{metric}_ci95"] = mean.half_width
                row |= {"behind": math.nan, "behind_ci95": math.nan}
                if leader not in (None, cca):
                    best = runs.loc[runs["cca"] == leader, QOE].tolist()
                    difference = paired_gap(selected[QOE].tolist(), best)
                    row["behind"] = difference.mean
                    row["behind_ci95"] = difference.half_width
                rows.append(row)
        return pd.DataFrame(rows)

    def verdict(self, scenario: str, abr: str) -> Verdict:
        """Returns the verdict on the CCAs' mean opinion scores on a scenario with an ABR algorithm."""
        return self.comparisons[scenario, abr].verdicts[QOE]

    @property
    def scenarios(self) -> list[str]:
        """The scenarios, in the order given."""
        return list(dict.fromkeys(scenario for scenario, _ in self.comparisons))

    @property
    def adaptations(self) -> list[str]:
        """The ABR algorithms, in the order given."""
        return list(dict.fromkeys(abr for _, abr in self.comparisons))

    @property
    def adaptation_verdicts(self) -> list[AdaptationVerdict]:
        """The best ABR algorithm for each scenario and CCA, and over two scenarios, by each score.

        Runs with the same seed are paired. Over two scenarios, values are means of a seed's runs on
        both; `over_all` has the verdicts over more. Empty with a single ABR algorithm.
        """
        if len(self.adaptations) < 2:
            return []
        are_two = 1 < len(self.scenarios) < MIN_SCENARIOS
        scenarios: list[str | None] = [*self.scenarios, *([None] if are_two else [])]
        is_random = not all(comparison.decides for comparison in self.comparisons.values())
        return [
            AdaptationVerdict(
                *(scenario, cca, metric),
                best_of(metric, self._scores(scenario, cca, metric), random=is_random),
            )
            for scenario in scenarios
            for cca in self.ccas
            for metric in SCORES
        ]

    @functools.cached_property
    def over_all(self) -> list[SetVerdict]:
        """Verdicts over all scenarios, by their differences on each of them, by each score.

        They are on the CCA for each ABR algorithm, then on the ABR algorithm for each CCA. There are
        none over fewer than three scenarios.
        """
        if len(self.scenarios) < MIN_SCENARIOS:
            return []

        is_random = not all(comparison.decides for comparison in self.comparisons.values())

        def scores(
            metric: str, pairs: Mapping[str, tuple[str, str]]
        ) -> dict[str, dict[str, list[float]]]:
            return {
                scenario: {
                    name: self.comparisons[scenario, abr].values(cca, metric)
                    for name, (cca, abr) in pairs.items()
                }
                for scenario in self.scenarios
                if all((scenario, abr) in self.comparisons for _, abr in pairs.values())
            }

        def verdict(
            need: str, metric: str, values: Mapping[str, dict[str, list[float]]], names: list[str]
        ) -> SetVerdict | None:
            alone = {
                scenario: best_of(metric, each, random=is_random) for scenario, each in values.items()
            }
            return verdict_over_scenarios(need, metric, [*values.values()], names, alone)

        groups = {
            **{f"with {abr}": {cca: (cca, abr) for cca in self.ccas} for abr in self.adaptations},
            **{f"for {cca}": {abr: (cca, abr) for abr in self.adaptations} for cca in self.ccas},
        }
        verdicts = [
            verdict(need, metric, values, list(pairs))
            for need, pairs in groups.items()
            for metric in SCORES
            if len(pairs) > 1 and len(values := scores(metric, pairs)) >= MIN_SCENARIOS
        ]
        return [each for each in verdicts if each is not None]

    def _scores(self, scenario: str | None, cca: str, metric: str) -> dict[str, list[float]]:
        """Returns a score per seed by ABR algorithm, on a scenario or as means over all (None)."""
        result = {}
        for abr in self.adaptations:
            by_scenario = [
                comparison.values(cca, metric)
                for (name, comparison_abr), comparison in self.comparisons.items()
                if comparison_abr == abr and scenario in (None, name)
            ]
            result[abr] = [
                math.fsum(seed_scores) / len(seed_scores)
                for seed_scores in zip(*by_scenario, strict=False)
            ]
        return result

    @property
    def ccas(self) -> list[str]:
        """The congestion controls, in the order given."""
        return next(iter(self.comparisons.values())).ccas

    @property
    def warnings(self) -> list[str]:
        """Warnings of all comparisons, each with the scenarios that have it."""
        scenarios_of: dict[str, dict[str, None]] = {}
        for (scenario, _), comparison in self.comparisons.items():
            for warning in comparison.warnings:
                scenarios_of.setdefault(warning, {})[scenario] = None
        texts = [f"{', '.join(scenarios)}: {warning}" for warning, scenarios in scenarios_of.items()]
        return [*([self.unfinished] if self.unfinished else []), *texts]

    def to_json(self) -> VideoOutcome:
        """Returns the JSON of `celltcp video`; it depends only on settings and seeds."""
        verdicts: list[VideoVerdict] = [
            {"scenario": scenario, "abr": abr, **best_outcome(self.verdict(scenario, abr))}
            for scenario, abr in self.comparisons
        ]
        return {
            "version": __version__,
            "rows": json_rows(self.table, dict),
            "verdicts": verdicts,
            "adaptation_verdicts": [
                {
                    "scenario": best.scenario,
                    "cca": best.cca,
                    "metric": best.metric,
                    **best_outcome(best.verdict),
                }
                for best in self.adaptation_verdicts
            ],
            "over_all": [verdict.to_json() for verdict in self.over_all],
            "warnings": self.warnings,
            "left_out": list(self.left_out),
        }

    def save(self, folder: str | Path) -> None:
        """Writes the tables of each scenario and ABR algorithm into a folder inside `folder`."""
        root = prepare_folder(folder)
        for (scenario, abr), comparison in self.comparisons.items():
            comparison.save(root / folder_name(scenario, abr))
        list_files(root, video_layout(self.comparisons, self.left_out))

    def __repr__(self) -> str:
        return f"<VideoComparison {len(self.comparisons)} tables: {', '.join(self.ccas)}>"

    def _repr_html_(self) -> str:
        return str(self.table.to_html(float_format="{:.3g}".format))


def compare_video(
    scenarios: str | Sequence[str] = DEFAULT_SCENARIOS,
    abr: str | Sequence[str] = DEFAULT_ABRS,
    cca: Sequence[str] | str = DEFAULT_LIST,
    runs: int = 5,
    seed: int = 1,
    duration: str | float | None = None,
    jobs: int | None = None,
    *,
    ladder: str | None = None,
    engine: str = NATIVE,
    kernel: str | None = None,
    set: Changes = (),  # noqa: A002 - as on the command line
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> VideoComparison:
    """Plays a video on each scenario, with each ABR algorithm, under each congestion control.

    Args:
        scenarios: as for `celltcp.compare_all`; the workload of the first flow is replaced, but for the
            fields of a video.
        abr: ABR algorithms, as a list or in one text with commas.
        cca: as for `celltcp.compare`.
        runs: number of runs of each combination; run i has `seed + i`.
        seed: seed of the first run.
        duration: length of a run, such as `"600s"`.
        jobs: number of parallel runs; by default one per core.
        ladder: representations of the video: a built-in ladder, or a file of segment sizes (`.json`);
            by default that of the scenario's video, or else `"bbb"`.
        engine: `"native"` or `"kernel"`, a real Linux kernel in virtual time.
        kernel: version of the kernel; by default the newest built one.
        set: scenario fields to override, such as `flows.0.workload.max_buffer`.
        out: folder for finished runs, with a folder for each scenario and ABR algorithm.
        overwrite: whether other results in these folders may be replaced.
        progress: called with the finished share.

    Raises:
        CelltcpError: if an argument is invalid.
    """
    settings = RunSettings(
        cca=cca,
        runs=runs,
        seed=seed,
        duration=duration,
        jobs=jobs,
        engine=engine,
        kernel=kernel,
        changes=set,
        out=out,
        overwrite=overwrite,
    )
    return video_request(expand_videos(scenarios, abr, ladder, settings), settings).run(progress)


def expand_videos(
    scenarios: str | Sequence[str],
    abr: str | Sequence[str],
    ladder: str | None,
    settings: RunSettings,
) -> dict[str, ScenarioList]:
    """Returns the scenarios with a video as the workload of the first flow, by ABR algorithm.

    Where it is a video already, its other fields stay, and its ladder unless one is given.

    Raises:
        CelltcpError: if a name is no scenario or no ABR algorithm.
    """
    abrs = [name.strip() for name in (abr.split(",") if isinstance(abr, str) else abr)]
    if not all(abrs) or len(set(abrs)) < len(abrs):
        raise CelltcpError(f"abr: {', '.join(abrs)!r} is wrong; allowed: names, each once")
    own_changes = override_texts(settings.changes)
    # A file is relative to the working directory, not to the folder of a scenario.
    path = str(Path(ladder).resolve()) if ladder and ladder.endswith(".json") else ladder
    is_video = functools.cache(lambda scenario: _has_video(replace(settings, changes=()), scenario))

    def source(abr: str, scenario: str) -> ScenarioSource:
        workload = "flows.0.workload"
        if not is_video(scenario):
            ladder_text = json.dumps(path or _LADDER)
            changes = [f'{workload}={{ kind = "video", abr = "{abr}", ladder = {ladder_text} }}']
        else:
            changes = [f"{workload}.abr={abr}", *([f"{workload}.ladder={path}"] if path else [])]
        return replace(settings, changes=[*changes, *own_changes]).source(scenario)

    return {name: expand_scenarios(scenarios, functools.partial(source, name)) for name in abrs}


def _has_video(settings: RunSettings, scenario: str) -> bool:
    """Returns whether the first flow of a scenario is a video; not if it cannot be loaded."""
    try:
        text = settings.source(scenario).scenario.to_toml()
    except CelltcpError:
        return False
    return bool(value_at(tomllib.loads(text), "flows.0.workload.kind") == "video")


def video_request(
    scenarios: Mapping[str, ScenarioList], settings: RunSettings
) -> CampaignRequest[VideoComparison]:
    """Plans a comparison for each of the scenarios by ABR algorithm that `expand_videos` returns."""
    settings.check()
    engine = settings.find_engine()
    folder = settings.folder
    sources = {
        (name, abr): source
        for abr, scenario_list in scenarios.items()
        for name, source in scenario_list.by_name.items()
    }
    settings = settings.for_all(source.scenario for source in sources.values())
    names = dict.fromkeys(name for name, _ in sources)
    keys = [(name, abr) for name in names for abr in scenarios if (name, abr) in sources]
    plans = [
        settings.plan(
            sources[key].scenario, engine, None if folder is None else folder / folder_name(*key)
        )
        for key in keys
    ]
    left_out = next(iter(scenarios.values())).left_out

    def outcome(results: list[Results]) -> VideoComparison:
        return VideoComparison(dict(zip(keys, map(Comparison, results), strict=True)), left_out)

    return CampaignRequest(plans, settings, outcome, video_layout(keys, left_out))


def video_layout(keys: Iterable[tuple[str, str]], left_out: tuple[str, ...]) -> Layout:
    """Returns the layout of a folder of results for pairs of scenario and ABR algorithm."""
    return Layout("video", ("scenario", "abr"), {folder_name(*key): key for key in keys}, left_out)


def folder_name(scenario: str, abr: str) -> str:
    """Returns the name of the folder with the results of a scenario and an ABR algorithm."""
    return part_of_file_name(f"{scenario.strip('./').replace('/', '-')}-{abr}")
