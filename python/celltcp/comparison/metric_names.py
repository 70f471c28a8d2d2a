"""Names of metrics: those of figures that rank, and those of values that are drawn, for each other."""

from __future__ import annotations

from collections.abc import Iterable

from celltcp.comparison.metrics import RANKED

#: Figure that ranks, by the name of values of slots and units of work that are drawn.
_FIGURES = {
    "goodput": "goodput_mbps",
    "rtt": "rtt_mean_ms",
    "response": "response_p95_s",
    "page_load": "page_load_s",
    "frame_delay": "frame_delay_ms",
    "completion": "completion_s",
}

#: Names of metrics that rank.
RANKING_NAMES = (*RANKED, *_FIGURES)


def figure_of(name: str) -> str:
    """Returns the figure that ranks for a name of values that are drawn; other names as they are."""
    return _FIGURES.get(name, name)


def drawn_of(name: str, drawn: Iterable[str]) -> str:
    """Returns the values that a figure is computed from, such as `response` for `response_p95_s`.

    Args:
        name: of a figure; a name of values that are drawn is returned as it is.
        drawn: names of values that are drawn.
    """
    known = tuple(drawn)
    # Times to first bytes are no part of the values that are drawn.
    if name in known or name not in RANKED or name.endswith("first_byte_s"):
        return name
    return next((each for each in known if name.startswith(f"{each}_")), name)
