"""Comparison of videos: scores and stalls by congestion control and ABR algorithm."""

from __future__ import annotations

import json
import math
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
from celltcp.results.completeness import COMPLETE, Completeness
from celltcp.results.folder import prepare_folder
from celltcp.results.keys import part_of_file_name
from celltcp.results.layout import Layout
from celltcp.results.publishing import list_files
from celltcp.results.rows import json_rows
from celltcp.results.statistics import Verdict, estimate, paired_gap
from celltcp.results.tables import Results
from celltcp.scenarios.ccas import DEFAULT_CCAS
from celltcp.scenarios.changes import Changes, override_texts
from celltcp.scenarios.lazy_attributes import LazyAttribute
from celltcp.scenarios.requirements import QOE
from celltcp.scenarios.scenario_list import ScenarioList, expand_scenarios
from celltcp.video.outcome import VideoOutcome, VideoVerdict

#: Default scenarios: a radio cell, a highway, the motorway, and NR.
DEFAULT_SCENARIOS = ("mobility/forward-60-4g", "highway/drive", "vehicular/scenario-3", "nr/sub6-drive")

#: Default ABR algorithms.
DEFAULT_ABRS = ("throughput", "bola-e", "robust-mpc")


@dataclass(frozen=True)
class AdaptationVerdict:
    """Best ABR algorithm for a congestion control on a scenario, by a score."""

    #: None of the mean over all scenarios.
    scenario: str | None
    cca: str
    metric: str
    verdict: Verdict


#: Scores by which ABR algorithms rank.
SCORES = (QOE, "linear_qoe")


@dataclass(frozen=True)
class VideoComparison:
    """A comparison for each scenario and ABR algorithm, in the order given.

    Attributes:
        comparisons: by the name of the scenario and that of the ABR algorithm.
        left_out: files of folders that could not be loaded, and why.
        completeness: how many runs of all that were planned are finished.
    """

    comparisons: dict[tuple[str, str], Comparison]
    left_out: tuple[str, ...] = ()
    completeness: Completeness = COMPLETE

    @property
    def unfinished(self) -> str:
        """Numbers of finished and planned runs in a line; empty if all are finished."""
        return self.completeness.text(of_several=True)

    #: `plot()` draws the mean opinion scores, a panel for each scenario.
    plot = LazyAttribute()

    #: `plot_ecdf()` draws the distributions of scores, start-up and stalls over all sessions of a CCA,
    #: or of each ABR algorithm under a single CCA.
    plot_ecdf = LazyAttribute()

    @property
    def table(self) -> pd.DataFrame:
        """A row per scenario, ABR algorithm and CCA.

        Each metric of the viewer has its mean and the half width of its 95 % interval (NaN without
        spread). `behind` is the paired difference of the score to that of the leading CCA.
        """
        rows = []
        for (scenario, abr), comparison in self.comparisons.items():
            runs = comparison.runs.sort_values("seed")
            leader = self.verdict(scenario, abr).leader
            for cca in comparison.ccas:
                selected = runs[runs["cca"] == cca]
                row: dict[str, Any] = {"scenario": scenario, "abr": abr, "cca": cca}
                for metric in VIDEO:
                    result = estimate(selected[metric].astype(float).tolist())
                    row[metric] = result.mean
                    row[f"{metric}_ci95"] = result.half
                row |= {"behind": math.nan, "behind_ci95": math.nan}
                if leader not in (None, cca):
                    best = runs.loc[runs["cca"] == leader, QOE].tolist()
                    difference = paired_gap(selected[QOE].tolist(), best)
                    row["behind"] = difference.mean
                    row["behind_ci95"] = difference.half
                rows.append(row)
        return pd.DataFrame(rows)

    def verdict(self, scenario: str, abr: str) -> Verdict:
        """Returns the verdict on the mean opinion scores in that scenario and ABR algorithm."""
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
        """The best ABR algorithm of each scenario and CCA by both scores, and over several scenarios.

        Runs with the same seed are paired. Over scenarios, each pair is a mean over them: they differ
        far more than ABR algorithms do. There are none of a single ABR algorithm.
        """
        if len(self.adaptations) < 2:
            return []
        every: list[str | None] = [*self.scenarios, *([None] if len(self.scenarios) > 1 else [])]
        return [
            AdaptationVerdict(
                *(scenario, cca, metric),
                best_of(metric, self._scores(scenario, cca, metric), random=not self._decides),
            )
            for scenario in every
            for cca in self.ccas
            for metric in SCORES
        ]

    @property
    def _decides(self) -> bool:
        return all(comparison.decides for comparison in self.comparisons.values())

    def _scores(self, scenario: str | None, cca: str, metric: str) -> dict[str, list[float]]:
        """Returns a score of the runs by ABR algorithm, of a scenario or as means over all."""
        result = {}
        for abr in self.adaptations:
            parts = [
                comparison.values(cca, metric)
                for (name, one), comparison in self.comparisons.items()
                if one == abr and scenario in (None, name)
            ]
            result[abr] = [math.fsum(of_seed) / len(of_seed) for of_seed in zip(*parts, strict=False)]
        return result

    @property
    def ccas(self) -> list[str]:
        """The congestion controls, in the order given."""
        return next(iter(self.comparisons.values())).ccas

    @property
    def warnings(self) -> list[str]:
        """Warnings of all comparisons, each with the scenarios that have it."""
        by_warning: dict[str, list[str]] = {}
        for (scenario, _), comparison in self.comparisons.items():
            for warning in comparison.warnings:
                names = by_warning.setdefault(warning, [])
                if scenario not in names:
                    names.append(scenario)
        texts = [f"{', '.join(names)}: {warning}" for warning, names in by_warning.items()]
        return [*([self.unfinished] if self.unfinished else []), *texts]

    def to_json(self) -> VideoOutcome:
        """The table, and the best CCA and the best ABR algorithm; the same for the same seeds."""
        best: list[VideoVerdict] = [
            {
                "scenario": scenario,
                "abr": abr,
                **best_outcome(result),
            }
            for scenario, abr in self.comparisons
            for result in [self.verdict(scenario, abr)]
        ]
        return {
            "version": __version__,
            "rows": json_rows(self.table, dict),
            "verdicts": best,
            "adaptation_verdicts": [
                {
                    "scenario": adaptation_verdict.scenario,
                    "cca": adaptation_verdict.cca,
                    "metric": adaptation_verdict.metric,
                    **best_outcome(adaptation_verdict.verdict),
                }
                for adaptation_verdict in self.adaptation_verdicts
            ],
            "warnings": self.warnings,
            "left_out": list(self.left_out),
        }

    def save(self, folder: str | Path) -> None:
        """Writes the tables of each scenario and ABR algorithm into a folder of its own."""
        root = prepare_folder(folder)
        for (scenario, abr), comparison in self.comparisons.items():
            comparison.save(root / folder_name(scenario, abr))
        list_files(root, video_layout(self.comparisons, self.left_out))

    def __repr__(self) -> str:
        return f"<Viewing {len(self.comparisons)} tables: {', '.join(self.ccas)}>"

    def _repr_html_(self) -> str:
        return str(self.table.to_html(float_format="{:.3g}".format))


def compare_video(
    scenarios: str | Sequence[str] = DEFAULT_SCENARIOS,
    abr: str | Sequence[str] = DEFAULT_ABRS,
    cca: Sequence[str] | str = DEFAULT_CCAS,
    runs: int = 5,
    seed: int = 1,
    duration: str | float | None = None,
    jobs: int | None = None,
    *,
    ladder: str = "bbb",
    engine: str = NATIVE,
    kernel: str | None = None,
    set: Changes = (),  # noqa: A002 - as on the command line
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> VideoComparison:
    """Plays a video on each scenario, with each ABR algorithm, under each congestion control.

    Args:
        scenarios: as for `celltcp.compare_all`; the workload of the first flow is replaced.
        abr: ABR algorithms, as a list or in one text with commas.
        cca: as for `celltcp.compare`.
        runs: runs of each; run i has `seed + i`.
        seed: of the first run.
        duration: length of a run, such as `"600s"`.
        jobs: runs at a time; all cores unless given.
        ladder: representations of the video: a built-in ladder, or a file of segment sizes (`.json`).
        engine: `"native"` or `"kernel"`, a real Linux kernel in virtual time.
        kernel: version of the kernel; the newest that is built unless given.
        set: scenario fields to override, such as `flows.0.workload.max_buffer`.
        out: folder to keep finished runs in, with a folder for each scenario and ABR algorithm.
        overwrite: whether other results in these folders may be replaced.
        progress: called with the share that is done.

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
    scenarios: str | Sequence[str], abr: str | Sequence[str], ladder: str, settings: RunSettings
) -> dict[str, ScenarioList]:
    """Returns the scenarios with a video in place of their first workload, by ABR algorithm.

    Raises:
        CelltcpError: if a name is no scenario or no ABR algorithm.
    """
    abrs = [part.strip() for part in (abr.split(",") if isinstance(abr, str) else abr)]
    if not all(abrs) or len(set(abrs)) < len(abrs):
        raise CelltcpError(f"abr: {', '.join(abrs)!r} is wrong; allowed: names, each once")
    own = override_texts(settings.changes)
    # A file counts from the working directory, wherever the scenarios are.
    source = str(Path(ladder).resolve()) if ladder.endswith(".json") else ladder
    result = {}
    for each in abrs:
        workload = (
            f'flows.0.workload={{ kind = "video", abr = "{each}", ladder = {json.dumps(source)} }}'
        )
        played = replace(settings, changes=[workload, *own])
        result[each] = expand_scenarios(scenarios, played.source)
    return result


def video_request(
    scenarios: Mapping[str, ScenarioList], settings: RunSettings
) -> CampaignRequest[VideoComparison]:
    """Plans a comparison for each scenario and ABR algorithm that `expand_videos` has returned."""
    settings.check()
    engine = settings.find_engine()
    folder = settings.folder
    sources = {
        (name, abr): scenario_source
        for abr, scenario in scenarios.items()
        for name, scenario_source in scenario.by_name.items()
    }
    names = dict.fromkeys(name for name, _ in sources)
    keys = [(name, abr) for name in names for abr in scenarios if (name, abr) in sources]
    planned = [
        settings.plan(
            sources[key].scenario, engine, None if folder is None else folder / folder_name(*key)
        )
        for key in keys
    ]

    left_out = next(iter(scenarios.values())).left_out

    def outcome(results: list[Results]) -> VideoComparison:
        return VideoComparison(dict(zip(keys, map(Comparison, results), strict=True)), left_out)

    return CampaignRequest(planned, settings, outcome, video_layout(keys, left_out))


def video_layout(keys: Iterable[tuple[str, str]], left_out: tuple[str, ...] = ()) -> Layout:
    """Returns the layout of the folder of videos with these scenarios and adaptations."""
    return Layout("video", ("scenario", "abr"), {folder_name(*key): key for key in keys}, left_out)


def folder_name(scenario: str, abr: str) -> str:
    """Returns the name of the folder with the results of a scenario and an ABR algorithm."""
    return part_of_file_name(f"{scenario.strip('./').replace('/', '-')}-{abr}")
