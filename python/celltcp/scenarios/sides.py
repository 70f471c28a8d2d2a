"""Sides of a path: phones, and servers, which are all other hosts. Each has settings of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from celltcp._core import in_unit

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Sides by the table of their own settings in that of TCP, and the default node of each.
SIDES = (SERVER, PHONE) = "server", "phone"
#: Fields of a flow that name its nodes, the sender of the data first, with their defaults.
NODE_FIELDS = {"from": SERVER, "to": PHONE}
#: Default of `tcp.min_rto`.
_DEFAULT_MIN_RTO = "200ms"


def side_of(node: str, scenario: Mapping[str, Any]) -> str:
    """Returns the side of a node: UEs are phones."""
    ues = scenario.get("radio", {}).get("ues", ())
    # Several UEs have the number, or the vehicle, after their name.
    names = "|".join(f"{re.escape(str(ue['name']))}(-.+)?" for ue in ues if "name" in ue)
    return PHONE if node == PHONE or (names and re.fullmatch(names, node)) else SERVER


def is_upload(flow: Mapping[str, Any]) -> bool:
    """Returns whether a flow sends up: from the phone, or from a host behind it to a server."""
    return flow.get("from") == PHONE or flow.get("to") == SERVER


def sides_of(flow: Mapping[str, Any], scenario: Mapping[str, Any]) -> tuple[str, str]:
    """Returns the sides of the sender of a flow's data and of their receiver."""
    sender, receiver = (
        side_of(str(flow.get(field, node)), scenario) for field, node in NODE_FIELDS.items()
    )
    return sender, receiver


def min_rto_s(side: str, scenario: Mapping[str, Any]) -> float:
    """Returns the minimum RTO of the hosts of a side, s."""
    tcp = scenario.get("tcp", {})
    text = tcp.get(side, {}).get("min_rto") or tcp.get("min_rto", _DEFAULT_MIN_RTO)
    return in_unit(str(text), "s") or 0.0
