"""Deadline of the responses of a flow, by which the share of late ones is counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celltcp._core import in_unit


def response_deadline_s(workload: Mapping[str, Any]) -> float | None:
    """Returns the time after which a response is late, s; None for other workloads or without one."""
    if workload.get("kind") != "request-response" or "deadline" not in workload:
        return None
    return in_unit(str(workload["deadline"]), "s")
