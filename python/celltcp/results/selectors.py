"""Congestion controls that selectors used over all runs of a comparison."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from celltcp.results.columns import rows_of
from celltcp.results.tables import Results


@dataclass(frozen=True)
class Used:
    """Switches and time shares of the selectors of a flow, over all of its runs and connections."""

    #: Congestion control or line-up of several flows that was compared.
    lineup: str
    #: Name of the flow, and the requested congestion control.
    flow: str
    cca: str
    #: Switches in flight per run, and those of them that took one back.
    changes: float
    returns: float
    #: Share of the time under each congestion control, the longest first.
    shares: dict[str, float]

    def __str__(self) -> str:
        if not self.changes:
            summary = "no changes"
        else:
            summary = f"{self.changes:.1f} changes per run, {self.returns:.1f} of them returns"
        under = ", ".join(f"{cca} {100 * share:.0f} %" for cca, share in self.shares.items())
        return f"{summary}; time under {under}" if under else summary


def measures_of(text: str) -> dict[str, float]:
    """Returns the known features of a decision, which results hold as `name=value`."""
    pairs = (piece.split("=", 1) for piece in text.split())
    return {name: float(value) for name, value in pairs}


def used_in(results: Results) -> list[Used]:
    """Returns one entry per line-up and flow with a selector, in the order of the runs."""
    if "decisions" not in results.tables:
        return []
    lineups = results.lineups
    flows = rows_of(results.tables["flows"], "run", "flow", "name", "cca")
    # Line-up, name and congestion control of each connection.
    ccas = {(run, flow): (lineups[run], name, cca) for run, flow, name, cca in flows if run in lineups}
    causes: dict[tuple[str, str, str], Counter[str]] = {}
    for run, flow, cause in rows_of(results.tables["decisions"], "run", "flow", "cause"):
        if (run, flow) in ccas:
            causes.setdefault(ccas[run, flow], Counter())[cause] += 1
    under: dict[tuple[str, str], Counter[str]] = {}
    if "estimates" in results.tables:
        estimate_rows = rows_of(results.tables["estimates"], "run", "flow", "using_cca")
        for run, flow, using in estimate_rows:
            if (run, flow) in ccas:
                under.setdefault(ccas[run, flow][:2], Counter())[using] += 1
    runs = Counter(lineups.values())
    result = []
    for (lineup, name, cca), each in causes.items():
        used = under.get((lineup, name), Counter())
        result.append(
            Used(
                lineup,
                name,
                cca,
                (each["change"] + each["agent"] + each["return"]) / runs[lineup],
                each["return"] / runs[lineup],
                {using: count / used.total() for using, count in used.most_common()},
            )
        )
    return result
