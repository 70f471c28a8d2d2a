"""Our means beside published ones."""

from __future__ import annotations

from dataclasses import dataclass

from celltcp.comparison import Comparison
from celltcp.papers.published import Published, published_goodput
from celltcp.papers.ranks import RankCorrelation, rank_correlation


@dataclass(frozen=True)
class Beside:
    """Goodputs of a scenario, published and measured here, in Mbit/s."""

    scenario: str
    published: list[Published]
    #: Of the runs, in the order of the seeds, by congestion control.
    ours: dict[str, list[float]]
    ranks: RankCorrelation | None
    #: Whether the scenario was run as it is built in.
    unchanged: bool


def beside(comparison: Comparison) -> Beside | None:
    """Returns the published means of the scenario and ours; None without a common CCA."""
    from celltcp.scenarios import load_scenario

    name = str(comparison.results.about["name"])
    runs = comparison.runs.sort_values("seed")
    ours = {cca: runs.loc[runs["cca"] == cca, "goodput_mbps"].tolist() for cca in comparison.ccas}
    published = [each for each in published_goodput(name) if each.cca in ours]
    if not published:
        return None
    built_in = load_scenario(name)
    same = {built_in.hash}
    if built_in.has_radio:
        same.add(built_in.with_radio_log().hash)
    return Beside(
        name,
        published,
        ours,
        rank_correlation(ours, {each.cca: (each.goodput_mbps, each.ci95) for each in published}),
        comparison.results.about["hash"] in same,
    )
