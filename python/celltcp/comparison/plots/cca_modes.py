"""Strip of the modes of a congestion control under a time series."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Patch

from celltcp.comparison.modes import ModeSpan

#: Tol's light colour scheme, which colour-blind readers can distinguish.
_SHADES = ("#77AADD", "#EE8866", "#EEDD88", "#FFAABB", "#99DDFF", "#44BB99", "#BBCC33", "#AAAA00")
#: Height of the strip, share of the panel.
_HEIGHT = 0.05


def draw_modes(axes: Axes, spans: Sequence[ModeSpan]) -> list[Patch]:
    """Draws the modes as a strip along the time axis, and returns their keys for a legend."""
    shades = dict(
        zip(dict.fromkeys(span.mode for span in spans), itertools.cycle(_SHADES), strict=False)
    )
    for mode, shade in shades.items():
        ranges = [(span.start_s, span.end_s - span.start_s) for span in spans if span.mode == mode]
        axes.broken_barh(
            ranges, (0.0, _HEIGHT), transform=axes.get_xaxis_transform(), color=shade, lw=0, zorder=0
        )
    return [Patch(color=shade, label=mode) for mode, shade in shades.items()]
