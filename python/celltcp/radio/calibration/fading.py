"""CQI under fading at one mean SINR (atxutegi2018-thesis section 5.5.2, figure 5.23)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celltcp._core import link_adaptation
from celltcp.comparison.single_run import run

#: Fading models with the speed in km/h, and the scenarios that have them.
MODELS = {
    "EVA60": "mobility/forward-60-4g",
    "EVA120": "mobility/forward-120-4g",
    "HST300": "mobility/forward-300-4g",
}
#: Mean SINR, dB.
SINR_DB = 20.0


@dataclass(frozen=True)
class Reports:
    """The CQI reports that a base station received from one phone."""

    model: str
    cqi: NDArray[np.int64]

    @property
    def mean(self) -> float:
        """Mean CQI."""
        return float(self.cqi.mean())

    @property
    def sd(self) -> float:
        """Standard deviation of the CQI."""
        return float(self.cqi.std())

    @property
    def change(self) -> float:
        """Mean absolute difference of successive reports."""
        return float(np.abs(np.diff(self.cqi)).mean())


def reports(
    seed: int, duration: str = "60s", progress: Callable[[float], None] | None = None
) -> list[Reports]:
    """Simulates each model at a mean SINR of 20 dB, and returns the CQI reports."""
    result = []
    for index, (model, scenario) in enumerate(MODELS.items()):
        single_run = run(
            scenario,
            seed=seed,
            duration=duration,
            set=[f"radio.ues.0.sinr={SINR_DB:g}dB"],
            samples="off",
            radio_log=True,
        )
        radio = single_run.radio
        ttis = radio[(radio["ue"] == 0) & (radio["uplink"] == 0)].drop_duplicates("t_ns")
        period_ttis = int(link_adaptation(str(single_run.results.about["scenario"]))["cqi_period_ttis"])
        result.append(Reports(model, ttis["cqi"].to_numpy(dtype=np.int64)[::period_ttis]))
        if progress:
            progress((index + 1) / len(MODELS))
    return result


def relations(reports_by_model: list[Reports]) -> dict[str, bool]:
    """Returns the relations observed on the testbed, and whether they hold in celltcp."""
    by_model = {reports.model: reports for reports in reports_by_model}
    eva60, eva120, hst300 = (by_model[model] for model in MODELS)
    return {
        "EVA60 is higher than EVA120": eva60.mean > eva120.mean,
        "EVA120 is higher than HST300": eva120.mean > hst300.mean,
        "EVA60 varies more than EVA120": eva60.sd > eva120.sd,
        "HST300 varies more than EVA120": hst300.sd > eva120.sd,
    }
