"""Warning about a queue of Linux, which the tables do not show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from celltcp.results.columns import rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from celltcp.results.tables import Results


def hides_queue(results: Results, scenario: Mapping[str, Any]) -> bool:
    """Returns whether the data towards the phone waited in a queue of Linux (`kernel.queue`)."""
    engines = {str(engine) for (engine,) in rows_of(results.tables["runs"], "engine")}
    return bool(scenario.get("kernel", {}).get("queue")) and engines == {"kernel"}


def hidden_queue() -> list[str]:
    """Returns the warning about results whose queue is one of Linux."""
    return [
        "with kernel.queue, packets wait and are dropped in a queue of Linux: the tables have the RTT "
        "and the capacity, but no one-way delay, no queue, and no reason of a loss"
    ]
