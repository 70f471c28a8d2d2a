"""Rules of an explanation: each returns the cause that the evidence of a flow shows, or None.

The docstring of a rule has the names of its thresholds in braces; the documentation has their values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.explanation import ends, path, sender, tail

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from celltcp.comparison.explanation.cause import Cause
    from celltcp.comparison.explanation.evidence import Evidence

#: Rules by the name of the cause.
RULES: Mapping[str, Callable[[Evidence], Cause | None]] = {
    "application": ends.application,
    "overload": ends.overload,
    "slow_link": ends.slow_link,
    "video": ends.video,
    "given_up": ends.given_up,
    "receive_window": ends.receive_window,
    "send_buffer": ends.send_buffer,
    "shallow_buffer": path.shallow_buffer,
    "overshoot": path.overshoot,
    "outage": path.outage,
    "uplink": path.uplink,
    "sleep": path.sleep,
    "policer": path.policer,
    "random_loss": path.random_loss,
    "radio_loss": path.radio_loss,
    "aqm": path.aqm,
    "competition": path.competition,
    "queue": path.queue,
    "early_exit": sender.early_exit,
    "idle_restart": sender.idle_restart,
    "slow_start": sender.slow_start,
    "time_outs": sender.time_outs,
    "reordering": sender.reordering,
    "slow_units": tail.slow_units,
    "round_trips": tail.round_trips,
}

#: Rules that are tried in this order, up to the first cause, if `RULES` find only symptoms.
LAST_RULES: Mapping[str, Callable[[Evidence], Cause | None]] = {
    "slow_growth": sender.slow_growth,
    "held_queue": path.held_queue,
}
#: Causes that describe the metrics of a flow without a reason for them.
_SYMPTOMS = {"queue", "slow_units"}


def causes_of(evidence: Evidence) -> list[Cause]:
    """Returns the causes of the metrics of a flow, the one with the largest weight first."""
    # Without a slot in which the flow runs, only an outage can be seen.
    if not len(evidence.slots):
        return [cause] if (cause := path.outage(evidence)) else []
    causes = [cause for rule in RULES.values() if (cause := rule(evidence))]
    names = {cause.name for cause in causes}
    if names <= _SYMPTOMS:
        # The cause `queue` says more than `held_queue`.
        rules = [
            LAST_RULES[name] for name in LAST_RULES if name != "held_queue" or "queue" not in names
        ]
        causes += [cause for rule in rules if (cause := rule(evidence))][:1]
    return sorted(causes, key=lambda cause: -cause.weight)
