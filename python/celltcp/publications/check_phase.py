"""Check that the phase and time window of published values exist under their condition."""

from __future__ import annotations

import functools
import math

from celltcp._core import CelltcpError, mean_sinr
from celltcp.publications.conditions import Condition
from celltcp.publications.published_table import Published
from celltcp.radio.phases import PHASES
from celltcp.radio.trajectory import SinrTrajectory


def check_part(entry: Published, condition: Condition, location: str) -> None:
    """Rejects a published value for a phase that its condition lacks, or a time after its end.

    Patterns of scenarios and files of the user are not checked.

    Raises:
        CelltcpError: names the file, the line, the field, the value and what is allowed.
    """
    if not (entry.phase or entry.window) or "*" in condition.scenario or "." in condition.scenario:
        return
    if entry.window:
        begin, end = entry.window
        if begin >= condition.duration_s or math.inf > end > condition.duration_s:
            raise CelltcpError(
                f"{location}: window: '{begin:g}..{end:g}': allowed: up to {condition.duration_s:g} s, "
                f"where a run of {condition.name} ends"
            )
    if entry.phase and entry.phase not in _phases_of(condition):
        allowed = ", ".join(_phases_of(condition))
        raise CelltcpError(
            f"{location}: phase: {entry.phase!r}: allowed: "
            + (
                f"{allowed}, which {condition.name} has, or none"
                if allowed
                else f"none, as in {condition.name}"
            )
        )


@functools.cache
def _phases_of(condition: Condition) -> tuple[str, ...]:
    """Returns the phases of a condition; none if the phone neither recedes nor approaches."""
    try:
        times, ratios = zip(*mean_sinr(condition.loaded.to_toml()), strict=True)
        return PHASES[SinrTrajectory(times, ratios).movement]
    except CelltcpError:
        return ()
