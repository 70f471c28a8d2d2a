"""Explanation of results: causes of each CCA's rank, and the decisions of selectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from celltcp._core import CelltcpError
from celltcp.campaign.planned import completeness_in
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.remedies import MAX_REMEDIES, Remedy
from celltcp.comparison.explanation.trials import TrialBudget
from celltcp.comparison.load_results import comparison_of
from celltcp.comparison.single_run import SingleRun
from celltcp.results.layout import Layout, layout_in
from celltcp.selection.explanation import Explanation
from celltcp.selection.explanation import explain as explain_selectors
from celltcp.video.load_results import load

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.comparison.parameter_sweep import Sweep
    from celltcp.comparison.scenario_set import ScenarioSet
    from celltcp.selection.outcomes.explained_folder import ExplainedFolder, ExplainedFolders
    from celltcp.video.comparison import VideoComparison

    Explainable = Comparison | SingleRun | Sweep | ScenarioSet | VideoComparison


#: Maximum of comparisons that a remedy lists.
_MAX_COMPARISONS = 3


class Explanations:
    """The explanation of a comparison, run, sweep or set; `print` shows it in sentences."""

    def __init__(self, comparisons: Mapping[str, Comparison], unfinished: str = "") -> None:
        """Explains comparisons by scenario or value; a single one has an empty key."""
        #: Explanation of each comparison by scenario or value; a single one has an empty key.
        self.comparisons = {
            name: ExplainedComparison(comparison) for name, comparison in comparisons.items()
        }
        #: Numbers of finished and planned runs; empty if all are finished.
        self.unfinished = unfinished

    @property
    def is_single(self) -> bool:
        """Whether it is about a single comparison or run."""
        return "" in self.comparisons

    def try_remedies(self) -> None:
        """Tries the remedies in short runs, and selects those that help, with their effects."""
        budget = TrialBudget()
        for comparison in self.comparisons.values():
            comparison.try_remedies(budget)

    def remedy_commands(self, folder: str | Path) -> list[str]:
        """Returns the commands that try the remedies, each with a comment on its purpose.

        Of a sweep or set, they are those of most scenarios or values, for the first of these.

        Args:
            folder: the results.
        """
        if self.is_single:
            return self.comparisons[""].remedy_commands(str(folder))
        layout = layout_in(Path(folder))
        folders = {} if layout is None else self._folders(layout)
        # The fields of a sweep have been tried already.
        varied = set() if layout is None else set(layout.axes)
        where: dict[Remedy, list[str]] = {}
        for name in filter(folders.__contains__, self.comparisons):
            for each in self.comparisons[name].remedies:
                if not varied & {change.partition("=")[0] for change in each.remedy.changes}:
                    where.setdefault(each.remedy, []).append(name)
        best = sorted(where, key=lambda remedy: -len(where[remedy]))[:MAX_REMEDIES]
        return [self._remedy_text(each, where[each], Path(folder), folders) for each in best]

    def _folders(self, layout: Layout) -> dict[str, str]:
        """Returns the folders within a folder by the names of their comparisons."""
        folder_by_name = {", ".join(point): folder for folder, point in layout.folders.items()}
        # A single scenario is not part of the coordinates.
        folder_by_name |= {", ".join(point[1:]): folder for folder, point in layout.folders.items()}
        return {name: folder_by_name[name] for name in self.comparisons if name in folder_by_name}

    def _remedy_text(
        self, remedy: Remedy, names: Sequence[str], folder: Path, folders: Mapping[str, str]
    ) -> str:
        """Returns the command that tries a remedy on the first of some comparisons."""
        first = self.comparisons[names[0]]
        place = [each.remedy for each in first.remedies].index(remedy)
        text = first.remedy_commands(str(folder / folders[names[0]]))[place]
        more = f" and {len(names) - _MAX_COMPARISONS} more" if len(names) > _MAX_COMPARISONS else ""
        return text.replace("  # ", f"  # {', '.join(names[:_MAX_COMPARISONS])}{more}: ", 1)

    def selection(self, name: str = "") -> list[Explanation]:
        """Returns the explanations of selectors in a comparison; none without decisions."""
        results = self.comparisons[name].results
        return explain_selectors(results) if {"decisions", "estimates"} <= {*results.tables} else []

    @property
    def causes(self) -> pd.DataFrame:
        """A row per cause: comparison, congestion control, flow, name, weight from 0 to 1, sentence."""
        import pandas as pd

        columns = ["comparison", "cca", "flow", "cause", "weight", "text"]
        rows = [
            (name, cca.cca, cca.flow, *cause_row)
            for name, explained in self.comparisons.items()
            for cca in explained.ccas
            for cause_row in ((cause.name, cause.weight, cause.text) for cause in cca.causes)
        ]
        return pd.DataFrame(rows, columns=columns)

    @property
    def text(self) -> str:
        """The explanation in sentences, as `celltcp explain` prints it."""
        lines = [self.unfinished] if self.unfinished else []
        for name, explained in self.comparisons.items():
            lines += [f"{name}:"] if name else []
            lines += [f"note: {note}" for note in explained.notes]
            lines += [
                line
                for explained_cca in explained.distinct_ccas
                for line in explained.texts(explained_cca)
            ]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        names = ", ".join(filter(None, self.comparisons))
        return f"<Explanations{f' {names}' if names else ''}: {len(self.causes)} causes>"

    def to_json(self) -> ExplainedFolder | ExplainedFolders:
        """The explanation, and the decisions of selectors."""
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


def explain(result: Explainable | str | Path) -> Explanations:
    """Explains results: the causes of each congestion control's rank.

    Advice is tried in short runs where these are cheap.

    Args:
        result: what `compare`, `run`, `sweep`, `compare_all`, `compare_video` or `load` returns; or a
            folder that `--out` or `save` wrote.

    Raises:
        CelltcpError: if it is none of these; or names the file that is missing or damaged.
    """
    if isinstance(result, str | Path):
        loaded = load(result)
        explained = explain(loaded)
        several = not explained.is_single
        explained.unfinished = completeness_in(Path(result)).text(of_several=several)
        return explained
    if isinstance(result, Comparison | SingleRun):
        return _tried(Explanations({"": comparison_of(result)}))
    comparisons = getattr(result, "comparisons", None)
    if not isinstance(comparisons, Mapping):
        raise CelltcpError(
            f"explain: {type(result).__name__} is no result of runs; allowed: what compare, run, "
            "sweep, compare_all, compare_video or load returns, or a folder"
        )
    comparison_by_name = {
        name if isinstance(name, str) else ", ".join(name): comparison
        for name, comparison in comparisons.items()
    }
    return _tried(Explanations(comparison_by_name, getattr(result, "unfinished", "")))


def _tried(explained: Explanations) -> Explanations:
    explained.try_remedies()
    return explained
