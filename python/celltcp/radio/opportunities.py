"""Transmission opportunities of the downlink, and wasted ones, by modulation; statistics of the MCS."""

from __future__ import annotations

import numpy as np
import pandas as pd

from celltcp._core import link_adaptation
from celltcp.comparison.comparison import Comparison

#: Modulations by bits per symbol.
MODULATIONS = {2: "QPSK", 4: "16QAM", 6: "64QAM", 8: "256QAM"}


def mcs_ranges(scenario: str) -> dict[str, tuple[int, int]]:
    """Returns the first and last MCS of each modulation, by its name.

    Args:
        scenario: a complete scenario with a radio, as TOML.
    """
    ranges: dict[str, tuple[int, int]] = {}
    for mcs, bits in enumerate(link_adaptation(scenario)["bits_per_symbol"]):
        name = MODULATIONS[bits]
        first, _ = ranges.get(name, (mcs, mcs))
        ranges[name] = (first, mcs)
    return ranges


def downlink_ttis(comparison: Comparison, *, is_whole_run: bool = False) -> pd.DataFrame:
    """Returns the rows of the radio log about the first phone's downlink, with the `modulation`.

    Args:
        comparison: results with a radio log.
        is_whole_run: whether to include TTIs before the first flow starts and after it ends.
    """
    radio = comparison.radio
    run_lengths_s = comparison.runs.set_index("run")["duration_s"]
    times_s = radio["t_ns"] * 1e-9
    # The TTI that starts as the run ends is logged, too.
    is_in_run = times_s < radio["run"].map(run_lengths_s)
    selected = radio[(radio["uplink"] == 0) & (radio["ue"] == 0) & is_in_run].copy()
    if not is_whole_run:
        flows = comparison.flows.groupby("run").first()
        times_s = times_s[selected.index]
        start_s = selected["run"].map(flows["start_s"])
        end_s = selected["run"].map(flows["first_data_s"] + flows["duration_s"])
        selected = selected[(times_s >= start_s) & (times_s < end_s)].copy()
    bits_by_mcs = link_adaptation(str(comparison.results.about["scenario"]))["bits_per_symbol"]
    selected["modulation"] = np.array([MODULATIONS[bits] for bits in bits_by_mcs])[selected["mcs"]]
    return selected


def wasted_opportunities(comparison: Comparison) -> pd.DataFrame:
    """Returns wasted transmission opportunities by modulation and in total.

    A TTI is wasted if the phone could have been served, and no data waited for it. Columns: `cca`,
    `run`, `modulation` (`"all"` for the total), `wasted_per_s` (wasted TTIs per second of TTIs with the
    modulation), `share` (TTIs with the modulation among all TTIs).

    Raises:
        CelltcpError: if the results have no radio log.
    """
    ttis = downlink_ttis(comparison)
    tti_s = float(link_adaptation(str(comparison.results.about["scenario"]))["tti_s"])
    return pd.DataFrame(
        {
            "cca": cca,
            "run": run,
            "modulation": modulation,
            "wasted_per_s": float(part["wasted"].mean()) / tti_s,
            "share": len(part) / len(group),
        }
        for (cca, run), group in ttis.groupby(["cca", "run"], observed=True)
        for modulation, part in [("all", group), *group.groupby("modulation")]
    )


def mcs_statistics(comparison: Comparison) -> pd.DataFrame:
    """Returns statistics of the MCS of first transmissions per CCA and run.

    Columns `cca`, `run`, `mean`, `sd`, and `change`, the mean absolute difference of successive ones.
    """
    ttis = downlink_ttis(comparison)
    first_attempts = ttis[ttis["attempt"] == 1].sort_values(["run", "t_ns"])
    return pd.DataFrame(
        {
            "cca": cca,
            "run": run,
            "mean": group["mcs"].mean(),
            "sd": group["mcs"].std(),
            "change": group["mcs"].astype(int).diff().abs().mean(),
        }
        for (cca, run), group in first_attempts.groupby(["cca", "run"], observed=True)
    )
