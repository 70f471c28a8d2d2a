"""Transmission opportunities of the downlink, and those that were wasted, by scheme."""

from __future__ import annotations

import numpy as np
import pandas as pd

from celltcp._core import link_adaptation
from celltcp.comparison.comparison import Comparison

MODULATIONS = {2: "QPSK", 4: "16QAM", 6: "64QAM", 8: "256QAM"}


def scheme_ranges(scenario: str) -> dict[str, tuple[int, int]]:
    """Returns the first and last MCS of each modulation, by its name.

    Args:
        scenario: a complete scenario with a radio, as TOML.
    """
    bits = link_adaptation(scenario)["bits_per_symbol"]
    ranges: dict[str, tuple[int, int]] = {}
    for mcs, bit in enumerate(bits):
        name = MODULATIONS[bit]
        ranges[name] = (ranges.get(name, (mcs, mcs))[0], mcs)
    return ranges


def downlink_ttis(comparison: Comparison, *, whole: bool = False) -> pd.DataFrame:
    """Returns the phone's downlink TTIs with modulations, of the first flow's life or the whole run."""
    radio = comparison.radio
    lengths = comparison.runs.set_index("run")["duration_s"]
    times = radio["t_ns"] * 1e-9
    # The interval that begins as the run ends is logged, too.
    within = times < radio["run"].map(lengths)
    selected = radio[(radio["uplink"] == 0) & (radio["ue"] == 0) & within].copy()
    if not whole:
        flows = comparison.flows.groupby("run").first()
        times = times[selected.index]
        end = flows["first_data_s"] + flows["duration_s"]
        alive = (times >= selected["run"].map(flows["start_s"])) & (times < selected["run"].map(end))
        selected = selected[alive].copy()
    bits = link_adaptation(str(comparison.results.about["scenario"]))["bits_per_symbol"]
    selected["modulation"] = np.array([MODULATIONS[bit] for bit in bits])[selected["mcs"]]
    return selected


def wasted(comparison: Comparison) -> pd.DataFrame:
    """Returns wasted transmission opportunities by modulation and in total.

    Columns `cca`, `run`, `modulation` (`"all"` for the total), `wasted_per_s`: TTIs in which the phone
    could have been served and nothing waited for it, per second of TTIs with such schemes; `share`:
    that of these among all TTIs.

    Raises:
        CelltcpError: if the results hold no log of the radio.
    """
    ttis = downlink_ttis(comparison)
    tti_s = float(link_adaptation(str(comparison.results.about["scenario"]))["tti_s"])
    rows = []
    for (cca, run), group in ttis.groupby(["cca", "run"], observed=True):
        parts = [("all", group), *group.groupby("modulation")]
        rows += [
            {
                "cca": cca,
                "run": run,
                "modulation": modulation,
                "wasted_per_s": float(part["wasted"].mean()) / tti_s,
                "share": len(part) / len(group),
            }
            for modulation, part in parts
        ]
    return pd.DataFrame(rows)


def scheme_statistics(comparison: Comparison) -> pd.DataFrame:
    """Returns statistics of the schemes of first transmissions per CCA and run.

    Columns `cca`, `run`, `mean`, `sd`, and `change`, the mean distance from one to the next.
    """
    ttis = downlink_ttis(comparison)
    first = ttis[ttis["attempt"] == 1].sort_values(["run", "t_ns"])
    rows = [
        {
            "cca": cca,
            "run": run,
            "mean": group["mcs"].mean(),
            "sd": group["mcs"].std(),
            "change": group["mcs"].astype(int).diff().abs().mean(),
        }
        for (cca, run), group in first.groupby(["cca", "run"], observed=True)
    ]
    return pd.DataFrame(rows)
