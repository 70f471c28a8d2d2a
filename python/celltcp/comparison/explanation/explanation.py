"""Explanation of results: for each congestion control what cost it its place."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from celltcp.comparison.comparison import Comparison
from celltcp.comparison.explanation.events import longest_events
from celltcp.comparison.explanation.evidence import Evidence
from celltcp.comparison.explanation.rules import causes_of
from celltcp.comparison.load_results import load
from celltcp.comparison.single_run import SingleRun
from celltcp.results.limits import flow_limits
from celltcp.results.statistics import estimate, paired_difference
from celltcp.scenarios.cca_mix import labels

if TYPE_CHECKING:
    from pathlib import Path

    from celltcp.comparison.explanation.cause import Cause
    from celltcp.comparison.explanation.events import Event
    from celltcp.comparison.explanation.outcome import CcaExplanation, ExplainedResults
    from celltcp.results.tables import Results

#: Requirement by which places are said.
_REQUIREMENT = "balanced"


class ExplainedCca(NamedTuple):
    """A congestion control or line-up with the causes of its figures."""

    cca: str
    flow: str
    #: Mean goodput, Mbit/s, and mean RTT, ms.
    goodput_mbps: float
    rtt_mean_ms: float
    #: Share of the capacity left by others that it used; NaN where the capacity is not known.
    used: float
    #: The leader, and the paired differences to it, Mbit/s and ms; None for the leader itself.
    behind: tuple[str, float, float] | None
    #: By limit; empty for results of earlier versions.
    limits: dict[str, float]
    causes: list[Cause]
    events: list[Event]


class ExplainedComparison:
    """The explanation of a comparison or of a run."""

    def __init__(self, result: Comparison) -> None:
        """Takes the comparison; a run is one of a single congestion control."""
        self.result = result
        self.results: Results = result.results
        #: The congestion controls, in the order in which they were asked for.
        limits = flow_limits(result.results)
        self.ccas = [self._explained(Evidence(result, cca, limits)) for cca in result.ccas]

    @property
    def notes(self) -> list[str]:
        """Tables that the results lack for some of the rules, in sentences."""
        lacking = [name for name in ("limits", "recoveries") if name not in self.results.tables]
        # A run without any recovery has no such table, but its flows have the count of them.
        if "limits" not in lacking:
            return []
        return [
            f"{self.results.about['name']}: these results are of an earlier version and have no table "
            f"{' and no table '.join(lacking)}; causes that need them are not named"
        ]

    def _explained(self, evidence: Evidence) -> ExplainedCca:
        cca = evidence.cca
        goodput, rtt = (self.result.values(cca, name) for name in ("goodput_mbps", "rtt_mean_ms"))
        return ExplainedCca(
            cca,
            evidence.flow,
            estimate(goodput).mean,
            estimate(rtt).mean,
            1.0 - evidence.unused if evidence.capacity > 0 else math.nan,
            self._behind(cca),
            dict(evidence.shares),
            causes_of(evidence),
            longest_events(evidence),
        )

    def _behind(self, cca: str) -> tuple[str, float, float] | None:
        leader = self.result.verdicts[_REQUIREMENT].leader if len(self.result.ccas) > 1 else None
        if leader is None or leader == cca or "+" in cca:
            return None
        goodput, rtt = (
            paired_difference(self.result.values(cca, name), self.result.values(leader, name)).mean
            for name in ("goodput_mbps", "rtt_mean_ms")
        )
        return leader, goodput, rtt

    def texts(self, explained: ExplainedCca) -> list[str]:
        """Returns an explanation in sentences: figures and place, causes, events."""
        names = labels(self.result.ccas)
        used = "" if math.isnan(explained.used) else f" ({100 * explained.used:.0f} % of the capacity)"
        text = (
            f"{names[explained.cca]}: {explained.goodput_mbps:.2f} Mbit/s{used}, mean RTT "
            f"{explained.rtt_mean_ms:.1f} ms"
        )
        if explained.behind:
            leader, goodput, rtt = explained.behind
            text += f"; {goodput:+.2f} Mbit/s and {rtt:+.1f} ms against {names[leader]}, which leads"
        lines = [f"{text}."]
        lines += [f"  {cause.text}" for cause in explained.causes]
        if not explained.causes:
            lines.append("  The tables show nothing that held it back.")
        if explained.events:
            seed = explained.events[0].seed
            lines.append(f"  What took most time in the run with seed {seed}:")
            lines += [f"    {each.text}." for each in explained.events]
        return lines

    def to_json(self) -> ExplainedResults:
        """Returns the explanation as JSON."""
        about = self.results.about
        return {
            "version": about["version"],
            "scenario": about["name"],
            "ccas": [self._json(each) for each in self.ccas],
            "notes": self.notes,
        }

    @staticmethod
    def _json(each: ExplainedCca) -> CcaExplanation:
        leader, goodput, rtt = each.behind or (None, None, None)
        return {
            "cca": each.cca,
            "flow": each.flow,
            "goodput_mbps": _known(each.goodput_mbps),
            "rtt_mean_ms": _known(each.rtt_mean_ms),
            "used_share": _known(each.used),
            "leader": leader,
            "goodput_difference_mbps": _known(goodput),
            "rtt_difference_ms": _known(rtt),
            "limits": {name: _known(share) for name, share in each.limits.items()},
            "causes": [
                {"cause": cause.name, "weight": cause.weight, "text": cause.text}
                for cause in each.causes
            ],
            "events": [
                {"seed": event.seed, "t_s": event.t_s, "kind": event.kind, "text": event.text}
                for event in each.events
            ],
        }


def _known(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(value)


def explain_folder(folder: str | Path) -> dict[str, ExplainedComparison]:
    """Explains the results in a folder that `--out` of `compare`, `run` or `sweep` wrote.

    Returns:
        The explanation of each comparison by the scenario or the value of a sweep; by an empty text
        where the folder holds a single one.

    Raises:
        CelltcpError: names the file that is missing or damaged.
    """
    result = load(folder)
    if isinstance(result, Comparison):
        return {"": ExplainedComparison(result)}
    if isinstance(result, SingleRun):
        return {"": ExplainedComparison(Comparison(result.results))}
    return {name: ExplainedComparison(each) for name, each in result.comparisons.items()}
