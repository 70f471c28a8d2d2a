"""Explanation of results: causes of each CCA's rank, and decisions of selectors."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celltcp._core import CelltcpError
from celltcp.campaign.planned import completeness_in
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.explanation.alike_points import JoinedPoints, joined_points
from celltcp.comparison.explanation.causes_over_all import share_reasons
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.proposals import MAX_REMEDIES, ProposedRemedy
from celltcp.comparison.explanation.trials.trials import TrialBudget
from celltcp.comparison.load_results import comparison_of
from celltcp.comparison.sets.scenario_set import ScenarioSet
from celltcp.comparison.sets.verdicts import setting_lines, verdict_lines
from celltcp.comparison.single_run import SingleRun
from celltcp.comparison.sweep.advice import best_points, is_beaten
from celltcp.comparison.sweep.mix_shares import have_pauses, mix_share_texts
from celltcp.comparison.sweep.parameter_sweep import Sweep
from celltcp.results.layout import layout_in
from celltcp.results.publishing import remembered_metrics
from celltcp.scenarios.cca_mix import has_several_flows
from celltcp.selection.explanation import Explanation
from celltcp.selection.explanation import explain as explain_selectors
from celltcp.video.load_results import load

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.campaign.run import Progress
    from celltcp.selection.outcomes.explained_folder import ExplainedFolder, ExplainedFolders
    from celltcp.video.comparison import VideoComparison

    Explainable = Comparison | SingleRun | Sweep | ScenarioSet | VideoComparison


#: Maximum number of comparisons that the text of a remedy names.
_MAX_COMPARISONS = 3


class Explanations:
    """The explanation of a comparison, run, sweep or set; `print` shows it in sentences."""

    def __init__(
        self, comparisons: Mapping[str, Comparison], unfinished: str = "", by: Sequence[str] = ()
    ) -> None:
        """Explains comparisons by scenario or value; the key of a single one is empty.

        `by` has the metrics by which a single one advises, `METRIC` or `METRIC:FLOW`.
        """
        #: Explanations by scenario or value; the key of a single one is empty.
        self.comparisons = {
            name: ExplainedComparison(comparison, by) for name, comparison in comparisons.items()
        }
        #: Text with the numbers of finished and planned runs; empty if all are finished.
        self.unfinished = unfinished
        #: Sweep whose points the comparisons are, and the best of these, to which advice is confined;
        #: empty for all.
        self.sweep: Sweep | None = None
        self.best: list[str] = []
        #: Lines with the verdicts over all scenarios of a set and settings, or over a sweep.
        self.over_all: list[str] = []

    @property
    def is_single(self) -> bool:
        """Whether there is a single comparison or run."""
        return "" in self.comparisons

    def try_remedies(self, progress: Progress | None = None) -> None:
        """Tries the remedies in short runs, and drops those that do not help.

        `progress` is called with the share of the budget that is spent.
        """
        budget = TrialBudget(progress)
        for name in self._advised:
            self.comparisons[name].try_remedies(budget)
        if self.is_single:
            self.comparisons[""].try_together(budget)

    @functools.cached_property
    def joined(self) -> JoinedPoints | None:
        """Explanations of the points of a sweep as one; None where they differ or have selectors."""
        if self.sweep is None or any(map(self.selection, self.comparisons)):
            return None
        return joined_points(self.sweep.field, self.comparisons)

    def blocks_of(self, name: str) -> list[list[str]]:
        """Returns the sentences of a comparison; of mixes in a sweep those about their shares alone."""
        result = self.comparisons[name]
        are_mixes = all(map(has_several_flows, result.comparison.ccas))
        return result.share_blocks if self.sweep is not None and are_mixes else result.blocks

    @property
    def _advised(self) -> list[str]:
        """Comparisons with advice: at a worse value of a sweep, its best one is the remedy."""
        return [name for name in self.best if name in self.comparisons] or list(self.comparisons)

    def remedy_commands(self, folder: str | Path) -> list[str]:
        """Returns commands that try the remedies, each with a comment on its purpose.

        For a sweep or set they are the remedies of most comparisons, each tried where it gains most.

        Args:
            folder: folder of the results.
        """
        if self.is_single:
            return self.comparisons[""].remedy_commands(str(folder))
        layout = layout_in(Path(folder))
        if layout is None:
            return []
        folders = {", ".join(point): Path(folder) / name for name, point in layout.folders.items()}
        # The names of comparisons of a single scenario lack the scenario.
        folders |= {", ".join(point[1:]): Path(folder) / name for name, point in layout.folders.items()}
        # A point may begin with the scenario, which is no axis.
        swept = {
            f"{axis}={value}"
            for point in layout.folders.values()
            for axis, value in zip(reversed(layout.axes), reversed(point), strict=False)
        }
        groups: dict[tuple[object, ...], dict[str, ProposedRemedy]] = {}
        advised = set(self._advised) & folders.keys()
        for name in filter(advised.__contains__, self.comparisons):
            remedies = self._unbeaten(name)
            best = max(remedies, key=lambda each: each.gain, default=None)
            for candidate in remedies:
                # A sweep has tried changes of its own fields already, but not beside others. One of its
                # values that is best is named all the same, as others would take its place.
                fields = {change.partition("=")[0] for change in candidate.remedy.changes}
                is_best_value = candidate is best and swept.issuperset(candidate.remedy.changes)
                if is_best_value or not fields or not fields.issubset(layout.axes):
                    # Computed values and causes differ from comparison to comparison.
                    key = candidate.remedy.changed_fields
                    groups.setdefault(key, {}).setdefault(name, candidate)
        by_count = sorted(
            groups.values(), key=lambda group: (-len(group), -max(each.gain for each in group.values()))
        )
        return [self._remedy_command(group, folders) for group in by_count[:MAX_REMEDIES]]

    def _unbeaten(self, name: str) -> list[ProposedRemedy]:
        """Returns the remedies of a comparison without those that another value of its sweep beats."""
        remedies = self.comparisons[name].remedies
        if self.sweep is None:
            return remedies
        point = next(each for each in self.sweep.points if ", ".join(each) == name)
        return [each for each in remedies if not is_beaten(self.sweep, point, each)]

    def _remedy_command(
        self, remedies: Mapping[str, ProposedRemedy], folders: Mapping[str, Path]
    ) -> str:
        """Returns the command that tries a remedy on the comparison where it gains most.

        Args:
            remedies: the remedy with the values of each comparison, by the name of the comparison.
            folders: folders of the comparisons.
        """
        names = list(remedies)
        worst = max(names, key=lambda name: (bool(remedies[name].trial), remedies[name].gain))
        explained = self.comparisons[worst]
        text = explained.remedy_commands(str(folders[worst]))[explained.remedies.index(remedies[worst])]
        more = f" and {len(names) - _MAX_COMPARISONS} more" if len(names) > _MAX_COMPARISONS else ""
        has_values = len({candidate.remedy for candidate in remedies.values()}) > 1
        at_text = f" (here at {worst})" if has_values else ""
        # The values of several fields have commas between them.
        shown = [f"({name})" if ", " in name else name for name in names[:_MAX_COMPARISONS]]
        all_text = (
            f"all {len(names)} comparisons" if len(names) == len(self.comparisons) > len(shown) else ""
        )
        names_text = f"{all_text or ', '.join(shown) + more}{at_text}"
        return text.replace("  # ", f"  # {names_text}: ", 1)

    def selection(self, name: str = "") -> list[Explanation]:
        """Returns the explanations of selectors in a comparison; empty without decisions."""
        results = self.comparisons[name].results
        return explain_selectors(results) if {"decisions", "estimates"} <= {*results.tables} else []

    @property
    def causes(self) -> pd.DataFrame:
        """A row per cause: comparison, congestion control, flow, name, weight from 0 to 1, sentence."""
        import pandas as pd

        columns = ["comparison", "cca", "flow", "cause", "weight", "text"]
        rows = [
            (name, cca.cca, cca.flow, cause.name, cause.weight, cause.text)
            for name, explained in self.comparisons.items()
            for cca in explained.ccas
            for cause in cca.causes
        ]
        return pd.DataFrame(rows, columns=columns)

    @property
    def alternatives(self) -> pd.DataFrame:
        """A row per alternative for the first need, as `celltcp explain` prints them after its trials.

        Columns: comparison, places, congestion control, options of `celltcp compare`, number of runs,
        whether it is recommended, Linux lines, and its metrics, as `response_p95_s:game`.
        """
        import pandas as pd

        rows = [
            {"comparison": name, **row, **row["metrics"]}
            for name, explained in self.comparisons.items()
            if (table := explained.conclusion.alternatives) is not None
            for row in table.to_json()
        ]
        return pd.DataFrame(rows).drop(columns="metrics", errors="ignore")

    @property
    def text(self) -> str:
        """The explanation in sentences, as `celltcp explain` prints it."""
        lines = [*([self.unfinished] if self.unfinished else []), *self.over_all]
        joined = self.joined
        if joined is not None:
            lines += [f"note: {note}" for note in joined.notes]
            lines += [line for block in joined.blocks for line in block]
        for name, explained in () if joined else self.comparisons.items():
            lines += [f"{name}:"] if name else []
            lines += explained.rankings
            lines += [best.text] if (best := explained.conclusion.best) else []
            lines += [f"note: {note}" for note in explained.notes]
            lines += [line for block in self.blocks_of(name) for line in block]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text

    def _repr_pretty_(self, printer: Any, _is_cycle: bool) -> None:
        """Writes the sentences in place of `repr` where IPython and Jupyter display the object."""
        printer.text(str(self))

    def __repr__(self) -> str:
        names = ", ".join(filter(None, self.comparisons))
        return f"<Explanations{f' {names}' if names else ''}: {len(self.causes)} causes>"

    def to_json(self) -> ExplainedFolder | ExplainedFolders:
        """Returns the explanation with the decisions of selectors as JSON."""
        if self.is_single:
            return self._json("")
        folders = {name: self._json(name) for name in self.comparisons}
        return {"folders": folders, "unfinished": self.unfinished}

    def _json(self, name: str) -> ExplainedFolder:
        explained = self.comparisons[name]
        return {
            **explained.to_json(),
            "selection": [explanation.to_json() for explanation in self.selection(name)],
            "unfinished": explained.comparison.unfinished,
        }


def explain(
    result: Explainable | str | Path, *, by: Sequence[str] = (), progress: Progress | None = None
) -> Explanations:
    """Explains results: the causes of each congestion control's rank.

    Remedies are tried in short runs if these are cheap.

    Args:
        result: results of `compare`, `run`, `sweep`, `compare_all`, `compare_video` or `load`; or a
            folder that `--out` or `save` wrote.
        by: metrics by which a single comparison or a sweep advises, `METRIC` or `METRIC:FLOW`; by
            default those of the command that wrote the folder, or the usual ones.
        progress: called with the share that is done of the most runs with remedies.

    Raises:
        CelltcpError: if it is something else, or a file is missing or damaged.
    """
    if isinstance(result, str | Path):
        explained = explain(load(result), by=by or remembered_metrics(Path(result)), progress=progress)
        completeness = completeness_in(Path(result))
        explained.unfinished = completeness.text(of_several=not explained.is_single)
        return explained
    if isinstance(result, Comparison | SingleRun):
        explained = Explanations({"": comparison_of(result)}, by=by)
    elif isinstance(comparisons := getattr(result, "comparisons", None), Mapping):
        by_name = {
            name if isinstance(name, str) else ", ".join(name): comparison
            for name, comparison in comparisons.items()
        }
        explained = Explanations(by_name, getattr(result, "unfinished", ""))
        if isinstance(result, Sweep):
            explained.sweep = result
            shares = [*mix_share_texts(result), *share_reasons(explained.comparisons)]
            changes = result.field_changes_by(by)
            # What a flow that pauses asks for is a time.
            explained.over_all = [*changes, *shares] if have_pauses(result) else [*shares, *changes]
            explained.best = [", ".join(point) for point in best_points(result, by)]
        if isinstance(result, ScenarioSet):
            explained.over_all = [*verdict_lines(result), *setting_lines(result)]
    else:
        raise CelltcpError(
            f"explain: {type(result).__name__} is no result of runs; allowed: what compare, run, "
            "sweep, compare_all, compare_video or load returns, or a folder"
        )
    explained.try_remedies(progress)
    return explained
