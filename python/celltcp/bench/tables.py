"""Tables of the cost of the radio, and of the effect of its approximations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from celltcp.bench.radio import GROWTH_S, Approximation, Cost
from celltcp.present.section import Column, Table, number_columns


def cost_table(costs: Mapping[str, Cost], ns3: Mapping[str, Mapping[str, str]]) -> Table:
    """Returns a row per case, with the times of ns-3 for it."""
    headings = (
        *("simulated s\nper CPU s", "CPU s per\nsimulated s", "ns-3 3.37\n(Debian 12)"),
        *("ns-3 3.48\n(from source)", "memory, MB:\npeak, added"),
    )
    rows = tuple(
        (
            case,
            f"{cost.speed:.1f}",
            f"{1 / cost.speed:.3f}",
            ns3[case]["debian_3_37"],
            ns3[case]["source_3_48"],
            f"{cost.peak_mb:.0f}, {cost.added_mb:.0f}",
        )
        for case, cost in costs.items()
    )
    title = "Cost of a run; CPU seconds per simulated second of ns-3, measured elsewhere, beside it"
    return Table((Column("case"), *number_columns(*headings)), rows, title)


def growth_table(costs: Mapping[int, Cost], counted: str) -> Table:
    """Returns a row per count; `counted` says of what, such as cells."""
    columns = number_columns("number", "simulated s\nper CPU s", "memory added,\nMB")
    rows = tuple(
        (str(count), f"{cost.speed:.1f}", f"{cost.added_mb:.0f}") for count, cost in costs.items()
    )
    return Table(columns, rows, f"Cost of {GROWTH_S:g} s, set-up included, by number of {counted}")


def approximations_table(measured: Sequence[Approximation], runs: int) -> Table:
    """Returns a row per approximation, scenario and CCA: the goodput without it, and the difference."""
    rows = []
    for approximation in measured:
        difference = approximation.difference
        interval = f" ±{difference.ci95:.3f}" if difference.ci95 is not None else ""
        names = (approximation.name, approximation.scenario, approximation.cca)
        rows.append((*names, f"{approximation.exact_mbps:.2f}", f"{difference.mean:+.3f}{interval}"))
    columns = map(Column, ("approximation", "scenario", "CCA", "without it", "difference"))
    title = f"Goodput with an approximation less that without, Mbit/s, {runs} runs"
    return Table(tuple(columns), tuple(rows), title)
