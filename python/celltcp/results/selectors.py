"""CCAs that selectors used, over all runs of a comparison."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from celltcp.results.columns import rows_of
from celltcp.results.tables import Results


@dataclass(frozen=True)
class SelectorUse:
    """Switches and time shares of the selectors of a flow, over all of its runs and connections."""

    #: Compared CCA, or line-up of several flows.
    lineup: str
    #: Name of the flow.
    flow: str
    #: Requested CCA, such as `auto`.
    cca: str
    #: Mean number of switches per run.
    switches_per_run: float
    #: Mean number of switches per run that took back an earlier one.
    returns_per_run: float
    #: Share of the time under each CCA, the longest first.
    shares: dict[str, float]

    def __str__(self) -> str:
        if not self.switches_per_run:
            summary = "no changes"
        else:
            summary = (
                f"{self.switches_per_run:.1f} changes per run, "
                f"{self.returns_per_run:.1f} of them returns"
            )
        shares = ", ".join(f"{cca} {100 * share:.0f} %" for cca, share in self.shares.items())
        return f"{summary}; time under {shares}" if shares else summary


def parse_features(text: str) -> dict[str, float]:
    """Parses the features of a decision, which results store as `name=value name=value`."""
    pairs = (part.split("=", 1) for part in text.split())
    return {name: float(value) for name, value in pairs}


def selector_uses(results: Results) -> list[SelectorUse]:
    """Returns one entry per line-up and flow with a selector, in the order of the runs."""
    if "decisions" not in results.tables:
        return []
    lineups = results.lineups
    flows = rows_of(results.tables["flows"], "run", "flow", "name", "cca")
    # Line-up, name and CCA of each connection.
    labels = {
        (run, flow): (lineups[run], name, cca) for run, flow, name, cca in flows if run in lineups
    }
    causes: dict[tuple[str, str, str], Counter[str]] = {}
    for run, flow, cause in rows_of(results.tables["decisions"], "run", "flow", "cause"):
        if (run, flow) in labels:
            causes.setdefault(labels[run, flow], Counter())[cause] += 1
    slots: dict[tuple[str, str], Counter[str]] = {}
    if "estimates" in results.tables:
        for run, flow, cca in rows_of(results.tables["estimates"], "run", "flow", "using_cca"):
            if (run, flow) in labels:
                slots.setdefault(labels[run, flow][:2], Counter())[cca] += 1
    runs = Counter(lineups.values())
    uses = []
    for (lineup, name, cca), counts in causes.items():
        cca_slots = slots.get((lineup, name), Counter())
        shares = {used: count / cca_slots.total() for used, count in cca_slots.most_common()}
        switches_per_run = (counts["change"] + counts["agent"] + counts["return"]) / runs[lineup]
        returns_per_run = counts["return"] / runs[lineup]
        uses.append(SelectorUse(lineup, name, cca, switches_per_run, returns_per_run, shares))
    return uses
