"""Check that a place has the phases and times that published values refer to."""

from __future__ import annotations

import functools
import math

from celltcp._core import CelltcpError, mean_sinr
from celltcp.publications.conditions import Condition
from celltcp.publications.published_table import Published
from celltcp.radio.phases import PHASES
from celltcp.radio.trajectory import SinrTrajectory


def check_part(entry: Published, place: Condition, where: str) -> None:
    """Rejects a published value for a phase that its place lacks, or a time after its end.

    Patterns of scenarios and files of the user are not checked.

    Args:
        entry: published value.
        place: place of the experiment.
        where: file and line, for the error.

    Raises:
        CelltcpError: names the file, the line, the field, the value and what is allowed.
    """
    if not (entry.phase or entry.window) or "*" in place.scenario or "." in place.scenario:
        return
    if entry.window:
        begin, end = entry.window
        if begin >= place.duration_s or math.inf > end > place.duration_s:
            raise CelltcpError(
                f"{where}: window: '{begin:g}..{end:g}': allowed: up to {place.duration_s:g} s, where "
                f"a run of {place.name} ends"
            )
    if entry.phase and entry.phase not in _phases(place):
        allowed = ", ".join(_phases(place))
        raise CelltcpError(
            f"{where}: phase: {entry.phase!r}: allowed: "
            + (
                f"{allowed}, which {place.name} has, or none"
                if allowed
                else f"none, as in {place.name}"
            )
        )


@functools.cache
def _phases(place: Condition) -> tuple[str, ...]:
    """Returns the phases of a place: none where no phone moves away or comes closer."""
    try:
        times, ratios = zip(*mean_sinr(place.loaded.to_toml()), strict=True)
        return PHASES[SinrTrajectory(times, ratios).movement]
    except CelltcpError:
        return ()
