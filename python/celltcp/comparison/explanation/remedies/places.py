"""Places: who makes a change against a cause, such as the sender, a router or the base station."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from celltcp.comparison.lines.hop_lines import interface_name
from celltcp.comparison.lines.linux_lines import BOTH_HOSTS, host_of_field, sender_of
from celltcp.comparison.lines.queue_lines import RATES, filled_directions
from celltcp.scenarios.narrow_hop import steady_rate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from celltcp.comparison.explanation.remedies.remedy import Remedy

#: End of the field with the frames that wait for a sender, and the fields of options of its socket.
_BACKLOG, _SOCKET_FIELDS = ".workload.backlog", ("tcp.notsent_lowat", "tcp.send_buffer_max")
#: Places of settings that the operator of the network has, and no host or router of a user.
OPERATOR_QUEUE = "operator's downlink queue"
OPERATOR_PLACES = ("base station", OPERATOR_QUEUE)
#: Fields of `path` with the queues of the access link.
_DOWNLINK_QUEUE, _UPLINK_QUEUE = ("queue", "buffer"), ("uplink_queue", "uplink_buffer")

#: Fields with the rate of a shaper.
_SHAPED = re.compile(r"path\.(wired\.\d+\.rate|up)")


def places_of(remedy: Remedy | None, scenario: Mapping[str, Any], *, sets_cca: bool) -> list[str]:
    """Returns where a remedy is made, and that of the congestion control if it `sets_cca`, too."""
    places = [] if remedy is None else _places_of_changes(remedy, scenario)
    places += [sender_of(0, scenario)] if sets_cca else []
    # Senders of several nodes include that of a single flow.
    if "sender" in places:
        places = [each for each in places if not each.startswith("sender (")]
    return sorted(dict.fromkeys(places))


def remoteness(places: Iterable[str]) -> int:
    """Returns 2 for what the operator alone sets, 1 for queues of links, else 0."""
    links = ("queue", "queues of the link")
    return max((2 if is_of_operator(each) else each.endswith(links) for each in places), default=0)


def is_of_operator(place: str) -> bool:
    """Returns whether the operator of the network alone can set something at a place."""
    return place in OPERATOR_PLACES or place.endswith(" proxy")


def has_shaper(changes: Iterable[str]) -> bool:
    """Returns whether changes, `field=value`, have the rate of a shaper."""
    return any(_SHAPED.fullmatch(each.partition("=")[0]) for each in changes)


def _places_of_changes(remedy: Remedy, scenario: Mapping[str, Any]) -> list[str]:
    fields = [change.partition("=")[0] for change in remedy.changes]
    # The program that drops frames has the socket option, too.
    if any(field.endswith(_BACKLOG) for field in fields):
        fields = [field for field in fields if field not in _SOCKET_FIELDS]
    # A slower access link stands for a shaper before it, and a queue that stays as it is for nothing.
    if not {*RATES.values()}.isdisjoint(fields):
        shaped = (*RATES.values(), *(f"path.{name}" for name in (*_DOWNLINK_QUEUE, *_UPLINK_QUEUE)))
        fields = ["path.wired", *(field for field in fields if field not in shaped)]
    unchanged = [change.removesuffix("=droptail") for change in remedy.changes]
    is_single = len(fields) == 1
    places = [_place_of(field, scenario) for field in fields if is_single or field not in unchanged]
    if fields == ["path.queue"] and len(filled_directions(["path", "queue"], scenario)) > 1:
        places = ["both queues of the link"]
    if remedy.cca or remedy.parameter:
        places.append(sender_of(0, scenario))
    if remedy.middlebox:
        places.append(f"{remedy.middlebox.partition(':')[0]} proxy")
    return places


def _place_of(field: str, scenario: Mapping[str, Any]) -> str:
    """Returns where a field of a scenario is set."""
    table, *parts = field.split(".")
    has_radio = bool(scenario.get("radio"))
    if table == "flows":
        return "application" if {"workload", "count"} & {*parts} else sender_of(int(parts[0]), scenario)
    if table == "tcp":
        return host_of_field(field, scenario)
    if table == "path" and parts[0] == "wired":
        name = interface_name(field.split(".")[:3], scenario)
        return f"hop {name}" if name else "router"
    if table == "path" and parts[0] in _UPLINK_QUEUE:
        return "phone" if has_radio else "uplink queue"
    if table == "radio" or (has_radio and table == "path"):
        return OPERATOR_PLACES[0]
    if table == "path" and parts[0] in _DOWNLINK_QUEUE:
        # A link whose rate varies is that of a mobile network or a satellite.
        is_steady = steady_rate(scenario.get("path", {}).get("down")) is not None
        return "downlink queue" if is_steady else OPERATOR_QUEUE
    return BOTH_HOSTS if table == "kernel" else "network"
