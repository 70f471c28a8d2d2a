"""Remedies of responses that wait for round trips: more sessions at once, or larger responses."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from celltcp.comparison.explanation.remedy import Remedy
from celltcp.scenarios.requests import request_and_response

if TYPE_CHECKING:
    from collections.abc import Iterator

    from celltcp.comparison.explanation.cause import Cause
    from celltcp.comparison.explanation.evidence import Evidence

#: Factors of the sessions, and of the size of responses, of remedies.
_MORE_SESSIONS, _LARGER_RESPONSES = 2, 4


def response_round_trips(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """More sessions at once, or larger responses."""
    flow, sizes = f"flows.{evidence.flow_index}", request_and_response(evidence.workload)
    against = "a round trip for each response"
    changes = [f"{flow}.count={_MORE_SESSIONS * evidence.sessions}"]
    # A number of requests is that of each session.
    if (count := evidence.workload.get("count")) is not None:
        changes.append(f"{flow}.workload.count={math.ceil(int(count) / _MORE_SESSIONS)}")
    yield Remedy(f"{against}, by more requests at once", tuple(changes))
    if sizes is not None:
        size = round(_LARGER_RESPONSES * sizes[1])
        yield Remedy(f"{against}, by larger ones", (f"{flow}.workload.response={size}B",))
