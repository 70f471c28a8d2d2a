"""Pictures that show the causes of an explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from celltcp.comparison.explanation.cause import Cause

#: Picture of each cause that is seen otherwise than over time.
_PLOTS = {"overshoot": "startup", "early_exit": "startup", "slow_units": "units"}


def plot_options(causes: Iterable[tuple[str, Cause]]) -> list[str]:
    """Returns the options of `celltcp show` that draw the causes, each once, the most frequent first.

    Args:
        causes: with the unit of work of their flow; empty without one.
    """
    options: dict[str, int] = {}
    for unit, cause in causes:
        plot = _PLOTS.get(cause.name, "time-series")
        option = f"--plot {plot}" + (f" --metric {unit}" if plot == "units" else "")
        options[option] = options.get(option, 0) + 1
    return sorted(options, key=lambda option: -options[option])
