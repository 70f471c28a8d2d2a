"""Warning about DCTCP on a path without a queue that marks packets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Queue disciplines that mark by default; others do with `ecn = true`, but `droptail` never.
_MARKING = {"threshold": True, "fq-codel": True}


def no_marks(scenario: Mapping[str, Any]) -> list[str]:
    """Returns a warning unless a queue of the scenario marks packets in place of dropping them."""
    path = scenario.get("path", {})
    queues = [part.get("queue") for part in (path, *path.get("wired", ()), *scenario.get("links", ()))]
    is_hidden = bool(scenario.get("kernel", {}).get("queue"))
    if is_hidden or any(map(_marks, (*queues, path.get("uplink_queue")))):
        return []
    advice = (
        "" if scenario.get("radio") else "; --set path.queue.kind=threshold marks on the access link"
    )
    return [
        "dctcp: no queue of the path marks packets (ECN), so that it reacts to losses alone, as Reno "
        f"does{advice}"
    ]


def _marks(queue: object) -> bool:
    """Returns whether a queue discipline, by its name or with parameters, marks packets."""
    settings = queue if isinstance(queue, Mapping) else {"kind": queue}
    default = _MARKING.get(str(settings.get("kind")), False)
    return bool(settings.get("ecn", default))
